# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Changes of the spawner's registry (spawner/process/registry.h) between two
spawners."""
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness.httpd import Httpd
from harness.procs import frozen, kill9

SIZE = 512
LAYOUT = struct.Struct("=IIQQqqQiIIHHIII256sIIIQQI")
FIELDS = ("magic", "state", "id", "start", "began", "deadline", "print",
          "pid", "uid", "gid", "listen", "protocol",
          "port", "concurrency", "stops_itself", "name", "says_ready",
          "owner", "kind", "template_id", "stamp", "output_only")
BOOTING, LIVE, ENDING = 1, 2, 3
TEMPLATE = 1


def read(path: Path) -> list[dict[str, int]]:
    data = path.read_bytes()
    return [dict(zip(FIELDS, LAYOUT.unpack_from(data, at)))
            for at in range(0, len(data) - SIZE + 1, SIZE)]


def templates(httpd: Httpd) -> list[dict[str, int]]:
    """The records of templates."""
    return [record for record in read(httpd.runtime / "registry")
            if record["kind"] == TEMPLATE]


def write(path: Path, index: int, **fields: int) -> None:
    """Change some fields of a record."""
    record = {**read(path)[index], **fields}
    with open(path, "r+b") as file:
        file.seek(index * SIZE)
        file.write(LAYOUT.pack(*(record[name] for name in FIELDS)))


@contextmanager
def between_spawners(httpd: Httpd) -> Iterator[Path]:
    """The spawner was killed, and no other one starts before the end of the
    block."""
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")
    with frozen(watchdog):
        kill9(spawner)
        yield httpd.runtime / "registry"
