# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What must be gone when httpd has stopped."""
import os
import stat
from pathlib import Path
from typing import Iterable

from harness import procs
from harness.cgroups import of_instance


def processes(directory: Path, segments: set[int], born: int) -> list[str]:
    """Processes that use this directory, or that have one of these segments
    mapped. Processes that started earlier do not count."""
    found = []
    for pid in procs.newer(born):
        if procs.is_marked(pid, str(directory)):
            found.append(f"process {pid}: {procs.command(pid)}")
        if procs.segments(pid) & segments:
            found.append(f"shared memory of {pid}: {procs.command(pid)}")
    return found


def files(directory: Path) -> list[str]:
    """Sockets and FIFOs in this directory."""
    found = []
    for place, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(place, name)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                continue
            if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
                found.append(f"socket or FIFO {path}")
    return found


def cgroups(instances: Iterable[str]) -> list[str]:
    return [f"cgroup {path}" for instance in instances
            if (path := of_instance(instance)) is not None and path.exists()]
