# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Clients of a store that write and read on, while stores come and go."""
import os
import random
import re
import socket
import threading

from missed import Missed, witnesses

from harness.httpd import Httpd
from harness.wait import wait_until


class Client:
    """One connection after the other. An answer that is lost raises OSError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.socket: socket.socket | None = None

    def ask(self, command: bytes, end: bytes) -> bytes:
        try:
            if self.socket is None:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(60)
                self.socket.connect(self.path)
            self.socket.sendall(command)
            response = b""
            while not response.endswith(end):
                more = self.socket.recv(1 << 16)
                if not more:
                    raise ConnectionResetError(response)
                response += more
            return response
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def set(self, key: str, value: bytes) -> None:
        response = self.ask(b"set %s 0 0 %d\r\n%s\r\n" % (
            key.encode(), len(value), value), b"\r\n")
        assert response == b"STORED\r\n"

    def get(self, key: str) -> bytes | None:
        response = self.ask(f"get {key}\r\n".encode(), b"END\r\n")
        found = re.match(rb"VALUE \S+ 0 (\d+)\r\n", response)
        return response[found.end():-7] if found else None


def store_path(httpd: Httpd, root: str = "") -> str:
    """The socket of the store of its application shop, which is there.
    @param root of httpd's mount namespace"""
    response = httpd.get("/process", "shop", timeout=40)
    assert response.status == 200, response.body
    path: str = root + response.json()["environment"]["MEMCACHE_SERVERS"]
    wait_until(lambda: os.path.exists(path), "the store makes the socket")
    return path


def store_of(httpd: Httpd) -> Client:
    return Client(store_path(httpd))


class Sessions(threading.Thread):
    """Writes rising values of one key, at any of the sockets, and reads them at
    any of them."""

    def __init__(self, paths: list[str], name: str) -> None:
        super().__init__(daemon=True)
        self.paths, self.key = paths, name
        self.clients: dict[str, Client] = {}
        self.tried = self.acknowledged = self.lost = 0
        self.wrong: list[tuple[int, bytes | None, int]] = []
        witnesses.append(lambda: self.wrong)
        self.ends = threading.Event()
        self.dice = random.Random(name)

    def client(self) -> Client:
        path = self.dice.choice(self.paths)
        return self.clients.setdefault(path, Client(path))

    def turn(self) -> None:
        self.tried += 1
        self.client().set(self.key, b"%d" % self.tried)
        self.acknowledged = self.tried
        value = self.client().get(self.key)
        if value is None or int(value) != self.acknowledged:
            self.wrong.append((self.acknowledged, value, self.tried))

    def read(self) -> None:
        """What was tried last may have been written or not."""
        value = self.client().get(self.key)
        if value is None and self.acknowledged == 0:
            return
        if value is None or not self.acknowledged <= int(value) <= self.tried:
            self.wrong.append((self.acknowledged, value, self.tried))

    def run(self) -> None:
        is_lost = False
        while not self.ends.is_set():
            try:
                if is_lost:
                    self.read()
                is_lost = False
                self.turn()
            except OSError:
                self.lost += 1
                is_lost = True
                self.ends.wait(0.002)

    def more(self, n: int) -> None:
        wanted = self.acknowledged + n
        wait_until(lambda: self.acknowledged >= wanted, "sessions are written")

    def finish(self) -> None:
        self.ends.set()
        self.join(60)
        assert self.wrong == []
        if self.is_alive():
            raise Missed("the last session does not end")
