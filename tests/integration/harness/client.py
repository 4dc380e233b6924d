# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A plain HTTP client: one request a connection, or a kept connection."""
import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any, Optional


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


class Connection:
    """A connection that is kept between requests."""

    def __init__(self, port: int, timeout: float = 20.0) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", port,
                                               timeout=timeout)

    def request(self, method: str, path: str, host: str, body: Any = None,
                headers: Optional[dict[str, str]] = None,
                chunked: bool = False) -> Response:
        self.http.request(method, path, body=body, encode_chunked=chunked,
                          headers={"Host": host, **(headers or {})})
        answer = self.http.getresponse()
        return Response(answer.status, answer.headers, answer.read())

    def local_port(self) -> int:
        assert self.http.sock is not None
        return self.http.sock.getsockname()[1]

    def close(self) -> None:
        self.http.close()


class Pending:
    """A request under way in a thread of its own."""

    def __init__(self, connection: Connection, *what: Any,
                 **more: Any) -> None:
        self.connection = connection
        self.answer: Optional[Response] = None
        self.error: Optional[Exception] = None
        self.began = time.monotonic()
        self.took = 0.0  # seconds until the answer

        def run() -> None:
            try:
                self.answer = connection.request(*what, **more)
            except Exception as error:  # handed to result()
                self.error = error
            self.took = time.monotonic() - self.began
            connection.close()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def done(self) -> bool:
        return not self.thread.is_alive()

    def leave(self) -> None:
        """Close the connection without waiting for the answer."""
        assert self.connection.http.sock is not None
        self.connection.http.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)

    def result(self, bound: float = 10.0) -> Response:
        self.thread.join(bound)
        assert not self.thread.is_alive(), f"no answer within {bound} s"
        if self.error is not None:
            raise self.error
        assert self.answer is not None
        return self.answer
