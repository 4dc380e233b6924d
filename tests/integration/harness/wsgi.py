# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The loader for WSGI applications (helpers/python) without httpd, and a client
that sends it any bytes."""
import os
import signal
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional

import pytest

from harness import procs
from harness.places import APPS, TOP

WSGI = TOP / "helpers" / "python" / "wsgi.py"
GET = b"GET %b HTTP/1.1\r\nHost: shop\r\n\r\n"
MEGABYTE = 1 << 20


class Loader:
    """The loader. It serves the app on a Unix socket, which it gets as
    descriptor 3."""

    def __init__(self, place: Path, app: str = "semantics",
                 root: Path = APPS / "wsgi") -> None:
        self.place = place
        self.path = place / "socket"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(10)
        self.output = (place / "output").open("w+b")
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", "LISTEN_PID=$$ exec /usr/bin/python3 -B "
             f"{WSGI} {app} 3<&0 </dev/null"],
            env={**os.environ, "LISTEN_FDS": "1"}, cwd=root,
            stdin=self.listener, stdout=self.output, stderr=self.output)

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(30)
        client.connect(str(self.path))
        return client

    def log(self) -> str:
        return (self.place / "output").read_text()

    def end(self) -> int:
        """End the loader, which is idle."""
        procs.send(self.process.pid, signal.SIGTERM)
        return self.process.wait(20)

    def destroy(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.listener.close()
        self.output.close()


class Response:
    """A response, read from a connection. `framing` says how its end was
    marked."""

    def __init__(self, client: socket.socket, method: str = "GET") -> None:
        self.stream = client.makefile("rb")
        self.status = int(self.line().split(b" ")[1])
        self.headers: dict[str, str] = {}
        for line in iter(self.line, b""):
            name, value = line.decode("latin-1").split(": ", 1)
            self.headers[name] = value
        self.framing = "none"
        self.body = b""
        if method == "HEAD" or self.status in (100, 204, 304):
            return
        if "Content-Length" in self.headers:
            self.framing = "length"
            self.body = self.stream.read(int(self.headers["Content-Length"]))
        elif "Transfer-Encoding" in self.headers:
            self.framing = "chunked"
            while True:
                size = int(self.line() or b"-1", 16)
                part = self.stream.read(max(size, 0))
                self.body += part
                if size <= 0 or self.line():
                    self.framing += "" if size == 0 else ", cut"
                    break
            if size == 0:
                assert self.line() == b""
        else:
            self.framing = "end"
            self.body = self.stream.read()

    def line(self) -> bytes:
        return self.stream.readline().rstrip(b"\r\n")


@contextmanager
def serving(place: Path) -> Iterator[Loader]:
    """A loader that serves many tests. It has to live until the end."""
    loader = Loader(place)
    try:
        yield loader
        assert loader.process.poll() is None, loader.log()
    finally:
        loader.destroy()


def ask(client: socket.socket, path: str, method: str = "GET",
        body: Optional[bytes] = None, *headers: str,
        version: str = "1.1") -> Response:
    lines = [f"{method} {path} HTTP/{version}", "Host: shop:8080", *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    client.sendall("\r\n".join([*lines, "", ""]).encode("latin-1")
                   + (body or b""))
    return Response(client, method)


def is_open(client: socket.socket) -> bool:
    return ask(client, "/shape?one").body == b"hello"


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    """A loader for all tests of a file."""
    with serving(tmp_path_factory.mktemp("wsgi")) as loader:
        yield loader


@pytest.fixture
def client(shared: Loader) -> Iterator[socket.socket]:
    """A connection to it."""
    with shared.connect() as made:
        yield made
