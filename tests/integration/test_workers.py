# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd's workers: one app does not get all of them."""
import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Raw
from harness.config import App
from harness.http2 import Http2
from harness.httpd import Httpd
from harness.wait import wait_until

UPGRADE = b"GET /upgrade HTTP/1.1\r\nHost: shop\r\nUpgrade: echo\r\n" \
    b"Connection: Upgrade\r\n\r\n"
EVENTS = b"GET /events HTTP/1.1\r\nHost: shop\r\n\r\n"


# ---- waiting and running requests

WARNINGS = [
    ("AppMaxQueue 250", "250 requests that may wait (AppMaxQueue) and 6 that "
     "may run are more than half of the 256 workers"),
    ("AppMaxQueue 0", "AppMaxQueue 0 is no limit"),
    ("AppMaxQueue 30\nAppGlobalQueue Off", "180 requests that may wait"),
    ("AppConcurrency 50", "10 requests that may wait (AppMaxQueue) and 300"),
    ("AppMaxQueue 122", ""), ("MaxInstances 1", ""), ("AppConcurrency 0", ""),
]


def test_warning(httpd: Httpd) -> None:
    app = httpd.app("shop")
    for (wanted, warning), case in cases(WARNINGS):
        app.directives = [wanted]
        done = httpd.test()
        with case:
            assert done.returncode == 0
            assert warning in done.stdout
            assert ("MaxRequestWorkers" in done.stdout) == bool(warning)


def test_default_queue(httpd: Httpd) -> None:
    """The limit is the half of the workers that is left, if this is less than
    100."""
    httpd.log.expect(sentences.QUEUE_FULL)
    httpd.directives.append("MaxRequestWorkers 32")
    httpd.app("shop", "MaxInstances 2")
    httpd.start()
    held = [httpd.hold("shop", key) for key in "ab"]
    waiting = [httpd.get_async("/pid", "shop") for _ in range(14)]
    httpd.settles(active=2, count=2, waiting=14)
    assert httpd.get("/pid", "shop").status == 503
    httpd.log.wait_for("shop: the queue is full: .* AppMaxQueue 14 wait")
    for one in held:
        one.release()
    assert {one.result().status for one in waiting} == {200}


# ---- long-lived connections

def long_lived(httpd: Httpd, *directives: str) -> App:
    httpd.log.expect("shop: GET /.* is refused: 2 upgraded connections and "
                     "event streams are open")
    return httpd.app("shop", "AppConcurrency 0", "AppMaxLongLived 2",
                     f"AppSetEnv GO {httpd.dir}/go", *directives,
                     program="long_lived.py")


@pytest.mark.parametrize("first", [UPGRADE, EVENTS])
@pytest.mark.parametrize("then", [UPGRADE, EVENTS])
def test_limit(httpd: Httpd, first: bytes, then: bytes) -> None:
    """The limit counts both kinds. Other requests are served, and so is the
    next one when there is room."""
    app = long_lived(httpd)
    httpd.start()
    good = {UPGRADE: 101, EVENTS: 200}
    with Raw(httpd.port, UPGRADE) as one:
        assert one.head()[0] == 101
        with Raw(httpd.port, first) as other:
            assert other.head()[0] == good[first]
            with Raw(httpd.port, then) as refused:
                response = refused.response()
            assert response.status == 503 and "Retry-After" in response.headers
            assert response.headers.get_content_type() == "text/plain"
            httpd.log.wait_for("as many as AppMaxLongLived")
            assert httpd.get("/", "shop").status == 200
            one.send(b"still there\n")
            assert one.stream.file.readline() == b"STILL THERE\n"
        (httpd.dir / "go").touch()
        wait_until(lambda: httpd.group(app)["processes"][0]["sessions"] == 1,
                   "there is room")
        with Raw(httpd.port, then) as third:
            assert third.head()[0] == good[then]
    httpd.settles(active=0, count=1)
    httpd.check()


@pytest.mark.mpms("event")
def test_many_at_once(httpd: Httpd) -> None:
    """As many as the limit allows, and no more."""
    long_lived(httpd)
    httpd.start()
    httpd.get("/", "shop")
    clients = [Raw(httpd.port, UPGRADE) for _ in range(20)]
    assert sorted(one.head()[0] for one in clients) == [101] * 2 + [503] * 18
    for one in clients:
        one.sock.close()
        one.stream.file.close()
    httpd.settles(active=0, count=1)


@pytest.mark.mpms("event")
def test_by_http2(httpd: Httpd) -> None:
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    long_lived(httpd)
    httpd.start()
    with Http2(httpd.port, 1 << 20) as client:
        open_ones = [client.get("/events") for _ in range(2)]
        for stream in open_ones:
            client.read(stream, 5)
        assert client.response(client.get("/events")).status == 503
        assert client.response(client.get("/")).status == 200
        (httpd.dir / "go").touch()
        for stream in open_ones:
            assert client.response(stream).status == 200
    httpd.settles(active=0, count=1)


def test_no_limit(httpd: Httpd) -> None:
    httpd.app("shop", "AppConcurrency 0", "AppMaxLongLived 0",
              f"AppSetEnv GO {httpd.dir}/go", program="long_lived.py")
    httpd.start()
    clients = [Raw(httpd.port, UPGRADE) for _ in range(10)]
    assert {one.head()[0] for one in clients} == {101}
    for one in clients:
        one.sock.close()
        one.stream.file.close()
    httpd.settles(active=0, count=1)
