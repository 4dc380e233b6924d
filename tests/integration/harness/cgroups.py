# Licensed under the Apache License, Version 2.0; see LICENSE.
"""cgroup v2, if it exists."""
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional

import pytest

from harness.wait import wait_until


def mounts() -> list[str]:
    """The directories where it is mounted."""
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


def names(runtime: Path) -> set[str]:
    """The cgroups of an instance that runs: ids of the processes in them."""
    place = of_instance((runtime / "instance").read_text())
    return {path.name for path in place.glob("*/")} \
        if place and place.exists() else set()


def usable() -> bool:
    """Can cgroups be made, and their processes be killed?"""
    place = own()
    if place is None:
        return False
    try:
        probe = Path(tempfile.mkdtemp(prefix="apppool-probe-", dir=place))
    except OSError:
        return False
    can_kill = (probe / "cgroup.kill").exists()
    probe.rmdir()
    return can_kill


def remove(instance: str) -> None:
    """Remove what a broken test has left."""
    place = of_instance(instance)
    if not instance or place is None or not place.exists():
        return
    (place / "cgroup.kill").write_text("1")
    wait_until(lambda: "populated 0" in (place / "cgroup.events").read_text(),
               "it is empty")
    for path in (*place.glob("*/"), place):
        try:
            path.rmdir()
        except OSError:
            pass


def _wrapped(script: str) -> list[str]:
    """A wrapper that runs a command after a script, in a mount namespace of
    its own."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            f'{script} exec "$@"', "sh"]


# Runs a command where no cgroup v2 can be written to.
READ_ONLY = _wrapped("".join(f"mount -o remount,bind,ro {mount} && "
                             for mount in mounts()))
# Runs a command where no cgroup is mounted.
ABSENT = _wrapped("".join(f"umount -l {mount} && "
                          for mount in reversed(mounts())))


@contextmanager
def nested() -> Iterator[Path]:
    """A cgroup below ours."""
    parent = own()
    assert parent is not None
    place = Path(tempfile.mkdtemp(prefix="apppool-nest-", dir=parent))
    try:
        yield place
    finally:
        wait_until(lambda: "populated 0" in
                   (place / "cgroup.events").read_text(), "it is empty")
        place.rmdir()


def in_namespace(place: Path) -> list[str]:
    """Runs a command in this cgroup, which is the root of a namespace."""
    return ["sh", "-c", f"echo $$ > {place}/cgroup.procs && "
            'exec unshare --cgroup "$@"', "sh"]

# The ways in which a spawner can find what apps have started.
WAYS = ("cgroup", "plain")


def wrapper(way: str) -> list[str]:
    """The command in which httpd runs for that."""
    if way == "plain":
        return READ_ONLY
    if not usable():
        pytest.skip("no cgroup v2 may be written to")
    return []
