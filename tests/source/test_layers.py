# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Who may include whom, and who may use what (ARCHITECTURE)."""
import re
from pathlib import Path

import pytest

from source import TOP, c_files, code, name, own_includes, system_includes, \
    uses

# shm in layers: a file includes only what stands above it, or beside it in
# the same line, or itself.
LAYERS = """
    needs
    step figures
    error format histogram
    alive wake lock
    segment list slot heap
    held
    event group hung
    process
    session repair
    queue
    room restart
    tally trail
    check proof
    retire enter
    child snapshot glance history report_times resident
    checkout checkin report
    supervise children housekeeping maintenance clock
"""
RANK = {noun: rank for rank, line in enumerate(LAYERS.strip().split("\n"))
        for noun in line.split()}

# House: the houses it may include.
MAY = {
    "shm": {"shm"},
    "spawner": {"spawner", "shm"},
    "ctl": {"ctl", "shm", "spawner/contract.h", "spawner/detect.h",
            "spawner/privilege.h", "spawner/rights.h"},
    "mod_apppool": {"mod_apppool", "shm", "spawner/contract.h",
                    "spawner/beat.h", "spawner/detect.h",
                    "spawner/lastwords.h", "spawner/millis.h",
                    "spawner/pidfd.h", "spawner/rights.h",
                    "spawner/userdb.h", "spawner/variable.h"},
}

# Header: the files that may include it, as prefixes.
ONLY = {
    "sys/pidfd.h": ("nothing: glibc 2.34 has none",),
    "pthread.h": ("shm/lock.c",),
    "sys/mman.h": ("shm/segment.c", "shm/snapshot.c",
                   "spawner/marks.c", "spawner/census.c",
                   "spawner/answer.c",
                   "mod_apppool/legacy.c"),
    "linux/futex.h": ("shm/lock.c", "shm/wake.c"),
    "jansson.h": ("shm/report", "spawner/", "ctl/", "mod_apppool/"),
    "httpd.h": ("mod_apppool/",),
    "http_config.h": ("mod_apppool/",),
    "http_log.h": ("mod_apppool/",),
    "mod_proxy.h": ("mod_apppool/",),
}

# Functions: the files that may call them.
FORKS = {"spawner/launch.c", "spawner/boot.c",
         "spawner/errand.c", "spawner/marks.c", "spawner/piped.c",
         "spawner/tell.c",
         "spawner/rights.c", "spawner/ward.c", "spawner/writer.c",
         "mod_apppool/exec.c"}


def test_layers() -> None:
    for path in c_files("shm"):
        assert path.stem in RANK, f"{name(path)} has no place in the layers"
        for header in own_includes(path):
            house, _, file = header.partition("/")
            assert house == "shm", f"{name(path)} includes {header}"
            noun = file.removesuffix(".h")
            assert RANK[noun] <= RANK[path.stem], \
                f"{name(path)} includes {header}, which stands below it"


def declared(header: Path) -> list[str]:
    """The functions that a header declares and does not define."""
    text = re.sub(r"^ *#(.*\\\n)*.*", "", code(header), flags=re.M)
    while re.search(r"\{[^{}]*\}", text):  # bodies, structures, their inner
        text = re.sub(r"\{[^{}]*\}", ";", text)
    return [match[1] for statement in text.split(";")
            if not re.search(r"\b(typedef|static)\b", statement)
            and (match := re.search(r"\b(apl_\w+)\s*\(", statement))]


def defined(source: Path) -> set[str]:
    """The functions that a file defines, for others too."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?\s*", "", code(source))
    return {match[1] for match in re.finditer(
        r"^(?!static\b)\w[^;{}()]*?\b(\w+)\s*\([^;{}]*\)\s*\{", text, re.M)}


def test_header_declares_what_its_file_defines() -> None:
    """shm/x.h declares what shm/x.c defines: one finds it by its name."""
    found = 0
    for path in c_files("shm"):
        if path.suffix == ".h" and (names := declared(path)):
            source = path.with_suffix(".c")
            assert source.exists(), f"{name(path)}: {names}"
            assert set(names) - defined(source) == set(), \
                f"declared in {name(path)}, not defined in {name(source)}"
            found += len(names)
    assert found >= len(c_files("shm"))  # one a file: the test finds them


def test_headers_have_no_cycle() -> None:
    def walk(header: str, trail: tuple[str, ...]) -> None:
        assert header not in trail, " -> ".join(trail + (header,))
        if (TOP / header).exists():
            for include in own_includes(TOP / header):
                walk(include, trail + (header,))

    for path in c_files():
        if path.suffix == ".h":
            walk(name(path), ())


@pytest.mark.parametrize("house", list(MAY))
def test_house(house: str) -> None:
    for path in c_files(house):
        for header in own_includes(path):
            assert header.partition("/")[0] in MAY[house] \
                or header in MAY[house], f"{name(path)} includes {header}"
            assert (TOP / header).exists(), f"{name(path)}: {header}"


def watchdog() -> list[str]:
    lines = (TOP / "sources.mk").read_text().replace("\\\n", " ")
    line = next(line for line in lines.splitlines()
                if line.startswith("watchdog_sources"))
    return line.partition("=")[2].split()


def test_watchdog_is_libc_only() -> None:
    """It never maps the segment, and cannot be broken by it."""
    seen: set[str] = set()
    todo = watchdog()
    assert "spawner/watchdog.c" in todo
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        assert not file.startswith("shm/"), "the watchdog includes shm"
        foreign = [header for header in system_includes(TOP / file)
                   if header.startswith(("apr", "jansson", "http"))]
        assert foreign == [], file
        todo += own_includes(TOP / file)


@pytest.mark.parametrize("header", list(ONLY))
def test_header_is_used_only_by(header: str) -> None:
    for path in c_files("shm", "spawner", "ctl", "mod_apppool"):
        if header in system_includes(path) + own_includes(path):
            assert name(path).startswith(ONLY[header]), \
                f"{name(path)} includes {header}"


def test_fork_and_exec() -> None:
    calls = r"\b(v?fork|clone3?|exec[lv]\w*|fexecve|posix_spawnp?|system" \
            r"|popen|apr_proc_(create|fork))\s*\("
    assert set(uses(calls)) <= FORKS


def test_only_segment_maps_the_segment() -> None:
    calls = r"\b(memfd_create|apr_(shm|mmap)_\w+)\s*\("
    assert set(uses(calls)) == {"shm/segment.c"}


def test_shm_knows_no_httpd_and_starts_nothing() -> None:
    for path in c_files("shm"):
        assert "request_rec" not in code(path), name(path)


def test_no_unbounded_strings() -> None:
    """Functions that cannot be called safely are not called."""
    assert uses(r"\b(strcpy|strcat|sprintf|vsprintf|gets|mktemp|tmpnam)\s*\("
                ) == []


def test_watchdog_is_linked_with_libc_only() -> None:
    """Without libraries of its own, automake gives it those of the tests."""
    makefile = (TOP / "Makefile.am").read_text().splitlines()
    assert "apppool_watchdog_LDADD =" in makefile
