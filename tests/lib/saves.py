# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files of AppStoreSave."""
import base64
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

HEAD, RECORD = struct.Struct("<8sII16s"), struct.Struct("<4sBB2xIIqQ")
SPACE, ITEM, END = 1, 2, 3

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


class Item(NamedTuple):
    flags: int
    exptime: int
    value: bytes


def items_of(data: bytes) -> dict[str, dict[bytes, Item]]:
    """By space and key, of a sound file. Its end counts them."""
    found: dict[str, dict[bytes, Item]] = {}
    assert data[:8] == b"stosave1"
    at = HEAD.size
    while True:
        magic, kind, klen, flags, length, exptime, _ = \
            RECORD.unpack_from(data, at)
        assert magic == b"1PAS"
        at += RECORD.size
        key = data[at:at + klen]
        if kind == SPACE:
            space = found.setdefault(key.decode(), {})
        elif kind == ITEM:
            value = data[at + klen:at + klen + length]
            space[key] = Item(flags, exptime, value)
        elif kind == END:
            assert exptime == sum(map(len, found.values()))
            return found
        at += klen + length
