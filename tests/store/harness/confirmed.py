# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Does a cluster keep each write that the slaves have confirmed?

An error as a reply says nothing about the write: it may be there. So the writer
leaves the key alone, and goes on when one write of its own succeeds."""
import socket
import time

from harness.checker import State
from harness.failover import Failover, Patient
from harness.servers import Server

NOT_CONFIRMED = b"SERVER_ERROR not confirmed by a slave"


class Confirmed(Patient):
    def is_served(self, connection: socket.socket) -> bool:
        connection.sendall(b"set probe-%d 0 0 1\r\nx\r\n" % self.number)
        return connection.recv(100) == b"STORED\r\n"

    def batch(self, connection: socket.socket) -> None:
        """If several writes wait together, the error is the only reply, and the
        connection ends."""
        strange = len(self.strange)
        try:
            super().batch(connection)
        finally:
            new = self.strange[strange:]
            self.strange[strange:] = [line for line in new
                                      if line != NOT_CONFIRMED]
        if new:
            raise ConnectionResetError("a write was not confirmed")


class Kept(Failover):
    """Of what was acknowledged, at most as many changes are lost as the master
    has counted."""

    def __init__(self, server: Server, seed: int) -> None:
        super().__init__(server, seed)
        self.kind = Confirmed

    def note(self, states: list[State], number: int) -> None:
        here = max((n for n, state in enumerate(states)
                    if state.number == number), default=len(states))
        self.lost += [time.monotonic() for state in states[here + 1:]
                      if state.when is not None]
