# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The source tree for the tests in this folder."""
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
HOUSES = ("base", "system", "shm", "store", "detect", "watchdog", "spawner",
          "ctl", "mod_apppool")


def c_files(*houses: str) -> list[Path]:
    """Our .c and .h files: of these top folders, or of all."""
    return sorted(path for house in houses or HOUSES + ("tests",)
                  for path in (TOP / house).rglob("*.[ch]"))


def name(path: Path) -> str:
    return str(path.relative_to(TOP))


def code(path: Path) -> str:
    """The text without comments. Line numbers stay the same."""
    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0][0] in "\"'" \
            else re.sub(r"[^\n]", " ", match[0])

    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                  r"|//[^\n]*|/\*.*?\*/", blank, path.read_text(), flags=re.S)


def own_includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)


def system_includes(path: Path) -> list[str]:
    return re.findall(r"^\s*#\s*include\s+<([^>]+)>", path.read_text(), re.M)


def uses(word: str, *houses: str) -> list[str]:
    """Files whose code matches a regular expression."""
    return [name(path) for path in c_files(*houses or HOUSES)
            if re.search(word, code(path))]


def lists() -> dict[str, list[str]]:
    """The lists of sources.mk."""
    text = (TOP / "sources.mk").read_text().replace("\\\n", " ")
    pairs = (line.partition("=") for line in text.splitlines()
             if "=" in line and not line.startswith("#"))
    return {key.strip(): value.split() for key, _, value in pairs}


def layers() -> dict[str, set[str]]:
    """Each folder with the folders that it may include. Each one may include
    base/."""
    text = (TOP / "tests" / "source" / "layers").read_text()
    lines = re.sub(r"\n {15,}", " ", text.partition("\nfolder ")[2])
    may: dict[str, set[str]] = {}
    for line in lines.splitlines()[1:]:
        folder, *others = line.replace(" - ", " ").split()
        may[folder] = {folder, "base"} | set(others) - {"-"}
    shm = {folder for folder in may if folder.startswith("shm/")}
    for folder, others in may.items():
        if "shm" in others:
            may[folder] = others - {"shm"} | shm
    return may


MAY = layers()


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of nodes that all reach each other."""
    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for node in graph.get(todo.pop(), set()) - seen:
                seen.add(node)
                todo.append(node)
        return seen

    reach = {node: reached(node) for node in graph}
    found: list[set[str]] = []
    for node in sorted(graph):
        cycle = {other for other in reach[node] if node in reach.get(other, ())}
        if len(cycle) > 1 and cycle not in found:
            found.append(cycle)
    return found


def folder(file: str) -> str:
    return file.rpartition("/")[0]
