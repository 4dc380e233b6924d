# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Another build of the module, and its installation over the one that runs."""
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from harness.long import LONG
from harness.places import BUILD, MODULE, TOP, alone

FILES = ("mod_apppool.so", "apppool-watchdog", "apppool-spawner",
         "apppool-store")


def mirror(source: Path, target: Path,
           edit: dict[str, tuple[bytes, bytes]]) -> None:
    """Copy the files that have changed, so make does only the necessary
    work."""
    for path in [source] if source.is_file() else source.rglob("*"):
        if path.is_dir():
            continue
        data = path.read_bytes()
        name = str(path.relative_to(TOP))
        if name in edit:
            assert edit[name][0] in data
            data = data.replace(*edit[name])
        copy = target / name
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)


def new_directive() -> bytes:
    """The row of doc/new-directive.md."""
    text = (TOP / "doc" / "new-directive.md").read_text()
    row = re.search(r"^    SENT\(TIME, AppExample, .*?\)$(?=\n\n)", text,
                    re.M | re.S)
    assert row
    return row[0].encode()


@lru_cache(maxsize=None)
def other_build() -> Path:
    """Everything that apxs.mk makes, with another layout of the segment, as a
    new version may have it. A warning ends the build. test_install installs
    this build, because a build of its own would take 15 s of CPU time. The
    other builds have the same sources and the optimizer of the compiler. It has
    the directive of doc/new-directive.md, too. The store does not depend on the layout: apxs.mk makes it in the long form
    only."""
    source = BUILD / "other-build"
    edit = {"shm/format/format.h": (b"#define APL_FORMAT_VERSION ",
                                    b"#define APL_FORMAT_VERSION 11"),
            "base/settings.def": (b"\n/* clang-format on */",
                                  new_directive() + b"\n/* clang-format on */")}
    with alone():
        for name in ("base", "system", "detect", "watchdog", "shm", "spawner",
                     "mod_apppool", "store", "ctl", "doc", "helpers", "apxs.mk",
                     "sources.mk", "configure.ac"):
            mirror(TOP / name, source, edit)
        done = subprocess.run(
            ["make", "-j2", "-f", "apxs.mk",
             "CFLAGS=-O0 -Werror -U_FORTIFY_SOURCE",
             *(() if LONG else (f"build-apxs/{name}" for name in (
                 "mod_apppool.so", "apppool-watchdog", "apppool-spawner",
                 "apppoolctl", "apppool.load")))],
            cwd=source, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=600)
        if not LONG:
            shutil.copy2(BUILD / "apppool-store", source / "build-apxs")
    assert done.returncode == 0, done.stdout[-3000:]
    return source / "build-apxs"


def this_build() -> dict[str, Path]:
    return {name: MODULE if name == MODULE.name else BUILD / name
            for name in FILES}


def install(target: Path, files: dict[str, Path]) -> None:
    """As a package manager does it: each file is written beside the old one
    and then renamed."""
    target.mkdir(exist_ok=True)
    for name, path in files.items():
        shutil.copy2(path, target / f"{name}.new")
        (target / f"{name}.new").rename(target / name)
