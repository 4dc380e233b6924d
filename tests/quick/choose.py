# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What tests/quick/run runs after a change.

It prints lines. Their first word says what follows: `say` a sentence for the
developer, `unit` a unit test, `integration` or `store` a file of tests that was
changed itself and is there, and `cases` says that the forty-two cases are to be run.

After a change of a .c file, a test is only linked and run. That takes 0.15 s,
and all tests that depend on the file run. After a change of a header, gcc
compiles the tests as well. Then the first LIMIT of them run (graph.py), and the
others are named."""
import os
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "source"))
from source import c_files, code, lists, name  # noqa: E402

from changes import NoHistory, changed  # noqa: E402
from graph import Graph  # noqa: E402

LIMIT = 60  # unit tests that gcc compiles
DOCUMENT = re.compile(r"doc/|[A-Z]+$|.*\.md$")
RUN = {"unit", "integration", "store", "source", "quick", "lib", ""}


def suite_of(file: str) -> str:
    match = re.match(r"tests/(\w+)/", file)
    return match[1] if match else ""


def others(files: list[str]) -> list[str]:
    """The tests of other suites, and those of a suite, that were changed."""
    lines = []
    for suite in sorted({suite_of(file) for file in files} - RUN):
        lines.append(f"say left out: tests/{suite}, which was changed; "
                     f"tests/run {suite} runs it")
    for file in files:
        match = re.match(r"tests/(integration|store)/"
                         r"((test|alone|chaos)_\w+\.py$)?", file)
        if not match:
            continue
        if match[3] and not (TOP / file).exists():
            lines.append(f"say removed: {file}")
        elif match[3] == "test":
            lines.append(f"{match[1]} {match[2]}")
        elif match[3]:
            lines.append(f"say left out: {file}, which takes long; "
                         f"tests/integration/run {match[2]} runs it")
        else:
            lines.append(f"say left out: what uses {file}; "
                         f"tests/run {match[1]} runs it")
    return lines


def plan(files: list[str], graph: Graph, tests: list[str],
         limit: int = LIMIT) -> list[str]:
    if files and all(DOCUMENT.match(file) or suite_of(file) == "source"
                     for file in files):
        return ["say only documents: tests/source"]
    chosen = graph.nearest(files, tests)
    if not any(file.endswith(".h") for file in files):
        limit = len(chosen)
    run, left = chosen[:limit], chosen[limit:]
    lines = [f"say {len(run)} of {len(tests)} unit tests"]
    lines += [f"unit {test}" for test in run]
    if left:
        names = " ".join(test.rpartition("/")[2] for test in left)
        lines.append("say left out, as a header was changed, and they are "
                     f"farther from it: {names}")
    alone = [file for file in files if file in graph.texts
             and not suite_of(file) and not graph.nearest([file], tests)]
    if alone:
        lines.append(f"say no unit test includes {' '.join(alone)}")
    return lines + others(files) + ["cases"]


def main() -> None:
    tests = lists()["unit_tests"]
    try:
        files, which = changed(TOP, os.environ.get("SINCE", ""))
        print(f"say {len(set(files))} files were {which}")
    except NoHistory as why:
        files = [f"{test}.c" for test in tests]
        print(f"say what was changed is not known: {why}")
    graph = Graph({name(path): code(path) for path in c_files()})
    print("\n".join(plan(sorted(set(files)), graph, tests)))


if __name__ == "__main__":
    main()
