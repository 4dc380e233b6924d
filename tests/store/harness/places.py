# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Where the programs are."""
import os
import shutil
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PACKAGED = TOP / "build" / "packaged"
TEMPORARY = os.environ.get("TMPDIR", "/tmp")


def daemon(package: str, path: str) -> Path:
    """A program of a package that tests/run unpacks, or the installed one."""
    unpacked = PACKAGED / package / path
    found = shutil.which(unpacked.name)
    if not unpacked.exists() and found:
        return Path(found)
    return unpacked


MEMCACHED = daemon("memcached", "usr/bin/memcached")
YRMCDS = daemon("yrmcds", "usr/sbin/yrmcdsd")
REDIS = daemon("redis-tools", "usr/bin/redis-check-rdb")  # and redis-server
NUTCRACKER = daemon("nutcracker", "usr/sbin/nutcracker")
