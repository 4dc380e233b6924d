# Licensed under the Apache License, Version 2.0; see LICENSE.
"""How fast a server answers."""
import threading
import time
from typing import Callable

from harness.client import ask
from harness.servers import Server


class Pace(threading.Thread):
    """One client that sets values, one after the other, and notes how long each
    takes."""

    def __init__(self, server: Server, length: int, keys: int = 500) -> None:
        super().__init__(daemon=True)
        self.server, self.keys = server, keys
        self.value = b"x" * length
        self.took: list[float] = []
        self.stop = threading.Event()

    def run(self) -> None:
        tail = b" 0 0 %d\r\n%s\r\n" % (len(self.value), self.value)
        with self.server.connect() as connection:
            n = 0
            while not self.stop.is_set():
                n += 1
                began = time.perf_counter()
                ask(connection, b"set p%d" % (n % self.keys) + tail)
                self.took.append(time.perf_counter() - began)

    def p99(self) -> float:
        return sorted(self.took)[len(self.took) * 99 // 100]


def measured(server: Server, length: int, until: Callable[[], object]) -> Pace:
    """Sets of this length until it has happened."""
    pace = Pace(server, length)
    pace.start()
    try:
        while not until():
            assert pace.is_alive(), "the connection ended"
            time.sleep(0.01)
    finally:
        pace.stop.set()
        pace.join(60)
    return pace
