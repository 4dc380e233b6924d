# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Random requests of the binary protocol: opcodes 00 to 1e, and 23 and 24."""
import struct
from random import Random

from harness.commands import Command, cas_of, counter, key, too_large, value
from harness.keys import COUNTERS

GETS = [0x00, 0x09, 0x0c, 0x0d]
TOUCHES = [0x1c, 0x1d, 0x1e, 0x23, 0x24]
STORES = [0x01, 0x02, 0x03, 0x11, 0x12, 0x13]
JOINS = [0x0e, 0x0f, 0x19, 0x1a]
DELETES = [0x04, 0x14]
COUNTS = [0x05, 0x06, 0x15, 0x16]
FLUSHES = [0x08, 0x18]
# Quit closes the connection, so it is rare.
PLAIN = [0x0a] * 6 + [0x0b] * 4 + [0x07, 0x17]
UNKNOWN = [0x1f, 0x25, 0x2f, 0x30, 0x3c, 0x60, 0xff]
TIMES = [0, 0, 0, 100, 86400, 2592000, 2592001, 2147483647, 4000000000,
         0xffffffff, 0x80000000]

# A noop, before which all replies are sent, for the reason in text_commands.py.
FLUSH = struct.pack(">BBHBBHIIQ", 0x80, 0x0a, 0, 0, 0, 0, 0, 0xf1, 0)


def request(random: Random, opcode: int, of: bytes = b"", extras: bytes = b"",
            data: bytes = b"", with_cas: bool = False) -> Command:
    opaque = random.randrange(1 << 32)
    head = struct.pack(">BBHBBHII", 0x80, opcode, len(of), len(extras), 0,
                       random.choice([0] * 50 + [1]),
                       len(extras) + len(of) + len(data), opaque)
    cas = cas_of(random, of, wide=True) if with_cas else bytes(8)
    return [head, cas, extras + of + data]


def store(random: Random) -> Command:
    of, data = key(random), value(random)
    if of in COUNTERS:
        data = data[:2000]  # of larger ones memcached does not check the cas
    if random.random() < 0.005:
        data = too_large(random)
    if random.random() < 0.25:
        return request(random, random.choice(JOINS), of, b"", data,
                       random.random() < 0.2)
    flags = random.choice([0, 1, 0xdeadbeef])
    return request(random, random.choice(STORES), of,
                   struct.pack(">II", flags, random.choice(TIMES)), data,
                   random.random() < 0.2)


def fetch(random: Random) -> Command:
    if random.random() < 0.3:
        return request(random, random.choice(TOUCHES), key(random),
                       struct.pack(">I", random.choice(TIMES)))
    return request(random, random.choice(GETS), key(random))


def change(random: Random) -> Command:
    if random.random() < 0.3:
        return request(random, random.choice(DELETES), key(random),
                       with_cas=random.random() < 0.3)
    delta = random.choice([0, 1, 2, 100, 1 << 53])
    first = random.choice([0, 5, 1234567890123456])
    expiry = random.choice(TIMES + [0xffffffff] * 4)
    return [FLUSH, *request(random, random.choice(COUNTS), counter(random),
                            struct.pack(">QQI", delta, first, expiry),
                            with_cas=random.random() < 0.1)]


def other(random: Random) -> Command:
    kind = random.random()
    if kind < 0.55:
        return request(random, random.choice(PLAIN))
    if kind < 0.65:
        extras = random.choice([b"", bytes(4)])
        return request(random, random.choice(FLUSHES), extras=extras)
    if kind < 0.75:
        return request(random, 0x10, random.choice([b"reset", b"nonsense"]))
    if kind < 0.85:
        # With a body, memcached drops the bytes of its key twice.
        return request(random, random.choice(UNKNOWN))
    # Parts that the opcode does not have, or lacks.
    return request(random, random.randrange(0, 0x1b),
                   random.choice([b"", b"n1"]),
                   random.choice([b"", bytes(4), bytes(8), bytes(20)]))


def command(random: Random) -> Command:
    makers = [store, fetch, change, other]
    return random.choices(makers, weights=[7, 6, 5, 2])[0](random)
