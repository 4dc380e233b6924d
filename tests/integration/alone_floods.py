# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app, or a child of httpd, that writes without end costs the spawner only
a part of a core. These tests run after the others, because otherwise there
would be no free core. Two of them take one: they run one after the other,
beside floods that are mostly held up."""
import ctypes
import multiprocessing
import os
from contextlib import contextmanager
from itertools import product
from typing import Iterator

import pytest

from harness import cpu, sentences
from harness.figures import say
from harness.httpd import Httpd
from harness.long import lasts
from harness.procs import alive
from harness.starts import another
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

DROPPED = r"shop\[\d+\] prints too much: \d+ lines dropped"
SHARE = 0.25  # of a core; the most that a flood may cost
# A flood of output costs 3 %. Four of them run at once. If each took all that
# it could get, each spawner would still have more than this.
SHARE_OF_OUTPUT = 0.12
OUTPUT = [*product(["newlines", "words", "lines", "bytes"],
                   ["AppLog", "error log"])]
GET_FD = 438  # pidfd_getfd(2)


def bounded(httpd: Httpd, what: str, bound: float = SHARE) -> None:
    """The spawner's share of a core is bounded, and it still does its work."""
    share = cpu.share(httpd.helper("spawner"), 3)
    say(f"spawner under {what}: {100 * share:.1f}% of a core")
    assert share < bound
    another(httpd, "blog")


@pytest.mark.parametrize("kind,where", OUTPUT[::lasts(3, 1)])
def test_flood_of_output(httpd: Httpd, kind: str, where: str) -> None:
    """It costs the spawner a part of a core. The log says how much is left
    out, and does not fill the disk."""
    httpd.log.expect(DROPPED, sentences.PRINTS_TOO_MUCH,
                     "not written fast enough")
    file = httpd.dir / "shop.log"
    httpd.app("shop", *[f"AppLog {file}"] * (where == "AppLog"))
    httpd.app("blog")
    httpd.start()
    log = file if where == "AppLog" else httpd.log.path
    flood = int(httpd.get(f"/gush?kind={kind}", "shop").text)
    if kind == "bytes":
        wait_until(lambda: cpu.used(flood) > 0, "it has begun")
    else:
        httpd.log.wait_for(DROPPED)
    size = log.stat().st_size if log.exists() else 0
    bounded(httpd, f"{kind} to {where}", SHARE_OF_OUTPUT)
    assert log.stat().st_size - size < 120e6 if log.exists() else True
    assert httpd.get("/pid", "shop").status == 200
    assert alive(flood)


@pytest.mark.xdist_group("core")
def test_flood_of_notifications(httpd: Httpd) -> None:
    """To $NOTIFY_SOCKET."""
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    flood = int(httpd.get("/nag", "shop").text)
    wait_until(lambda: cpu.used(flood) > 0.1, "it has begun")
    bounded(httpd, "notifications")
    assert alive(flood)


def ring(bell: int) -> None:
    while True:
        os.write(bell, (1).to_bytes(8, "little"))


@contextmanager
def ringing(httpd: Httpd) -> Iterator[None]:
    """A child of httpd rings without end."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(httpd.helper("spawner"))
    bell = libc.syscall(GET_FD, pidfd, 4, 0)
    assert bell >= 0, os.strerror(ctypes.get_errno())
    ringer = multiprocessing.Process(target=ring, args=(bell,))
    ringer.start()
    os.close(bell)
    os.close(pidfd)
    try:
        yield
    finally:
        ringer.kill()
        ringer.join()


@pytest.mark.xdist_group("core")
def test_bell_without_end(httpd: Httpd) -> None:
    """A doorbell that rings without end costs a part of a core, too"""
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    httpd.get("/pid", "shop")
    with ringing(httpd):
        bounded(httpd, "the bell")
