# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The programs need no later glibc than README.md says. So they can be built
and run on a system whose newest glibc is that one."""
import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.places import BUILD, MODULE, TOP

LATEST = (2, 34)
# Of this one on, a program that is built there calls functions that older ones do
# not have, whatever its source says.
TOO_NEW = (2, 38)
PROGRAMS = [MODULE, BUILD / "apppool-watchdog", BUILD / "apppool-spawner",
            BUILD / "apppool-store", BUILD / "apppoolctl"]


def wanted(text: str) -> dict[tuple[int, int], set[str]]:
    """Functions by their version of glibc, as objdump -T prints them."""
    found: dict[tuple[int, int], set[str]] = {}
    for major, minor, name in re.findall(
            r"\*UND\*.*\(?GLIBC_(\d+)\.(\d+)[.\d]*\)?\s+(\S+)$", text, re.M):
        found.setdefault((int(major), int(minor)), set()).add(name)
    return found


def here() -> tuple[int, ...]:
    name = os.confstr("CS_GNU_LIBC_VERSION") or ""
    return tuple(int(word) for word in name.split()[1].split("."))


@pytest.mark.skipif(here() >= TOO_NEW,
                    reason="built with glibc 2.38 or later, they need that one")
@pytest.mark.mpms("event")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_versions(program: Path) -> None:
    found = wanted(subprocess.run(["objdump", "-T", program], check=True,
                                  text=True, stdout=subprocess.PIPE).stdout)
    assert "read" in set().union(*found.values()), "it can be read"
    late = {version: names for version, names in found.items()
            if version > LATEST}
    assert late == {}


@pytest.mark.mpms("event")
def test_readme() -> None:
    major, minor = LATEST
    readme = (TOP / "README.md").read_text()
    assert f"glibc {major}.{minor} or later" in readme
    assert f"glibc {major}.{minor} or later" \
        in (TOP / "shm/format/needs.h").read_text()
