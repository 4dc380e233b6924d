# Licensed under the Apache License, Version 2.0; see LICENSE.
"""haproxy with the configuration of packaging/container/, and its clients."""
import http.client
import re
import socket
import subprocess
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import haproxy
import manifests
from steps import until

PROGRAM = manifests.TOP / "build/packaged/haproxy/usr/sbin/haproxy"
CLIENTS = 4
PAUSE = 0.02  # s between two requests of a client


def free_port() -> int:
    """A port of the loopback interface that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Haproxy:
    """with Haproxy({service: port}) as balancer: ... balancer.port. Only addresses
    and the path of its socket differ from haproxy.cfg."""

    def __init__(self, ports: dict[str, int]) -> None:
        self.port = free_port()
        self.place = tempfile.TemporaryDirectory(prefix="haproxy-")
        self.socket = Path(self.place.name) / "admin.sock"
        text = manifests.HAPROXY.read_text()
        for old, new in (
                ("/run/haproxy/admin.sock", str(self.socket)),
                ("bind :8080", f"bind 127.0.0.1:{self.port}"),
                *((f"{service}:8080", f"127.0.0.1:{port}")
                  for service, port in ports.items())):
            assert old in text, f"haproxy.cfg has no {old}"
            text = text.replace(old, new)
        self.config = Path(self.place.name) / "haproxy.cfg"
        self.config.write_text(text)

    def __enter__(self) -> "Haproxy":
        self.process = subprocess.Popen(
            [str(PROGRAM), "-db", "-f", str(self.config)],
            stdin=subprocess.DEVNULL)
        until(self.listens, "haproxy runs")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(40)
        self.place.cleanup()

    def listens(self) -> bool:
        assert self.process.poll() is None, "haproxy has ended"
        return haproxy.listens(self.socket)

    def uses(self, server: str) -> bool:
        return haproxy.uses(self.socket, server)

    def get(self, cookie: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/", headers={"Cookie": cookie})
        response = connection.getresponse()
        assert response.status == 200
        return response.read().decode()


class Load:
    """Clients that have no cookie, half of them on kept connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.failed: list[str] = []
        self.by: Counter[str] = Counter()
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.client, args=(i % 2 == 0,))
                        for i in range(CLIENTS)]

    def client(self, keeps: bool) -> None:
        connection = None
        while not self.ends.wait(PAUSE):
            connection = connection if keeps and connection else \
                http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request("GET", "/")
                response = connection.getresponse()
                text = response.read().decode()
            except (OSError, http.client.HTTPException) as trouble:
                self.failed.append(repr(trouble))
                connection = None
                continue
            if response.status != 200 or not re.fullmatch(r"[ab] \d+\n", text):
                self.failed.append(f"{response.status} {text}")
            self.by[text[:1]] += 1

    def served(self, replica: str, count: int) -> bool:
        return self.by[replica] >= count

    def served_again(self, replica: str) -> None:
        """Wait until it serves more."""
        before = self.by[replica]
        until(lambda: self.by[replica] > before + 10, f"{replica} serves again")

    def more(self, count: int) -> None:
        before = sum(self.by.values())
        until(lambda: sum(self.by.values()) > before + count, "there is load")


@contextmanager
def load(port: int) -> Iterator[Load]:
    """None of its requests may fail."""
    made = Load(port)
    for thread in made.threads:
        thread.start()
    try:
        yield made
    finally:
        made.ends.set()
        for thread in made.threads:
            thread.join()
    assert not made.failed, f"{len(made.failed)} failed: {made.failed[0]}"
    print(f"{sum(made.by.values())} requests, {dict(made.by)}")
