# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications of Debian, from packages that are unpacked and not installed
(tests/lib/setup.sh). Each test gets a copy that lies below a directory as it
would lie below /."""
import os
import shutil
import subprocess
from pathlib import Path
from types import FunctionType

from harness.places import TOP, alone

UNPACKED = TOP / "build" / "packaged"


def unpacked(package: str, place: Path) -> None:
    """Its files below this place, which is made."""
    assert (UNPACKED / package).exists(), \
        f"{package} is not there: tests/run unpacks it"
    shutil.copytree(UNPACKED / package, place, symlinks=True)


def relocate(place: Path) -> None:
    """Symbolic links lead where they would if this place was /: to a file
    below it, or else to that of a package that is installed."""
    for link in [path for path in place.rglob("*") if path.is_symlink()]:
        goal = os.path.normpath(
            "/" / link.parent.relative_to(place) / os.readlink(link))
        here = place / goal[1:]
        link.unlink()
        link.symlink_to(os.path.relpath(here, link.parent)
                        if here.parent.exists() else goal)


def kept(name: str, make: FunctionType, place: Path) -> None:
    """What make() makes at a place, which takes long: made when the file that
    says how has changed, and copied."""
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
    """A command that sets an application up."""
    done = subprocess.run(command, cwd=directory, text=True,
                          env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}:\n{done.stdout}"
