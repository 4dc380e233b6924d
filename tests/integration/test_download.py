# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Slow clients: their responses are stored, so the process is free again."""
import time
import zlib
from itertools import product

import pytest

from harness import procs
from harness.cases import cases
from harness.client import Raw
from harness.config import App
from harness.httpd import Httpd
from harness.late import Late
from harness.long import lasts
from harness.tls import TlsHost
from harness.wait import wait_until
from harness.web import SERVERS, mount

MEGABYTE = 1 << 20
MUCH = 10 * MEGABYTE  # more than the buffers of sockets hold
SMALL = 16 * 1024  # a receive buffer


def bulk(httpd: Httpd, *directives: str) -> App:
    return httpd.app("shop", *directives)


def get(url: str, host: str = "shop") -> bytes:
    return f"GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def flood(size: int) -> bytes:
    """The response of /flood."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


# ---- a slow reader

@pytest.mark.parametrize("more", ["", "&chunked=1"])
def test_slow_client_holds_no_process(httpd: Httpd, more: str) -> None:
    """A pool of one process serves other clients while one client does not
    read."""
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd)
    httpd.start()
    with Raw(httpd.port, get(f"/flood?n={MUCH}{more}"), SMALL) as client:
        wait_until(httpd.spools, "some of it is stored")
        httpd.settles(active=0, count=1)
        assert httpd.get("/pid", "shop").status == 200
        assert client.response().body == flood(MUCH)
        # The connection still works.
        client.send(get("/flood?n=100"))
        assert client.response().body == flood(100)
    wait_until(lambda: not httpd.spools(), "nothing is kept")


@pytest.mark.one_mpm("the header of a response is read")
@pytest.mark.parametrize("name", ["gunicorn", "php", "libfcgi", "uwsgi",
                                  "uwsgi-scgi", "uwsgi-fcgi"])
def test_slow_client_by_any_protocol(httpd: Httpd, name: str) -> None:
    place, _ = mount(httpd, SERVERS[name])
    httpd.directives.append("SendBufferSize 16384")
    httpd.start()
    with Raw(httpd.port, get("/big", place.host), SMALL) as client:
        wait_until(httpd.spools, "some of it is stored")
        httpd.settles(active=0, count=1)
        assert place.get("/").status == 200
        assert client.response().body == b"x" * 3 * MEGABYTE


def test_slow_at_both_ends(httpd: Httpd) -> None:
    """One client has sent half an upload, another one reads 10 MB at 1 KB/s.
    Meanwhile a pool of one process responds within half a second, again and
    again."""
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd)
    httpd.start()
    upload = b"POST /sum HTTP/1.1\r\nHost: shop\r\nContent-Length: 200000" \
             b"\r\n\r\n" + b"u" * 100000
    with Raw(httpd.port, upload), \
            Raw(httpd.port, get(f"/flood?n={MUCH}"), SMALL) as client:
        client.stream.file.read(1024)
        for _ in range(5):
            client.stream.file.read(256)
            with Late(*procs.marked(str(httpd.dir))) as late:
                assert httpd.get("/", "shop").status == 200
            late.within(0.5)
            time.sleep(0.25)  # the pace of the client


def test_slow_filter_holds_no_process(httpd: Httpd) -> None:
    """The client is fast, but a filter passes on only so many KB/s."""
    httpd.modules += ["setenvif", "ratelimit"]
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd, "SetOutputFilter RATE_LIMIT",
         "SetEnvIf X-Rate (.+) rate-limit=$1",
         "SetEnvIf X-Burst (.+) rate-initial-burst=$1")
    httpd.start()
    for (rate, more), case in cases([(256, b""), (60, b""),
                                     (60, b"X-Burst: 512\r\n")]):
        with case:
            before = len(httpd.requests_seen())
            request = get(f"/flood?n={MUCH}")[:-2]
            with Raw(httpd.port, request + b"X-Rate: %d\r\n" % rate + more
                     + b"\r\n") as client:
                wait_until(lambda: len(httpd.requests_seen()) > before,
                           "the app has the request")
                other = httpd.get_async("/pid", "shop")
                assert client.head()[0] == 200
                seen = b""
                while not other.done():
                    seen += client.stream.file.read1(65536)
                assert other.result().status == 200
                assert len(seen) < MUCH / 4, "the app has sent all before"
                seen += client.stream.file.read(rate * 256)
                assert seen == flood(MUCH)[:len(seen)]


def holds_its_process(httpd: Httpd, url: str) -> None:
    """In a pool of one process, another request waits until the client has
    read its response, of which nothing is stored."""
    with Raw(httpd.port, get(url), SMALL) as client:
        wait_until(httpd.requests_seen, "the app has the request")
        other = httpd.get_async("/pid", "shop")
        httpd.settles(active=1, count=1, waiting=1)
        assert httpd.spools() == []
        assert client.response().body == flood(MUCH)
    assert other.result().status == 200


def test_off_waits_for_the_client(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd, "AppBufferResponse Off")
    httpd.start()
    holds_its_process(httpd, f"/flood?n={MUCH}")


@pytest.mark.one_mpm("the header of a response is read")
@pytest.mark.parametrize("what", ["type=text/event-stream",
                                  "type=text/event-stream;charset=utf-8",
                                  "accel=no"])
def test_streams_are_not_stored(httpd: Httpd, what: str) -> None:
    """A slow client slows the app down."""
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd)
    httpd.start()
    holds_its_process(httpd, f"/flood?n={MUCH}&chunked=1&{what}")


@pytest.mark.one_mpm("the header of a response is read")
@pytest.mark.parametrize("name", ["php", "uwsgi", "uwsgi-scgi"])
def test_x_accel_buffering_by_any_protocol(httpd: Httpd, name: str) -> None:
    """X-Accel-Buffering: no"""
    place, _ = mount(httpd, SERVERS[name])
    httpd.directives.append("SendBufferSize 16384")
    root = httpd.apps[0].root
    if name == "php":
        (root / "index.php").write_text(
            "<?php header('X-Accel-Buffering: no'); "
            f"echo str_repeat('x', {MUCH});")
    else:
        (root / "wsgi.py").write_text(
            "def application(environ, start_response):\n"
            "    start_response('200 OK', [('X-Accel-Buffering', 'no')])\n"
            f"    return [b'x' * {MUCH}]\n")
    httpd.start()
    with Raw(httpd.port, get("/", place.host), SMALL) as client:
        assert client.head()[0] == 200
        other = httpd.get_async("/", place.host)
        wait_until(lambda: httpd.pool("waiting") == 1, "another one waits")
        assert httpd.spools() == []
        client.sock.close()
        client.stream.file.close()
    assert other.result().status == 200


# ---- nothing is held back

@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_first_part_is_not_delayed(httpd: Httpd, buffer: str) -> None:
    """While the app pauses, the client has everything that the app has
    sent."""
    bulk(httpd, f"AppBufferResponse {buffer}")
    httpd.start()
    for (size, more), case in cases(product(
            (0, 1, 5000, 100000),
            ("", "&chunked=1", "&chunked=1&type=text/event-stream"))):
        with case:
            first_part(httpd, size, more, f"k{size}{len(more)}")


def first_part(httpd: Httpd, size: int, more: str, key: str) -> None:
    with Raw(httpd.port,
             get(f"/flood?n={size}&m=7&key={key}{more}")) as client:
        status, _ = client.head()
        assert status == 200
        if not more:
            assert client.stream.file.read(size) == flood(size)
        elif size:
            seen = b""
            while len(seen) < size:
                length = int(client.stream.file.readline(), 16)
                seen += client.stream.file.read(length)
                client.stream.file.readline()
            assert seen == flood(size)
        held = httpd.dir / "hold" / key
        wait_until(held.with_suffix(".held").exists, "the app waits")
        assert httpd.counts() == (1, 1, 0)
        held.with_suffix(".go").touch()
        httpd.settles(active=0, count=1)


def test_stored_part_goes_on_while_the_app_pauses(httpd: Httpd) -> None:
    """Stored bytes are sent as soon as the client reads, not only when the app
    sends more."""
    bulk(httpd)
    httpd.start()
    hold = httpd.dir / "hold"
    with Raw(httpd.port, get(f"/flood?n={MUCH}&m={MUCH}&key=k"),
             SMALL) as client:
        wait_until((hold / "k.held").exists, "the app has sent half")
        assert httpd.spools() != []
        assert client.head()[0] == 200
        assert client.stream.file.read(MUCH) == flood(MUCH)
        assert not (hold / "k.go").exists()
        assert httpd.counts() == (1, 1, 0)
        (hold / "k.go").touch()
        httpd.settles(active=0, count=1)
        rest = client.stream.file.read(MUCH)
        assert rest == flood(2 * MUCH)[MUCH:]


def test_app_continues_while_the_client_does_not_read(httpd: Httpd) -> None:
    """The app sends, although the client does not read."""
    bulk(httpd)
    httpd.start()
    hold = httpd.dir / "hold"
    with Raw(httpd.port, get(f"/flood?n={MUCH}&m={MUCH}&key=k"),
             SMALL) as client:
        wait_until((hold / "k.held").exists, "the app has sent half")
        (hold / "k.go").touch()
        httpd.settles(active=0, count=1)
        assert client.response().body == flood(2 * MUCH)


# ---- with the rest of httpd

def test_compressed(httpd: Httpd) -> None:
    httpd.modules += ["filter", "deflate"]
    httpd.directives.append("MaxPoolSize 1")
    bulk(httpd, "SetOutputFilter DEFLATE", "DeflateCompressionLevel 1")
    httpd.start()
    size = 64 * MEGABYTE  # it compresses well
    request = get(f"/flood?n={size}").replace(
        b"Host", b"Accept-Encoding: gzip\r\nHost")
    with Raw(httpd.port, request, SMALL) as client:
        httpd.settles(active=0, count=1)
        response = client.response()
    assert response.headers["Content-Encoding"] == "gzip"
    assert zlib.crc32(zlib.decompress(response.body, 31)) == \
        zlib.crc32(flood(size))


def test_encrypted(httpd: Httpd) -> None:
    """The same over TLS"""
    httpd.directives.append("MaxPoolSize 1")
    host = TlsHost(httpd, bulk(httpd))
    httpd.start()
    with host.connect(SMALL) as client:
        client.send(get(f"/flood?n={MUCH}&m={MUCH}&key=k"))
        wait_until((httpd.dir / "hold" / "k.held").exists, "half is sent")
        assert client.head()[0] == 200
        assert client.stream.file.read(MUCH) == flood(MUCH)
        (httpd.dir / "hold" / "k.go").touch()
        httpd.settles(active=0, count=1)
        assert client.stream.file.read(MUCH) == flood(2 * MUCH)[MUCH:]
        client.send(get("/flood?n=10"))
        assert client.response().body == flood(10)
    host.close()


def test_pipelined(httpd: Httpd) -> None:
    """Several requests were sent together, and the client reads slowly."""
    bulk(httpd)
    httpd.start()
    sizes = (MUCH, 10, 70000, 0, MUCH, 5)
    with Raw(httpd.port, b"".join(get(f"/flood?n={size}") for size in sizes),
             SMALL) as client:
        wait_until(httpd.spools, "the first one is stored")
        for size in sizes:
            assert client.response().body == flood(size)
    httpd.settles(active=0, count=1)


def test_client_leaves_its_response(httpd: Httpd) -> None:
    """Nothing of its response is kept, whether the app has sent all of it or
    not."""
    bulk(httpd, "MaxInstances 1")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    with Raw(httpd.port, get(f"/flood?n={MUCH}"), SMALL):
        wait_until(httpd.spools, "some of it is stored")
        httpd.settles(active=0, count=1)
    wait_until(lambda: not httpd.spools(), "nothing is kept")
    with Raw(httpd.port, get(f"/flood?n={MUCH}&m=1&key=k"), SMALL):
        wait_until((httpd.dir / "hold" / "k.held").exists, "half is sent")
    wait_until(lambda: not httpd.spools(), "nothing is kept")
    (httpd.dir / "hold" / "k.go").touch()
    httpd.settles(active=0, count=1)
    assert httpd.get("/pid", "shop").text == pid


@pytest.mark.mpms("event")
@pytest.mark.bound(400)
def test_bulk_in_constant_memory(httpd: Httpd) -> None:
    """Whether the response is stored first or read at once."""
    bulk(httpd)
    httpd.start()
    httpd.get("/flood?n=100000", "shop")
    before = {pid: procs.peak_memory(pid) for pid in httpd.children()}
    size = lasts(1 << 26, 1 << 30)  # of which 8 MB may be in memory
    with Raw(httpd.port, get(f"/flood?n={size}"), SMALL) as client:
        client.sock.settimeout(100)
        wait_until(lambda: httpd.requests_seen()[1:]
                   and httpd.counts() == (0, 1, 0), "the app has sent all", 200)
        assert client.head()[0] == 200
        left, crc = size, 0
        while left:
            piece = client.stream.file.read(min(left, 100 * 251 * 1024))
            crc = zlib.crc32(piece, crc)
            left -= len(piece)
    line = flood(100 * 251 * 1024)
    want = 0
    for at in range(0, size, len(line)):
        want = zlib.crc32(line[:size - at], want)
    assert crc == want
    for pid, memory in before.items():
        assert procs.peak_memory(pid) - memory < 8 * MEGABYTE
