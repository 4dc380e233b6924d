# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Bytes of a server -> replies that can be compared. Two replies are equal if
all their parts are. A part is bytes, or one of the few things that may differ
between two servers:

    Cas        a cas value. Each server counts by itself, so the values of one
               server stand for those of the other, always in the same way.
    Seconds    a time to live, or since something. The servers do not run the
               same command at the same moment.
    ANY        a value that is excepted: EXCEPTED lists where, and why."""
import re
import struct
from typing import NamedTuple, Union

EXCEPTED = {
    "VERSION": "each server has a version of its own",
    "time left of the past": "memcached counts down from 1 << 32",
    "STAT": "the names and values of statistics; tests of their own",
    "ME cls=": "the class of slabs: another allocator",
    "ME size=": "the bytes of header, key and value: another header",
}
SLACK = 30  # seconds
FAR = 4_000_000_000


class Cas(NamedTuple):
    value: int


class Seconds(NamedTuple):
    value: int

    def left(self) -> int:
        """All times of the past are one. -1 is never."""
        if self.value == -1:
            return 1 << 40
        return 0 if self.value < 0 or self.value > FAR else self.value


class Excepted(NamedTuple):
    what: str


Part = Union[bytes, Cas, Seconds, Excepted]
Reply = list[Part]


class Equality:
    """Compares the replies of two servers, and remembers which cas value of one
    is which of the other."""

    def __init__(self) -> None:
        self.there: dict[int, int] = {0: 0}
        self.back: dict[int, int] = {0: 0}

    def parts(self, a: Part, b: Part) -> bool:
        if isinstance(a, Cas) and isinstance(b, Cas):
            return self.there.setdefault(a.value, b.value) == b.value \
                and self.back.setdefault(b.value, a.value) == a.value
        if isinstance(a, Seconds) and isinstance(b, Seconds):
            return abs(a.left() - b.left()) <= SLACK
        return type(a) is type(b) and a == b

    def replies(self, a: Reply, b: Reply) -> bool:
        return len(a) == len(b) and all(map(self.parts, a, b))


def show(reply: Reply) -> str:
    words = [repr(part[:120])[2:-1] + ("..." if len(part) > 120 else "")
             if isinstance(part, bytes) else str(part) for part in reply]
    return " ".join(words)


def text(data: bytes) -> list[Reply]:
    """The replies of the text protocol, with meta commands."""
    replies: list[Reply] = []
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1
        if end == 0:
            replies.append([b"without end:", data[at:]])
            break
        line, at = data[at:end], end
        words = line.rstrip(b"\r\n").split(b" ")
        reply = _line(line, words)
        if words[0] == b"STAT":
            if replies and replies[-1] == reply:
                continue  # all of them are one
        length = _length(words)
        if length is not None:
            reply.append(data[at:at + length + 2])
            at += length + 2
        replies.append(reply)
    return replies


def _length(words: list[bytes]) -> Union[int, None]:
    """Bytes of the value that follows this line."""
    place = {b"VALUE": 3, b"VA": 1}.get(words[0])
    if place is None or len(words) <= place or not words[place].isdigit():
        return None
    return int(words[place])


def _line(line: bytes, words: list[bytes]) -> Reply:
    if words[0] == b"VALUE" and len(words) == 5 and words[4].isdigit():
        return [*words[:4], Cas(int(words[4])), line[-2:]]
    if words[0] in (b"VA", b"HD", b"EN", b"NF", b"NS", b"EX"):
        first = 2 if words[0] == b"VA" else 1
        return [*words[:first], *map(_flag, words[first:]), line[-2:]]
    if words[0] == b"ME":
        return [*map(_debug, words), line[-2:]]
    if words[0] in (b"VERSION", b"STAT"):
        return [Excepted(words[0].decode())]
    return [line]


def _flag(word: bytes) -> Part:
    if re.fullmatch(rb"c\d+", word):
        return Cas(int(word[1:]))
    if re.fullmatch(rb"[tl]-?\d+", word):
        return Seconds(int(word[1:]))
    return word


def _debug(word: bytes) -> Part:
    """A word of the reply to me."""
    name, is_pair, value = word.partition(b"=")
    if not is_pair:
        return word
    if name in (b"cls", b"size") and value.isdigit():
        return Excepted(f"ME {name.decode()}=")
    if name == b"cas" and value.isdigit():
        return Cas(int(value))
    if name in (b"exp", b"la") and re.fullmatch(rb"-?\d+", value):
        # Of exp, memcached 1.6.18 writes the time to live with a minus, 1.6.38
        # without.
        return Seconds(int(value) if value == b"-1" else abs(int(value)))
    return word


HEADER = struct.Struct(">BBHBBHIIQ")
STAT, VERSION = 0x10, 0x0b


def binary(data: bytes) -> list[Reply]:
    """The replies of the binary protocol."""
    replies: list[Reply] = []
    at = 0
    while at < len(data):
        if len(data) - at < HEADER.size or data[at] != 0x81:
            replies.append([b"no reply:", data[at:]])
            break
        _, opcode, key, extras, kind, status, length, opaque, cas = \
            HEADER.unpack_from(data, at)
        body = data[at + HEADER.size:at + HEADER.size + length]
        at += HEADER.size + length
        what = f"opcode {opcode:02x} status {status:04x} key {key} " \
            f"extras {extras} type {kind} opaque {opaque:08x}".encode()
        if opcode == VERSION and status == 0:
            replies.append([what, Excepted("VERSION")])
        elif opcode == STAT and status == 0 and length:
            stat: Reply = [Excepted("STAT")]
            if not replies or replies[-1] != stat:
                replies.append(stat)
        else:
            replies.append([what, Cas(cas), body])
    return replies
