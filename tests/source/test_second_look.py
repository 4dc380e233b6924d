# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The second look at tests that were late (lib/second_look.py and .sh): who
gets one, what counts afterwards, and what the run says."""
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from source import TOP

TESTS = TOP / "tests"
CONFTEST = """
import os
import subprocess
from pathlib import Path
import pytest
import second_look
from missed import Missed, witnesses

def pytest_configure(config):
    config.pluginmanager.register(second_look)

@pytest.fixture
def first(request):
    # Does this test run for the first time?
    name = request.node.name + os.environ.get("APPPOOL_BUILD", "")
    mark = Path("../ran-" + name.replace("/", "_"))
    if mark.exists():
        return False
    mark.touch()
    return True

@pytest.fixture
def log(request):
    yield
    if second_look.missed_so_far(request.node):
        logs = Path(f"../logs/{request.node.name}")
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "error.log").write_text("it is slow today")
        second_look.keep(request.node, logs)

@pytest.fixture
def hidden(request):
    # pytest reports only the first exception of a teardown.
    yield
    with second_look.noted(request.node):
        assert not "found"

@pytest.fixture
def bad_log(request):
    yield
    missed = second_look.missed_so_far(request.node)
    assert not missed, "not expected in the log"
"""
HEAD = """
import os, signal, socket, subprocess
from contextlib import suppress
import pytest
from missed import Missed, within, witnesses
"""
LATE = """
def test_late(first, log):
    print("some words")
    if first:
        raise Missed("it never came")
"""
# Each of these would pass the second time.
NEVER = {
    "wrong data": "if first: assert 'wrong' == 'data'",
    "after a limit": """
    if first:
        try:
            raise Missed('it')
        except Missed as error:
            raise AssertionError('wrong') from error""",
    "before a limit": """
    if first:
        try:
            assert 'wrong' == 'data'
        finally:
            raise Missed('it')""",
    "caused by an error": "if first: raise Missed('it') from KeyError()",
    "an error": "if first: raise ConnectionResetError",
    "pytest.fail": "if first: pytest.fail('wrong')",
    "seen by a witness": """
    if first:
        witnesses.append(lambda: ['torn'])
        raise Missed('it')""",
}
LIMITS = {
    "a process": "subprocess.run(['sleep', '9'], timeout=0.01)",
    "a socket": """
        one, other = socket.socketpair()
        one.settimeout(0.01)
        one.recv(1)""",
    "the alarm": "raise TimeoutError",
    "one by another": """
        try:
            raise TimeoutError
        except TimeoutError:
            raise Missed('it')""",
    "a time": "within(2, 1, 'it')",
    "after what is no failure": """
        try:
            raise ConnectionResetError
        except OSError:
            raise Missed('it') from None""",
}


class Tree:
    """A tree of tests with one suite."""

    def __init__(self, top: Path, sources: dict[str, str],
                 suite: str = "integration") -> None:
        self.top, self.suite = top, top / "tests" / suite
        self.suite.mkdir(parents=True)
        shutil.copytree(TESTS / "lib", top / "tests" / "lib")
        if not (top / "tests" / "flaky").exists():
            shutil.copy(TESTS / "flaky", top / "tests" / "flaky")
        (self.suite / "pytest.ini").write_text(
            "[pytest]\npython_files = *.py\npythonpath = ../lib\n")
        (self.suite / "conftest.py").write_text(CONFTEST)
        for file, source in sources.items():
            (self.suite / file).write_text(HEAD + source)

    def bash(self, script: str) -> subprocess.CompletedProcess[str]:
        lib = self.top / "tests" / "lib"
        return subprocess.run(
            ["bash", "-uc", f". {lib}/sum.sh; . {lib}/apart.sh; "
             f". {lib}/pytest.sh; . {lib}/second_look.sh; {script}"],
            cwd=self.top, text=True, stdout=subprocess.PIPE, check=False,
            stderr=subprocess.STDOUT)

    def run(self, *words: str, look: bool = True
            ) -> tuple[list[str], list[str]]:
        """The output of the suite, and of the second look."""
        done = self.bash("mkdir late; second_look=$PWD/late "
                         f"pytest_suite tests/integration {' '.join(words)}")
        again = self.bash("second_looks late again" if look else "")
        return done.stdout.splitlines(), again.stdout.splitlines()


def test_passes_the_second_time(tmp_path: Path) -> None:
    """It counts once, and its first failure is kept."""
    tree = Tree(tmp_path, {"test_it.py": LATE + "def test_good(): pass\n"})
    said, again = tree.run()
    name = "integration/test_it.py::test_late"
    assert said[-1] == "1 passed, 0 failed, 0 skipped"
    assert "late - test_it.py::test_late: it runs once more at the end" in said
    assert f"flaky: {name}" in again
    assert any("it never came" in line for line in again)
    assert again[-2:] == [f"{name} {date.today()}",
                          "1 passed, 0 failed, 0 skipped"]
    kept = tmp_path / "build" / "flaky" / name.replace("/", "_")
    assert "it never came" in (kept / "output").read_text()
    assert "some words" in (kept / "output").read_text()
    assert (kept / "logs/test_late/error.log").exists()


def test_no_room_to_keep_it(tmp_path: Path) -> None:
    """The output of its first failure is printed nevertheless."""
    tree = Tree(tmp_path, {"test_it.py": LATE})
    (tmp_path / "build").write_text("not a directory")
    _, again = tree.run()
    name = "integration/test_it.py::test_late"
    assert f"build/flaky/{name.replace('/', '_')} is not complete" in again
    assert any("it never came" in line for line in again)
    assert again[-1] == "1 passed, 0 failed, 0 skipped"


def test_fails_the_second_time(tmp_path: Path) -> None:
    """For another reason, too."""
    tree = Tree(tmp_path, {"test_it.py": LATE + "    assert first, 'worse'\n"})
    said, again = tree.run()
    assert said[-1] == "0 passed, 0 failed, 0 skipped"
    assert again[-1] == "0 passed, 1 failed, 0 skipped"
    assert "    E       AssertionError: worse" in again
    assert not any(line.startswith("flaky: ") for line in again)


def test_skipped_the_second_time(tmp_path: Path) -> None:
    """It has not passed."""
    _, again = Tree(tmp_path, {"test_it.py": LATE + """
    if not first:
        pytest.skip("not now")
