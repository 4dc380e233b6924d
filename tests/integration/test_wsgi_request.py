# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the loader for WSGI applications (helpers/python) makes of the bytes of a
request. apps/wsgi/semantics.py has what each URL does."""
import json
import random
import socket
import time

import pytest

from harness.cases import cases
from harness.wsgi import (GET, MEGABYTE, Response, Loader, ask, client,
                          is_closed, is_open, shared)


def test_environ(client: socket.socket) -> None:
    seen = json.loads(ask(
        client, "/environ?a=b%20c", "GET", None, "X-One: 1", "x-one:\t2 ",
        "Cookie: a=1", "Cookie: b=2", "X-Forwarded-Proto: https",
        "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Prefix: /a%20b",
        "Content-Type: text/x").body)
    want = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/a b",
            "PATH_INFO": "/environ", "QUERY_STRING": "a=b%20c",
            "REQUEST_URI": "/a%20b/environ?a=b%20c", "CONTENT_TYPE": "text/x",
            "SERVER_NAME": "shop", "SERVER_PORT": "8080",
            "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "192.0.2.1",
            "HTTPS": "on", "HTTP_HOST": "shop:8080", "HTTP_X_ONE": "1, 2",
            "HTTP_COOKIE": "a=1; b=2", "wsgi.url_scheme": "https",
            "wsgi.version": [1, 0], "wsgi.multithread": False,
            "wsgi.multiprocess": True, "wsgi.run_once": False}
    assert {key: seen.get(key) for key in want} == want
    seen = json.loads(ask(client, "/%41%zz%2f%e4%").body)
    assert seen["PATH_INFO"] == "/A%zz/\xe4%"
    assert "HTTPS" not in seen and seen["SCRIPT_NAME"] == ""
    assert json.loads(ask(client, "*", "OPTIONS").body)["PATH_INFO"] == "*"


BODY = bytes(range(256)) * 4 + b"\nline\n" * 9
CHUNKED = (b"POST %b HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n"
           b"\r\n" + b"400;a=b\r\n" + BODY[:1024] + b"\r\n36 \r\n"
           + BODY[1024:] + b"\r\n0\r\nTrailer: x\r\n\r\n")
LENGTH = (b"POST %b HTTP/1.1\r\nHost: shop\r\nContent-Length: %d\r\n\r\n"
          + BODY)


@pytest.mark.parametrize("how", ["all", "lines", "readline", "readlines",
                                 "5", "1000000"])
def test_input(client: socket.socket, how: str) -> None:
    path = f"/echo?{how}".encode()
    for request in (CHUNKED.replace(b"%b", path),
                    LENGTH.replace(b"%b", path).replace(
                        b"%d", b"%d" % len(BODY))):
        client.sendall(request)
        assert Response(client).body == BODY
    assert ask(client, f"/echo?{how}").body == b""


@pytest.mark.parametrize("pattern", ["chunked", "length"])
def test_split_anywhere(shared: Loader, pattern: str) -> None:
    """Two pieces, at each byte; the next request follows at once"""
    request = {"chunked": CHUNKED, "length": LENGTH}[pattern].replace(
        b"%b", b"/echo?all").replace(b"%d", b"%d" % len(BODY))
    with shared.connect() as client:
        for at in [*range(1, 110), *range(len(request) - 40, len(request))]:
            client.sendall(request[:at])
            time.sleep(0.0005)
            client.sendall(request[at:])
            assert Response(client).body == BODY, at


def test_pipeline(client: socket.socket) -> None:
    """Responses have the order of the requests, whatever came with them"""
    paths = [b"/shape?one", b"/shape?generator", b"/echo?all"]
    client.sendall(b"".join(GET % path for path in paths)
                   + LENGTH.replace(b"%b", b"/echo?none").replace(
                       b"%d", b"%d" % len(BODY)) + GET % b"/shape?two")
    stream = client.makefile("rb")
    got = b""
    while got.count(b"HTTP/1.1 200") < 5 or not got.endswith(b"hello"):
        got += stream.read1(65536)
    assert got.index(b"nothing was read") > got.index(b"3\r\nhel")


BAD = {
    "no request": b"hello\r\n\r\n",
    "an empty line": b"\r\n\r\n",
    "two words": b"GET /\r\n\r\n",
    "four words": b"GET / a HTTP/1.1\r\n\r\n",
    "HTTP/2": b"GET / HTTP/2.0\r\n\r\n",
    "a method with a quote": b'G"T / HTTP/1.1\r\n\r\n',
    "another host": b"GET http://a/ HTTP/1.1\r\n\r\n",
    "a star": b"GET * HTTP/1.1\r\n\r\n",
    "a tab in the path": b"GET /a\tb HTTP/1.1\r\n\r\n",
    "a line feed alone": b"GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
    "a return alone": b"GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n",
    "a zero": b"GET / HTTP/1.1\r\nA: b\0\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\nhello\r\n\r\n",
    "no colon after a name": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "no name": b"GET / HTTP/1.1\r\n: hello\r\n\r\n",
    "a blank after the name": b"GET / HTTP/1.1\r\nA : b\r\n\r\n",
    "a folded line": b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
    "a wrong length": b"POST / HTTP/1.1\r\nContent-Length: 5x\r\n\r\n",
    "a negative length": b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    "a signed length": b"POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n12345",
    "a superscript": b"POST / HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n12",
    "an endless length": b"POST / HTTP/1.1\r\nContent-Length: %b\r\n\r\n"
                         % (b"9" * 5000),
    "two lengths": b"POST / HTTP/1.1\r\nContent-Length: 5\r\n"
                   b"Content-Length: 5\r\n\r\n12345",
    "length and chunks": b"POST / HTTP/1.1\r\nContent-Length: 5\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "another coding": b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked"
                      b"\r\n\r\n0\r\n\r\n",
    "two codings": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
                   b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"
                          b"\r\n0\r\n\r\n",
    "a head without end": b"GET / HTTP/1.1\r\nA: " + b"x" * (MEGABYTE + 20000),
}


def test_bad_requests(shared: Loader) -> None:
    """400, the end of the connection, and no request reaches the app"""
    with shared.connect() as other:
        before = int(ask(other, "/printed").body)
        for name, case in cases(BAD):
            with case, shared.connect() as client:
                try:
                    client.sendall(BAD[name] + GET % b"/printed")
                except BrokenPipeError:
                    pass
                response = Response(client)
                assert (response.status, is_closed(client)) == (400, True)
        assert int(ask(other, "/printed").body) == before + 1


BAD_CHUNKS = [b"x\r\n", b"-1\r\n", b"0x5\r\n12345\r\n0\r\n\r\n", b"+5\r\n",
              b"\r\n", b"5_0\r\n", b"5\r\n123456\r\n", b"f" * 20 + b"\r\n",
              b"1" * 5000, b"5;" + b"x" * 5000, b"5\n12345\r\n0\r\n\r\n",
              b"0\r\n" + b"a: b\r\n" * 200]


def test_bad_chunks(shared: Loader) -> None:
    """The app reads no body that looks complete"""
    head = (b"POST /echo?all HTTP/1.1\r\nHost: shop\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
    for chunk in BAD_CHUNKS:
        with shared.connect() as client:
            client.sendall(head + chunk)
            assert Response(client).status == 400, chunk
            assert is_closed(client)


def test_any_bytes(shared: Loader) -> None:
    """A request with a few wrong bytes gets at most one response, or the end.
    The loader stays alive"""
    dice = random.Random(3333)
    parent = CHUNKED.replace(b"%b", b"/echo?all")
    for _ in range(400):
        request = bytearray(parent)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(110) if dice.random() < 0.8 \
                else dice.randrange(len(request))
            request[at:at + dice.randrange(3)] = dice.randbytes(
                dice.randrange(3))
        with shared.connect() as client:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            got = client.makefile("rb").read()
            assert got == b"" or got.startswith(b"HTTP/1.1 "), bytes(request)
    with shared.connect() as client:
        assert is_open(client)


def test_expect(client: socket.socket) -> None:
    """100 Continue comes when the app reads the body, and it does not come if
    the body is there already"""
    client.sendall(b"POST /echo?all HTTP/1.1\r\nHost: a\r\n"
                   b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    assert Response(client).status == 100
    client.sendall(b"12345")
    assert Response(client).body == b"12345"
    assert ask(client, "/echo?all", "POST", b"123",
               "Expect: 100-continue").body == b"123"
    client.sendall(b"POST /echo?none HTTP/1.1\r\nHost: a\r\n"
                   b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    assert Response(client).status == 200
    assert is_closed(client)


def test_unread_input(client: socket.socket) -> None:
    """A client that sends everything before it reads gets the response"""
    for _ in range(2):
        assert ask(client, "/echo?none", "POST",
                   b"x" * 5 * MEGABYTE).body == b"nothing was read"


def test_half_a_body(shared: Loader) -> None:
    """It is an error for the app, and not the end of the body"""
    with shared.connect() as client:
        client.sendall(b"POST /echo?all HTTP/1.1\r\nHost: a\r\n"
                       b"Content-Length: 10\r\n\r\n12345")
        client.shutdown(socket.SHUT_WR)
        assert Response(client).status == 400
