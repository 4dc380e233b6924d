# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A long header of a request costs a child of httpd no more memory than a few
copies of it, whatever it contains. No header costs memory until the end of a
kept connection."""
from contextlib import ExitStack

import pytest

from harness.cases import cases
from harness.client import Raw
from harness.errorlog import BUSY
from harness.httpd import Httpd
from harness.procs import peak_memory, private_memory
from harness.recorder import app_of
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

SIZE = 65536  # bytes of a header, at most
COUNT = 97  # of headers, besides three others
COPIES = 4
FIRST = b"GET /echo HTTP/1.1\r\nHost: shop\r\n\r\n"
UPGRADE = b"GET /echo HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\n" \
    b"Upgrade: echo\r\n\r\n"
UPGRADES = 2000  # a child has free memory for some hundreds
# Before, each thread has what it needs for a long request.
THREADS = 16


def words(word: str, name: str) -> str:
    room = SIZE - len(name) - 10
    return f"{name}: " + (word * (room // len(word) + 1))[:room] + "\r\n"


def equal(name: str, word: str) -> str:
    """As many as httpd allows. It makes one header of them."""
    room = SIZE // COUNT - len(name) - 10
    return (f"{name}: " + (word * room)[:room] + "\r\n") * COUNT


HEADERS = {
    "Connection": words("te,", "Connection"),
    "Connection, all words": words("close,keep-alive,upgrade,te,x,",
                                   "Connection"),
    "Connection, commas": words(",", "Connection"),
    "Cookie": words("a=b; ", "Cookie"),
    "one Cookie": words("a", "Cookie"),
    "Accept": words("*/*,", "Accept"),
    "Accept-Encoding": words("gzip,", "Accept-Encoding"),
    "TE": words("trailers,", "TE"),
    "Trailer": words("x,", "Trailer"),
    "Upgrade": words("x,", "Upgrade"),
    "Keep-Alive": words("x,", "Keep-Alive"),
    "Forwarded": words("for=a,", "Forwarded"),
    "X-Forwarded-For": words("1,", "X-Forwarded-For"),
    "X-Forwarded-Host": words("a,", "X-Forwarded-Host"),
    "X-Forwarded-Proto": words("http,", "X-Forwarded-Proto"),
    "Via": words("1 a,", "Via"),
    "Range": "Range: bytes=" + words("0-1,", "Range")[7:],
    "If-None-Match": words('"a",', "If-None-Match"),
    "If-Match": words('"a",', "If-Match"),
    "Cache-Control": words("a,", "Cache-Control"),
    "Sec-WebSocket-Protocol": words("a,", "Sec-WebSocket-Protocol"),
    "traceparent": words("0", "traceparent"),
    "tracestate": words("a=b,", "tracestate"),
    "Authorization": words("Basic a", "Authorization"),
    "equal headers": equal("X-Many", "a"),
    "equal headers that are removed": equal("X-Real-IP", "a,"),
    "equal headers with underscores": equal("X_Many", "a,"),
    "equal headers, Connection": equal("Connection", "te,"),
    "equal headers, Cookie": equal("Cookie", "a=b; "),
    "different headers that are removed": "".join(
        f"X_{n}: {'a,' * 300}\r\n" for n in range(COUNT)),
}


def all_threads(httpd: Httpd, lines: str) -> None:
    """A thread that has asked for the body waits for it. So each of these
    requests has a thread of its own."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Raw(httpd.port, (
            lines.format("POST") + "Content-Length: 3\r\n"
            "Expect: 100-continue\r\n\r\n").encode()))
            for _ in range(THREADS)]
        for client in clients:
            assert client.head()[0] == 100
        for client in clients:
            client.send(b"abc")
            client.response()


@pytest.mark.parametrize("protocol", ["http", "fcgi", "uwsgi"])
def test_memory(httpd: Httpd, protocol: str) -> None:
    httpd.log.expect(BUSY)
    if protocol == "uwsgi":
        httpd.log.expect("apppool: shop: the request has more than 65535 ")
    httpd.directives += [f"LimitRequestFieldSize {SIZE}", "StartServers 1",
                         f"LimitRequestLine {SIZE}", "ServerLimit 1",
                         f"MaxRequestWorkers {THREADS}", "MinSpareThreads 1"]
    if protocol == "http":
        httpd.app("shop")
        httpd.start()
    else:
        app_of(httpd, protocol)
    # A process that httpd's parent has just forked looks like one, too.
    wait_until(lambda: len(httpd.children()) == 1, "there is one child")
    child, = httpd.children()
    lines = {name: (f"{{}} /echo HTTP/1.1\r\nHost: shop\r\n{header}")
             for name, header in HEADERS.items()}
    lines["query"] = "{} /echo?" + "a=b&" * (SIZE // 4 - 10) \
        + " HTTP/1.1\r\nHost: shop\r\n"
    for name in ("one Cookie", "query") * 2:
        all_threads(httpd, lines[name])
    for (name, method), case in cases(
            (name, method) for name in lines for method in ("GET", "POST")):
        with case, Raw(httpd.port, FIRST) as client:
            client.response()
            before = peak_memory(child)
            client.send((lines[name].format(method)
                         + "Content-Length: 3\r\n\r\nabc").encode())
            assert client.response().status in (200, 412, 431)
            grown = peak_memory(child) - before
            assert grown / len(lines[name]) <= COPIES, grown


@pytest.mark.mpms("prefork")  # other threads would need memory, too
def test_upgrades_of_a_connection(httpd: Httpd) -> None:
    """A filter waits for the 101 of each request that asks for an upgrade."""
    httpd.directives += [
        "StartServers 1", "MinSpareServers 1", "MaxSpareServers 1",
        "MaxKeepAliveRequests 0", "KeepAliveTimeout 300"]
    httpd.app("shop")
    httpd.start()
    with Raw(httpd.port, UPGRADE) as client:
        client.response()
        child, = httpd.children()

        def grows() -> int:
            before = private_memory(child)
            for _ in range(UPGRADES):
                client.send(UPGRADE)
                assert client.response().status == 200
            return private_memory(child) - before

        # The child may also need memory for the first time.
        assert any(grows() < 16 * UPGRADES for _ in range(3))
