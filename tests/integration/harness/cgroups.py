# Licensed under the Apache License, Version 2.0; see LICENSE.
"""cgroup v2, where there is one."""
import os
from pathlib import Path
from typing import Optional


def mounts() -> list[str]:
    """Where it is mounted."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4] for line in lines if " - cgroup2 " in line]


def own() -> Optional[Path]:
    """The directory of our cgroup."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::") and mounts():
            return Path(mounts()[0] + line[3:])
    return None


def of_instance(instance: str) -> Optional[Path]:
    place = own()
    return place / f"apppool-{instance}" if place else None


def usable() -> bool:
    """May cgroups be made, and their processes be killed?"""
    place = own()
    if place is None:
        return False
    probe = place / f"apppool-probe-{os.getpid()}"
    try:
        probe.mkdir()
    except OSError:
        return False
    can_kill = (probe / "cgroup.kill").exists()
    probe.rmdir()
    return can_kill


def remove(instance: str) -> None:
    """Whatever a broken test left."""
    place = of_instance(instance)
    if place is None or not place.exists():
        return
    for path in (*place.glob("*/"), place):
        try:
            path.rmdir()
        except OSError:
            pass


# Runs a command where no cgroup v2 may be written to.
READ_ONLY = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             "".join(f"mount -o remount,bind,ro {mount} && "
                     for mount in mounts()) + 'exec "$@"', "sh"]
