# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Does a server keep what it has acknowledged, when it is killed under load?

Each key has one writer, whose values rise. A writer notes each change before it
is sent, and the time of each reply. So for each key it is known which states it
may be in: that of the last change that was acknowledged, or of one that was sent
after it. After each kill all keys are read, and compared with that."""
import re
import socket
import threading
import time
from random import Random
from typing import NamedTuple, Optional

from missed import Missed, witnesses

from harness.servers import Server

WRITERS = 4
KEYS = 300  # of each writer
BATCH = 16  # commands that are sent at once
GONE = -1
LENGTHS = [1, 10, 100, 1000, 9000, 20_000]


class Wrong(NamedTuple):
    what: str
    key: str
    found: Optional[int]
    allowed: list[int]


class State:
    """Of a key, after a change that was sent."""
    __slots__ = ("number", "sent", "when")

    def __init__(self, number: int, sent: float,
                 when: Optional[float] = None) -> None:
        self.number = number
        self.sent = sent
        self.when = when  # acknowledged; None: not yet


class Gap(NamedTuple):
    """What was acknowledged between these times may be lost. A writer may read
    a reply some time after it has come, but it was not there before the command
    was sent."""
    begin: float
    end: float

    def spares(self, state: State) -> bool:
        return state.when is not None and not (
            self.begin < state.when and state.sent < self.end)


NO_GAP = Gap(0, 0)


def allowed(states: list[State], gap: Gap) -> list[int]:
    last = max(n for n, state in enumerate(states) if gap.spares(state))
    return [state.number for state in states[last:]]


def value(key: str, number: int, length: int) -> bytes:
    """Each part of a value contains its key and its number."""
    word = f"{key}={number};".encode()
    return word * (length // len(word) + 1)


def number_of(key: str, data: bytes) -> Optional[int]:
    """@return None: these are parts of several values, or of another key"""
    word = data[:data.find(b";") + 1]
    found = re.fullmatch(rb"%s=(\d+);" % key.encode(), word)
    if not found or data != word * (len(data) // len(word)):
        return None
    return int(found[1])


class Writer(threading.Thread):
    """Changes its keys until the connection ends. After that a new writer goes
    on with the same states."""

    def __init__(self, name: int, server: Server, random: Random,
                 states: dict[str, list[State]], counts: list[int]) -> None:
        super().__init__(daemon=True)
        self.number, self.server, self.random = name, server, random
        self.states = states
        self.counts = counts  # the last value, and the acknowledged commands
        self.stop = threading.Event()
        self.strange: list[bytes] = []

    def change(self, key: str) -> tuple[bytes, int]:
        """A command, and the state after it."""
        if self.random.random() < 0.15:
            return f"delete {key}\r\n".encode(), GONE
        self.counts[0] += 1
        data = value(key, self.counts[0], self.random.choice(LENGTHS))
        # A set of the binary protocol would be the same verb.
        return b"set %s 0 0 %d\r\n%s\r\n" % (key.encode(), len(data), data), \
            self.counts[0]

    def batch(self, connection: socket.socket) -> None:
        keys = self.random.sample(self.certain(), BATCH)
        sent, after = b"", []
        for key in keys:
            command, number = self.change(key)
            state = State(number, time.monotonic())
            self.states[key].append(state)
            sent += command
            after.append(state)
        connection.sendall(sent)
        received = b""
        for n, state in enumerate(after):
            while received.count(b"\r\n") <= n:
                part = connection.recv(1 << 16)
                if not part:
                    raise ConnectionResetError
                received += part
            line = received.split(b"\r\n")[n]
            if line in ((b"DELETED", b"NOT_FOUND") if state.number == GONE
                        else (b"STORED",)):
                state.when = time.monotonic()
                self.counts[1] += 1
            else:
                self.strange.append(line)

    def certain(self) -> list[str]:
        """Keys without a change that may still be on its way."""
        return [key for key, states in self.states.items()
                if states[-1].when is not None]

    def run(self) -> None:
        try:
            with self.server.connect() as connection:
                while not self.stop.is_set():
                    self.batch(connection)
        except OSError:
            pass  # it was killed


class Checker:
    def __init__(self, server: Server, seed: int, has_cas: bool = True) -> None:
        """@param has_cas no two items have the same one"""
        self.server, self.random = server, Random(seed)
        self.has_cas = has_cas
        self.states = [{f"{n}-{k}": [State(GONE, 0, 0)] for k in range(KEYS)}
                       for n in range(WRITERS)]
        self.counts = [[0, 0] for _ in range(WRITERS)]
        self.cas: dict[int, tuple[str, int]] = {}
        self.wrong: list[Wrong] = []
        self.writers: list[Writer] = []
        self.kind = Writer
        witnesses.append(lambda: [*self.wrong, *(
            line for writer in self.writers for line in writer.strange)])

    @property
    def acknowledged(self) -> int:
        return sum(counts[1] for counts in self.counts)

    def load(self) -> None:
        self.writers = [
            self.kind(n, self.server, Random(self.random.random()),
                   self.states[n], self.counts[n]) for n in range(WRITERS)]
        for writer in self.writers:
            writer.start()

    def settle(self) -> None:
        for writer in self.writers:
            writer.stop.set()
        for writer in self.writers:
            writer.join()
            self.wrong += [Wrong(f"reply {line!r}", str(writer.number), None,
                                 []) for line in writer.strange]

    def wait_for(self, commands: int, seconds: float = 60) -> None:
        """Until so many more are acknowledged."""
        wanted = self.acknowledged + commands
        end = time.monotonic() + seconds
        while self.acknowledged < wanted:
            assert any(writer.is_alive() for writer in self.writers), \
                "the writers do not write"
            if time.monotonic() > end:
                raise Missed(f"after {seconds} s still not: {commands} are "
                             "acknowledged")
            time.sleep(0.0005)

    def round(self, kill: bool = True) -> None:
        """Load, and a kill at any moment of it. Then all keys are read."""
        self.load()
        self.wait_for(self.random.randrange(1, 2000))
        if kill:
            self.server.end(9)
            self.settle()
            self.server.start()
        else:
            self.settle()
        self.read()

    def read(self, gap: Gap = NO_GAP) -> None:
        for states in self.states:
            keys = list(states)
            for at in range(0, len(keys), 50):
                self.compare(keys[at:at + 50], states, gap)

    def compare(self, keys: list[str], states: dict[str, list[State]],
                gap: Gap) -> None:
        found = self.values(keys)
        for key in keys:
            data, cas = found.get(key, (b"", 0))
            number = number_of(key, data) if key in found else GONE
            may = allowed(states[key], gap)
            if number is None or number not in may:
                what = "damaged" if number is None else \
                    "missing" if number == GONE else \
                    "returned" if may == [GONE] else \
                    "older" if number < min(may) else "unknown"
                self.wrong.append(Wrong(what, key, number, may))
            elif number != GONE and self.has_cas and self.cas.setdefault(
                    cas, (key, number)) != (key, number):
                self.wrong.append(Wrong(f"cas {cas} again", key, number, []))
            if number is not None:
                self.note(states[key], number)
                # From now on this is the truth.
                now = time.monotonic()
                states[key][:] = [State(number, now, now)]

    def note(self, states: list[State], number: int) -> None:
        """The states that a key may have had, and the one that it has."""

    def values(self, keys: list[str]) -> dict[str, tuple[bytes, int]]:
        """What the server holds, with cas values."""
        found = {}
        with self.server.connect() as connection, \
                connection.makefile("rb") as lines:
            connection.sendall(f"gets {' '.join(keys)}\r\n".encode())
            while (line := lines.readline()) not in (b"END\r\n", b""):
                _, key, _, length, cas = line.split()
                found[key.decode()] = lines.read(int(length)), int(cas)
                lines.readline()
            assert line, "the connection ended"
        return found
