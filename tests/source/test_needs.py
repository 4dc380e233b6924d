# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The compiler and configure refuse a system on which mod_apppool cannot work,
and give the reason (shm/format/needs.h)."""
import subprocess
from pathlib import Path

import pytest

from source import TOP

# A system that lacks something: options of the compiler, or headers that it
# finds before its own, and the reason.
LACKS = {
    "Linux": (["-U__linux__"], {}, "needs Linux"),
    "64 bits": (["-U__SIZEOF_LONG__", "-D__SIZEOF_LONG__=4"], {},
                "needs a 64-bit system"),
    "glibc": ([], {"features.h": ""}, "needs glibc:"),
    "a later glibc": ([], {"features.h":
                           "#define __GLIBC_PREREQ(a, b) ((b) <= 33)\n"},
                      "needs glibc 2.34 or later"),
    "close_range": ([], {"sys/syscall.h":
                         "#define SYS_pidfd_open 1\n#define SYS_openat2 1\n"},
                    "needs the headers of Linux 5.9"),
}


def lacking(what: str, place: Path) -> tuple[list[str], str]:
    flags, headers, why = LACKS[what]
    for header, text in headers.items():
        (place / header).parent.mkdir(parents=True, exist_ok=True)
        (place / header).write_text(text)
    return [*flags, f"-I{place}"], why


def preprocess(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["gcc", "-E", *flags, f"-I{TOP}", "shm/format/needs.h"], cwd=TOP, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_here() -> None:
    assert preprocess().returncode == 0


@pytest.mark.parametrize("what", list(LACKS))
def test_compiler(what: str, tmp_path: Path) -> None:
    flags, why = lacking(what, tmp_path)
    done = preprocess(*flags)
    assert done.returncode != 0
    assert f"#error mod_apppool {why}" in done.stderr


@pytest.mark.parametrize("what", ["Linux", "64 bits"])
def test_configure(what: str, tmp_path: Path) -> None:
    flags, why = lacking(what, tmp_path / "headers")
    done = subprocess.run(
        [TOP / "configure", f"CPPFLAGS={' '.join(flags)}"], cwd=tmp_path,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode != 0
    last = done.stdout.splitlines()
    assert any(line.startswith("configure: error: mod_apppool " + why)
               for line in last), done.stdout[-2000:]
