# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A client of one space gets no byte that was sent to another space, and counts
nothing there. The threads serve all spaces, and use memory again."""
import array
import fcntl
import re
import socket
import struct
import termios

from harness.client import ask, put
from harness.places import TOP
from harness.servers import wait_until
from harness.store import Store, space
from test_login import TcpStore, log_in, password

GET, KEYS = 0x00, 0x50
KEY = 250
VALUE_HEAD = 28        # bytes of a response before a value
KEY_LINE = 24 + KEY    # bytes of a response with a key
OTHERS = 200           # keys, so that some are among the first that are listed
VALUES = 44            # of the commands of one turn
SECRET = b"SECRET;"


def block() -> int:
    """Bytes of a reply that are together in memory."""
    found = re.search(r"STORE_REPLY_BLOCK (\d+)",
                      (TOP / "store/protocol/reply.h").read_text())
    assert found
    return int(found[1])


def key(number: int) -> bytes:
    return b"%d" % number + b"k" * (KEY - len(b"%d" % number))


def request(opcode: int, of: bytes = b"") -> bytes:
    return struct.pack(">BBHBBHIIQ", 0x80, opcode, len(of), 0, 0, 0, len(of),
                       0, 0) + of


def unread(client: socket.socket) -> int:
    n = array.array("i", [0])
    fcntl.ioctl(client, termios.FIONREAD, n)
    return n[0]


def taken(client: socket.socket, other: socket.socket) -> int:
    """The client reads nothing. @return bytes that its socket takes"""
    wait_until(lambda: unread(client) > 0, "it has a reply")
    ask(other, b"version\r\n")  # The same thread has sent it before this one.
    return unread(client)


def receive(client: socket.socket, n: int) -> bytes:
    got = b""
    while len(got) < n:
        part = client.recv(1 << 20)
        assert part, len(got)
        got += part
    return got


def fill(store: Store, other: socket.socket) -> tuple[bytes, int]:
    """Items of the space.
    @return commands whose reply fills the socket up to the last byte behind a
    value, where a block of the reply ends a line later; bytes of the reply"""
    small, rest, large, last = (key(n) for n in range(4))
    put(other, large, bytes(5000))
    with store.connect() as client:
        client.sendall(request(GET, large) * 60)
        room = taken(client, other)
    copied = block() - KEY_LINE
    n_small, over = divmod(copied - VALUE_HEAD * VALUES - 2 * VALUE_HEAD, 1000)
    put(other, small, bytes(1000 - VALUE_HEAD))
    put(other, rest, bytes(over + VALUE_HEAD))
    size = (room - copied) // VALUES
    put(other, large, bytes(size))
    put(other, last, bytes(room - copied - size * (VALUES - 1)))
    for number in range(4, OTHERS):
        put(other, key(number), b"")
    return (request(GET, small) * n_small + request(GET, rest) +
            request(GET, large) * (VALUES - 1) + request(GET, last) +
            request(KEYS)), room + OTHERS * KEY_LINE + 24


def test_a_slow_reader_gets_its_own_bytes() -> None:
    """The first round leaves memory that the replies of the others use."""
    with Store(space("evil", 4 << 20), space("bank"), threads=1) as store, \
            store.connect() as other, store.connect_to("bank") as bank:
        commands, n = fill(store, other)
        names = [b"%d" % number for number in range(60)]
        for name in names:
            put(bank, name, SECRET * 140)
        for _ in range(3):
            slow = [store.connect() for _ in range(4)]
            for client in slow:
                client.sendall(commands)
                assert taken(client, other) == n - OTHERS * KEY_LINE - 24
            ask(bank, b"get " + b" ".join(names) + b"\r\n", b"END\r\n")
            replies = [receive(client, n) for client in slow]
            for client in slow:
                client.close()
            assert not any(SECRET in reply for reply in replies)
            assert replies == replies[:1] * len(replies)


def written(connection: socket.socket) -> int:
    stats = ask(connection, b"stats\r\n", b"END\r\n")
    return int(stats.split(b"STAT bytes_written ")[1].split()[0])


def test_commands_behind_a_login_count_there() -> None:
    """Also those that come with it, in one packet."""
    with TcpStore(True) as store, store.connect() as shop, \
            store.connect_to("blog") as blog, store.tcp() as tcp:
        put(blog, b"k", bytes(9000))
        log_in(tcp, "blog", password("blog"), b"get k\r\n", b"END\r\n")
        wait_until(lambda: written(blog) > 9000, "the reply counts")
        assert written(shop) < 9000
