# Licensed under the Apache License, Version 2.0; see LICENSE.
"""WebSockets and event streams that hold no worker, at their end and in bad
company: see test_parked.py."""
import os
import re
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Iterator

import pytest

from harness.cases import cases
from harness.httpd import Httpd
from harness.wait import wait_until
from test_parked import END, Place, close, event, says

pytestmark = pytest.mark.mpms("event")


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def watched(pid: int) -> int:
    """Sockets that the pump of a child watches. Its own eventfd has the data
    0 in its epoll."""
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        sockets = re.findall(r"^tfd:.*data:\s+(\w+)", info.read_text(), re.M)
        if "0" in sockets:
            return len(sockets) - 1
    raise AssertionError("there is no pump")


def test_not_watched_any_more(httpd: Httpd, opened: ExitStack) -> None:
    """The socket of a client is open for longer than its connection. What
    happens there is no event for the pump."""
    place = Place(httpd, opened)
    child, = httpd.children()
    for tls, case in cases([False, True]):
        with case:
            lines = [place.tunnel("/bye", tls) for _ in range(10)]
            place.parked(10)
            assert watched(child) == 20
            for line in lines:
                says(line, b"good night\n")
            place.parked(0)
            assert watched(child) == 0
            for line in lines:
                close(line)


def test_filter_by_type(httpd: Httpd, opened: ExitStack) -> None:
    """So Debian configures mod_deflate for everybody, and others
    mod_expires."""
    httpd.modules += ["filter", "deflate", "expires"]
    httpd.directives += ["AddOutputFilterByType DEFLATE text/html text/plain",
                         "ExpiresActive On",
                         'ExpiresDefault "access plus 1 hour"']
    place = Place(httpd, opened)
    line = place.tunnel()
    stream = place.events()
    place.parked(2)
    says(line, b"hello\n")
    close(stream)
    place.parked(1)


def test_nobody_comes(httpd: Httpd, opened: ExitStack) -> None:
    """If no worker comes for a connection within Timeout, httpd closes it. It
    ends in order: it would hold a worker otherwise, as all others, and no
    request would be served any more."""
    httpd.directives.append("Timeout 2")
    place = Place(httpd, opened, "AppMaxLongLived 0", "AppTimeout 1min")
    streams = [place.events(tls) for tls in (False, True) for _ in range(20)]
    place.parked(40)
    child, = httpd.children()
    os.kill(child, signal.SIGSTOP)
    time.sleep(2.5)  # longer than Timeout
    os.kill(child, signal.SIGCONT)
    assert [stream.rest() for stream in streams] == [END] * 40
    place.parked(0)
    place.still_open(0)


def test_client_reads_later(httpd: Httpd, opened: ExitStack) -> None:
    """The app is not silent for longer than AppTimeout: it waits for the
    client."""
    place = Place(httpd, opened, "AppSetEnv MB 20", "AppTimeout 1")
    streams = [place.events(tls, "/many") for tls in (False, True)]
    place.parked(2)
    wait_until(lambda: min(one["age"] for one in httpd.group(place.app)[
        "requests"]) > 3, "they are old")
    for stream in streams:
        assert [len(event(stream)) for _ in range(320)] == [65536] * 320
    httpd.log.expect("was silent for too long within its response")
    assert [stream.rest() for stream in streams] == [b"", b""]


def test_client_never_reads(httpd: Httpd, opened: ExitStack) -> None:
    httpd.directives.append("Timeout 1")
    place = Place(httpd, opened, "AppSetEnv MB 20", "AppTimeout 1min")
    for tls in (False, True):
        place.events(tls, "/many")
    place.parked(2)
    place.parked(0)
    place.still_open(0)
    assert {end for *_, end in place.logged("/many", 2)} == {"X"}
