# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A client of a few commands."""
import socket


def ask(connection: socket.socket, command: bytes,
        end: bytes = b"\r\n") -> bytes:
    connection.sendall(command)
    got = b""
    while not got.endswith(end):
        part = connection.recv(1 << 16)
        assert part, got
        got += part
    return got


def put(connection: socket.socket, key: bytes, value: bytes) -> None:
    assert ask(connection, b"set %s 0 0 %d\r\n%s\r\n" %
               (key, len(value), value)) == b"STORED\r\n"


def get(connection: socket.socket, key: bytes) -> bytes:
    got = ask(connection, b"get %s\r\n" % key, b"END\r\n")
    if got == b"END\r\n":
        return b""
    head, _, rest = got.partition(b"\r\n")
    assert head.startswith(b"VALUE " + key), got[:100]
    return rest[:-len(b"\r\nEND\r\n")]


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def is_served(connection: socket.socket) -> bool:
    with connection:
        try:
            connection.sendall(b"version\r\n")
            return connection.recv(100).startswith(b"VERSION ")
        except OSError:
            return False
