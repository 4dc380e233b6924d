# Licensed under the Apache License, Version 2.0; see LICENSE.
"""WebSockets and event streams that hold no worker, at their end and in bad
company: see test_parked.py."""
import ctypes
import os
import re
import signal
import socket
import struct
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Iterator

import pytest

from harness.cases import cases
from harness.httpd import Httpd
from harness.preloaded import preload
from harness.wait import wait_until
from test_parked import END, FRAME, GOING_AWAY, Place, close, event, says

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
            wait_until(lambda: watched(child) == 20, "both of each")
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


def test_proxy_protocol(httpd: Httpd, opened: ExitStack) -> None:
    """mod_remoteip's filter stays for the whole connection."""
    httpd.modules.append("remoteip")
    httpd.directives += ["RemoteIPProxyProtocol On",
                         "RemoteIPProxyProtocolExceptions 127.0.0.1"]
    place = Place(httpd, opened)
    place.parked(0)
    with socket.create_connection(("127.0.0.1", httpd.port), 40,
                                  ("127.0.0.2", 0)) as balancer, \
            balancer.makefile("rb") as file:
        balancer.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.8 1234 80\r\n"
                         b"GET /echo HTTP/1.1\r\nHost: shop\r\nConnection: "
                         b"Upgrade\r\nUpgrade: websocket\r\n\r\n")
        place.parked(1)
        while file.readline() != b"\r\n":
            pass
        balancer.sendall(b"hello\n")
        assert file.readline() == b"hello\n"
        client, = httpd.group(place.app)["requests"]
        assert client["client"] == "192.0.2.7"
    place.parked(0)


def test_nobody_comes(httpd: Httpd, opened: ExitStack) -> None:
    """If no worker comes for a connection within Timeout, httpd closes it. It
    ends in order: it would hold a worker otherwise, as all others, and no
    request would be served any more."""
    httpd.directives.append("Timeout 2")
    place = Place(httpd, opened, "AppMaxLongLived 0", "AppTimeout 1min")
    streams = [place.events(tls) for tls in (False, True) for _ in range(20)]
    frames = [place.tunnel("/frames", tls) for tls in (False, True)]
    for line in frames:
        assert line.stream.file.read(len(FRAME)) == FRAME
    place.parked(42)
    child, = httpd.children()
    os.kill(child, signal.SIGSTOP)
    time.sleep(2.5)  # longer than Timeout
    os.kill(child, signal.SIGCONT)
    assert [stream.rest() for stream in streams] == [END] * 40
    assert [line.rest() for line in frames] == [GOING_AWAY] * 2
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


def test_key_update(httpd: Httpd, opened: ExitStack) -> None:
    """A client of TLS 1.3 changes its key, again and again, and what it has to
    say comes in the same packet. Python's ssl cannot change a key."""
    place = Place(httpd, opened)
    lib = ctypes.CDLL("libssl.so.3")
    lib.TLS_client_method.restype = lib.SSL_CTX_new.restype = \
        lib.SSL_new.restype = ctypes.c_void_p
    context = ctypes.c_void_p(lib.SSL_CTX_new(
        ctypes.c_void_p(lib.TLS_client_method())))
    ssl = ctypes.c_void_p(lib.SSL_new(context))
    got = ctypes.create_string_buffer(4096)
    with socket.create_connection(("127.0.0.1", place.tls.port)) as sock:
        lib.SSL_set_fd(ssl, sock.fileno())
        assert lib.SSL_connect(ssl) == 1
        ask = b"GET /echo HTTP/1.1\r\nHost: shop\r\n" \
            b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        assert lib.SSL_write(ssl, ask, len(ask)) == len(ask)
        assert lib.SSL_read(ssl, got, 4096) > 0
        place.parked(1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        for _ in range(5):
            assert lib.SSL_key_update(ssl, 1) == lib.SSL_do_handshake(ssl) == 1
        assert lib.SSL_write(ssl, b"hello", 5) == 5
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                        struct.pack("ll", 20, 0))
        assert lib.SSL_read(ssl, got, 4096) == 5
        assert got.raw[:5] == b"hello"
    lib.SSL_free(ssl)
    lib.SSL_CTX_free(context)


NO_EVENTFD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

int eventfd(unsigned int value, int flags)
{
    int (*real)(unsigned int, int) =
        (int (*)(unsigned int, int))dlsym(RTLD_NEXT, "eventfd");

    if (access("DIR/hold/it", F_OK) != 0)
        return real(value, flags);
    errno = EMFILE;
    return -1;
}
"""


def test_no_descriptor(httpd: Httpd, opened: ExitStack) -> None:
    """The child has none left when the WebSocket has begun. It keeps its
    worker."""
    preload(httpd, NO_EVENTFD.replace("DIR", str(httpd.dir)))
    httpd.log.expect("a connection keeps its worker: the limit is ulimit -n")
    httpd.directives.append("RequestReadTimeout body=1")
    place = Place(httpd, opened, "AppTimeout 1min")
    place.still_open(0)  # its child has a pump
    (httpd.dir / "hold" / "it").touch()
    plain, tls, frames = [place.tunnel("/echo"), place.tunnel("/echo", True),
                          place.tunnel("/frames")]
    stream = place.events()
    wait_until(lambda: len(httpd.log.matching(
        "a connection keeps its worker")) == 4, "all stay")
    child, = httpd.children()
    assert watched(child) == 0
    for _ in range(3):
        says(plain, b"x" * 100000 + b"\n")
        says(tls, b"y" * 100000 + b"\n")
    close(plain)
    place.still_open(3)
    assert frames.stream.file.read(len(FRAME)) == FRAME
    (httpd.dir / "hold" / "it").unlink()
    httpd.graceful()
    assert frames.rest() == GOING_AWAY
    assert tls.rest() == b""
    close(stream)
    place.still_open(0)
    place.logged("/echo", 2)
