# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The Python programs of apps/, compiled once and not at each of some thousand
starts, where that is a quarter of the time until the program runs."""
import functools
import py_compile
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
