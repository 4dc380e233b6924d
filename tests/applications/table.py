#!/usr/bin/env python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The tables of all layouts in doc/apps.md, and their number in README.md.

    tests/applications/table.py --write

writes them, from what build/apppoolctl detects; without --write it tells
whether they are up to date."""
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Callable

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "tests" / "applications"))
import layouts  # noqa: E402
import npm  # noqa: E402

# The beginning of a command, and what it means.
RUNNERS = (("python3 \"$APPPOOL_HELPERS/python/listen.py", "itself"),
           ("python3 \"$APPPOOL_HELPERS", "the module's loader"),
           ("uvicorn", "uvicorn"), ("gunicorn", "its command"),
           ("env PATH=", "its start script"),
           ("export PATH=", "its start script"), ("node ", "node"),
           ("env -u NOTIFY_SOCKET", "puma"), ("puma", "its command"),
           ("perl ", "the module's loader"), ("MOJO", "Mojolicious"),
           ("env PHP_FCGI", "php-cgi"), ("./", "itself"),
           ("bundle ", "its command"), ("python3 ", "its command"))
PEERS = TOP / "tests" / "applications" / "peers.json"
BEGIN, END = "<!-- tests/applications/table.py%s -->\n", "<!-- end -->\n"


def put(root: Path, files: dict[str, str]) -> None:
    """Write the files of a layout."""
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)


def runner(command: str) -> str:
    if command.startswith("PYTHONPATH="):
        command = command.partition(" ")[2]
    return next(what for begin, what in RUNNERS if command.startswith(begin))


def table(file_of: Callable[[layouts.Layout], str]) -> str:
    """@param file_of the file that decides"""
    rows: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    stand_ins = {one.of for one in layouts.ALL} \
        - {one.of for one in layouts.ALL if not one.stands_in} \
        - {project.framework for project in npm.PROJECTS.values()}
    for one in layouts.ALL:
        rows[one.of, runner(one.command)][f"`{file_of(one)}`"] = None
    lines = ["| application | a file that decides | run by |", "|---|---|---|"]
    for (of, what), files in rows.items():
        lines.append(f"| {of}{' *' * (of in stand_ins)} | "
                     f"{', '.join(files)} | {what} |")
    lines += [f"| {one.of} | none: `AppCommand \"{one.command}\"` | |"
              for one in layouts.MISSED.values()]
    return "\n".join(lines) + "\n"


def built() -> str:
    """What npm has installed, and its framework has built."""
    first, *others = sorted(npm.NODES)
    lines = [f"Node {first}, {' and '.join(others)} run them, and node "
             f"{npm.NODES[0]} has built them.", "",
             "| package | what is run |", "|---|---|"]
    for one in npm.PROJECTS.values():
        said = ", ".join(way.said for way in one.ways if way.said)
        lines.append(f"| {one.version} | {said} |")
    return "\n".join(lines) + "\n"


def number() -> str:
    """Two sentences of README.md."""
    n, found = len(layouts.ALL) + len(layouts.MISSED), len(layouts.ALL)
    peers = json.loads(PEERS.read_text())
    text = f"Of {n} layouts, {found} run with AppRoot alone " \
        f"({100 * found // n} %). Passenger {peers['version']}, which runs no " \
        f"PHP, runs {peers['Passenger']} of them without a directive of its " \
        f"own, {peers['Passenger, AppType and StartupFile']} with the two that " \
        "name type and file, and " \
        f"{peers['Passenger, AppStartCommand']} with the one that names the " \
        "whole command."
    return textwrap.fill(text, 80, initial_indent="  ", subsequent_indent="  ")


def stale() -> str:
    """What is wrong with the counts of the peers."""
    peers = json.loads(PEERS.read_text())
    compared = peers["mod_apppool"], peers["layouts"]
    now = len(layouts.ALL), len(layouts.ALL) + len(layouts.MISSED)
    return "" if now == compared else \
        f"{now[0]} of {now[1]} layouts are found, and with Passenger " \
        f"{compared[0]} of {compared[1]} were compared: RECORD=1 " \
        "tests/bench/run layouts, and then tests/applications/table.py --write"


def wrong(file_of: Callable[[layouts.Layout], str], write: bool = False
          ) -> list[str]:
    """The documents that are not up to date."""
    found = []
    sentences = re.escape(number().strip())
    sentences = re.sub(r"[0-9.\\]*[0-9]", "[0-9.]+", sentences)
    sentences = " *" + re.sub(r"(\\?\s)+", r"\\s+", sentences)
    places = [("doc/apps.md", BEGIN % kind, made) for kind, made in (
        ("", table(file_of)), (": npm", built()))]
    parts = [(name, f"{begin}\n{made}\n{END}", f"{begin}.*?{END}")
             for name, begin, made in places]
    for name, new, pattern in [*parts, ("README.md", number(), sentences)]:
        path = TOP / name
        text = path.read_text()
        made, n = re.subn(pattern, lambda match: new, text, flags=re.S)
        assert n == 1, f"{name} has no place for it"
        if made != text:
            found.append(name)
            if write:
                path.write_text(made)
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        def file_of(one: layouts.Layout) -> str:
            root = Path(place) / one.name
            put(root, one.files)
            done = subprocess.run(
                [TOP / "build" / "apppoolctl", "detect", "--json", root],
                text=True, capture_output=True, check=True)
            return json.loads(done.stdout)["file"]

        found = wrong(file_of, "--write" in sys.argv)
    print("\n".join(found) or "up to date")
    sys.exit(bool(found) and "--write" not in sys.argv)


if __name__ == "__main__":
    main()
