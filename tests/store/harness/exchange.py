# Licensed under the Apache License, Version 2.0; see LICENSE.
"""One connection: everything is sent, in pieces or at once, and then the
sending side is closed. A server reads to the end, replies, and closes. So the
end of the replies is an event, even after a command that swallows others."""
import array
import fcntl
import select
import socket
import time
from typing import Iterable

from missed import Missed

from harness.servers import PATIENCE

SIOCOUTQ = 0x5411


def unread(connection: socket.socket) -> int:
    """What we have sent and the server has not read yet; not in bytes."""
    size = array.array("i", [0])
    fcntl.ioctl(connection, SIOCOUTQ, size)
    return size[0]


def exchange(connection: socket.socket, pieces: Iterable[bytes]) -> bytes:
    """Send each piece when the one before it was read.
    @return all replies. The connection is closed"""
    replies = bytearray()
    with connection:
        connection.setblocking(False)
        closed = False
        for piece in pieces:
            closed = closed or not _send(connection, piece, replies)
            while not closed and unread(connection):
                closed = not _receive(connection, replies, 0)
        if not closed:
            try:
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        end = time.monotonic() + PATIENCE
        while not closed:
            if time.monotonic() > end:
                raise Missed(
                    f"no end of the replies after {PATIENCE} s; the last are "
                    f"{bytes(replies[-200:])!r}")
            closed = not _receive(connection, replies, 1000)
    return bytes(replies)


def _send(connection: socket.socket, piece: bytes, replies: bytearray) -> bool:
    """@return False: the server has closed the connection"""
    rest = memoryview(piece)
    end = time.monotonic() + PATIENCE
    while rest:
        try:
            rest = rest[connection.send(rest):]
        except BlockingIOError:
            if time.monotonic() > end:
                raise Missed(
                    f"nothing is read for {PATIENCE} s") from None
            ready = select.poll()
            ready.register(connection, select.POLLIN | select.POLLOUT)
            ready.poll(1000)
            if not _receive(connection, replies, 0):
                return False
        except OSError:
            _drain(connection, replies)
            return False
    return True


def _receive(connection: socket.socket, replies: bytearray,
             milliseconds: int) -> bool:
    """@return False: the server has closed the connection"""
    ready = select.poll()
    ready.register(connection, select.POLLIN)
    if not ready.poll(milliseconds):
        return True
    try:
        data = connection.recv(1 << 20)
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return _drain(connection, replies)
    replies += data
    return bool(data)


def _drain(connection: socket.socket, replies: bytearray) -> bool:
    """What the server had sent before it closed with something unread."""
    try:
        while data := connection.recv(1 << 20):
            replies += data
    except OSError:
        pass
    return False
