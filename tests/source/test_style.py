# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The form of the source: licence, ASCII, length, clang-format, cppcheck."""
import re
import shutil
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from source import HOUSES, TOP, c_files, lists, name

LICENCE = "Licensed under the Apache License, Version 2.0; see LICENSE."
LONGEST = 800  # lines

SCRIPTS = [TOP / ".ci" / "run", TOP / "demo" / "run", TOP / "tests" / "soak",
           TOP / "tests" / "quick" / "coverage",
           *(path for path in (TOP / "tests").rglob("run")
             if path.is_file())]
BENCHES = [TOP / "demo" / "picture",
           *(path for path in (TOP / "tests" / "bench").iterdir()
             if path.is_file() and path not in SCRIPTS)]
SOURCES = c_files() + SCRIPTS + BENCHES + sorted(
    path for pattern in ("*.py", "*.sh", "*.js", "*.cjs", "*.rb", "*.ru", "*.mk",
                    "*.pml", "*.css", "*.awk",
                    "*.dict")
    for place in ("tests", "demo", "helpers", "mod_apppool")
    for path in (TOP / place).rglob(pattern))


def but(condition: Callable[[bytes], object], files: list[Path]) -> list[str]:
    """The files for which the condition is false."""
    return [name(path) for path in files if not condition(path.read_bytes())]


def test_licence() -> None:
    made = [TOP / file for file in ("configure.ac", "Makefile.am")]
    assert but(lambda data: LICENCE.encode() in data[:200],
               SOURCES + made) == []


def test_ascii() -> None:
    assert but(bytes.isascii, SOURCES) == []


def test_white_space() -> None:
    """No tab, no space at a line's end, one newline at the end."""
    make = [path for path in SOURCES if path.suffix != ".mk"]
    assert but(lambda data: b"\t" not in data, make) == []
    assert but(lambda data: not re.search(rb"[ \t]$", data, re.M),
               SOURCES) == []
    assert but(lambda data: data.endswith(b"\n")
               and not data.endswith(b"\n\n"), SOURCES) == []


def test_length() -> None:
    assert but(lambda data: data.count(b"\n") <= LONGEST, SOURCES) == []


def test_columns_of_comments() -> None:
    """clang-format leaves comments as they are. It sees to all other lines."""
    wide = [f"{name(path)}:{number}" for path in c_files(*HOUSES)
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if len(line) > 80 and re.match(r"\s*\*|.*/\*", line)]
    assert wide == []


def test_scripts() -> None:
    for path in SCRIPTS:
        assert path.stat().st_mode & 0o111, f"{name(path)}: not executable"
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_clang_format() -> None:
    program = shutil.which("clang-format-14") or "clang-format"
    version = subprocess.run([program, "--version"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    if "version 14." not in version:
        pytest.skip(f"other versions format otherwise: {version.strip()}")
    done = subprocess.run(
        [program, "--dry-run", "-Werror", *map(name, c_files())], cwd=TOP,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong = re.findall(r"^([^:\n]+):\d+:\d+: error", done.stdout, re.M)
    assert sorted(set(wrong)) == []
    assert done.returncode == 0, done.stdout[:2000]


# cppcheck does not find the headers of libraries, and from 2.14 on it stops at a
# macro that it does not know in a text.
UNKNOWN = {"APR_OFF_T_FMT": "ld", "APR_SIZE_T_FMT": "lu", "APR_INT64_T_FMT": "ld",
           "APR_UINT64_T_FMT": "lu", "APR_UINT64_T_HEX_FMT": "lx",
           "APR_SSIZE_T_FMT": "ld",
           "APR_PID_T_FMT": "d", "JSON_INTEGER_FORMAT": "lld",
           "APPPOOL_VERSION": "0", "APPPOOL_RUNTIME_DIR": "/run"}
# That a check is not exhaustive is no fault of the code.
SUPPRESSED = ("missingIncludeSystem", "normalCheckLevelMaxBranches")


def test_macros_of_formats() -> None:
    """An older cppcheck does not stop at one that is missing."""
    used = {macro for path in c_files(*HOUSES) for macro in re.findall(
        r"\b(?:APR|JSON)_\w+_(?:FMT|FORMAT)\b", path.read_text())}
    assert used and used <= set(UNKNOWN)


@pytest.mark.parametrize("house", HOUSES)
def test_cppcheck(house: str) -> None:
    done = subprocess.run(
        ["cppcheck", "--quiet", "--std=c11", "--language=c",
         "--enable=warning,performance,portability", "--inline-suppr",
         *(f"--suppress={what}" for what in SUPPRESSED), "--error-exitcode=1",
         "-I.", "-D__linux__", "-D__cppcheck__",
         *(f'-D{macro}="{text}"' for macro, text in UNKNOWN.items()), house],
        cwd=TOP, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout[:3000]


def test_lists_of_sources() -> None:
    """sources.mk names all source files, and nothing else."""
    of = lists()
    there = {name(path) for path in c_files(*HOUSES) if path.suffix == ".c"}
    listed = [file for key in ("shm", "store_memory", "store_protocol",
                               "store_cluster", "store_server", "module",
                               "watchdog", "spawner", "ctl")
              for file in of[f"{key}_sources"]] + of["spawner_main"] + of["store_main"]
    assert set(listed) == there
    tests = {name(path) for path in c_files("tests")
             if path.suffix == ".c"}
    assert tests == {f"{program}.c" for key in (
            "unit_tests", "bench_programs", "fuzz_programs", "fuzz_seeds")
                     for program in of[key]} \
        | {file for key in of if key.endswith("_sources")
           for file in of[key] if file.startswith("tests/")}


def test_threads_are_looked_at() -> None:
    """Tests that have threads run with ThreadSanitizer."""
    of = lists()
    threads = {test for test in of["unit_tests"]
               if "pthread_create" in (TOP / f"{test}.c").read_text()}
    assert threads - {"tests/unit/hostile"} <= set(of["threaded_tests"])
    assert set(of["threaded_tests"]) <= set(of["unit_tests"])


def test_version_is_in_one_place() -> None:
    version = re.search(r"AC_INIT\(\[mod_apppool\], \[([\d.]+)\]\)",
                        (TOP / "configure.ac").read_text())
    assert version
    for path in c_files(*HOUSES):
        assert f'"{version[1]}"' not in path.read_text(), name(path)
