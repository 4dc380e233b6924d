# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A plain HTTP client, with one request a connection or a kept connection."""
import http.client
import json
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any, Optional

from missed import Missed


@dataclass
class Response:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


def fetch(port: int, path: str, host: str) -> tuple[int, bytes]:
    """Status and body of a response that no test looks at closely. Tests ask
    for the status of the pool so often that http.client takes too long."""
    with socket.create_connection(("127.0.0.1", port), 40) as sock:
        sock.sendall(f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        pieces = []
        while piece := sock.recv(1 << 18):
            pieces.append(piece)
    head, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1."), head
    return int(head.split(None, 2)[1]), body


# mod_proxy sends a request with these headers.
UPGRADE = {"Connection": "Upgrade", "Upgrade": "chatter/1"}


class Connection:
    """A connection that is kept between requests."""

    def __init__(self, port: int, timeout: float = 40.0) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", port,
                                               timeout=timeout)
        self.responding = False  # the header of the last response has come

    def request(self, method: str, path: str, host: str, body: Any = None,
                headers: Optional[dict[str, str]] = None,
                chunked: bool = False) -> Response:
        self.responding = False
        self.http.request(method, path, body=body, encode_chunked=chunked,
                          headers={"Host": host, **(headers or {})})
        response = self.http.getresponse()
        self.responding = True
        return Response(response.status, response.headers, response.read())

    def local_port(self) -> int:
        assert self.http.sock is not None
        return self.http.sock.getsockname()[1]

    def close(self) -> None:
        self.http.close()


class Stream:
    """An object that http.client uses like a socket, and does not close."""

    def __init__(self, sock: socket.socket) -> None:
        self.file = sock.makefile("rb")

    def makefile(self, *_: Any) -> "Stream":
        return self

    def close(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class Raw:
    """A connection over which bytes are sent unchanged."""

    def __init__(self, port: int, sent: bytes = b"", receive_buffer: int = 0,
                 context: Optional[ssl.SSLContext] = None) -> None:
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF,
                                 receive_buffer)
        self.sock.settimeout(40)
        self.sock.connect(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context:
            self.sock = context.wrap_socket(self.sock)
        self.stream = Stream(self.sock)
        self.send(sent)

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stream.file.close()
        self.sock.close()

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def head(self) -> tuple[int, str]:
        """Status and header of the next response, also of 100."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.stream.file.readline()
            assert line, f"the connection ended after {head!r}"
            head += line
        return int(head.split()[1]), head.decode("latin-1")

    def response(self, method: str = "GET") -> Response:
        response = http.client.HTTPResponse(
            self.stream, method=method)  # type: ignore[arg-type]
        response.begin()
        return Response(response.status, response.headers, response.read())

    def rest(self) -> bytes:
        """All bytes until the connection ends."""
        data = b""
        try:
            while piece := self.stream.file.read1(65536):
                data += piece
        except ConnectionResetError:
            pass
        return data


class Pending:
    """A request in a thread of its own."""

    def __init__(self, connection: Connection, *what: Any,
                 **more: Any) -> None:
        self.connection = connection
        self.response: Optional[Response] = None
        self.error: Optional[Exception] = None
        self.began = time.monotonic()
        self.took = 0.0  # seconds until the response

        def run() -> None:
            try:
                self.response = connection.request(*what, **more)
            except Exception as error:  # raised again by result()
                self.error = error
            self.took = time.monotonic() - self.began
            connection.close()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def done(self) -> bool:
        return not self.thread.is_alive()

    def leave(self) -> None:
        """Close the connection without waiting for the response."""
        assert self.connection.http.sock is not None
        self.connection.http.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(30)

    def result(self, bound: float = 60.0) -> Response:
        self.thread.join(bound)
        if self.thread.is_alive():
            raise Missed(f"no response within {bound} s")
        if self.error is not None:
            raise self.error
        assert self.response is not None
        return self.response
