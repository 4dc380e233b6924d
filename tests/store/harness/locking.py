# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Commands of some clients, one after another, and their replies: for what is
about the others. After each command its client asks something whose reply is
known, so the end of the replies is an event, also after a quiet command."""
import re
import socket
import struct
from random import Random
from typing import Callable, NamedTuple, Optional

from harness import replies as parse

Connect = Callable[[], socket.socket]
KEYS = [b"k1", b"k2", b"key3"]
CLIENTS = 3
REQUEST = struct.Struct(">BBHBBHIIQ")
NOOP = 0x0a

# What is not the same at yrmcds 1.1.9, and why. The letters are those of its
# defects that ours does not have.
EXCEPTED = {
    "words of an error": "binary: memcached's; yrmcds has its own",
    "LaGKQ of nothing": "yrmcds is silent; its documentation promises a reply, "
                        "and LaGQ has one",
    "flags after Touch": "binary: memcached sends them, yrmcds does not",
    "numbers that begin with 0": "memcached keeps their length by a space behind",
    "GetK of nothing": "binary: memcached repeats the key",
    "Append to nothing": "binary: not stored at memcached, not found at yrmcds",
    "cas values": "binary: yrmcds counts for each object",
    "order of keys": "that of the hash",
    "DeleteQ of nothing": "memcached answers, yrmcds does not",
    "keys with two words": "yrmcds lists keys that begin with 'a b'",
    "opcode of an unknown request": "yrmcds sends 255, not the opcode",
    "flush_all": "yrmcds drops locked objects or not, as the next run of its GC "
                 "comes before the unlock or not; ours drops them at the unlock",
    "(a)-(m)": "tests of their own",
}


class Step(NamedTuple):
    client: int
    command: bytes  # b"": it ends, and another one comes


class Talk:
    """One protocol: how to ask for the end of the replies, what they are."""
    marker = b""
    end = re.compile(b"")

    def ask(self, client: socket.socket, command: bytes) -> bytes:
        client.sendall(command + self.marker)
        got = bytearray()
        while not (end := self.end.search(got)):
            more = client.recv(65536)
            assert more, f"closed after {command!r}: {bytes(got)!r}"
            got += more
        return bytes(got[:end.start()])

    def command(self, random: Random) -> bytes:
        raise NotImplementedError

    def replies(self, data: bytes) -> list[parse.Reply]:
        raise NotImplementedError


class Text(Talk):
    marker = b"version\r\n"
    end = re.compile(rb"VERSION [^\n]*\n\Z")

    def command(self, random: Random) -> bytes:
        key = random.choice(KEYS)
        quiet = random.choice([b"", b"", b" noreply"])
        value = b"%d" % random.randrange(1, 1000)
        data = b" 0 0 %d%s\r\n%s\r\n" % (len(value), quiet, value)
        return random.choice([
            b"lock " + key, b"lock " + key, b"unlock " + key,
            b"unlock_all", b"unlock_all now", b"lock", b"unlock", b"lock a b",
            b"unlock a b", b"get " + key, b"touch " + key + b" 0" + quiet,
            b"keys", b"keys k", b"keys key", b"keys none",
            b"delete " + key + quiet, b"incr " + key + b" 1" + quiet,
            b"set " + key + data[:-2], b"add " + key + data[:-2],
            b"replace " + key + data[:-2], b"append " + key + data[:-2],
            b"prepend " + key + data[:-2],
            b"cas " + key + b" 0 0 1 999999" + quiet + b"\r\n7"]) + b"\r\n"

    def replies(self, data: bytes) -> list[parse.Reply]:
        lines = data.split(b"\r\n")
        if lines[-2:] == [b"END", b""] and lines[0].count(b" ") == 1:
            lines = sorted(lines)  # a list of keys
        return [[line] for line in lines]


class Binary(Talk):
    marker = REQUEST.pack(0x80, NOOP, 0, 0, 0, 0, 0, 0, 0)
    end = re.compile(re.escape(
        REQUEST.pack(0x81, NOOP, 0, 0, 0, 0, 0, 0, 0)) + rb"\Z")

    def command(self, random: Random) -> bytes:
        key = random.choice(KEYS)
        flags = struct.pack(">II", 7, 0)
        value = b"%d" % random.randrange(1, 1000)
        opcode, extras, more = random.choice([
            *[(lock, b"", b"") for lock in range(0x40, 0x48)],
            (0x48, b"", b""), (0x46, b"\0\0\0\0", b""),
            (0x4a, flags, value), (0x4b, flags, value),
            (0x00, b"", b""), (0x09, b"", b""), (0x0c, b"", b""),
            (0x01, flags, value), (0x11, flags, value), (0x02, flags, value),
            (0x03, flags, value), (0x04, b"", b""), (0x0e, b"", value),
            (0x0f, b"", value), (0x05, struct.pack(">QQI", 1, 5, 0), b""),
            (0x1c, b"\0\0\0\0", b""), (0x50, b"", b"")])
        if opcode in (0x44, 0x45):
            key = b""
        if opcode == 0x50:
            key = random.choice([b"", b"k", b"key", b"none"])
        return REQUEST.pack(0x80, opcode, len(key), len(extras), 0, 0,
                            len(extras) + len(key) + len(more),
                            random.getrandbits(32), 0) + extras + key + more

    def replies(self, data: bytes) -> list[parse.Reply]:
        def known(reply: parse.Reply) -> parse.Reply:
            head = bytes(reply[0])  # type: ignore
            if b"status 0000" not in head:
                head = re.sub(b" key [0-9]+", b"", head)
            if head.startswith((b"opcode 0e", b"opcode 0f")):
                head = head.replace(b"status 0005", b"status 0001")
            if head.startswith(b"opcode 1c"):
                return [head.replace(b"extras 4", b"extras 0")]
            return [head, reply[2]] if b"status 0000" in head else [head]

        found = [known(reply) for reply in parse.binary(data)]
        if found and b"opcode 50" in found[0][0]:  # type: ignore
            found.sort(key=str)
        return found


def case(talk: Talk, number: int, length: int) -> list[Step]:
    random = Random(f"{type(talk).__name__} {number}")
    return [Step(random.randrange(CLIENTS),
                 b"" if random.random() < 0.04 else talk.command(random))
            for _ in range(length)]


def leave(client: socket.socket) -> None:
    """A server releases what a client has before it closes the connection."""
    with client:
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


class Cast:
    """The clients of a server."""

    def __init__(self, talk: Talk, connect: Connect) -> None:
        self.talk, self.connect = talk, connect
        self.clients = [connect() for _ in range(CLIENTS)]

    def play(self, step: Step) -> list[parse.Reply]:
        if step.command:
            return self.talk.replies(
                self.talk.ask(self.clients[step.client], step.command))
        leave(self.clients[step.client])
        self.clients[step.client] = self.connect()
        return []

    def end(self) -> None:
        for client in self.clients:
            leave(client)


def difference(steps: list[Step], ours: Cast, theirs: Cast) -> Optional[str]:
    equal = parse.Equality()
    for n, step in enumerate(steps):
        mine, known = ours.play(step), theirs.play(step)
        if len(mine) != len(known) or \
                not all(map(equal.replies, mine, known)):
            before = "\n".join(f"  {s.client}: {s.command!r}"
                               for s in steps[max(0, n - 12):n + 1])
            return f"step {n}:\n{before}\n  ours:   {mine}\n  yrmcds: {known}"
    return None


def compare(talk: Talk, steps: list[Step], ours: Connect,
            theirs: Connect) -> Optional[str]:
    casts = [Cast(talk, connect) for connect in (ours, theirs)]
    found = difference(steps, *casts)
    for cast in casts:
        cast.end()
    return found
