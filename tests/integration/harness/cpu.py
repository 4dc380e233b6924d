# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The CPU time that a process uses."""
import os
import time

from harness import procs

TICK = os.sysconf("SC_CLK_TCK")


def used(pid: int, children: bool = False) -> float:
    """Seconds, without child processes, or with those that it has reaped."""
    fields = procs.read(pid, "stat").rpartition(b")")[2].split()
    return sum(map(int, fields[11:15 if children else 13])) / TICK


def share(pid: int, seconds: float = 5) -> float:
    """The share of one core during some seconds: 0 to 1."""
    before, since = used(pid), time.monotonic()
    time.sleep(seconds)
    return (used(pid) - before) / (time.monotonic() - since)