"""}).run()
    assert again[-1] == "0 passed, 1 failed, 0 skipped"


def test_no_second_look(tmp_path: Path) -> None:
    names = {f"test_{n}": what for n, what in enumerate(NEVER)}
    source = "".join(f"def {name}(first):\n    {NEVER[what]}\n"
                     for name, what in names.items())
    # Damage that is found when the test has ended.
    source += """
@pytest.fixture
def ends_late(hidden):
    yield
    raise Missed
def test_log(first, bad_log):
    if first: raise Missed
def test_hidden(first, ends_late):
    if first: raise Missed
def test_late(): pass
"""
    said, again = Tree(tmp_path, {"test_it.py": source}).run()
    assert again == []
    assert said[-1] == f"1 passed, {len(NEVER) + 2} failed, 0 skipped"
    refused = [line for line in said if line.startswith("no second look - ")]
    assert [line.partition("::")[2] for line in refused] == [
        "test_6: torn", "test_log: teardown: AssertionError: not expected in "
        "the log", "test_hidden: teardown: AssertionError: assert not 'found'"]


def test_no_record(tmp_path: Path) -> None:
    """No room, or the logs are gone: a failure of this test, not of all."""
    tree = Tree(tmp_path, {"test_it.py": LATE + "def test_good(): pass\n"})
    done = tree.bash("second_look=$PWD/none pytest_suite tests/integration")
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert "no second look - test_it.py::test_late: record: [Errno 2]" \
        in done.stdout


def test_half_a_record(tmp_path: Path) -> None:
    """It is removed."""
    tree = Tree(tmp_path, {"test_it.py": """
from pathlib import Path
import second_look
def test_late(request):
    second_look.keep(request.node, Path("gone"))
    raise Missed
"""})
    said, again = tree.run()
    assert said[-1] == "0 passed, 1 failed, 0 skipped" and again == []
    assert list((tmp_path / "late").iterdir()) == []


def test_damage_without_a_limit(tmp_path: Path) -> None:
    """A test that failed twice, before and after its end, is one failure."""
    source = ("@pytest.fixture\ndef left():\n    yield\n    assert not 'left'\n"
              "def test_it(left): assert not 'good'\n")
    said, again = Tree(tmp_path, {"test_it.py": source}).run()
    assert (said[-1], again) == ("0 passed, 1 failed, 0 skipped", [])


def test_limits(tmp_path: Path) -> None:
    """Of a test, of what it waits for, and of its fixtures."""
    source = """
def test_with_a_witness():
    witnesses.append(lambda: ['torn'])
""" + "".join(f"def test_{n}(first):\n    if first:\n        {limit}\n"
              for n, limit in enumerate(LIMITS.values())) + """
@pytest.fixture
def before(first):
    raise Missed
@pytest.fixture
def after(first):
    yield
    raise Missed
