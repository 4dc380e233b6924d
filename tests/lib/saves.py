# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files of AppStoreSave, as the first build that made them reads them."""
import base64
import os
import struct
import zlib
from pathlib import Path
from typing import Iterator, NamedTuple

HEAD, RECORD = struct.Struct("<8sII16s"), struct.Struct("<4sBB2xIIqQ")
SPACE, ITEM, END = 1, 2, 3
MASK = (1 << 64) - 1

CHAINED = b"0123456789" * 900
# What the first build has saved at a stop. The space shop has the items "a",
# "empty", "flags" with flags 77, "chained", and "brief" with a second to live.
# The space blog has another "a".
FIRST_BUILD = zlib.decompress(base64.b64decode("""
    eNorLskvTixLNWRkgIAd0bM3P2J+eiP6Xq5JRFjwGcMAx2BGFgY4gKlb3sF78pJR082knPx0
    kBomqAQ3QinD6Y1HZIxnsxYm5qcplGSkKsDUIpvHCqX57S2cunpMNYoz8gvA5gElfJHsA4Gl
    M9j0PBI3s6XlJKYXV+Cydfdz3q+N3pK6MFuRTYT5IGIxdzaI/UFHo0nr+xPRpKLM1LQKZFXI
    YOZG+8m+3l7yqbkFJZVgRewQCQ1lhKJDzx8keXft+ZmckZiZl5piYGhkbGJqZm5hOcoaZY2y
    RlmjrFHWKGuUNcoaZY2yRlmjrFHWKGuUNcoaZY2yRlmjrFHWKGuUNcoaZY2yRlmjrFHWKGuU
    NcoaZQ1fFmg5DTPSWhs2KL3zQ9237vr1fwC4M4dQ
"""))


def save_file(where: Path) -> Path:
    where.chmod(0o755)
    return where / "save"


def wholes(save: Path) -> list[bytes]:
    """What the files have that have an end. The newest comes first."""
    found = [file.read_bytes() for file in both(save) if has_end(file)]
    return sorted(found, key=lambda data: -int(HEAD.unpack_from(data)[2]))


def both(save: Path) -> list[Path]:
    return [save, save.with_name(save.name + ".2")]


def has_end(file: Path) -> bool:
    if not file.exists() or file.stat().st_size <= HEAD.size + RECORD.size:
        return False
    with file.open("rb") as stream:
        stream.seek(-RECORD.size, os.SEEK_END)
        return stream.read(5) == b"1PAS\3"


def siphash(data: bytes, key: bytes) -> int:
    """SipHash-2-4."""
    k0, k1 = struct.unpack("<2Q", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
         k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def turn(x: int, bits: int) -> int:
        return (x << bits | x >> 64 - bits) & MASK

    def mix(rounds: int) -> None:
        for _ in range(rounds):
            for a, b, left, right in (0, 1, 13, 32), (2, 3, 16, 0):
                v[a] = v[a] + v[b] & MASK
                v[b] = turn(v[b], left) ^ v[a]
                v[a] = turn(v[a], right)
            for a, b, left, right in (2, 1, 17, 32), (0, 3, 21, 0):
                v[a] = v[a] + v[b] & MASK
                v[b] = turn(v[b], left) ^ v[a]
                v[a] = turn(v[a], right)
    whole = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for word, in struct.iter_unpack("<Q", whole):
        v[3] ^= word
        mix(2)
        v[0] ^= word
    v[2] ^= 255
    mix(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Item(NamedTuple):
    flags: int
    exptime: int
    value: bytes


def records(data: bytes, is_sound: bool = False) \
        -> Iterator[tuple[int, Item, bytes]]:
    """Those that the first build knew: kind, fields and key. It goes to the next
    byte where it finds none.
    @param is_sound the checks are not looked at, which takes long here"""
    magic, version, _, key = HEAD.unpack_from(data)
    assert (magic, version) == (b"stosave1", 1)
    at = HEAD.size
    while at + RECORD.size <= len(data):
        head = data[at:at + RECORD.size]
        magic, kind, klen, flags, length, exptime, check = RECORD.unpack(head)
        body = data[at + RECORD.size:at + RECORD.size + klen + length]
        at += 1
        if magic != b"1PAS" or kind not in (SPACE, ITEM, END) \
                or len(body) != klen + length:
            continue
        if not is_sound and check != siphash(struct.pack(
                "<2Q", siphash(head[:24] + bytes(8), key),
                siphash(body, key)), key):
            continue
        at += RECORD.size - 1 + len(body)
        yield kind, Item(flags, exptime, body[klen:]), body[:klen]


def as_first_build(data: bytes, is_sound: bool = False) \
        -> dict[str, dict[bytes, Item]]:
    """The items by space and key. The file has an end that counts them."""
    found: dict[str, dict[bytes, Item]] = {}
    for kind, fields, key in records(data, is_sound):
        if kind == SPACE:
            space = found.setdefault(key.decode(), {})
        elif kind == ITEM:
            space[key] = fields
        else:
            assert fields.exptime == sum(map(len, found.values()))
            return found
    assert False, "the file has no end"
