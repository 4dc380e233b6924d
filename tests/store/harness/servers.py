# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Servers under test: each has a directory and a Unix socket of its own."""
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Optional

from missed import witnesses
from until import until

from harness.places import MEMCACHED, TEMPORARY
from harness.ports import reserve_port

CRASHES = {-sign for sign in (
    signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE,
    signal.SIGTRAP, signal.SIGSYS)}
PATIENCE = 60.0  # seconds until a server that does not answer is hung
SOON = 0.002  # seconds between the first checks; the store is fast


def wait_until(condition: Callable[[], object], what: str,
               seconds: float = PATIENCE) -> None:
    until(condition, what, seconds, SOON)


class Server:
    """A server that listens on a Unix socket. It is started and stopped any
    number of times. Use as context manager: it is started, and destroyed."""
    name = ""

    def __init__(self) -> None:
        self.dir = Path(tempfile.mkdtemp(prefix="apst-", dir=TEMPORARY))
        self.dir.chmod(0o755)
        self.words = self.dir / "stderr"
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.claims: list[socket.socket] = []  # of its ports
        self.past: list[int] = []  # the statuses of its processes that ended
        witnesses.append(self.damage)

    def damage(self) -> list[str]:
        """What no test may cause. It stays known when the server is gone."""
        now = [] if self.process is None else [self.process.poll()]
        return [f"{self.name} ended with {status}"
                for status in [*self.past, *now] if status in CRASHES]

    @property
    def path(self) -> Path:
        return self.dir / "socket"

    @property
    def address(self) -> str:
        """For a program that has a path or HOST:PORT as argument."""
        return str(self.path)

    @property
    def pid(self) -> int:
        assert self.process is not None, "not started"
        return self.process.pid

    def command(self) -> list[str]:
        raise NotImplementedError

    def options(self) -> dict[str, Any]:
        """More arguments of Popen."""
        return {}

    def free_port(self) -> int:
        """A port that no other test gets before this server is destroyed."""
        port, claim = reserve_port()
        self.claims.append(claim)
        return port

    def start(self) -> None:
        with self.words.open("ab") as words:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL,
                stdout=words, stderr=words, **self.options())
        wait_until(self.answers, f"{self.name} answers")

    def answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"{self.name} ended with "
                                 f"{self.process.returncode}: {self.output()}")
        try:
            self.connect().close()
        except OSError:
            return False
        return True

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        try:
            connection.connect(str(self.path))
        except OSError:
            connection.close()
            raise
        return connection

    def output(self) -> str:
        return self.words.read_text(errors="replace")[-4000:]

    def end(self, sign: int = signal.SIGTERM) -> int:
        """Send the signal, wait for its end. @return its status"""
        assert self.process is not None
        self.process.send_signal(sign)
        status = self.process.wait(PATIENCE)
        self.past.append(status)
        self.process = None
        return status

    def again(self) -> None:
        """A new process without what the old one held."""
        if self.process is not None:
            self.end(signal.SIGKILL)
        self.forget()
        self.start()

    def forget(self) -> None:
        """Drop what outlives a process."""

    def destroy(self) -> None:
        if self.process is not None:
            self.end(signal.SIGKILL)
        self.forget()
        for claim in self.claims:
            claim.close()
        shutil.rmtree(self.dir)

    def __enter__(self) -> "Server":
        try:
            self.start()
        except BaseException:
            self.destroy()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()


class Memcached(Server):
    """Debian's memcached. What it can switch off, and ours does not have, is
    off: then it refuses these commands."""
    name = "memcached"

    def __init__(self, size: int = 64, threads: int = 4) -> None:
        """@param size MiB"""
        super().__init__()
        self.size, self.threads = size, threads

    def command(self) -> list[str]:
        self.path.unlink(missing_ok=True)
        user = ["-u", "root"] if os.getuid() == 0 else []
        return [str(MEMCACHED), "-s", str(self.path), "-a", "0700",
                "-m", str(self.size), "-t", str(self.threads), "-c", "1024",
                "-W", "-o", "no_slab_reassign,no_lru_crawler,"
                "no_lru_maintainer", *user]
