# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A machine on which applications of Debian are installed, with all that they
need (tests/lib/applications.sh). Their files lie over /usr, /etc and /var, for
this process and those that it starts. What they write there and to /tmp is gone
afterwards."""
import ctypes
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from harness.packaged import UNPACKED
from harness.places import TOP

FILES = UNPACKED / "applications"
CLONE_NEWNS = 0x20000
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *words: int) -> None:
    if getattr(libc, name)(*words) != 0:
        raise OSError(ctypes.get_errno(), name)


def run(*words: object) -> None:
    """A command that sets something up."""
    done = subprocess.run([str(word) for word in words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{words}:\n{done.stdout}"


def mounts() -> None:
    place = Path("/run/machine")
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run")
    (place / "tree").mkdir(parents=True)
    run("mount", "--bind", TOP, place / "tree")
    for name in ("usr", "etc", "var", "tmp"):
        written, work = place / name / "written", place / name / "work"
        written.mkdir(parents=True)
        work.mkdir()
        shutil.copystat(f"/{name}", written)
        below = [str(FILES / name)] if (FILES / name).exists() else []
        run("mount", "-t", "overlay", "none", "-o",
            f"lowerdir={':'.join([*below, f'/{name}'])},upperdir={written},"
            f"workdir={work}", f"/{name}")
        if TOP.is_relative_to(f"/{name}"):
            run("mount", "--bind", place / "tree", TOP)


def extensions() -> None:
    """What the packages of PHP do when they are installed."""
    enabled = Path("/etc/php/8.2/mods-available")
    for ini in Path("/usr/share").glob("php8.2-*/*/*.ini"):
        shutil.copy(ini, enabled)
    run("phpenmod", "-v", "8.2", "-s", "ALL",
        *(ini.stem for ini in enabled.iterdir()))


def cannot() -> str:
    """Why there is no such machine, or nothing."""
    if not FILES.exists():
        return "the packages are not there: tests/run long integration packages"
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {place} && "
             f"cd {place} && mkdir a b c && mount -t overlay none "
             "-o lowerdir=/etc,upperdir=a,workdir=b c"],
            text=True, stderr=subprocess.PIPE)
    return f"no overlay can be mounted: {done.stderr}" * (done.returncode != 0)


@contextmanager
def machine() -> Iterator[None]:
    here = os.getcwd()
    outside = os.open("/proc/thread-self/ns/mnt", os.O_RDONLY)
    call("unshare", CLONE_NEWNS)
    try:
        mounts()
        extensions()
        yield
    finally:
        call("setns", outside, CLONE_NEWNS)
        os.close(outside)
        os.chdir(here)
