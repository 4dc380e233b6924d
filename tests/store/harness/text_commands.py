# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Random commands of the text protocol, with right and wrong ones."""
from random import Random

from harness.commands import (ANY_NUMBERS, BAD_NUMBERS, PADDING, STRANGE_CAS,
                              Command, cas_of, counter, key, number, one,
                              time, too_large, value)
from harness.keys import COUNTERS, KEYS, ODD_KEYS

VERBS = [b"set", b"add", b"replace", b"append", b"prepend"]
# Without a flush in the future: in memcached it takes back an earlier flush.
LINES = [
    b"version", b"verbosity 1", b"verbosity", b"verbosity 1 2 3 4",
    b"flush_all", b"flush_all 0", b"flush_all noreply", b"flush_all -1",
    b"flush_all abc", b"flush_all 0 noreply",
    b"flush_all 0 0 0 0", b"stats reset", b"", b" ", b"x", b"ge",
    b"gett k1", b"GET k1",
    b"get", b"gets", b"gat", b"gat 0", b"gats", b"set", b"set k1",
    b"set k1 0 0", b"set k1 0 0 1 noreply x", b"add k1 0 0 1 2 3 4",
    b"cas k1 0 0 1", b"cas k1 0 0 1 1 1 1", b"delete", b"delete k1 0",
    b"delete k1 1", b"delete k1 0 noreply", b"delete k1 noreply x",
    b"delete k1 noreply", b"incr", b"incr n1", b"incr n1 1 2 3", b"decr n1",
    b"touch", b"touch k1", b"touch k1 0 0 0", b"mx", b"m", b"quitt",
    b"bget k1", b"get k1 k1 k1", b"get  k1   k2", b"  get k1",
    b"get k1 ", b"decr_ n1 1", b"stat", b"reset", b"debugtime",
    b"\0", b"get k1\0", b"get\tk1", b"\xff\xfe"]
# These are off in memcached as we start it, and ours has none of them.
REFUSED = [
    b"shutdown", b"shutdown graceful", b"watch", b"watch fetchers",
    b"slabs", b"slabs reassign 1 2", b"slabs automove", b"lru_crawler",
    b"slabs nonsense", b"lru_crawler crawl all", b"lru_crawler enabled",
    b"lru nonsense", b"lru", b"cache_memlimit", b"cache_memlimit abc",
    b"cache_memlimit 1"]
ENDS = [b"\r\n"] * 30 + [b"\n"]
# All replies before it are sent. memcached changes a number in its place, but
# not while a reply that waits has the item. Some bits and times are lost then.
FLUSH = b"mn\r\n"


def store(random: Random) -> Command:
    """A storage command with its data block."""
    verb = random.choice(VERBS)
    of, data = key(random), value(random)
    if of in COUNTERS:
        data = data[:2000]  # of larger ones memcached does not check the cas
    flags = one(random, [b"0", b"0", b"1", b"65535", b"4294967295"],
                BAD_NUMBERS)
    length = b"%d" % len(data)
    words = [verb, of, flags, time(random), length]
    kind = random.random()
    if kind < 0.02:
        words[4] = random.choice(BAD_NUMBERS[:10])
    elif kind < 0.05:
        words[4] = b"%d" % max(0, len(data) + random.choice([-3, -1, 1, 2, 40]))
        data += b"\r\n" + PADDING
    elif kind < 0.055:
        data = too_large(random)
        words[4] = b"%d" % len(data)
    return _stored(random, words, data)


def _stored(random: Random, words: list[bytes], data: bytes) -> Command:
    noreply = [b"noreply"] if random.random() < 0.1 else []
    end = random.choice(ENDS)
    block = one(random, [b"\r\n"], [end + PADDING for end in (
        b"", b"\n", b"\r", b"ab", b"\r\n\r\n")])
    return [b" ".join(words + noreply) + end, data, block]


def check_and_set(random: Random) -> Command:
    of = key(random)
    data = value(random)
    head = b" ".join([b"cas", of, b"7", time(random), b"%d" % len(data), b""])
    unique = [random.choice(STRANGE_CAS)] if random.random() < 0.1 \
        else [cas_of(random, of)]
    noreply = b" noreply" if random.random() < 0.1 else b""
    return [head, *unique, noreply + b"\r\n" + data + b"\r\n"]


def get(random: Random) -> Command:
    """Without keys that are too long: then memcached forgets the replies to
    the commands before it that are not sent yet."""
    verb = random.choice([b"get", b"get", b"gets", b"gat", b"gats"])
    words = [verb]
    if verb in (b"gat", b"gats"):
        words.append(time(random))
    for _ in range(random.choice([1, 1, 1, 2, 5, 24, 60])):
        words.append(one(random, KEYS + COUNTERS, ODD_KEYS))
        if sum(map(len, words)) > 1400:
            break  # longer lines have a test of their own
    return [b" ".join(words) + random.choice(ENDS)]


def change(random: Random) -> Command:
    """incr, decr, touch, delete."""
    verb = random.choice([b"incr", b"incr", b"decr", b"touch", b"delete"])
    if verb in (b"incr", b"decr"):
        words = [verb, counter(random), number(random)]
    else:
        words = [verb, key(random)]
    if verb == b"touch":
        words.append(time(random))
    if random.random() < 0.1:
        words.append(b"noreply")
    return [FLUSH + b" ".join(words) + random.choice(ENDS)]


def other(random: Random) -> Command:
    kind = random.random()
    if kind < 0.5:
        line = random.choice(LINES)
    elif kind < 0.6:
        line = random.choice(REFUSED)
    elif kind < 0.95:
        words = VERBS + COUNTERS + ANY_NUMBERS + [
            b"noreply", b"cas", b"get", b"incr", b"touch", b"delete", b"gat"]
        line = b" ".join(random.choices(words, k=random.randrange(1, 9)))
        return [line + b"\r\n" + PADDING]
    elif kind < 0.98:
        line = random.randbytes(random.randrange(1, 30))
    else:
        line = b"quit"
    # The first byte of a connection decides the protocol.
    if line[:1] in (b"\x80", b"\x90"):
        line = b"x" + line
    return [line + random.choice(ENDS)]


def command(random: Random) -> Command:
    makers = [store, check_and_set, get, change, other]
    return random.choices(makers, weights=[8, 2, 6, 5, 2])[0](random)
