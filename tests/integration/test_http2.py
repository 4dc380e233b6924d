# Licensed under the Apache License, Version 2.0; see LICENSE.
"""HTTP/2: a stream has no socket, and its client may still be slow."""
import zlib
from zlib import decompressobj as unpack

import pytest

from harness.config import App
from harness.http2 import Http2
from harness.httpd import Httpd
from harness.wait import wait_until
from test_download import MEGABYTE, MUCH, flood

pytestmark = pytest.mark.mpms("event")  # mod_http2 does not work with prefork

ALL = 1 << 30


@pytest.fixture
def shop(httpd: Httpd) -> App:
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    return httpd.app("shop")


def compress(httpd: Httpd, shop: App) -> None:
    httpd.modules += ["filter", "deflate", "headers"]
    shop.directives += ["SetOutputFilter DEFLATE",
                        "RequestHeader set Accept-Encoding gzip"]


def test_slow_client_holds_no_process(httpd: Httpd, shop: App) -> None:
    """A client of one connection reads nothing, and has two requests. A pool
    of two processes serves others."""
    httpd.directives.append("MaxPoolSize 2")
    httpd.start()
    with Http2(httpd.port, 0) as client:
        streams = [client.get(f"/flood?n={MUCH}") for _ in range(2)]
        wait_until(lambda: len(httpd.requests_seen()) == 2, "both are served")
        wait_until(lambda: httpd.counts()[::2] == (0, 0), "no process is held")
        assert httpd.get("/pid", "shop").status == 200
        for stream in streams:
            client.allow(stream, MUCH)
        for stream in streams:
            response = client.response(stream)
            assert response.status == 200
            assert bytes(response.body) == flood(MUCH)
    wait_until(lambda: not httpd.spools(), "nothing is kept")


def test_slow_client_holds_no_thread(httpd: Httpd, shop: App) -> None:
    """mod_http2 sends what is stored. More streams than it has threads wait
    for their client, and others are served."""
    httpd.directives += ["H2MaxWorkers 4", "H2MinWorkers 4",
                         "H2MaxSessionStreams 50"]
    httpd.start()
    with Http2(httpd.port, 0) as client, Http2(httpd.port, ALL) as other:
        streams = [client.get(f"/flood?n={MEGABYTE}") for _ in range(20)]
        wait_until(lambda: len(httpd.requests_seen()) == 20, "all are served")
        wait_until(lambda: httpd.counts()[::2] == (0, 0), "no process is held")
        assert other.response(other.get("/pid")).status == 200
        for stream in streams:
            client.allow(stream, MEGABYTE)
            assert bytes(client.response(stream).body) == flood(MEGABYTE)


@pytest.mark.parametrize("size", [0, 1, 5000, 20000, 100000, MUCH])
def test_fast_client(httpd: Httpd, shop: App, size: int) -> None:
    httpd.start()
    with Http2(httpd.port, ALL) as client:
        for more in ("", "&chunked=1"):
            response = client.response(client.get(f"/flood?n={size}{more}"))
            assert bytes(response.body) == flood(size)


@pytest.mark.parametrize("size", [5000, 20000, 100000])
def test_nothing_compressed_is_held_back(httpd: Httpd, shop: App,
                                         size: int) -> None:
    """The same, with a filter that holds back data until there is a flush."""
    compress(httpd, shop)
    httpd.start()
    hold = httpd.dir / "hold"
    with Http2(httpd.port, ALL) as client:
        stream = client.get(f"/parts?n={size}&keys=a,b")
        body = client.streams[stream].body
        for n, key in enumerate(["a", "b"], 1):
            wait_until((hold / f"{key}.held").exists, "the app waits")
            while len(unpack(31).decompress(bytes(body))) < n * size:
                client.pump()
            (hold / f"{key}.go").touch()
        whole = bytes(client.response(stream).body)
        assert zlib.decompress(whole, 31) == flood(size) * 2
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("size", [1, 5000, 20000, 100000, MEGABYTE])
def test_nothing_is_held_back(httpd: Httpd, shop: App, size: int) -> None:
    """The client has everything that the app has sent, while the app pauses.
    After the pause, it gets the rest."""
    httpd.start()
    hold = httpd.dir / "hold"
    with Http2(httpd.port, ALL) as client:
        stream = client.get(f"/parts?n={size}&keys=a,b,c&chunked=1")
        for n, key in enumerate(["a", "b", "c"], 1):
            assert client.read(stream, n * size) == flood(size) * n
            wait_until((hold / f"{key}.held").exists, "the app waits")
            (hold / f"{key}.go").touch()
        assert bytes(client.response(stream).body) == flood(size) * 3
    httpd.settles(active=0, count=1)


