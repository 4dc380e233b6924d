# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Locks and lists of keys beside Debian's yrmcds: the same commands of
several clients get the same replies. harness/locking.py has what is excepted."""
import os
from typing import Iterator

import pytest

from harness.client import ask, get, put
from harness.locking import (REQUEST, Binary, Step, Talk, Text, case,
                             compare, leave)
from harness.servers import wait_until
from harness.store import Store
from harness.tcp import Yrmcds
from missed import witnesses

CASES = 80 if os.environ.get("APPPOOL_LONG") else 4
STEPS = 150
Pair = tuple[Store, Yrmcds]


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with Store() as store, Yrmcds() as yrmcds:
        yield store, yrmcds


@pytest.fixture
def pair(servers: Pair) -> Pair:
    """They are witnesses of each test, not only of the first one."""
    witnesses.extend(server.damage for server in servers)
    return servers


@pytest.mark.parametrize("talk", [Text(), Binary()], ids=["text", "binary"])
def test_same_replies(talk: Talk, pair: Pair, seed: int) -> None:
    """No key is left of the case before, so that adds meet the same."""
    store, yrmcds = pair
    for number in range(seed, seed + CASES):
        for server in pair:
            with server.connect() as one:
                for key in (b"k1", b"k2", b"key3"):
                    ask(one, b"delete %s\r\n" % key)
        found = compare(talk, case(talk, number, STEPS), store.connect,
                        yrmcds.connect)
        assert not found, f"case {number}, {found}"


def test_finds_a_difference(pair: Pair) -> None:
    """The test of the test: a lock that only one of the servers has."""
    store, yrmcds = pair
    with yrmcds.connect() as other:
        put(other, b"k1", b"1")
        assert ask(other, b"lock k1\r\n") == b"OK\r\n"
        assert compare(Text(), [Step(0, b"set k1 0 0 1\r\n1\r\n")],
                       store.connect, yrmcds.connect)


def expired(server: Store) -> None:
    """Make a key that expires, and wait until it has."""
    with server.connect() as one:
        ask(one, b"set old 0 1 1\r\n1\r\n")
        wait_until(lambda: not get(one, b"old"), "the key has expired")


def request(opcode: int, key: bytes) -> bytes:
    return REQUEST.pack(0x80, opcode, len(key), 0, 0, 0, len(key), 0, 0) + key


def test_lock_and_get_looks_at_the_time_first() -> None:
    """Defect (b) of yrmcds: it locks an expired object, and says that there is
    none."""
    with Store() as store:
        expired(store)
        with store.connect() as one, store.connect() as other:
            one.sendall(request(0x46, b"old"))
            assert one.recv(100)[6:8] == b"\0\1"
            put(other, b"old", b"2")
            assert ask(other, b"lock old\r\n") == b"OK\r\n"


def test_delete_of_an_expired_key() -> None:
    """Defect (c) of yrmcds: DELETED."""
    with Store() as store:
        expired(store)
        with store.connect() as one:
            assert ask(one, b"delete old\r\n") == b"NOT_FOUND\r\n"


@pytest.mark.parametrize("end", ["quit", "close", "abort", "kill"])
def test_a_lock_ends_with_its_connection(end: str) -> None:
    """With the command quit, with the connection, and with the store, of which
    the items survive."""
    with Store() as store, store.connect() as other:
        one = store.connect()
        put(one, b"k", b"1")
        assert ask(one, b"lock k\r\n") == b"OK\r\n"
        assert ask(other, b"set k 0 0 1\r\n2\r\n") == b"LOCKED\r\n"
        if end == "quit":
            one.sendall(b"quit\r\n")
            assert one.recv(1) == b""
        elif end == "kill":
            store.kill()
            store.start()
            other = store.connect()
        elif end == "abort":  # with a reply that it has not read
            one.sendall(b"get k\r\n")
            one.close()
        else:
            leave(one)
        wait_until(lambda: ask(other, b"lock k\r\n") == b"OK\r\n",
                   "the lock is free")
        assert get(other, b"k") == b"1"
        one.close()


def test_counters_are_gone() -> None:
    """An error in their protocol says so, and ends the connection."""
    with Store() as store, store.connect() as one:
        one.sendall(b"\x90\2\0\0\0\0\0\x0bopaq\0\0\0\2\0\0\0\2\0\1z")
        words = b"this store has no counters: use lock, or incr"
        got = b""
        while data := one.recv(100):
            got += data
        assert got == b"\x91\2\x81\0\0\0\0" + bytes([len(words)]) + \
            b"opaq" + words


def test_pair_is_watched(pair: Pair) -> None:
    """Also when it is not the first test of this pair."""
    assert all(server.damage in witnesses for server in pair)
