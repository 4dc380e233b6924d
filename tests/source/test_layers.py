# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which files may include which others (the table `layers`), and which may use
what."""
import re
from pathlib import Path

import pytest

from source import HOUSES, MAY, TOP, c_files, code, cycles, folder, name, \
    own_includes, system_includes, uses

# Each header with the files that may include it, as prefixes.
ONLY = {
    "sys/pidfd.h": ("nothing: glibc 2.34 has none",),
    "pthread.h": ("shm/lock/lock.c", "store/",
                  "mod_apppool/parent/instance_list.c"),
    "sys/mman.h": ("shm/format/segment.c", "shm/view/snapshot.c",
                   "system/environ_scan.c",
                   "spawner/process/sid_scan.c",
                   "spawner/spawner.c", "store/memory/",
                   "spawner/control/status_job.c",
                   "mod_apppool/parent/instance_list.c",
                   "mod_apppool/parent/store_parts.c"),
    "linux/futex.h": ("shm/lock/lock.c", "shm/lock/wake.c"),
    "jansson.h": ("base/json_reader", "detect/",
                  "shm/view/report", "shm/view/view.h",
                  "shm/view/problems",
                  "store/server/store_config", "spawner/",
                  "ctl/", "mod_apppool/"),
    "httpd.h": ("mod_apppool/",),
    "http_config.h": ("mod_apppool/",),
    "http_log.h": ("mod_apppool/",),
    "mod_proxy.h": ("mod_apppool/",),
}

# Headers that have a part for each of several files of their folder.
OF_A_FOLDER = ("mod_apppool/config/checks.h", "mod_apppool/parent/parent.h",
               "mod_apppool/status/status.h", "shm/recovery/recovery.h",
               "shm/view/view.h", "spawner/control/control.h",
               "spawner/end/end.h", "spawner/output/output.h",
               "spawner/report/reports.h", "spawner/spawner.h",
               "spawner/start/start.h")

# Functions with the files that may call them.
FORKS = {
    "ctl/httpd_test.c",
    "ctl/permission.c",
    "mod_apppool/parent/exec_program.c",
    "spawner/report/notify_command.c",
    "spawner/start/boot.c",
    "system/environ_scan.c",
    "spawner/start/launch.c",
    "spawner/output/log_writer.c",
    "spawner/output/log_program.c",
    "spawner/process/guarded_socket.c",
    "spawner/process/job.c",
    "watchdog/ward.c",
}


def test_every_folder_is_in_the_table() -> None:
    assert {folder(name(path)) for path in c_files(*HOUSES)} == set(MAY)
    assert len(MAY) > 20


@pytest.mark.parametrize("where", list(MAY))
def test_folder(where: str) -> None:
    """A folder includes only what the table allows."""
    for path in sorted((TOP / where).glob("*.[ch]")):
        for header in own_includes(path):
            assert (TOP / header).exists(), f"{name(path)}: {header}"
            assert folder(header) in MAY[where], \
                f"{name(path)} includes {header}"


def test_folders_have_no_cycle() -> None:
    assert cycles({where: others - {where}
                   for where, others in MAY.items()}) == []


def test_files_have_no_cycle() -> None:
    """x.c and x.h are one node: it needs what either of them includes."""
    graph: dict[str, set[str]] = {}
    for path in c_files(*HOUSES):
        node = name(path.with_suffix(""))
        graph.setdefault(node, set()).update(
            {header[:-2] for header in own_includes(path)} - {node})
    found = cycles(graph)
    assert found == []


def declared(header: Path) -> list[str]:
    """The functions that a header declares and does not define."""
    text = re.sub(r"^ *#(.*\\\n)*.*", "", code(header), flags=re.M)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?\s*", "", text)
    while re.search(r"\{[^{}]*\}", text):  # bodies, structures, their inner
        text = re.sub(r"\{[^{}]*\}", ";", text)
    return [match[1] for statement in text.split(";")
            if not re.search(r"\b(typedef|static|_Static_assert)\b", statement)
            and (match := re.search(r"\b(\w+)\s*\(", statement))]


def defined(source: Path) -> set[str]:
    """The functions that a file defines for other files."""
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?\s*", "", code(source))
    return {match[1] for match in re.finditer(
        r"^(?!static\b)\w[^;{}()]*?\b(\w+)\s*\([^;{}]*\)\s*\{", text, re.M)}


def sources(header: Path) -> list[Path]:
    """The files that define what a header declares."""
    if name(header) in OF_A_FOLDER:
        return sorted(header.parent.glob("*.c"))
    return [header.with_suffix(".c")]


def test_header_declares_what_its_file_defines() -> None:
    """x.h declares what x.c defines, so a reader finds it by its name."""
    found = 0
    for path in c_files("shm", "store/memory", "store/server", "mod_apppool",
                        "spawner", "base", "system", "detect", "watchdog"):
        if path.suffix == ".h" and (names := declared(path)):
            there = [source for source in sources(path) if source.exists()]
            assert there, f"{name(path)}: {names}"
            assert set(names) - set().union(*map(defined, there)) == set(), \
                f"declared in {name(path)}, not defined in its files"
            found += len(names)
    # One for each file, because the test searches for them.
    assert found >= len(c_files("shm", "mod_apppool"))


def test_function_is_named_after_its_file() -> None:
    """x.c of the module has apppool_x() and apppool_x_...()."""
    for path in c_files("mod_apppool"):
        if path.suffix == ".h":
            nouns = ["status"] if path.parent.name == "status" else \
                [source.stem for source in sources(path)]
            assert [function for function in declared(path)
                    if not f"{function}_".startswith(tuple(
                        f"apppool_{noun}_" for noun in nouns))
                    ] == [], name(path)


def test_function_begins_with_the_name_of_its_file() -> None:
    """A reader who sees a call knows which file to open."""
    for path in c_files("base", "system", "detect", "watchdog", "spawner"):
        if path.suffix == ".h":
            for function in declared(path):
                assert function.startswith(tuple(
                    source.stem for source in sources(path))), \
                    f"{function}() is declared in {name(path)}"


def test_headers_have_no_cycle() -> None:
    good: set[str] = set()  # no way from these leads back

    def walk(header: str, trail: tuple[str, ...]) -> None:
        assert header not in trail, " -> ".join(trail + (header,))
        if header not in good and (TOP / header).exists():
            for include in own_includes(TOP / header):
                walk(include, trail + (header,))
        good.add(header)

    for path in c_files():
        if path.suffix == ".h":
            walk(name(path), ())


def watchdog() -> list[str]:
    lines = (TOP / "sources.mk").read_text().replace("\\\n", " ")
    line = next(line for line in lines.splitlines()
                if line.startswith("watchdog_sources"))
    return line.partition("=")[2].split()


def test_watchdog_is_libc_only() -> None:
    """It never maps the segment, so the segment cannot break it."""
    seen: set[str] = set()
    todo = watchdog()
    assert "watchdog/watchdog.c" in todo
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
    for path in c_files(*HOUSES):
        if header in system_includes(path) + own_includes(path):
            assert name(path).startswith(ONLY[header]), \
                f"{name(path)} includes {header}"


def test_fork_and_exec() -> None:
    calls = r"\b(v?fork|clone3?|exec[lv]\w*|fexecve|posix_spawnp?|system" \
            r"|popen|apr_proc_(create|fork))\s*\("
    assert set(uses(calls)) <= FORKS


def test_only_segment_maps_the_segment() -> None:
    """The other memfds are those of the store."""
    calls = r"\b(memfd_create|apr_(shm|mmap)_\w+)\s*\("
    assert set(uses(calls)) == {"shm/format/segment.c",
                                "mod_apppool/parent/store_parts.c"}


def test_shm_knows_no_httpd_and_starts_nothing() -> None:
    for path in c_files("shm"):
        assert "request_rec" not in code(path), name(path)


def test_no_unbounded_strings() -> None:
    """Functions that cannot be called safely are not called."""
    assert uses(r"\b(strcpy|strcat|sprintf|vsprintf|gets|mktemp|tmpnam)\s*\("
                ) == []


def test_watchdog_is_linked_with_libc_only() -> None:
    """If it had no list of libraries, automake would give it those of the
    tests."""
    makefile = (TOP / "Makefile.am").read_text().splitlines()
    assert "apppool_watchdog_LDADD =" in makefile
