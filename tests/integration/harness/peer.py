# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server to which apps connect while they load. It speaks enough of the
protocol of Redis for a client that asks for nothing but its own words."""
import socketserver
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Type

from harness.packaged import UNPACKED

# Clients of Redis, which tests/run only unpacks
RUBY_REDIS = UNPACKED / "ruby-redis"
PYTHON_REDIS = UNPACKED / "python3-redis"


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while line := self.rfile.readline():
            words = [self.word() for _ in range(int(line[1:]))]
            self.wfile.write(b"$%d\r\n%b\r\n" % (len(words[-1]), words[-1]))

    def word(self) -> bytes:
        length = int(self.rfile.readline()[1:])
        return self.rfile.read(length + 2)[:-2]


class Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True


class Unix(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@contextmanager
def serving(kind: Type[socketserver.BaseServer], address: object
            ) -> Iterator[socketserver.BaseServer]:
    with kind(address, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def peers(path: Path) -> Iterator[int]:
    """One at that path, and one at a TCP port.
    @return the port"""
    with serving(Unix, str(path)), serving(Tcp, ("127.0.0.1", 0)) as tcp:
        path.chmod(0o666)
        yield tcp.server_address[1]
        path.unlink()


def ruby_redis() -> Path:
    """Its directory of code"""
    found = sorted(RUBY_REDIS.glob("usr/share/**/gems/redis-*/lib"))
    assert found, f"{RUBY_REDIS} is not there: tests/run unpacks it"
    return found[-1]


def python_redis() -> Path:
    found = PYTHON_REDIS / "usr/lib/python3/dist-packages"
    assert found.exists(), f"{PYTHON_REDIS} is not there: tests/run unpacks it"
    return found
