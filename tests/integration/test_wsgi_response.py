# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Responses of WSGI applications, as the loader (helpers/python) sends them.
apps/wsgi/semantics.py has what each URL does."""
import gzip
import random
import socket
from pathlib import Path

import pytest

from harness.cases import cases
from harness.wsgi import (GET, MEGABYTE, Loader, ask, client, is_closed,
                          is_open, shared)

BODY = bytes(range(256)) * 4


SHAPES = {"one": "length", "two": "length", "none": "length",
          "tuple": "length", "generator": "chunked", "alone": "length",
          "empty": "length", "buffer": "length", "silent": "length"}


def test_framing(shared: Loader, client: socket.socket) -> None:
    for shape, framing in SHAPES.items():
        body = b"" if shape in ("none", "empty", "silent") else b"hello"
        response = ask(client, f"/shape?{shape}")
        assert (response.framing, response.body) == (framing, body), shape
        head = ask(client, f"/shape?{shape}", "HEAD")
        assert head.headers.get("Content-Length") == (
            str(len(body)) if body and framing == "length" else None), shape
        with shared.connect() as old:
            response = ask(old, f"/shape?{shape}", version="1.0")
            assert response.body == body and is_closed(old)
            assert response.framing == framing.replace("chunked", "end")
    for code in ("204", "304"):
        response = ask(client, f"/bare?{code}")
        assert response.headers == {"ETag": '"x"'}
    assert is_open(client)


def test_valid(client: socket.socket) -> None:
    """wsgiref.validate finds nothing"""
    for path in ("environ", "shape?one", "shape?generator", "echo?100",
                 "bare?304"):
        assert ask(client, f"/valid/{path}").status in (200, 304), path
    assert ask(client, "/valid/echo?100", "POST", BODY).body == BODY
    assert ask(client, "/valid/shape?one", "HEAD").status == 200
    assert ask(client, "/valid/write?/").body == b"firstsecondthird"


@pytest.mark.parametrize("way", ["stream", "write"])
def test_no_part_waits(client: socket.socket, tmp_path: Path,
                       way: str) -> None:
    """The first part arrives before there is a second one"""
    client.sendall(GET % f"/{way}?{tmp_path}/go".encode())
    got = b""
    while b"first" not in got:
        got += client.recv(65536)
    assert b"second" not in got
    (tmp_path / "go").touch()
    while not got.endswith(b"0\r\n\r\n"):
        got += client.recv(65536)
    assert b"6\r\nsecond\r\n" in got


def test_close_is_called(shared: Loader, client: socket.socket) -> None:
    """It is closed also when the client is gone, or the app raises"""
    assert ask(client, "/close?good").framing == "chunked"
    with shared.connect() as raises:
        assert ask(raises, "/close?raises").framing == "chunked, cut"
    with shared.connect() as gone:
        gone.sendall(GET % b"/close?gone")
        gone.recv(1000)
    closed = ask(client, "/closings").body.decode().split()
    assert closed[-3:] == ["good", "raises", "gone"]
    ask(client, "/close?good", "HEAD")
    assert ask(client, "/closings").body.decode().split() == [*closed, "good"]


def test_exc_info(shared: Loader, client: socket.socket) -> None:
    response = ask(client, "/exc_info?unsent")
    assert (response.status, response.body) == (500, b"an apology")
    with shared.connect() as cut:
        response = ask(cut, "/exc_info?sent")
        assert (response.framing, response.body) == ("chunked, cut", b"part of it")
    assert "LookupError: found too late" in shared.log()


WRONG = {"twice": "called twice", "never": "was not called",
         "status": "control character", "code": "no status",
         "word": "no status", "interim": "no status",
         "value": "control character", "newline": "control character",
         "name": "no name of a header", "blank": "no name of a header",
         "nameless": "no name of a header",
         "hop": "cannot send the header Connection",
         "coding": "cannot send the header Transfer-Encoding",
         "bytes": "is no str", "wide": "latin-1", "zero": "control character",
         "length": "no Content-Length", "str": "a body is of bytes",
         "nothing": "NoneType", "number": "'int' object"}


def test_wrong_applications(shared: Loader) -> None:
    """500, and the reason in the log. No value becomes a header"""
    for name, case in cases(WRONG):
        before = len(shared.log())
        with case, shared.connect() as client:
            response = ask(client, f"/wrong?{name}")
            assert response.status == 500
            assert "Set-Cookie" not in response.headers
            assert is_closed(client)
            assert WRONG[name] in shared.log()[before:]


def test_wrong_length(shared: Loader) -> None:
    """A body that is too long ends at its length. One that is too short looks
    broken off"""
    with shared.connect() as client:
        assert ask(client, "/length?8").body == b"12345678"
        assert is_closed(client)
    with shared.connect() as client:
        assert ask(client, "/length?11").body == b"1234567890"
    assert "longer than its Content-Length" in shared.log()
    assert "1 bytes fewer than its Content-Length" in shared.log()


@pytest.mark.parametrize("kind", ["plain", "unbuffered", "middle", "bytes",
                                  "gzip", "short"])
def test_file_wrapper(client: socket.socket, tmp_path: Path,
                      kind: str) -> None:
    path, data = tmp_path / "file", random.Random(1).randbytes(3 * MEGABYTE)
    path.write_bytes(gzip.compress(data, 0) if kind == "gzip" else data)
    response = ask(client, f"/file?{kind}&{path}")
    assert response.body == (data[1010:1510] if kind == "middle" else data)
    assert response.framing == ("chunked" if kind in ("gzip", "bytes")
                                else "length")
    if kind == "short":
        assert is_closed(client)
        return
    head = ask(client, f"/file?{kind}&{path}", "HEAD")
    assert head.headers.get("Content-Length") == (
        str(len(response.body)) if response.framing == "length" else None)
    assert is_open(client)
