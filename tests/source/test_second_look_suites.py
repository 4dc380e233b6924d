# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which parts of the suites leave records for a second look, and what the
programs `run` do with them."""
import os
import shutil
import subprocess
from pathlib import Path

from test_second_look import TESTS, Tree, flaky
from test_sums import SETUP, run_all

PARTS = """
PYTHON=true
pytest_workers() { workers=(); }
pytest_suite() {
    if [ "${second_look:-}" ]; then
        [ "$2" != X=y ] || return 1 # a second run leaves no record
        record=$(mktemp -d "$second_look/late-XXXXXX")
        for file in suite test output environment; do echo X=y >"$record/$file"; done
        build=${APPPOOL_BUILD:-}
        echo "part/${*: -1}/${build##*/}" >"$record/name"
    fi
    echo "skipped - x: no disk"
    echo "1 passed, 0 failed, 1 skipped"
}
"""


def parts(tree: Tree) -> list[str]:
    """The program of a suite. Each part that may leave records leaves one, and
    is named by its last argument and its build."""
    shutil.copy(TESTS / tree.suite.name / "run", tree.suite / "run")
    lib = tree.top / "tests/lib"
    (lib / "pytest.sh").write_text(PARTS)
    (lib / "setup.sh").write_text(
        SETUP + "build_clang() { :; }\nbuild_threads() { :; }\n")
    # tests/run has set what its own suites need.
    environment = {name: text for name, text in os.environ.items()
                   if not name.startswith("APPPOOL_")}
    done = subprocess.run([tree.suite / "run"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment | {"APPPOOL_MPM": "event"})
    assert done.returncode == 1, "there are more than two"
    return done.stdout.splitlines()


def test_integration(tmp_path: Path) -> None:
    """Not chaos."""
    said = parts(Tree(tmp_path, {}))
    assert sorted(flaky(said)) == [
        f"part/{last}/" for last in ("alone_crowd.py", "alone_floods.py",
                                     "not test_stop", "python_files=test_*.py",
                                     "test_stop")]
    assert said[-1] == "13 passed, 1 failed, 8 skipped"
    assert said.count("skipped - x: no disk") == 8


def test_store(tmp_path: Path) -> None:
    """In each of its builds."""
    tree = Tree(tmp_path, {}, "store")
    said = parts(tree)
    assert sorted(flaky(said)) == [
        f"part/{last}" for last in (
            f"--ignore-glob={tree.suite}/test_cluster_*.py/",
            "not memory/build-clang", "not memory/build-tsan",
            "python_files=test_cluster_*.py/")]
    assert said[-1] == "8 passed, 1 failed, 4 skipped"
    assert said.count("skipped - x: no disk") == 4


def test_within_all(tmp_path: Path) -> None:
    """tests/run takes the records, and counts and names at its end."""
    output, status = run_all(tmp_path, {"integration": """
        suite=$(dirname "$0")
        echo "def test_late(): pass" >"$suite/test_it.py"
        record=$APPPOOL_LATE/late-1
        mkdir "$record"
        echo integration/test_it.py::test_late >"$record/name"
        echo "$suite" >"$record/suite"
        echo test_it.py::test_late >"$record/test"
        echo it was late >"$record/output"
        echo X=y >"$record/environment"
        echo 4 passed, 0 failed, 0 skipped"""})
    assert flaky(output) == ["integration/test_it.py::test_late"]
    assert output.index("    it was late") > max(
        n for n, line in enumerate(output) if line.startswith("== mutants"))
    assert (output[-1], status) == ("15 passed, 0 failed", 0)
