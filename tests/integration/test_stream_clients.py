# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The clients of event streams leave while the application sends nothing. httpd
notices it, and closes the connection to the application."""
import socket
import ssl
from contextlib import suppress
from typing import Callable

import pytest

from harness import procs
from harness.cases import cases
from harness.client import Raw
from harness.config import App
from harness.http2 import Http2
from harness.httpd import Httpd
from harness.late import Late
from harness.tls import TlsHost
from harness.wait import wait_until
from test_nonsense import STDOUT, record

LIMIT = 2  # s
EVENTS = b"Content-Type: text/event-stream\r\n\r\ndata: first\n\n"
RAW = {"fcgi": record(STDOUT, EVENTS), "scgi": EVENTS,
       "uwsgi": b"HTTP/1.1 200 OK\r\n" + EVENTS}
LEFT = "the client has left its event stream"

Leave = Callable[[Raw], None]


def end(client: Raw) -> None:
    """It sends no more, and might still read."""
    client.sock.shutdown(socket.SHUT_WR)


def close(client: Raw) -> None:
    client.stream.file.close()
    client.sock.close()


def pipelined(client: Raw) -> None:
    """It has asked for something else before."""
    client.send(b"GET /pid HTTP/1.1\r\nHost: shop\r\n\r\n")
    end(client)


def unwrap(client: Raw) -> None:
    """It sends close_notify, and keeps the connection of TCP."""
    assert isinstance(client.sock, ssl.SSLSocket)
    with suppress(OSError):
        client.sock.unwrap()


def add_apps(httpd: Httpd) -> dict[str, App]:
    apps = {"shop": httpd.app("shop", "AppConcurrency 0",
                              f"AppSetEnv GO {httpd.dir}/go",
                              program="long_lived.py")}
    for name, text in RAW.items():
        file = httpd.dir / f"{name}.response"
        file.write_bytes(text)
        apps[name] = httpd.app(name, f"AppProtocol {name}",
                               "AppSetEnv HANG 1", f"AppSetEnv PROTOCOL {name}",
                               f"AppSetEnv RESPONSE {file}", program="raw.py")
    return apps


def begin(client: Raw, host: str, method: str = "GET",
          path: str = "/stream", more: str = "") -> None:
    """Read what there is of the response. @param more headers"""
    body = "Content-Length: 3\r\n\r\na=b" if method == "POST" else "\r\n"
    client.send(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}{body}"
                .encode())
    assert client.head()[0] == 200
    while b"data: first" not in client.stream.file.readline():
        pass


def is_noticed(httpd: Httpd, app: App, leave: Callable[[], None]) -> None:
    """A process that takes one request at a time keeps this one, because it may
    still work on it."""
    before = len(httpd.log.matching(LEFT))
    with Late(*procs.marked(str(httpd.dir)), *httpd.children()) as late:
        leave()
        wait_until(lambda: len(httpd.log.matching(LEFT)) > before,
                   "it is noticed")
    late.within(LIMIT)
    kept = [] if app.name == "shop" else [True]
    wait_until(lambda: [one["abandoned"] for one
                        in httpd.group(app)["requests"]] == kept,
               "the request is given back")


@pytest.mark.mpms("prefork", "event", "worker")
def test_client_leaves(httpd: Httpd) -> None:
    apps = add_apps(httpd)
    if httpd.mpm != "prefork":  # mod_http2 does not work with prefork
        httpd.modules.append("http2")
        httpd.directives.append("Protocols h2c http/1.1")
    httpd.modules.append("reqtimeout")
    host = TlsHost(httpd, apps["shop"])
    httpd.start()
    rows: list[tuple[str, str, Leave]] = [
        (name, method, leave) for name, method, leave in (
            ("shop", "GET", end), ("shop", "GET", close),
            ("shop", "GET", pipelined), ("shop", "POST", end),
            ("fcgi", "GET", end), ("scgi", "GET", close),
            ("uwsgi", "GET", end))]
    for (name, method, leave), case in cases(rows):
        with case, Raw(httpd.port) as client:
            begin(client, name, method)
            is_noticed(httpd, apps[name], lambda: leave(client))
    with Raw(httpd.port) as client:  # mod_proxy sends it for a worker
        begin(client, "shop",
              more="Connection: Upgrade\r\nUpgrade: chatter/1\r\n")
        is_noticed(httpd, apps["shop"], lambda: end(client))
    for leave, case in cases([unwrap, close]):
        with case, host.connect() as client:
            begin(client, "shop")
            is_noticed(httpd, apps["shop"], lambda: leave(client))
    host.close()
    if httpd.mpm != "prefork":
        with Http2(httpd.port, 1 << 20) as h2:
            stream = h2.get("/stream")
            h2.read(stream, 5)
            is_noticed(httpd, apps["shop"], lambda: h2.leave(stream))
    httpd.check()


def test_other_responses(httpd: Httpd) -> None:
    """A client that only ends its sending side gets its response."""
    apps = add_apps(httpd)
    httpd.start()
    for (path, method), case in cases([
            ("/text", "GET"), ("/unbuffered", "GET"), ("/chunks", "GET"),
            ("/chunks", "POST")]):
        with case, Raw(httpd.port) as client, Raw(httpd.port) as other:
            begin(client, "shop", method, path)
            end(client)
            begin(other, "shop", method)
            is_noticed_only(httpd, apps["shop"], other)
            (httpd.dir / "go").touch()
            assert b"data: last" in client.rest()
        (httpd.dir / "go").unlink()
    httpd.check()


@pytest.mark.mpms("prefork")  # in event, no worker looks for other streams
def test_body_that_is_not_read_yet(httpd: Httpd) -> None:
    """Its end is no sign that the client has left. httpd's own socket takes all
    that the app and httpd do not, so the end has come. It is looked for four
    times a second. The second of two streams, one after the other, is noticed
    later than that."""
    apps = add_apps(httpd)
    apps["scgi"].directives.append("AppBufferRequest Off")
    httpd.directives.append("ReceiveBufferSize 1000000")
    httpd.start()
    size = 400000  # more than the socket of the app takes
    with Raw(httpd.port) as client:
        client.send(b"POST /stream HTTP/1.1\r\nHost: scgi\r\n"
                    b"Content-Length: %d\r\n\r\n" % size + b"b" * size)
        assert client.head()[0] == 200
        end(client)
        for _ in (1, 2):
            with Raw(httpd.port) as other:
                begin(other, "shop")
                is_noticed(httpd, apps["shop"], lambda: end(other))
        assert [one["abandoned"] for one
                in httpd.group(apps["scgi"])["requests"]] == [False]


def is_noticed_only(httpd: Httpd, app: App, other: Raw) -> None:
    """The stream beside it has ended, and it has not."""
    before = len(httpd.log.matching(LEFT))
    end(other)
    wait_until(lambda: len(httpd.log.matching(LEFT)) > before, "one has left")
    assert len(httpd.group(app)["requests"]) == 1


@pytest.mark.mpms("event")
def test_application_that_does_not_notice(httpd: Httpd) -> None:
    """As PHP. Its process becomes hung, and another one serves."""
    file = httpd.dir / "response"
    file.write_bytes(RAW["fcgi"])
    app = httpd.app("shop", "AppProtocol fcgi", "AppSetEnv HANG 1",
                    "AppSetEnv PROTOCOL fcgi", f"AppSetEnv RESPONSE {file}",
                    "MaxInstances 1", "AppHungAfter 1",
                    "AppSpawnIfUnder 1", program="raw.py")
    httpd.start()
    with Raw(httpd.port) as client:
        begin(client, "shop")
        first, = httpd.pids(app)
        end(client)
        wait_until(lambda: httpd.pids(app, "hung") == [first], "it is hung")
    with Raw(httpd.port) as client:
        begin(client, "shop")
        assert httpd.pids(app, "busy") != [first]
    httpd.check()
