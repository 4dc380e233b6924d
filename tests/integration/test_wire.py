# Licensed under the Apache License, Version 2.0; see LICENSE.
"""More than a request and a response: upgrades, trailers, HTTP/2."""
import asyncio
import http.client
import socket
import subprocess

import pytest
import websockets
from h2.connection import H2Connection
from h2.events import (ConnectionTerminated, DataReceived,
                       RemoteSettingsChanged, ResponseReceived, StreamReset)

from harness import sentences
from harness.client import Connection
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.wait import wait_until
from harness.web import SERVERS, Place, mount

# ---- upgrades


async def talk(place: Place) -> list[str]:
    async with websockets.connect(
            f"ws://{place.host}:{place.httpd.port}{place.mount}/chat",
            host="127.0.0.1", port=place.httpd.port,
            open_timeout=40) as line:
        received = []
        for text in ("one", "two" * 20000, "end"):
            await line.send(text)
            received.append(await line.recv())
        return received


def test_websocket(httpd: Httpd) -> None:
    """In both directions. The connection has its process as long as it lasts,
    and no longer."""
    places = list(mount(httpd, SERVERS["uvicorn"]))
    httpd.start()
    for place in places:
        assert asyncio.run(talk(place)) == [
            "you said one", "you said " + "two" * 20000, "you said end"]
        assert place.get("/").status == 200
    httpd.settles(active=0, count=2)


def upgrade(place: Place, *tokens: str, body: str = "") -> socket.socket:
    """Send an upgrade request. @return the connection"""
    client = socket.create_connection(("127.0.0.1", place.httpd.port), 40)
    head = f"POST {place.mount}/ HTTP/1.1\r\nContent-Length: {len(body)}" \
        if body else f"GET {place.mount}/ HTTP/1.1"
    client.sendall(f"{head}\r\nHost: {place.host}\r\n"
                   f"Connection: Upgrade\r\nUpgrade: {', '.join(tokens)}\r\n"
                   f"\r\n{body}".encode())
    return client


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_any_protocol(httpd: Httpd) -> None:
    """The app may upgrade to any protocol."""
    places = list(mount(httpd, SERVERS["node"]))
    httpd.start()
    for place in places:
        with upgrade(place, "chatter/1") as client, \
                client.makefile("rb") as stream:
            assert b" 101 " in stream.readline()
            while stream.readline() != b"\r\n":
                pass
            client.sendall(b"hello")
            assert stream.read(5) == b"hello"
            assert httpd.pool("active") == 1
        wait_until(lambda: httpd.pool("active") == 0, "it is free again")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("tokens", [["h2c"], ["websocket", "h2c"],
                                    ["TLS/1.2"], ["HTTP/2.0"]])
def test_not_past_httpd(httpd: Httpd, tokens: list[str]) -> None:
    """These would reach the app past the configuration of httpd."""
    place, _ = mount(httpd, SERVERS["node"])
    httpd.start()
    for body in ("", "hello"):  # mod_proxy sends only requests with a body
        with upgrade(place, *tokens, body=body) as client, \
                client.makefile("rb") as stream:
            assert b" 200 " in stream.readline(), body


# ---- trailers
@pytest.mark.one_mpm("one function connects, sends and reads")

def test_trailers(httpd: Httpd) -> None:
    """They end a body, and do not become headers."""
    httpd.app("shop")
    place, _ = mount(httpd, SERVERS["node"])
    httpd.start()
    with socket.create_connection(("127.0.0.1", httpd.port), 40) as client:
        client.sendall(b"POST /echo HTTP/1.1\r\nHost: shop\r\n"
                       b"Transfer-Encoding: chunked\r\nTrailer: X-User\r\n"
                       b"Connection: close\r\n\r\n"
                       b"5\r\nhello\r\n0\r\nX-User: root\r\n\r\n")
        response = http.client.HTTPResponse(client)
        response.begin()
        seen = response.read().decode()
    assert response.status == 200
    assert '"body": "hello"' in seen
    assert "root" not in seen
    client = Connection(httpd.port)
    for _ in range(2):
        response = client.request("GET", "/trailers", place.host)
        assert (response.status, response.body) == (200, b"to the end")
        assert response.headers["X-Sum"] is None
    client.close()


