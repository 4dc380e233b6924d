# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The live segment, as a hostile child of httpd sees it
(shm/format/format.h)."""
import mmap
import os
import random
import struct
from types import TracebackType
from typing import Optional, Type

from harness import procs
from harness.httpd import Httpd

MAGIC = struct.pack("<Q", 0x6c6f6f706c706141)
# The bytes of a record, and the offsets of words with a meaning.
RECORDS = {"groups": (1600, 0x538), "processes": (256, 0xd0),
           "sessions": (256, 0x50), "children": (64, 0x30)}
LINES = 256 * 2048  # bytes of the ring behind them
NUMBERS = 8192  # bytes of the numbers of a group
PAGE = 4096  # at the end: the numbers begin with a page
LOCK = 64  # of the header


class Segment:
    """with Segment(httpd) as segment: segment.write_word(...)"""

    def __init__(self, httpd: Httpd) -> None:
        for fd in (procs.PROC / str(httpd.pid) / "fd").iterdir():
            if os.readlink(fd).startswith("/memfd:apppool"):
                with open(fd, "r+b") as file:
                    self.memory = mmap.mmap(file.fileno(), 0)
        assert self.memory[:8] == MAGIC
        self.size = self.word(16)
        counts = dict(zip(RECORDS, (self.word(24 + 4 * n) + 1
                                    for n in range(4))))
        scratch = 16 * max(counts[table] - 1 for table in RECORDS
                           if table != "children")
        numbers = NUMBERS * counts["groups"] + PAGE
        at = self.size - numbers - scratch - LINES \
            - sum(counts[table] * RECORDS[table][0] for table in RECORDS)
        self.header = at
        self.tables: dict[str, int] = {}
        for table in RECORDS:
            self.tables[table] = at
            at += counts[table] * RECORDS[table][0]
        assert at + LINES + scratch + numbers == self.size

    def word(self, offset: int) -> int:
        return int.from_bytes(self.memory[offset:offset + 4], "little")

    def write(self, offset: int, data: bytes) -> None:
        self.memory[offset:offset + len(data)] = data

    def write_word(self, offset: int, value: int) -> None:
        self.write(offset, (value & 0xffffffff).to_bytes(4, "little"))

    def sessions_of(self, child: int) -> int:
        """The number of requests of this child of httpd in the pool."""
        size = RECORDS["children"][0]
        for at in range(self.tables["children"], len(self.memory), size):
            state, pid = self.word(at), self.word(at + 8)
            if state == 1 and pid == child:
                return self.word(at + 24)
        return 0

    def somewhere(self, dice: random.Random) -> int:
        """A word of the header, or of one of the first records."""
        where = dice.choice(["header", *RECORDS])
        if where == "header":
            return dice.randrange(0, min(self.header, 600), 4)
        size, used = RECORDS[where]
        return self.tables[where] + dice.randrange(12) * size \
            + dice.randrange(0, used, 4)

    def __enter__(self) -> "Segment":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.memory.close()