def test_stored_part_goes_on_while_the_app_pauses(httpd: Httpd,
                                                  shop: App) -> None:
    """Stored bytes are sent as soon as the client reads."""
    httpd.start()
    hold = httpd.dir / "hold"
    with Http2(httpd.port, 0) as client:
        stream = client.get(f"/parts?n={MUCH}&keys=a,b")
        wait_until((hold / "a.held").exists, "the app has sent half")
        client.allow(stream, MEGABYTE)
        assert client.read(stream, MEGABYTE) == flood(MEGABYTE)
        client.allow(stream, ALL)
        assert client.read(stream, MUCH) == flood(MUCH)
        assert httpd.counts() == (1, 1, 0)
        (hold / "a.go").touch()
        (hold / "b.go").touch()
        assert bytes(client.response(stream).body) == flood(MUCH) * 2
    httpd.settles(active=0, count=1)


def test_client_leaves_its_response(httpd: Httpd, shop: App) -> None:
    """Nothing of its response is kept, whether the app has sent all of it or
    not."""
    httpd.start()
    hold = httpd.dir / "hold"
    with Http2(httpd.port, 0) as client:
        stream = client.get(f"/flood?n={MUCH}")
        wait_until(httpd.spools, "some of it is stored")
        httpd.settles(active=0, count=1)
        client.leave(stream)
        wait_until(lambda: not httpd.spools(), "nothing is kept")
        stream = client.get(f"/parts?n={MUCH}&keys=k")
        wait_until((hold / "k.held").exists, "all but the end is sent")
        client.leave(stream)
        wait_until(lambda: not httpd.spools(), "nothing is kept")
        (hold / "k.go").touch()
        httpd.settles(active=0, count=1)


def test_compressed(httpd: Httpd, shop: App) -> None:
    """A filter holds back marks for longer than data."""
    compress(httpd, shop)
    httpd.directives.append("MaxPoolSize 1")
    httpd.start()
    with Http2(httpd.port, 0) as client:
        stream = client.get(f"/flood?n={MUCH}")
        wait_until(httpd.requests_seen, "the app has the request")
        httpd.settles(active=0, count=1)
        client.allow(stream, ALL)
        assert zlib.decompress(bytes(client.response(stream).body),
                               31) == flood(MUCH)


@pytest.mark.parametrize("compressed", [False, True])
def test_response_that_is_left(httpd: Httpd, shop: App, compressed: bool
                               ) -> None:
    """The client resets the stream when it has got all that was sent, or while
    the filter holds back its marks. No thread waits for the app that pauses."""
    if compressed:
        compress(httpd, shop)
    httpd.start()
    hold = httpd.dir / "hold"
    with Http2(httpd.port, ALL) as client:
        stream = client.get("/parts?n=100000&keys=k,l")
        wait_until((hold / "k.held").exists, "the app pauses")
        if not compressed:
            client.read(stream, 100000)
        client.leave(stream)
        wait_until(lambda: httpd.group(shop)["requests"][0]["abandoned"],
                   "the request is given back")
        for key in "kl":
            (hold / f"{key}.go").touch()
        httpd.settles(active=0, count=1)
