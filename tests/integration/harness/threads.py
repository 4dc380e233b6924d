# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A few clients with almost no pause, each in a thread: GET, POST, and GET of
a response that comes in pieces. Any result that is not a complete response of
status 200 is a failure, and is kept."""
import itertools
import threading
from http.client import HTTPException
from types import TracebackType
from typing import Callable, Optional, Type

from missed import Missed, witnesses

from harness.client import Connection, Response
from harness.httpd import Httpd
from harness.wait import wait_until


# Seconds from a response to the next request. Without a pause, the clients and
# their httpd would use a whole processor while the test waits.
PAUSE = 0.02
BIG = 60000  # bytes; more than is read or sent at once
TURNS = [("GET", "/pid", None, 0), ("POST", "/pid", b"x" * 5000, 0),
         ("GET", f"/pid?n={BIG}", None, BIG)]


def named(response: Response) -> str:
    """The name of a response of /pid: the process that sent it."""
    return str(response.headers["X-Pid"]) if response.status == 200 \
        else str(response.status)


def is_torn(response: Response, more: int) -> bool:
    """Does its body differ from what the application has sent?"""
    return response.status == 200 and \
        response.text != response.headers["X-Pid"] + "x" * more


class Threads:
    """with Threads(httpd, "shop", 4) as clients: ... clients.failed"""

    def __init__(self, httpd: Httpd, host: str, count: int, kept: int = 0,
                 name: Callable[[Response], str] = named,
                 pause: float = PAUSE) -> None:
        """The number of clients, and how many of them keep their
        connections."""
        self.httpd = httpd
        self.host = host
        self.name = name
        self.pause = pause
        self.good = 0
        self.failed: list[str] = []
        witnesses.append(lambda: self.failed)
        self.responses: list[list[str]] = [[] for _ in range(count)]
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True,
                                         args=(responses, n < kept))
                        for n, responses in enumerate(self.responses)]

    def run(self, responses: list[str], keep: bool) -> None:
        connection = None
        for method, path, body, size in itertools.cycle(TURNS):
            if self.ended.wait(self.pause):
                break
            fresh = connection is None
            connection = connection or Connection(self.httpd.port)
            try:
                response = connection.request(
                    method, path, self.host, body,
                    {} if keep else {"Connection": "close"})
            except (OSError, HTTPException) as error:
                connection.close()
                closed = isinstance(error, ConnectionError) \
                    and not connection.responding
                connection = None
                if not closed or fresh:
                    # httpd may close a kept connection at any time, and every
                    # client then sends the request again.
                    responses.append(repr(error))
                    self.failed.append(f"{method} {error!r}")
                continue
            torn = is_torn(response, size)
            responses.append("torn" if torn else self.name(response))
            if torn:
                self.failed.append(f"{method} was torn: {response.text[:20]}")
            elif response.status != 200:
                self.failed.append(f"{method} {responses[-1]}")
            else:
                self.good += 1
            if not keep or response.headers.get("Connection") == "close":
                connection.close()
                connection = None
        if connection:
            connection.close()

    def more(self, count: int = 20) -> None:
        """Return when this many more requests were served."""
        seen = self.good
        wait_until(lambda: self.good >= seen + count or self.failed,
                   "requests are served", 60)

    def names(self) -> set[str]:
        """The names of the responses."""
        return {name for responses in self.responses for name in responses}

    def __enter__(self) -> "Threads":
        for thread in self.threads:
            thread.start()
        self.more(1)
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(60)
        if kind is None and any(thread.is_alive() for thread in self.threads):
            raise Missed("a client has got no response")
