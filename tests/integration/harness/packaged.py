# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications of Debian, from packages that are unpacked and not installed
(tests/lib/setup.sh). Each test gets a copy, whose directory takes the place of
/."""
import os
import shutil
import subprocess
from pathlib import Path
from types import FunctionType

from harness.places import TOP, alone

UNPACKED = TOP / "build" / "packaged"


def unpacked(package: str, place: Path) -> None:
    """Make this directory, with the files of the package below it."""
    assert (UNPACKED / package).exists(), \
        f"{package} is not there: tests/run unpacks it"
    shutil.copytree(UNPACKED / package, place, symlinks=True)


def relocate(place: Path) -> None:
    """Make symbolic links lead to a file below this directory, as if it was /,
    or else to a file of an installed package."""
    for link in [path for path in place.rglob("*") if path.is_symlink()]:
        goal = os.path.normpath(
            "/" / link.parent.relative_to(place) / os.readlink(link))
        here = place / goal[1:]
        link.unlink()
        link.symlink_to(os.path.relpath(here, link.parent)
                        if here.parent.exists() else goal)


def kept(name: str, make: FunctionType, place: Path) -> None:
    """Copy what make() makes, which takes long. It is made again only when the
    file with make() has changed."""
    store = UNPACKED / f"{name}.made"
    recipe = Path(make.__code__.co_filename)
    with alone():
        if not store.exists() or \
                store.stat().st_mtime < recipe.stat().st_mtime:
            shutil.rmtree(store, ignore_errors=True)
            new = UNPACKED / f"{name}.new"
            shutil.rmtree(new, ignore_errors=True)
            make(new)
            new.touch()
            new.rename(store)
    shutil.copytree(store, place, symlinks=True, dirs_exist_ok=True)


def run(directory: Path, *command: str, **environment: str) -> None:
    """A command that sets up an application."""
    done = subprocess.run(command, cwd=directory, text=True,
                          env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}:\n{done.stdout}"
