# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The programs of apps/, compiled once. A Python program would be compiled at
each of some thousand starts, where that is a quarter of the time until it runs.
A program in C takes 0.1 s of CPU time."""
import functools
import os
import py_compile
import subprocess
import tempfile
from pathlib import Path

from harness.places import APPS

IMPORTED = "serial_server.py"  # by some of the others


@functools.cache
def compiled(name: str) -> bytes:
    """The content of its .pyc file."""
    with tempfile.TemporaryDirectory() as scratch:
        path = py_compile.compile(str(APPS / name), f"{scratch}/it",
                                  doraise=True)
        assert path is not None
        return Path(path).read_bytes()


def put_compiled(name: str, place: Path) -> Path:
    """The path of the program in this directory, beside what it imports."""
    for one in {name, IMPORTED}:
        path = place / f"{one}c"
        if not path.exists():
            path.write_bytes(compiled(one))
    return place / f"{name}c"


@functools.cache
def built(name: str, *options: str) -> bytes:
    """The program of this C file."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o",
                        f"{scratch}/it", APPS / name, *options], check=True)
        return Path(f"{scratch}/it").read_bytes()


def put_built(path: Path, name: str, *options: str) -> None:
    """Put it where all users may execute it."""
    path.write_bytes(built(name, *options))
    path.chmod(0o755)
