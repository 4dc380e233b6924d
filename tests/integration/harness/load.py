# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Load from many clients (harness.clients), in a process of its own."""
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Optional

from missed import witnesses

from harness import clients, history
from harness.history import Attempt

PROGRAM = clients.__file__

# Enough workers from the start, so httpd does not close kept connections to
# get new ones.
WORKERS = {
    "prefork": ["StartServers 120", "MinSpareServers 20",
                "MaxSpareServers 120"],
    "event": ["StartServers 6", "ThreadsPerChild 32", "MinSpareThreads 96",
              "MaxSpareThreads 256", "MaxRequestWorkers 256"],
}
WORKERS["worker"] = WORKERS["event"]


class Crowd(NamedTuple):
    """The clients of an app. Times are in seconds."""
    count: int
    host: str
    kept: bool = False  # one connection for all its requests
    pause: float = 0.05  # between a response and the next request
    work: float = 0.002  # of the app for each request
    size: int = 0  # bytes of a response, at least

    def word(self) -> str:
        return (f"{self.count},{self.host},{int(self.kept)},{self.pause},"
                f"{self.work},{self.size}")


def half_and_half(count: int, host: str, pause: float = 0.05,
                  work: float = 0.002) -> list[Crowd]:
    """Half of them keep their connections."""
    return [Crowd(count // 2, host, True, pause, work),
            Crowd(count - count // 2, host, False, pause, work)]


class Load:
    def __init__(self, port: int, record: Path, crowds: list[Crowd]) -> None:
        witnesses.append(lambda: ["nothing has judged the load"])
        self.record = record
        self.process: Optional[subprocess.Popen[bytes]] = subprocess.Popen(
            [sys.executable, "-IS", PROGRAM, str(port), str(record),
             *(crowd.word() for crowd in crowds)], stdin=subprocess.PIPE)

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def so_far(self) -> list[Attempt]:
        return history.read_attempts(self.record)

    def end(self) -> list[Attempt]:
        """Finish open requests. @return the attempts of all clients"""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(clients.PATIENCE + 10) == 0
        self.process = None
        return self.so_far()

    def kill(self) -> None:
        """For a test that ends without end()."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
