# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A few clients without a pause, each in a thread: GET and POST by turns."""
import threading
from types import TracebackType
from typing import Optional, Type

from harness.httpd import Httpd
from harness.wait import wait_until


class Threads:
    """with Threads(httpd, "shop", 4) as clients: ... clients.failed"""

    def __init__(self, httpd: Httpd, host: str, count: int) -> None:
        self.httpd = httpd
        self.host = host
        self.good = 0
        self.failed: list[str] = []
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, daemon=True)
                        for _ in range(count)]

    def run(self) -> None:
        post = False
        while not self.ended.is_set():
            method, body = ("POST", b"x" * 5000) if post else ("GET", None)
            try:
                answer = self.httpd.request(method, "/pid", self.host, body)
                if answer.status == 200:
                    self.good += 1
                else:
                    self.failed.append(f"{method} {answer.status}")
            except OSError as error:
                self.failed.append(f"{method} {error}")
            post = not post

    def more(self, count: int = 20) -> None:
        """Return when so many more were answered."""
        seen = self.good
        wait_until(lambda: self.good >= seen + count or self.failed,
                   "requests are answered", 60)

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
            thread.join(30)
