# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Random meta commands: mg, ms, md, ma, me and mn with their flags."""
import re
import subprocess
from functools import lru_cache
from random import Random

from harness.commands import (BAD_NUMBERS, PADDING, STRANGE_CAS, Command,
                              cas_of, counter, key, number, one, time,
                              too_large, value)
from harness.keys import BAD_BASE64, BASE64, COUNTERS
from harness.places import MEMCACHED
from harness.text_commands import FLUSH

GET = b"bcfhklqstuv"
SET = b"bckqI"
DELETE = b"bkqI"
ARITHMETIC = b"ckqtv"
# 31 are the most. memcached refuses more of them after it has made the change.
OPAQUES = [b"O123", b"Oabc", b"O", b"O" + b"9" * 31]
SET_MODES = [b"E", b"A", b"P", b"R", b"S", b"e", b"a", b"p", b"r", b"s",
             b"X", b"", b"set", b"SS"]
ADD_MODES = [b"I", b"D", b"+", b"-", b"i", b"d", b"incr", b"decr", b"X", b""]
WRONG = [b"x", b"Z", b"9", b"\xff", b"E5", b"v v", b"W", b"P", b"L", b"Ptest",
         b"Lproxy", b"\x01", b"S100"]


@lru_cache
def wrong() -> list[bytes]:
    """Flags that are none, for both. The store follows memcached 1.6.18; later
    ones know E, a cas that the client chooses, and x, without the value."""
    said = subprocess.run([MEMCACHED, "--version"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    version = tuple(map(int, re.findall(r"\d+", said)))
    return [flag for flag in WRONG
            if version <= (1, 6, 18) or flag[:1] not in (b"E", b"x")]


def flags(random: Random, plain: bytes, with_token: list[bytes]) -> list[bytes]:
    """Some of the plain ones and of those with a token, in any order. Times
    are far from those at which a value is to be fetched again."""
    some = random.sample(plain, random.randrange(0, len(plain)))
    chosen = [bytes([flag]) for flag in some if flag != ord("b")]
    chosen += [flag for flag in with_token if random.random() < 0.3]
    if random.random() < 0.2:
        chosen.append(random.choice(OPAQUES))
    if random.random() < 0.05:
        chosen.append(random.choice(wrong()))
    if chosen and random.random() < 0.03:
        chosen.append(random.choice(chosen))
    random.shuffle(chosen)
    return chosen


def place(random: Random, chosen: list[bytes]) -> bytes:
    """A key. If it is in base64, the flag is added. The bits of a counter are
    not asked for, and not set (keys.py)."""
    if random.random() < 0.85:
        of = key(random)
        if of in COUNTERS:
            chosen[:] = [flag for flag in chosen if flag not in (b"h", b"I")]
        return of
    chosen.insert(random.randrange(len(chosen) + 1), b"b")
    return one(random, BASE64, BAD_BASE64)


def cas_flag(random: Random, of: bytes) -> Command:
    if random.random() < 0.8:
        return []
    if random.random() < 0.1:
        return [b" C" + random.choice(STRANGE_CAS)]
    return [b" C", cas_of(random, of)]


def without(chosen: list[bytes], letter: bytes) -> list[bytes]:
    """Of N and T the last one counts in memcached."""
    return [flag for flag in chosen if flag[:1] != letter]


def seconds(random: Random, letter: bytes) -> bytes:
    """A flag with a time."""
    return letter + time(random)


def fetch(random: Random) -> Command:
    with_token = [seconds(random, b"T"), b"R" + one(
        random, [b"30", b"1000", b"50000"], BAD_NUMBERS)]
    chosen = flags(random, GET, with_token)
    of = place(random, chosen)
    # memcached returns the key of an item that N has made, but not in base64.
    if b"b" not in chosen and random.random() < 0.1:
        chosen = without(chosen, b"T") + [seconds(random, b"N")]
    return [b" ".join([b"mg", of, *chosen]) + b"\r\n"]


def store(random: Random) -> Command:
    data = value(random)
    with_token = [seconds(random, b"T"), random.choice([
        b"F" + one(random, [b"0", b"5", b"4294967295"], BAD_NUMBERS),
        b"M" + random.choice(SET_MODES)])]
    chosen = flags(random, SET, with_token)
    of = place(random, chosen)
    if of in COUNTERS:
        data = data[:2000]  # of larger ones memcached does not check the cas
    length = b"%d" % len(data)
    kind = random.random()
    if kind < 0.03:
        length = random.choice(BAD_NUMBERS)
    elif kind < 0.05:
        length = b"%d" % (len(data) + random.choice([1, 2, 30]))
        data += b"\r\n" + PADDING
    elif kind < 0.055:
        data = too_large(random)
        length = b"%d" % len(data)
    return [b" ".join([b"ms", of, length, *chosen]), *cas_flag(random, of),
            b"\r\n" + data + one(random, [b"\r\n"], [
                end + PADDING for end in (b"", b"\n", b"xy")])]


def delete(random: Random) -> Command:
    chosen = flags(random, DELETE, [seconds(random, b"T")])
    of = place(random, chosen)
    return [b" ".join([b"md", of, *chosen]), *cas_flag(random, of), b"\r\n"]


def arithmetic(random: Random) -> Command:
    """Without T, which memcached forgets if the number grows."""
    with_token = [b"D" + number(random), b"M" + random.choice(ADD_MODES)]
    if random.random() < 0.4:
        with_token += [seconds(random, b"N"), b"J" + number(random)]
    chosen = flags(random, ARITHMETIC, with_token)
    of = counter(random)
    line = b" ".join([b"ma", of, *chosen])
    return [FLUSH + line, *cas_flag(random, of), b"\r\n"]


def other(random: Random) -> Command:
    chosen: list[bytes] = []
    of = place(random, chosen)
    return [random.choice([
        b"mn", b"mn x", b"mg", b"ms", b"ms k1", b"ms k1 v", b"md", b"ma",
        b"me", b"me " + b" ".join([of, *chosen]), b"mg k1 v v",
        b"ms k1 S2 T0", b"mg  k1  v", b"mm k1", b"mgs k1"]) + b"\r\n"]


def command(random: Random) -> Command:
    makers = [fetch, store, delete, arithmetic, other]
    return random.choices(makers, weights=[6, 6, 2, 4, 1])[0](random)
