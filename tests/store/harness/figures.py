# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a store shows of its cluster (base/store_figures.h)."""
import struct
from typing import NamedTuple


class Slave(NamedTuple):
    """store_slave_figures_t"""
    address: str
    joined: int
    yrmcds: int
    complete: int
    lag: int
    lag_ms: int
    sent: int


ALONE, MASTER, SLAVE = range(3)
SPACES, SPACE, NAME = 1088, 264, 64  # store_space_figures_t
WORKERS, WORKER, COUNTERS = 68672, 256 * 320, 320  # of each worker and space
THREADS = 16
UNCONFIRMED, NOT_CONFIRMED = 24, 25
SIZE = 2 << 20
# store_space_figures_t, behind the name
OF_SPACE = ("size", "used", "items", "items_total", "item_bytes", "evictions",
            "evicted_age", "reclaimed", "expired", "page_moves", "connections")


def slots(data: bytes, space: str) -> list[int]:
    name = space.encode() + b"\0"
    return [n for n in range(256) if data.startswith(name, SPACES + n * SPACE)]


def figure(data: bytes, space: str, what: str) -> int:
    """@param data all figures"""
    return sum(struct.unpack_from(
        "<Q", data, SPACES + slot * SPACE + NAME + 8 * OF_SPACE.index(what))[0]
        for slot in slots(data, space))


def counted(data: bytes, space: str, what: int) -> int:
    """A counter of this space, of all workers. @param data all figures"""
    return sum(struct.unpack_from(
        "<Q", data, WORKERS + thread * WORKER + slot * COUNTERS + 8 * what)[0]
        for slot in slots(data, space) for thread in range(THREADS))


class Figures:
    """store_cluster_figures_t of base/store_figures.h"""
    MISSING = 40  # store_figures_t.missing_listeners
    FIELDS = ("connected", "complete", "yrmcds", "received", "relayed",
              "unsent", "dropped", "pausing", "ready", "missing_listeners",
              "lag_ms", "age_ms", "why", "epoch", "epoch_number", "position")
    AT, ENTRIES, ENTRY = 256, 256 + 8 * 2 + 48 + 8 * 8 + 64, 48 + 8 * 6 + 32

    def __init__(self, data: bytes) -> None:
        magic, version = struct.unpack_from("<QI", data)
        assert (magic, version) == (0x31676966726f7453, 2), "other figures"
        self.role, self.since = struct.unpack_from("<2Q", data, self.AT)
        self.of = dict(zip(self.FIELDS, struct.unpack_from(
            "<16Q", data, self.AT + 64)))
        self.missing = self.of["missing_listeners"] + struct.unpack_from(
            "<Q", data, self.MISSING)[0]
        self.slaves = []
        for n in range(5):
            at = self.ENTRIES + n * self.ENTRY
            address, *rest = struct.unpack_from("<48s6Q", data, at)
            if rest[0]:
                self.slaves.append(
                    Slave(address.rstrip(b"\0").decode(), *rest))
