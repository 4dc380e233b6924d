# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a process takes of a core."""
import os
import time

from harness import procs

TICK = os.sysconf("SC_CLK_TCK")


def used(pid: int) -> float:
    """Seconds, without its children's."""
    fields = procs.read(pid, "stat").rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def share(pid: int, seconds: float = 5) -> float:
    """Of one core, over some seconds: 0 to 1."""
    before, since = used(pid), time.monotonic()
    time.sleep(seconds)
    return (used(pid) - before) / (time.monotonic() - since)
