# Licensed under the Apache License, Version 2.0; see LICENSE.
"""How late was the machine? A time may be longer than the limit by this.

A limit that also holds on a loaded machine would be no limit. So the share of
the machine is measured: how long a thread that only sleeps did not run, how
much CPU time the host took, and how long the processes that a test waits for
were stopped, or ready and did not run.

    with Late(spawner) as late: ...
    late.within(1)"""
import os
import threading
import time
from bisect import bisect_left
from types import TracebackType
from typing import Optional, Type

from missed import Missed

from harness import procs

BEAT = 0.1  # seconds
SLACK = 0.005  # a delay of timers that any machine may have
TICK = os.sysconf("SC_CLK_TCK")


def opened(name: str) -> int:
    """A descriptor that stays open: the heart reads it again and again."""
    try:
        return os.open(name, os.O_RDONLY)
    except OSError:
        return -1  # this kernel has no such file


STAT, PRESSURE = opened("/proc/stat"), opened("/proc/pressure/cpu")


def stolen() -> float:
    """Seconds for which the host did not run our CPUs."""
    return int(os.pread(STAT, 500, 0).split(None, 9)[8]) / TICK


def contention() -> float:
    """Seconds for which some thread was ready to run and had no CPU."""
    try:
        line = os.pread(PRESSURE, 500, 0).partition(b"\n")[0]
    except OSError:
        return 0.0
    return int(line.rpartition(b"=")[2]) / 1e6


class Heart:
    """A thread that beats during the tests."""

    def __init__(self) -> None:
        # Time of day, sum of delays, sum of seconds in which some thread had
        # no CPU.
        self.beats: list[tuple[float, float, float]] = []
        self.late = 0.0
        threading.Thread(target=self.beat, daemon=True).start()

    def beat(self) -> None:
        last, taken = time.monotonic(), stolen()
        while True:
            time.sleep(BEAT)
            now, more = time.monotonic(), stolen()
            over = now - last - BEAT
            self.late += (over if over > SLACK else 0.0) + more - taken
            last, taken = now, more
            self.beats.append((time.time(), self.late, contention()))

    def between(self, since: float, until: float) -> tuple[float, float]:
        """Between these times of day: for how many seconds the machine was
        late, and for how many some thread waited for a CPU. The heart may not
        have beaten in that time: the beats before and after it know."""
        seen = self.beats[max(bisect_left(self.beats, (since,)) - 1, 0):]
        seen = seen[:bisect_left(seen, (until,)) + 1]
        shared = [min(after[0], until) - max(before[0], since)
                  for before, after in zip(seen, seen[1:])]
        late, contended = (
            sum(min(after[n] - before[n], most)
                for before, after, most in zip(seen, seen[1:], shared))
            for n in (1, 2))
        silent = until - max(seen[-1][0] if seen else until, since)
        return late + (silent if silent > 2 * BEAT else 0.0), contended


HEART = Heart()


def machine_was_still(until: float, seconds: float) -> bool:
    """In the seconds before that time of day, did a thread that only sleeps not
    run for a second?"""
    return HEART.between(until - seconds, until)[0] >= 1


def machine_was_late(until: float, seconds: float) -> bool:
    """Was the load in the seconds before that time of day so high that a
    process may not have run?"""
    return machine_was_still(until, seconds) or \
        HEART.between(until - seconds, until)[1] >= 0.8 * seconds


def waited(pid: int) -> dict[str, int]:
    """Nanoseconds for which each thread was ready to run and had no CPU."""
    found = {}
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
                found[tid] = int(file.read().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass  # it has ended; its last value is kept
    return found


class Late:
    """The delays of these processes, from now on until the block ends."""

    def __init__(self, *pids: int) -> None:
        self.pids = pids
        self.began = self.took = self.heart = self.stopped = 0.0
        self.before: dict[str, int] = {}
        self.after: dict[str, int] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def waited_now(self) -> dict[str, int]:
        seen: dict[str, int] = {}
        for pid in self.pids:
            seen.update(waited(pid))
        return seen

    def watch(self) -> None:
        last = time.monotonic()
        while not self.ended.wait(BEAT):
            self.after.update(self.waited_now())
            now = time.monotonic()
            if any(procs.threads(pid) & {"T", "t"} for pid in self.pids):
                self.stopped += now - last
            last = now

    @property
    def seconds(self) -> float:
        """The share of the machine in the time that it took."""
        return HEART.late - self.heart + self.stopped + sum(
            ns - self.before.get(tid, 0) for tid, ns in self.after.items()
        ) / 1e9

    def within(self, limit: float, what: str = "this") -> None:
        """Fail if the block took longer than this limit of the design."""
        if self.took >= limit + self.seconds:
            raise Missed(f"{what} took {self.took:.2f} s; the limit is {limit} "
                         f"s, and the machine was {self.seconds:.2f} s late")

    def __enter__(self) -> "Late":
        self.before, self.heart = self.waited_now(), HEART.late
        self.thread.start()
        self.began = time.monotonic()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.took = time.monotonic() - self.began
        self.ended.set()
        self.thread.join()
        self.after.update(self.waited_now())
