#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Draw the folders of the code in levels, as text.

    tests/source/picture.py

The picture is made from the table `layers`, which test_layers.py compares with
the includes. A folder is one level above the highest folder that
it may include. The counts are those of the includes."""
import re
from collections.abc import Callable

from source import HOUSES, MAY, c_files, cycles, folder, name, own_includes

def picture() -> str:
    """The folders of each level, highest level first."""
    level: dict[str, int] = {}
    while len(level) < len(MAY):
        for one in MAY:
            if (MAY[one] - {one}) <= set(level):
                level[one] = max((level[other] + 1
                                  for other in MAY[one] - {one}), default=0)
    lines = []
    for number in range(max(level.values()), -1, -1):
        line = f"    {number:2} "
        for one in sorted(one for one in MAY if level[one] == number):
            if len(line) + 2 + len(one) > 78:
                lines.append(line)
                line = " " * 7
            line += "  " + one
        lines.append(line)
    return "\n".join(lines) + "\n"


def graph(node: Callable[[str], str]) -> dict[str, set[str]]:
    """Each node with the nodes that its files include. @param node the node
    for the name of a file"""
    found: dict[str, set[str]] = {}
    for path in c_files(*HOUSES):
        own = node(name(path))
        found.setdefault(own, set()).update(
            {node(header) for header in own_includes(path)} - {own})
    return found


def counts() -> str:
    folders = graph(folder)
    files = graph(lambda file: re.sub(r"\.[ch]$", "", file))
    edges = sum(len(others) for others in folders.values())
    loops = cycles(files)
    return (f"{len(folders)} folders, {edges} edges, "
            f"{len(cycles(folders))} cycles\n"
            f"{len(files)} files (x.c and x.h are one), {len(loops)} cycles of "
            f"{sum(map(len, loops))} files\n")


if __name__ == "__main__":
    print(picture() + "\n" + counts(), end="")
