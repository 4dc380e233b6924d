# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The sums at the end of the suites. A test that was not run does not
count."""
import re
import subprocess
from pathlib import Path

import pytest

from source import TOP

LIB = TOP / "tests/lib"


def bash(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-uc", f". {LIB}/sum.sh; . {LIB}/pytest.sh; {script}"],
        cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)


@pytest.mark.parametrize("output, numbers", [
    ("ok - x\n3 passed, 1 failed\n", "3 1 0"),
    ("skipped - x: y\n2 passed, 0 failed, 1 skipped\n", "2 0 1"),
    ("2 passed, 0 failed, 1 skipped\n", "0 1 0"),  # one of these
    ("3 passed, 0 failed\nSegmentation fault\n", "0 1 0"),
    ("", "0 1 0"),
])
def test_sum_of_a_suite(tmp_path: Path, output: str, numbers: str) -> None:
    (tmp_path / "log").write_text(output)
    assert bash("sum_up log", tmp_path).stdout.strip() == numbers


def test_parts_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("3 passed, 1 failed\n")
    (tmp_path / "b").write_text("2 passed, 0 failed, 0 skipped\n")
    assert bash("sum_up a b missing", tmp_path).stdout.strip() == "5 2 0"


@pytest.mark.parametrize("numbers, last, status", [
    ("3 0 2", "3 passed, 0 failed, 2 skipped", 0),
    ("3 1 0", "3 passed, 1 failed, 0 skipped", 1),
    ("0 0 5", "0 passed, 1 failed, 5 skipped", 1),
])
def test_last_line(tmp_path: Path, numbers: str, last: str,
                   status: int) -> None:
    done = bash(f"sum_line {numbers}", tmp_path)
    assert done.stdout.splitlines()[-1] == last
    assert done.returncode == status


@pytest.mark.parametrize("source, last, status", [
    ("import pytest\n"
     "def test_run(): pass\n"
     "@pytest.mark.skip(reason='no disk')\n"
     "def test_skipped(): pass\n", "1 passed, 0 failed, 1 skipped", 0),
    ("import pytest\n"
     "@pytest.mark.parametrize('mpm', [])\n"
     "def test_none(mpm): pass\n", "0 passed, 1 failed, 1 skipped", 1),
    ("def helper(): pass\n", "0 passed, 1 failed, 0 skipped", 1),
    ("import nonsense_that_is_not_there\n", "0 passed, 1 failed, 0 skipped",
     1),
])
def test_sum_of_pytest(tmp_path: Path, source: str, last: str,
                       status: int) -> None:
    (tmp_path / "test_it.py").write_text(source)
    done = bash("pytest_suite .", tmp_path)
    assert done.stdout.splitlines()[-1] == last, done.stdout
    assert done.returncode == status
    if "nonsense" in source:
        assert re.search("^not ok - test_it\n(# .*\n)+# .*nonsense_that",
                         done.stdout, re.M)
    if "no disk" in source:
        assert "skipped - test_it.py test_skipped: no disk" in done.stdout


SETUP = """
packages_first= packages_test= packages_unpacked= packages_daemons=
releases_of_puma= packages_metrics=
say() { printf '%s\\n' "$*"; }
die() { printf '%s\\n' "$*" >&2; exit 1; }
install_packages() { :; }
install_for_tests() { install_packages $packages_test; }
unpack_packages() { :; }
unpack_daemons() { :; }
generate() { :; }
build_gcc() { [ ! -e "$top/broken" ]; }
""" + re.search(r"^wait_installed\(\) \{.*?^\}\n",  # type: ignore[index]
                (LIB / "setup.sh").read_text(), re.M | re.S)[0]


def run_all(top: Path, suites: dict[str, str], *words: str,
            setup: str = SETUP) -> tuple[list[str], int]:
    """tests/run over suites that are one line of shell each."""
    (top / "tests/lib").mkdir(parents=True)
    (top / "tests/lib/setup.sh").write_text(setup)
    for file in ("run", "flaky", "lib/sum.sh", "lib/apart.sh", "lib/pytest.sh",
                 "lib/second_look.sh", "lib/long.sh"):
        (top / "tests" / file).write_text((TOP / "tests" / file).read_text())
    for suite in ("source", "unit", "crash", "model", "fuzz", "bench",
                  "sanitized", "mutants", "integration", "cross", "packages",
                  "container", "store", "debian", "vm"):
        program = top / "tests" / suite / "run"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n" + suites.get(
            suite, "echo 1 passed, 0 failed") + "\n")
        program.chmod(0o755)
    done = subprocess.run(["bash", top / "tests/run", *words], cwd=top,
                          text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=120)
    return done.stdout.splitlines(), done.returncode


def test_all_suites(tmp_path: Path) -> None:
    """Bench runs after the main part of integration, the quiet part runs after
    all other suites, and the last line is the sum."""
    output, status = run_all(tmp_path, {
        "mutants": "sleep 1; echo 1 passed, 0 failed",
        "bench": "ls main && touch late; echo 1 passed, 0 failed",
        "unit": "echo skipped - remove: no root; "
                "echo 2 passed, 0 failed, 1 skipped",
        "integration": 'touch main; flock -u "$APPPOOL_BUSY"; '
                       'flock "$APPPOOL_QUIET" ls late; '
                       "echo skipped - fuse: no disk; "
                       "echo 4 passed, 0 failed, 1 skipped"})
    assert "late" in output
    assert output[-4:] == ["== 2 skipped", "skipped - fuse: no disk",
                           "skipped - remove: no root", "15 passed, 0 failed"]
    assert status == 0


def installs(then: str) -> str:
    """The packages of the tests come after the unit tests have begun."""
    return SETUP + ("packages_test=some\n"
                    "install_packages() { [ $# -eq 0 ] || {\n"
                    '    until [ -e "$top/begun" ]; do sleep 0.01; done\n'
                    f"    {then}\n"
                    "}; }\n")


def test_suites_begin_before_all_packages_are_there(tmp_path: Path) -> None:
    wants = "ls installed && echo 1 passed, 0 failed"
    said, status = run_all(
        tmp_path, {"unit": "touch begun; echo 1 passed, 0 failed"} | {
            suite: wants for suite in ("source", "fuzz", "mutants", "bench",
                                       "sanitized", "model", "integration")},
        setup=installs('touch "$top/installed"'))
    assert (said[-1], status) == ("11 passed, 0 failed", 0)


def test_packages_that_cannot_be_installed(tmp_path: Path) -> None:
    """Nothing that needs them begins."""
    said, status = run_all(
        tmp_path, {"unit": "touch begun; echo 1 passed, 0 failed"},
        setup=installs('die "cannot install"'))
    assert status == 1 and "cannot install" in said
    assert {"== unit begins", "== crash begins"} <= set(said)
    assert not {"== source begins", "== fuzz begins", "== bench begins",
                "== integration begins", "== mutants begins"} & set(said)


def test_failures_stand_at_the_end(tmp_path: Path) -> None:
    """Often, only the end of the output is kept."""
    said, _ = run_all(tmp_path, {
        "model": "echo before; echo not ok - x; echo '# why'; seq 100; "
                 "echo 1 passed, 1 failed; exit 1",
        "crash": "seq 200; echo half of it"})
    end = said[said.index("== 2 failed"):]
    assert ["before", "not ok - x", "# why"] == end[end.index("before"):][:3]
    assert {"-- model: 1 failed", "-- crash: 1 failed", "200",
            "half of it"} <= set(end) and len(end) < 90


@pytest.mark.parametrize("how, sum_", [
    ("echo 1 passed, 1 failed; exit 1", "11 passed, 1 failed"),
    ("echo 0 passed, 0 failed", "10 passed, 1 failed"),
    ("echo 1 passed, 0 failed; exit 3", "11 passed, 1 failed"),
    ("echo 1 passed, 0 failed; kill -9 $$", "11 passed, 1 failed"),
    ("echo ok - half of it", "10 passed, 1 failed"),
    ("echo 2 passed, 0 failed, 1 skipped", "10 passed, 1 failed")])
def test_a_bad_suite(tmp_path: Path, how: str, sum_: str) -> None:
    output, status = run_all(tmp_path, {"model": how})
    assert (output[-1], status) == (sum_, 1)


def test_one_suite(tmp_path: Path) -> None:
    output, status = run_all(tmp_path, {"unit": "echo here; "
                                        "echo 2 passed, 0 failed, 0 skipped"},
                             "unit")
    assert "here" in output and "crash" not in "".join(output)
    assert (output[-1], status) == ("3 passed, 0 failed", 0)


def test_a_build_that_fails(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    output, status = run_all(tmp_path, {}, "fuzz")
    assert (output[-1], status) == ("1 passed, 1 failed", 1)


def test_the_longer_form(tmp_path: Path) -> None:
    """Each part runs, and the sum is that of all parts."""
    has = 'echo "$* of model$WALKS"; echo 1 passed, 0 failed'
    output, status = run_all(tmp_path, {
        "model": has, "unit": has, "crash": "echo 0 passed, 0 failed"}, "long")
    assert {"lock: of model", "doorbell: of model", "stop: of model",
            "long of model2000", "not ok - crash ran no test",
            "== long fuzz store took 1 min"} <= set(output)
    parts = sum(line.startswith("== long ") and line.endswith(" begins")
                for line in output)
    assert (output[-1], status) == (f"{parts - 1} passed, 1 failed", 1)


@pytest.mark.parametrize("words, ran", [
    (["model"], ["lock:", "doorbell:", "stop:"]),
    (["model", "stop"], ["stop:"])])
def test_some_parts(tmp_path: Path, words: list[str], ran: list[str]) -> None:
    output, status = run_all(tmp_path, {
        "model": 'echo "has $*"; echo 1 passed, 0 failed'}, "long", *words)
    assert [line for line in output if line.startswith("has ")] \
        == [f"has {word}" for word in ran]
    assert (output[-1], status) == (f"{len(ran)} passed, 0 failed", 0)


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    output, status = run_all(tmp_path, {}, "long", "model", "fork")
    assert status == 1
    assert "there is no part 'model fork'; these are the parts:" in output
    assert any(line.split()[:2] == ["model", "stop"] for line in output)


def test_a_part_that_is_too_long(tmp_path: Path) -> None:
    """The last lines say so."""
    output, status = run_all(tmp_path, {
        "model": "echo 1 passed, 0 failed"}, "long", "model", "stop",
        setup=SETUP + "generate() { longest=0; }\n")
    assert output[-2].startswith("!! long model stop took 1 min")
    assert (output[-1], status) == ("1 passed, 0 failed", 0)
