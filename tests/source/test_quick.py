# Licensed under the Apache License, Version 2.0; see LICENSE.
"""tests/run quick: the unit tests that follow a change, and the cases that pass
each folder of the product."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from source import HOUSES, TOP, c_files, code, lists, name

QUICK = TOP / "tests" / "quick"
sys.path.insert(0, str(QUICK))
import changes  # noqa: E402
import choose  # noqa: E402
from graph import Graph  # noqa: E402

# All include base.h. The tests reach near.c, and what it uses, by the scene.
TREE = {
    "shm/base.h": "",
    "shm/near.h": '#include "shm/base.h"\nint near_take(void);\n',
    "shm/near.c": '#include "shm/near.h"\n#include "shm/far.h"\n',
    "shm/far.h": '#include "shm/base.h"\nint far_go(void);\n'
                 "int far_come(void);\n",
    "shm/far.c": '#include "shm/far.h"\nint far_go(void) {}\n',
    "shm/come.c": '#include "shm/near.h"\n#include "shm/far.h"\n'
                  "int far_come(void)\n{\n    near_take();\n}\n",
    "shm/alone.h": "int alone(void);",
    "shm/alone.c": '#include "shm/alone.h"\n',
    "store/lone.h": "int lone(void);",
    "tests/unit/support/scene.h": '#include "shm/near.h"',
    "tests/unit/support/scene.c": '#include "tests/unit/support/scene.h"\n',
    "tests/unit/a_constant.c": '#include "shm/far.h"\n',
    "tests/unit/both.c": '#include "shm/far.h"\nfar_go(); far_come();',
    "tests/unit/also.c": '#include "shm/far.h"\nfar_go();',
    "tests/unit/far_again.c": '#include "tests/unit/support/scene.h"\n'
                              "near_take();",
    "tests/unit/scene.c": '#include "tests/unit/support/scene.h"\n'
                          "near_take(); far_go(); far_come();",
    "tests/unit/lone.c": '#include "store/lone.h"\n',
    "tests/unit/store_lone.c": '#include "store/lone.h"\n',
}
TESTS = [file[:-2] for file in sorted(TREE) if file.startswith("tests/unit/")
         and "support" not in file]
GRAPH = Graph(TREE)
FAR = ["far_again", "both", "also", "scene", "a_constant"]


def units(*files: str, limit: int = 60) -> list[str]:
    """The names of the tests that a change of these files chooses."""
    return [line.removeprefix("unit tests/unit/")
            for line in choose.plan(list(files), GRAPH, TESTS, limit)
            if line.startswith("unit ")]


@pytest.mark.parametrize("file, chosen", [
    ("shm/base.h", ["both", "also", "scene", "far_again", "a_constant"]),
    ("shm/near.c", ["far_again", "scene"]),
    ("shm/near.h", ["far_again", "scene"]),
    ("shm/far.c", FAR),
    ("shm/far.h", FAR),
    ("shm/come.c", ["both", "also", "scene", "far_again",
                     "a_constant"]),  # far.h declares its function
    ("shm/alone.c", []),
    ("store/lone.h", ["store_lone", "lone"]),
    ("tests/unit/lone.c", ["lone"]),
    ("tests/unit/support/scene.c", ["scene", "far_again"]),
    ("tests/unit/gone.c", []),
])
def test_tests_of_a_change(file: str, chosen: list[str]) -> None:
    """First those with the name of the file, then the nearest, and of those the
    ones that use most. The last ones use nothing."""
    assert units(file) == chosen


def test_several_files() -> None:
    """A test has its best place, and one that was changed itself is first."""
    assert units("shm/far.c", "tests/unit/a_constant.c") \
        == ["a_constant", *FAR[:-1]]


def test_left_out() -> None:
    """gcc compiles the tests after a change of a header: what does not fit is
    named. After a change of a .c file, all tests run."""
    assert units("shm/far.h", limit=2) == FAR[:2]
    lines = choose.plan(["shm/far.h"], GRAPH, TESTS, 2)
    assert "say 2 of 7 unit tests" in lines
    assert [line for line in lines if "left out" in line] == [
        "say left out, as a header was changed, and they are farther from it: "
        "also scene a_constant"]
    for file, limit in ("shm/far.h", 5), ("shm/far.c", 2):
        lines = choose.plan([file], GRAPH, TESTS, limit)
        assert "say 5 of 7 unit tests" in lines
        assert not any("left out" in line for line in lines)


def test_file_without_a_unit_test() -> None:
    lines = choose.plan(["shm/alone.c", "shm/far.c"], GRAPH, TESTS)
    assert [line for line in lines if "no unit test" in line] == [
        "say no unit test includes shm/alone.c"]


@pytest.mark.parametrize("file, wanted", [
    ("tests/integration/test_http.py", "integration test_http.py"),
    ("tests/integration/test_bad_places.py", "integration test_bad_places.py"),
    ("tests/store/test_load.py", "store test_load.py"),
    ("tests/integration/chaos_kills.py", "say left out: "
     "tests/integration/chaos_kills.py, which takes long; "
     "tests/integration/run chaos_kills.py runs it"),
    ("tests/crash/scenes.c", "say left out: tests/crash, which was changed; "
     "tests/run crash runs it"),
    ("tests/store/test_gone.py", "say removed: tests/store/test_gone.py"),
    ("tests/integration/chaos_gone.py",
     "say removed: tests/integration/chaos_gone.py"),
    *((f"tests/{suite}/{file}", f"say left out: what uses tests/{suite}/{file}; "
       f"tests/run {suite} runs it")
      for suite, file in (("integration", "harness/httpd.py"),
                          ("integration", "apps/sample/sample.c"),
                          ("integration", "conftest.py"),
                          ("store", "harness/kinds.py"))),
])
def test_other_tests(file: str, wanted: str) -> None:
    """A file that was removed has no tests, and pytest would refuse its name."""
    lines = choose.plan([file], GRAPH, TESTS)
    assert wanted in lines and "cases" in lines
    assert not any(line.startswith(("integration ", "store "))
                   for line in lines if line != wanted)


PASSES = "import pytest\n\n\n@pytest.mark.parametrize('n', range({}))\n" \
    "def test_it(n): pass\n"


@pytest.mark.parametrize("files, wanted", [
    ({"test_a.py": PASSES.format(3)}, [f"test_a.py::test_it[{n}]"
                                       for n in range(3)]),
    ({"test_a.py": PASSES.format(25)}, [f"test_a.py::test_it[{n}]"
                                        for n in range(20)]),
    ({"test_a.py": PASSES.format(3), "test_b.py": "import nothing_like_it\n"},
     ["test_a.py", "test_b.py"]),
    ({"test_b.py": "def broken(:\n"}, ["test_b.py"]),
])
def test_cases_of_changed_files(tmp_path: Path, files: dict[str, str],
                                wanted: list[str]) -> None:
    """A file that cannot be imported is not left out."""
    place = tmp_path / "tests" / "store"
    place.mkdir(parents=True)
    for file, text in files.items():
        (place / file).write_text(text)
    function = re.search(r"^bounded\(\) \{\n.*?^\}\n",
                         (QUICK / "run").read_text(), re.M | re.S)
    assert function
    done = subprocess.run(
        ["bash", "-uc", f'{function[0]}bounded store "$@"', "_", *files],
        env={**os.environ, "top": str(tmp_path), "scratch": str(tmp_path),
             "PYTHON": "/usr/bin/python3"}, text=True, stdout=subprocess.PIPE,
        check=False)
    assert done.stdout.splitlines() == wanted
    left = tmp_path / "left"
    assert len(left.read_text().splitlines() if left.exists() else []) \
        == (5 if len(wanted) == 20 else 0)


@pytest.mark.parametrize("files, cases", [
    (["doc/usage.md", "CHANGES", "README.md", "tests/source/test_docs.py"],
     False),
    (["doc/usage.md", "helpers/node/listen.cjs"], True),
    (["sources.mk"], True),
    ([], True),
])
def test_documents_run_no_program(files: list[str], cases: bool) -> None:
    assert ("cases" in choose.plan(files, GRAPH, TESTS)) == cases


def test_of_this_tree() -> None:
    """A part of the pool, one of the store, and a header that all include."""
    graph = Graph({name(path): code(path) for path in c_files()})
    tests = lists()["unit_tests"]
    assert graph.nearest(["shm/slots/hung.c"], tests)[:3] == [
        f"tests/unit/{test}" for test in ("hung_extra", "hung_credit", "hung")]
    store = graph.nearest(["store/memory/evict.c"], tests)
    assert "tests/unit/store_changes" in store[:10]
    assert all(test.startswith("tests/unit/store_") for test in store)
    lines = choose.plan(["shm/format/format.h"], graph, tests)
    left = next(line for line in lines if "left out" in line)
    assert f"say {choose.LIMIT} of {len(tests)} unit tests" in lines
    assert len(left.partition(": ")[2].split()) > 40


class Repository:
    def __init__(self, top: Path) -> None:
        self.top = top
        self.git("init", "-q")

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b",
                        "-C", self.top, *words], check=True,
                       stdout=subprocess.DEVNULL)

    def commit(self, *files: str) -> None:
        for file in files:
            (self.top / file).write_text(file)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "more")


def test_changed_files(tmp_path: Path) -> None:
    here = Repository(tmp_path)
    here.commit("a", "b")
    last = "changed by the last commit"
    assert changes.changed(tmp_path) == (["a", "b"], last)
    here.commit("c d")
    assert changes.changed(tmp_path) == (["c d"], last)
    (tmp_path / "new").touch()
    (tmp_path / "a").write_text("other")
    (tmp_path / "b").unlink()
    here.git("add", "a")
    assert changes.changed(tmp_path) == (["a", "b", "new"],
                                         "changed since the last commit")
    assert changes.changed(tmp_path, "HEAD~1")[0] == ["a", "b", "c d", "new"]


def test_no_repository(tmp_path: Path) -> None:
    """Nor is a folder of one that has other files."""
    with pytest.raises(changes.NoHistory, match="not a git repository"):
        changes.changed(tmp_path)
    Repository(tmp_path)
    (tmp_path / "sub").mkdir()
    with pytest.raises(changes.NoHistory, match="is no repository"):
        changes.changed(tmp_path / "sub")


def cases() -> dict[str, list[str]]:
    """The folders of tests/quick/cases, each with the cases that it is passed
    by."""
    found: dict[str, list[str]] = {}
    for line in (QUICK / "cases").read_text().splitlines():
        if line.startswith("    "):
            found[folder].append(line.strip())
        elif line and not line.startswith("#"):
            folder = line
            assert folder not in found, folder
            found[folder] = []
    return found


def test_each_folder_has_a_case() -> None:
    """A new folder of the product needs one; tests/quick/coverage tells
    which cases pass it."""
    folders = {name(path.parent) for path in c_files(*HOUSES)
               if path.suffix == ".c"}
    folders |= {file.rpartition("/")[0] for file in lists()["language_helpers"]}
    assert set(cases()) == folders
    assert [folder for folder, some in cases().items() if not some] == []


def test_each_case_is_there() -> None:
    every = [case for some in cases().values() for case in some]
    assert len(every) == len(set(every)) == 42
    for folder in ("integration", "store"):
        wanted = {case.removeprefix(folder + "/") for case in every
                  if case.startswith(folder + "/")}
        files = sorted({case.partition("::")[0] for case in wanted})
        if not files:
            continue
        done = subprocess.run(
            ["/usr/bin/python3", "-B", "-m", "pytest", "-q", "--collect-only",
             "-p", "no:cacheprovider", "--rootdir=.", *files],
            cwd=TOP / "tests" / folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        assert wanted - set(done.stdout.splitlines()) == set(), \
            done.stdout[-1000:]


def test_both_mpms() -> None:
    every = " ".join(case for some in cases().values() for case in some)
    assert len(re.findall("prefork", every)) > 4
    assert len(re.findall("event", every)) > 4
