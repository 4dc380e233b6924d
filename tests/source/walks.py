#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The ways through the code that ARCHITECTURE describes, and their lengths.

    tests/source/walks.py [TREE [FUNCTION...]]

prints for each way the number of files that it enters, and its climbs. A climb
is a call of a file that the way entered earlier and that leads to the caller,
so the reader has to go back. For a TREE whose ARCHITECTURE has no walks, give
the functions with which a way begins.

In ARCHITECTURE a way is a section "The way of ...". A step of it is a line

     1. mod_apppool/request/handler.c: apppool_handler(), called by httpd

Each step is called by the file of an earlier step, or names its caller."""
import re
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[2]
STEP = re.compile(r"^ *(\d+)\. (\S+\.c): (\w+)\(\)(, called by [\w' ]+)?$",
                  re.M)


class Step(NamedTuple):
    number: int
    file: str
    function: str
    outside: bool  # no file of this project calls it


def walks(tree: Path = HERE) -> dict[str, list[Step]]:
    """The walks of ARCHITECTURE: each title with its steps."""
    text = (tree / "ARCHITECTURE").read_text()
    parts = re.split(r"^(The way of .+)\n-+$", text, flags=re.M)[1:]
    found = {}
    for title, body in zip(parts[::2], parts[1::2]):
        body = re.split(r"^.+\n-{4,}$", body, flags=re.M)[0]
        found[title] = [Step(int(number), file, function, bool(outside))
                        for number, file, function, outside
                        in STEP.findall(body)]
    return found


def plain(text: str) -> str:
    """The text without comments, strings and preprocessor lines. Macros that
    define functions are rare enough."""
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)
    return re.sub(r"^ *#(.*\\\n)*.*", "", text, flags=re.M)


def functions(text: str) -> dict[str, str]:
    """The functions that a file defines: each name with its body."""
    found = {}
    for match in re.finditer(
            r"^(?:\w[\w *\n]*?[ *\n])?(\w+)\([^;{}]*\)\s*\{(.*?)^\}",
            plain(text), re.M | re.S):
        found[match[1]] = match[2]
    return found


class Calls:
    """Which function mentions which. To mention a function may be to have it
    called."""

    def __init__(self, tree: Path, *houses: str) -> None:
        self.bodies: dict[str, dict[str, str]] = {}
        self.of: dict[str, str] = {}  # public functions
        for house in houses:
            for path in sorted((tree / house).rglob("*.c")):
                file = str(path.relative_to(tree))
                text = path.read_text()
                self.bodies[file] = functions(text)
                inner = set(re.findall(r"^static\b[^;{}=]*?(\w+)\(",
                                       plain(text), re.M))
                self.of.update({name: file for name in self.bodies[file]
                                if name not in inner})

    def called(self, file: str, function: str) -> list[tuple[str, str]]:
        """Pairs of file and function, in the order of the text."""
        found = []
        for word in re.findall(r"\b[a-z]\w+", self.bodies[file][function]):
            if word in self.bodies[file]:
                found.append((file, word))
            elif word in self.of:
                found.append((self.of[word], word))
        return found

    def walk(self, starts: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
        """The files in the order in which they are entered, and the climbs."""
        files: list[str] = []
        seen: set[tuple[str, str]] = set()
        below: dict[str, set[str]] = {}

        def enter(file: str, function: str) -> None:
            if file not in files:
                files.append(file)
            seen.add((file, function))
            for other, name in self.called(file, function):
                if other != file:
                    below.setdefault(file, set()).add(other)
                if (other, name) not in seen:
                    enter(other, name)

        for file, function in starts:
            enter(file, function)
        return files, [
            f"{file} -> {other}" for file in files
            for other in sorted(below.get(file, set()), key=files.index)
            if files.index(other) < files.index(file)
            and file in reached(below, other)]


def reached(below: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        new = below.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def measure(tree: Path, title: str) -> tuple[list[str], list[str]]:
    """The length of a way of ARCHITECTURE. The way stays in its house:
    ARCHITECTURE describes its calls of shm/ elsewhere."""
    starts = [(step.file, step.function) for step in walks(tree)[title]
              if step.outside]
    return Calls(tree, starts[0][0].partition("/")[0]).walk(starts)


def main(tree: Path, names: list[str]) -> None:
    if names:
        calls = next(calls for calls in (Calls(tree, "mod_apppool"),
                                         Calls(tree, "spawner"))
                     if names[0] in calls.of)
        ways = {", ".join(names): calls.walk(
            [(calls.of[function], function) for function in names])}
    else:
        ways = {title: measure(tree, title) for title in walks(tree)}
    for title, (files, climbs) in ways.items():
        print(f"{title}: {len(files)} files, {len(climbs)} climbs")
        for climb in climbs:
            print(f"    {climb}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else HERE, sys.argv[2:])
