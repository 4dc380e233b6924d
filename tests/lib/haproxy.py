# Licensed under the Apache License, Version 2.0; see LICENSE.
"""haproxy's own socket: `stats socket` in its configuration."""
import socket
from pathlib import Path


def listens(path: Path) -> bool:
    """The socket has a name some time before haproxy listens there."""
    with socket.socket(socket.AF_UNIX) as asked:
        return asked.connect_ex(str(path)) == 0


def uses(path: Path, server: str, backend: str = "shop") -> bool:
    """Does haproxy send requests to this server? "UP 1/2" means that the last check
    has failed."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(str(path))
        asked.sendall(b"show stat\n")
        with asked.makefile() as response:
            lines = [line.split(",") for line in response]
    status, = [line[lines[0].index("status")] for line in lines
               if line[:2] == [backend, server]]
    return status.startswith(("UP", "no check"))