def test_before(before): pass
def test_after(after): pass
"""
    said, _ = Tree(tmp_path, {"test_it.py": source}).run(look=False)
    assert said[-1] == "1 passed, 0 failed, 0 skipped"
    assert len([line for line in said if line.startswith("late - ")]) \
        == len(LIMITS) + 2


def looks(top: Path, *names: str) -> list[str]:
    """A second look at these tests. One whose name has `bad` in it fails."""
    tree = Tree(top, {})
    for n, name in enumerate(names):
        record = top / "late" / f"late-{n}"
        record.mkdir(parents=True)
        for file, text in {"name": name, "suite": "x", "test": name,
                           "output": "it was late", "environment": "X=y"
                           }.items():
            (record / file).write_text(f"{text}\n")
    return tree.bash("pytest_suite() { [[ $2 != *bad* ]]; }; "
                     "second_looks late again").stdout.splitlines()


def flaky(said: list[str]) -> list[str]:
    return [line[7:] for line in said if line.startswith("flaky: ")]


def test_two(tmp_path: Path) -> None:
    said = looks(tmp_path, "x/a.py::one[a/b]", "x/a.py::bad", "x/a.py::two")
    assert flaky(said) == ["x/a.py::one[a/b]", "x/a.py::two"]
    assert said[-1] == "2 passed, 1 failed, 0 skipped"


def test_more_than_two(tmp_path: Path) -> None:
    said = looks(tmp_path, "x/a.py::one", "x/a.py::two", "x/a.py::three")
    assert len(flaky(said)) == 3
    assert said[-2:] == ["not ok - more than 2 tests are flaky: 3",
                         "3 passed, 1 failed, 0 skipped"]


def test_too_many(tmp_path: Path) -> None:
    """They do not run again."""
    said = looks(tmp_path, *(f"x/a.py::test_{n}" for n in range(11)))
    assert flaky(said) == [] and said[-1] == "0 passed, 11 failed, 0 skipped"


def test_known(tmp_path: Path) -> None:
    """The list has no parameters."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/flaky").write_text(
        "# x/a.py::two 2026-01-01\n"
        "x/a.py::on 2026-01-02\nx/a.py::one 2026-01-03\n"
        "x/a.py::two_more 2026-01-04\n")
    said = looks(tmp_path, "x/a.py::two", "x/a.py::one[a b]")
    assert flaky(said) == ["x/a.py::two", "x/a.py::one[a b]"]
    assert said[-2:] == [
        "not ok - x/a.py::one[a b] is flaky again: tests/flaky has "
        "x/a.py::one 2026-01-03", "1 passed, 1 failed, 0 skipped"]


def test_workers(tmp_path: Path) -> None:
    """A process of pytest-xdist leaves the record. If it dies, nothing is known
    of the end of its test."""
    said, again = Tree(tmp_path, {"test_it.py": LATE + """
@pytest.fixture
def dies(first):
    yield
    if first: os.kill(os.getpid(), signal.SIGKILL)

def test_dies(first, dies):
    if first: raise Missed
def test_good(): pass
"""}).run("-n", "1")
    assert "late - test_it.py::test_late: it runs once more at the end" in said
    assert said[-1] == "1 passed, 1 failed, 0 skipped"
    assert again[-1] == "1 passed, 0 failed, 0 skipped"


def test_group(tmp_path: Path) -> None:
    """pytest-xdist adds the group to the name. The second run, which has none,
    and tests/flaky know the test without it."""
    said, again = Tree(tmp_path, {"test_it.py": """
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("place", ["x@browser"])
def test_one(first, place):
    if first: raise Missed
@pytest.mark.xdist_group(name="other")
def test_two(first):
    if first: raise Missed
"""}).run("-n", "1", "--dist", "loadgroup")
    assert said[-1] == "0 passed, 0 failed, 0 skipped"
    assert sorted(flaky(again)) == [
        "integration/test_it.py::test_one[x@browser]",
        "integration/test_it.py::test_two"]
    assert again[-1] == "2 passed, 0 failed, 0 skipped"


def test_not_asked_for(tmp_path: Path) -> None:
    """As of all other suites, and of a developer who names a test."""
    tree = Tree(tmp_path, {"test_it.py": LATE})
    done = tree.bash("pytest_suite tests/integration")
    assert done.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"
    assert "second look" not in done.stdout


def test_same_surroundings(tmp_path: Path) -> None:
    """The second run has the build, the MPM and the namespaces of the first."""
    tree = Tree(tmp_path, {"test_it.py": """
NAMES = ("APPPOOL_BUILD", "APPPOOL_MPM", "APPPOOL_UNDER", "APPPOOL_APART",
         "ASAN_OPTIONS", "SEED", "APPPOOL_SECOND_LOOK")
def test_it(first):
    with open(f"../seen-{first}", "w") as file:
        for name in NAMES:
            print(name, os.environ.get(name), file=file)
    if first: raise Missed
"""})
    tree.bash("apart() { APPPOOL_APART=1 \"$@\"; }; mkdir late; "
              "APPPOOL_BUILD=/x/build-tsan APPPOOL_MPM=event SEED=7 "
              "APPPOOL_UNDER='setarch -R' ASAN_OPTIONS=detect_leaks=0 "
              "second_look=$PWD/late apart pytest_suite tests/integration")
    again = tree.bash("apart() { APPPOOL_APART=apart \"$@\"; }; "
                      "second_looks late again").stdout.splitlines()
    first, second = [(tmp_path / "tests" / f"seen-{which}").read_text()
                     for which in (True, False)]
    assert second == first.replace("APART 1", "APART apart").replace(
        f"SECOND_LOOK {tmp_path}/late", "SECOND_LOOK ")
    name = "integration/test_it.py::test_it"
    assert f"flaky: {name} in build-tsan" in again
    assert f"{name} {date.today()}" in again


def test_apart(tmp_path: Path) -> None:
    """A test that runs apart is known by its environment."""
    done = Tree(tmp_path, {}).bash("can_be_apart || exit 77; "
                                   "apart printenv APPPOOL_APART")
    if done.returncode == 77:
        pytest.skip("no namespaces can be made")
    assert done.stdout == "1\n"
