# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The places of the build, httpd, its modules, and the sample apps."""
import fcntl
import os
import signal
import subprocess
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Iterator

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("APPPOOL_BUILD", TOP / "build"))
MODULE = BUILD / ".libs" / "mod_apppool.so"
CTL = BUILD / "apppoolctl"
LOGS = BUILD / "test-logs"
SAMPLE = BUILD / "tests" / "integration" / "sample"
APPS = TOP / "tests" / "integration" / "apps"


@lru_cache(maxsize=None)
def apxs(name: str) -> str:
    """A value of apxs about httpd's build."""
    done = subprocess.run(["apxs", "-q", name], check=True, text=True,
                          capture_output=True)
    return done.stdout.strip()


@contextmanager
def alone() -> Iterator[None]:
    """Tests run side by side. Only one of them builds at a time. The time for
    that, and for the wait, is not counted for the test (conftest). What is locked
    is the directory: tests/run downloads before configure has made a file in it."""
    left = signal.alarm(0)
    directory = os.open(BUILD, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)
        signal.alarm(left)


@lru_cache(maxsize=None)
def holder() -> Path:
    """tests/crash/holder.c"""
    program = "tests/crash/holder"
    with alone():
        subprocess.run(["make", "-s", "-C", str(BUILD), program], check=True,
                       stdout=subprocess.DEVNULL)
    return BUILD / program


@lru_cache(maxsize=None)
def can_mount() -> bool:
    """Containers may deny it."""
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none",
                           "/mnt"], capture_output=True).returncode == 0


def mounted(commands: str) -> list[str]:
    """A wrapper of httpd: run it after these commands, in a mount namespace of
    its own."""
    return ["unshare", "-m", "sh", "-c", f'{commands} && exec "$@"', "sh"]


def httpd_program() -> str:
    return f"{apxs('SBINDIR')}/{apxs('PROGNAME')}"
