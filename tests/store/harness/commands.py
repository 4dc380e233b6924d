# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What random commands are made of. A command is a list of parts: bytes, or the
cas value that a key has at this server."""
import struct
from random import Random
from typing import NamedTuple, Union

from harness.keys import BAD_KEYS, COUNTERS, KEYS, TOO_LONG


class CasOf(NamedTuple):
    """The cas value that the key had before the episode, plus some number. A
    key that is not there has NO_CAS. A sum that is not above 0 is 1: 0 is no
    cas value, and memcached reads behind a number from 1 << 63 on. So it is
    older than the present one, also if only one of the servers has counted that
    far."""
    key: bytes
    plus: int
    wide: bool  # 8 bytes, else in digits

    def bytes(self, known: dict[bytes, int]) -> bytes:
        value = max(known.get(self.key, NO_CAS) + self.plus, 1)
        return struct.pack(">Q", value) if self.wide else b"%d" % value


NO_CAS = 999_999_999
Command = list[Union[bytes, CasOf]]

TIMES = [b"0"] * 8 + [b"100", b"86400", b"2592000", b"2592001", b"4000000000",
                      b"2147483647", b"-1", b"-100", b"-2147483648"]
# memcached looks for a sign behind a number from 1 << 63 on, in memory that
# belongs to something else. So no sum of these is that large.
NUMBERS = [b"0", b"1", b"2", b"9", b"10", b"99", b"100", b"120",
           b"4294967295", b"9007199254740992"]
BAD_NUMBERS = [b"-1", b"abc", b"12abc", b"1.5", b"0x10", b"+5", b"00012",
               b"18446744073709551616", b"4294967296", b"-", b"2147483648",
               b"99999999999999999999999999", b"1e3", b"-2147483649"]
# As times, these would be seconds from now. One server could reach that second
# before the other one.
SOON = [b"1", b"2", b"9", b"10", b"+5", b"00012"]
ANY_NUMBERS = [number for number in NUMBERS + BAD_NUMBERS
               if number not in SOON]
BAD_TIMES = [number for number in BAD_NUMBERS
             if number not in SOON] + [b"+86400", b"00086400"]
# Cas values that no server gives.
STRANGE_CAS = [b"0", b"18446744073709551615", b"18446744073709551616", b"abc",
               b"12abc", b"-1", b"-", b"99999999999999999999999999"]
# Near the largest object the servers differ: they count their own header.
TOO_LARGE = [1_100_000, 2_000_000]


def one(random: Random, usual: list[bytes], other: list[bytes]) -> bytes:
    """Nearly always a usual one."""
    return random.choice(other if random.random() < 0.04 else usual)


def key(random: Random) -> bytes:
    return one(random, KEYS + COUNTERS, BAD_KEYS)


def counter(random: Random) -> bytes:
    return one(random, COUNTERS, [*TOO_LONG, b"none"])


def time(random: Random) -> bytes:
    return one(random, TIMES, BAD_TIMES)


def number(random: Random) -> bytes:
    return one(random, NUMBERS, BAD_NUMBERS)


def value(random: Random) -> bytes:
    kind = random.random()
    if kind < 0.35:
        return random.choice(NUMBERS)
    if kind < 0.40:
        return random.choice(BAD_NUMBERS)
    if kind < 0.45:
        return b""
    if kind < 0.75:
        return bytes(random.choices(b"abcdefgh", k=random.randrange(1, 40)))
    if kind < 0.90:
        data = random.randbytes(random.randrange(1, 200))
        # memcached looks for a number behind white space, also behind the value,
        # where the item before it in that memory may have left one.
        return b"white" if data.isspace() else data
    if kind < 0.94:
        return b"\r\nget k1\r\n" * random.randrange(1, 4)
    # A wrong length makes commands of these. A line of more than 2,048 bytes
    # closes the connection, but only if its end has not arrived.
    line = random.randbytes(random.randrange(100, 1000)) + b"\r\n"
    return line * random.randrange(1, 20 if kind < 0.99 else 900)


# Follows a command whose length is wrong, and is what memcached takes for the
# rest of its value. Otherwise that would be a command with a cas value, which
# is not the same at both servers.
PADDING = b"mn\r\n" * 40


def too_large(random: Random) -> bytes:
    """In lines, because memcached takes them for commands if the number before
    them was wrong."""
    return (b"t" * 98 + b"\r\n") * (random.choice(TOO_LARGE) // 100)


def cas_of(random: Random, of: bytes, wide: bool = False) -> CasOf:
    """Right, or one that the key has not had and will not get."""
    plus = random.choice([0, 0, 0, -1, -1000, 1 << 40])
    return CasOf(of, plus, wide)
