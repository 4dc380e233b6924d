# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A proxy between clients and a server: a TCP port for clients without Unix
sockets, and faults for tests of the tests."""
import socket
import threading
from contextlib import suppress
from typing import Callable, Optional

from harness.servers import Server

Filter = Callable[[bytes], bytes]


def unchanged(data: bytes) -> bytes:
    return data


def replaced(old: bytes, new: bytes) -> Filter:
    return lambda data: data.replace(old, new)


class Pump:
    """Accepts on a socket, and joins each connection with one to the server."""

    def __init__(self, listener: socket.socket, server: Server,
                 requests: Filter = unchanged,
                 replies: Filter = unchanged) -> None:
        self.listener, self.server = listener, server
        self.requests, self.replies = requests, replies
        self.open: set[socket.socket] = set()
        self.threads: list[threading.Thread] = []
        self._thread(self._accept)

    def _thread(self, run: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return  # closed
            try:
                server = self.server.connect()
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            self.open |= {client, server}
            self._thread(self._join, client, server)

    def _join(self, client: socket.socket, server: socket.socket) -> None:
        back = threading.Thread(target=self._copy, daemon=True,
                                args=(server, client, self.replies))
        back.start()
        self._copy(client, server, self.requests)
        back.join()
        for end in (client, server):
            self.open.discard(end)
            end.close()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket,
              change: Filter) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(change(data))
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def end(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for one in list(self.open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()


class Faulty(Server):
    """A server with a mistake: the proxy changes its requests and replies."""

    def __init__(self, server: Server, requests: Filter = unchanged,
                 replies: Filter = unchanged) -> None:
        super().__init__()
        self.name = f"faulty {server.name}"
        self.behind, self.filters = server, (requests, replies)
        self.pump: Optional[Pump] = None

    def start(self) -> None:
        self.behind.start()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen(128)
        self.pump = Pump(listener, self.behind, *self.filters)

    def again(self) -> None:
        self.behind.again()

    def destroy(self) -> None:
        if self.pump:
            self.pump.end()
        self.behind.destroy()
        super().destroy()


class Port:
    """A TCP port on loopback that leads to the server."""

    def __init__(self, server: Server) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        self.number = int(listener.getsockname()[1])
        self.pump = Pump(listener, server)

    def __enter__(self) -> "Port":
        return self

    def __exit__(self, *_: object) -> None:
        self.pump.end()