# ---- HTTP/2

def curl(place: Place, *words: str,
         body: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["curl", "-s", "--http2-prior-knowledge", "--max-time", "40",
         "--connect-to", f"::127.0.0.1:{place.httpd.port}", *words],
        input=body, capture_output=True)


@pytest.mark.mpms("worker", "event")  # mod_http2 does not work with prefork
@pytest.mark.parametrize("name", ["node", "php", "uwsgi"])
def test_http2(httpd: Httpd, name: str) -> None:
    httpd.log.expect(*KILLED, sentences.CUT_OFF)
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    places = list(mount(httpd, SERVERS[name]))
    httpd.start()
    for place in places:
        url = f"http://{place.host}{place.mount}"
        head = curl(place, "-i", f"{url}/x%20y?z=1").stdout
        assert head.startswith(b"HTTP/2 200"), head
        assert b"x-path: /x y\r\n" in head
        assert f"x-mount: {place.mount}\r\n".encode() in head
        body = b"y" * 500000
        assert curl(place, f"{url}/", "--data-binary", "@-", "-H",
                    f"Content-Length: {len(body)}", body=body).stdout == body
        many = subprocess.run(
            ["h2load", "-n", "12", "-c", "2", "-m", "6", "--connect-to",
             f"127.0.0.1:{httpd.port}", f"{url}/big"], capture_output=True,
            text=True, timeout=60)
        assert "12 2xx" in many.stdout, many.stdout
        assert curl(place, "-i", f"{url}/status?304").stdout.startswith(
            b"HTTP/2 304")
        assert curl(place, "-I", f"{url}/").stdout.startswith(b"HTTP/2 200")
        assert curl(place, "-i", f"{url}/crash").stdout.startswith(
            b"HTTP/2 502")
        # Over fcgi, two processes in a row have got that request and ended.
        assert curl(place, "-i", f"{url}/").stdout.startswith(b"HTTP/2 200")
        half = curl(place, "-i", f"{url}/half")
        assert half.returncode != 0
        assert curl(place, "-i", f"{url}/").stdout.startswith(b"HTTP/2 200")
    httpd.settles(active=0, count=len(places))


def say_one(line: H2Connection) -> None:
    """A masked frame of WebSocket."""
    mask = b"\1\2\3\4"
    line.send_data(1, bytes([0x81, 0x83]) + mask
                   + bytes(a ^ b for a, b in zip(b"one", mask)))


@pytest.mark.mpms("worker", "event")
def test_websocket_over_http2(httpd: Httpd) -> None:
    """As browsers open it. Its process is free when the stream ends."""
    httpd.modules.append("http2")
    httpd.directives += ["Protocols h2c http/1.1", "H2WebSockets On"]
    places = list(mount(httpd, SERVERS["uvicorn"]))
    httpd.start()
    for place in places:
        received = b""
        line = H2Connection()
        line.initiate_connection()
        with socket.create_connection(("127.0.0.1", httpd.port), 40) as sock:
            sock.sendall(line.data_to_send())
            while b"you said one" not in received:
                assert (piece := sock.recv(65536))
                for event in line.receive_data(piece):
                    if isinstance(event, RemoteSettingsChanged):
                        line.send_headers(1, [
                            (":method", "CONNECT"), (":protocol", "websocket"),
                            (":scheme", "http"), (":authority", place.host),
                            (":path", f"{place.mount}/chat"),
                            ("sec-websocket-version", "13")])
                    elif isinstance(event, ResponseReceived):
                        assert (b":status", b"200") in event.headers
                        say_one(line)
                    elif isinstance(event, DataReceived):
                        received += event.data
                    else:
                        assert not isinstance(event, (ConnectionTerminated,
                                                      StreamReset))
                sock.sendall(line.data_to_send())
    httpd.settles(active=0, count=2)
