# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Many processes that have nothing to do with httpd. They show how long the
spawner takes to respond, and how much CPU time it uses."""
import os
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness import procs
from harness.httpd import Httpd
from harness.places import APPS

HERTZ = os.sysconf("SC_CLK_TCK")


def quiet(where: Path) -> Path:
    """The program apps/quiet.c, in this directory: an app, or processes of
    others."""
    program = where / "quiet"
    if not program.exists():
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-static", "-o",
                        program, APPS / "quiet.c"], check=True)
    return program


@contextmanager
def strangers(program: Path, n: int) -> Iterator[None]:
    """They end with their parent, and the parent with its standard input."""
    with subprocess.Popen([program, str(n)], cwd="/", stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as crowd:
        assert crowd.stdin and crowd.stdout
        try:
            assert crowd.stdout.read(1) == b"r", "they cannot be made"
            yield
        finally:
            crowd.stdin.close()


def cpu(pid: int) -> tuple[float, float]:
    """Seconds that it has used, with child processes that have ended."""
    fields = procs.read(pid, "stat").decode().rpartition(")")[2].split()
    children = sum(int(n) for n in fields[13:15]) / HERTZ
    return int(procs.read(pid, "schedstat").split()[0]) / 1e9, children


def query(httpd: Httpd, question: str) -> bytes:
    """The response of the spawner, which it sends between two turns of its
    loop."""
    response = b""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(300)
        client.connect(str(httpd.runtime / "control.sock"))
        client.sendall(question.encode() + b"\n")
        while piece := client.recv(65536):
            response += piece
    return response


class Querier(threading.Thread):
    """Sends the same command again and again."""

    def __init__(self, httpd: Httpd) -> None:
        super().__init__()
        self.httpd = httpd
        self.over = threading.Event()
        self.took: list[float] = []

    def run(self) -> None:
        while not self.over.wait(0.002):
            began = time.monotonic()
            assert query(self.httpd, "nothing")
            self.took.append(time.monotonic() - began)

    def end(self) -> float:
        """@return the longest wait for a response"""
        self.over.set()
        self.join()
        return max(self.took)
