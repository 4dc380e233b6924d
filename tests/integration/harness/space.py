# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A client of the store, in the text protocol, at the socket that an app has
got."""
import socket

from harness.httpd import Httpd
from harness.wait import wait_until


class Space:
    def __init__(self, httpd: Httpd, app: str) -> None:
        response = httpd.get("/process", app)
        assert response.status == 200, response.text
        self.path: str = response.json()["environment"]["MEMCACHE_SERVERS"]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(40)
        wait_until(self.connects, "the store has made its socket")
        self.stream = self.socket.makefile("rb")

    def connects(self) -> bool:
        """At the start of httpd, an app may be ready before the store."""
        try:
            self.socket.connect(self.path)
        except FileNotFoundError:
            return False
        return True

    def command(self, line: str, data: str = "") -> str:
        """A command with a response of one line."""
        text = f"{line}\r\n{data}\r\n" if data else f"{line}\r\n"
        self.socket.sendall(text.encode())
        return self.stream.readline().decode().rstrip("\r\n")

    def set(self, key: str, value: str, exptime: int = 0) -> None:
        line = f"set {key} 0 {exptime} {len(value)}"
        assert self.command(line, value) == "STORED"

    def get(self, key: str) -> str:
        """The value; "" if there is none."""
        if self.command(f"get {key}") == "END":
            return ""
        value = self.stream.readline().decode().rstrip("\r\n")
        assert self.stream.readline() == b"END\r\n"
        return value

    def close(self) -> None:
        self.stream.close()
        self.socket.close()
