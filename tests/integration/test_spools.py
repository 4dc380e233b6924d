# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Temporary files of responses and bodies: their place and their size."""
import os

import pytest

from harness import procs
from harness.client import Raw
from harness.httpd import Httpd
from harness.places import can_mount, mounted
from harness.preloaded import preload
from harness.wait import wait_until
from test_download import MEGABYTE, MUCH, SMALL, bulk, flood, get

pytestmark = pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")


@pytest.mark.skipif(not can_mount(), reason="mount is denied")
def test_disk_full(httpd: Httpd) -> None:
    """The app waits for the client. The client gets everything, and the log
    has one line."""
    httpd.log.expect("shop: a response cannot be stored in .*No space left|"
                     "No space left.*shop: a response cannot be stored in ")
    place = httpd.dir / "spool"
    place.mkdir()
    httpd.wrapper = mounted("mount -t tmpfs -o size=256k,mode=1777 none "
                            f"{place} && export TMPDIR={place}")
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd)
    httpd.start()
    with Raw(httpd.port, get(f"/flood?n={MUCH}"), SMALL) as client:
        wait_until(httpd.log.bad, "the disk is full")
        other = httpd.get_async("/pid", "shop")
        httpd.settles(active=1, count=1, waiting=1)
        assert client.response().body == flood(MUCH)
    assert other.result().status == 200
    assert len(httpd.log.bad()) == 1

    def free() -> int:
        disk = os.statvfs(f"/proc/{httpd.pid}/root{place}")
        return disk.f_bfree * disk.f_bsize

    wait_until(lambda: free() == 256 * 1024, "the room is free again")


def spooled(httpd: Httpd) -> int:
    """Bytes in temporary files."""
    return sum(size for pid in httpd.children()
               for size in procs.spool_sizes(pid))


@pytest.mark.mpms("prefork", "event")
def test_limit(httpd: Httpd) -> None:
    """AppSpoolLimit: above it, the app waits for the client."""
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd, "AppSpoolLimit 1M")
    httpd.start()
    with Raw(httpd.port, get(f"/flood?n={2 * MUCH}"), SMALL) as client:
        wait_until(lambda: spooled(httpd) >= MEGABYTE - 128 * 1024,
                   "as much is stored")
        other = httpd.get_async("/pid", "shop")
        httpd.settles(active=1, count=1, waiting=1)
        assert spooled(httpd) <= MEGABYTE
        assert client.response().body == flood(2 * MUCH)
    assert other.result().status == 200


def test_directory(httpd: Httpd) -> None:
    """AppPoolSpoolDir: for responses and for bodies."""
    place = httpd.dir / "spool"
    place.mkdir()
    place.chmod(0o1777)
    httpd.directives += ["MaxPoolSize 1", f"AppPoolSpoolDir {place}"]
    bulk(httpd)
    httpd.start()
    with Raw(httpd.port, get(f"/flood?n={MUCH}"), SMALL) as client:
        assert wait_until(httpd.spools)[0].startswith(str(place))
        client.response()
    with Raw(httpd.port, b"POST /sum HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 400000\r\n\r\n" + b"u" * 300000):
        assert wait_until(httpd.spools)[0].startswith(str(place))
    assert list(place.iterdir()) == []


@pytest.mark.mpms("event")
def test_no_directory(httpd: Httpd) -> None:
    bulk(httpd)
    for place, why in (("/none", "No such file"), ("/etc/passwd", "not a dir")):
        httpd.directives.append(f"AppPoolSpoolDir {place}")
        done = httpd.test()
        assert done.returncode != 0
        assert f"AppPoolSpoolDir {place}" in done.stdout and why in done.stdout


@pytest.mark.skipif(not can_mount(), reason="mount is denied")
def test_share_of_the_disk(httpd: Httpd) -> None:
    """AppPoolSpoolFree: this much stays free, whatever responses there are."""
    httpd.log.expect("shop: a response cannot be stored in .*, as less than "
                     "AppPoolSpoolFree is free")
    place = httpd.dir / "spool"
    place.mkdir()
    httpd.wrapper = mounted("mount -t tmpfs -o size=16m,mode=1777 none "
                            f"{place}")
    httpd.directives += ["MaxPoolSize 2", f"AppPoolSpoolDir {place}",
                         "AppPoolSpoolFree 50"]
    bulk(httpd)
    httpd.start()
    with Raw(httpd.port, get(f"/flood?n={2 * MUCH}"), SMALL) as one, \
            Raw(httpd.port, get(f"/flood?n={2 * MUCH}"), SMALL) as other:
        wait_until(lambda: len(httpd.log.bad()) == 2, "both are logged")
        disk = os.statvfs(f"/proc/{httpd.pid}/root{place}")
        free = disk.f_bfree / disk.f_blocks
        assert 5 / 16 < free < 1 / 2, "each has had a megabyte more"
        assert one.response().body == flood(2 * MUCH)
        assert other.response().body == flood(2 * MUCH)


# As on a file system that cannot make a file without a name, or in a kernel that
# does not know such files.
NO_TMPFILE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int open64(const char *path, int flags, unsigned mode)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = ERROR;
        return -1;
    }
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, unsigned mode)
{
    return open64(path, flags, mode);
}
"""


@pytest.mark.parametrize("error", ["", "EOPNOTSUPP", "EISDIR"])
def test_temporary_file_has_no_name(httpd: Httpd, error: str) -> None:
    """It is in TMPDIR. No file is left, whatever is killed."""
    place = httpd.dir / "spool"
    place.mkdir()
    place.chmod(0o1777)
    if error:
        preload(httpd, NO_TMPFILE.replace("ERROR", error))
    httpd.wrapper = ["env", f"TMPDIR={place}", *httpd.wrapper]
    httpd.app("shop")
    httpd.start()
    with Raw(httpd.port, b"POST /sum HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 400000\r\n\r\n" + b"u" * 300000):
        name, *_ = wait_until(httpd.spools, "some of it is stored")
        assert name.startswith(f"{place}/" + ("apppool." if error else "#"))
        assert list(place.iterdir()) == []
    wait_until(lambda: not httpd.spools(), "it is closed")
