# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Does a cluster keep what it has promised, when its master changes under load?

Replication is asynchronous. What was acknowledged may be missing only if a slave
may not have had it yet, when the master died. Nothing else is missing, no value
goes back a second time, no deleted key returns, and no cas is given twice."""
import socket
import time
from pathlib import Path
from typing import Callable

from harness.checker import NO_GAP, Checker, Gap, State, Writer
from harness.cluster import Cluster
from harness.servers import PATIENCE, Server


class Patient(Writer):
    """It connects again, whenever its connection ends. It leaves keys alone
    whose last change may be still on its way. So it changes nothing before it
    knows that it is served: a host that has just got the address may close many
    connections."""
    failures = 0

    def is_served(self, connection: socket.socket) -> bool:
        connection.sendall(b"version\r\n")
        return connection.recv(100).startswith(b"VERSION")

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                with self.server.connect() as connection:
                    served = self.is_served(connection)
                    while served and not self.stop.is_set() and \
                            len(self.certain()) > 50:
                        self.batch(connection)
            except OSError:
                self.failures += 1
            self.stop.wait(0.02)


class Failover(Checker):
    def __init__(self, server: Server, seed: int, has_cas: bool = True) -> None:
        super().__init__(server, seed, has_cas)
        self.kind = Patient
        self.gap = NO_GAP
        self.lost: list[float] = []  # when a lost change was acknowledged:
        # seconds after the gap began

    def during(self, event: Callable[[], Gap]) -> None:
        """Load for some time, the event at any moment of it, and load after it.
        Then all keys are read.
        @param event returns what may be lost"""
        self.load()
        try:
            self.writers[0].stop.wait(self.random.uniform(0.5, 1))
            self.wait_for(self.random.randrange(500, 1500))
            self.gap = event()
            self.wait_for(300)
        finally:
            self.settle()
        self.read(self.gap)

    def values(self, keys: list[str]) -> dict[str, tuple[bytes, int]]:
        """A client that finds no master in time connects again."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return super().values(keys)
            except (OSError, AssertionError):
                if time.monotonic() > end:
                    raise

    def note(self, states: list[State], number: int) -> None:
        """A change that was acknowledged before the gap ended is lost."""
        here = max((n for n, state in enumerate(states)
                    if state.number == number), default=len(states))
        self.lost += [state.when - self.gap.begin for state in states[here + 1:]
                      if state.when is not None]


def sudden(what: Callable[[], None], lag: float) -> Gap:
    """Do it. The changes of the last `lag` s before it may be lost."""
    before = time.monotonic()
    what()
    return Gap(before - lag, time.monotonic())


def waited(cluster: Cluster) -> float:
    """Seconds for which threads of its servers were ready and had no CPU. A
    slave is later by at most that."""
    return sum(int(file.read_text().split()[1])
               for node in cluster.running
               for file in Path(f"/proc/{node.member.pid}/task").glob(
                   "*/schedstat")) / 1e9
