# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Commands that are not among the random ones, because memcached changes its
replies while other replies wait. Each command has a connection of its own here.
The replies are those of memcached, byte for byte; cas values are mapped."""
import re
import socket
import time

import pytest

from harness import replies as parse
from harness.exchange import exchange
from harness.servers import Server, wait_until

LONG = b"k" * 251
CASES: dict[str, list[bytes]] = {
    "keys that are too long": [
        b"get " + LONG, b"get a " + LONG, b"gets " + LONG, b"gat 0 " + LONG,
        b"delete " + LONG, b"incr " + LONG + b" 1", b"touch " + LONG + b" 0",
        b"set " + LONG + b" 0 0 1\r\n1", b"mg " + LONG + b" v",
        b"ms " + LONG + b" 1\r\n1", b"md " + LONG, b"ma " + LONG,
        b"me " + LONG],
    "many keys": [
        b"set a 0 0 1\r\n1", b"get " + b" ".join([b"a", b"x" * 250] * 200),
        b"gets " + b"a " * 3000, b"gat 0" + b" a" * 100],
    "the largest number": [
        b"set n 0 0 20\r\n18446744073709551615", b"incr n 1", b"get n",
        b"decr n 1", b"set n 0 0 20\r\n18446744073709551614", b"incr n 5",
        b"set n 0 0 19\r\n9223372036854775807", b"incr n 1", b"get n",
        b"incr n 9223372036854775808", b"get n"],
    "a number keeps its length": [
        b"set n 7 0 3\r\n100", b"decr n 1", b"get n", b"decr n 95", b"get n",
        b"incr n 1000", b"gets n", b"decr n 5000", b"get n"],
    "a time for a number": [
        b"set n 0 0 2\r\n10", b"ma n T1000 t", b"mg n t", b"ma m N500 J9 t v",
        b"mg m t v", b"ma m N900 t v"],
    "a counter that has been read": [
        b"set n 0 0 2\r\n10", b"mg n h", b"incr n 1", b"mg n h v"],
    "a key in base64 and in text": [
        b"set k1 5 0 1\r\n1", b"mg azE= b v k f", b"ms azE= 1 b\r\n2",
        b"mg k1 v f", b"md azE= b k", b"mg k1 v", b"mg azE= b k"],
    "an item that was made by a get": [
        b"mg a N60 v t", b"mg a v t", b"mg a h", b"ms a 1\r\n1", b"mg a v t",
        b"mg b N60 T500 t", b"mg b t"],
    "one that wins": [
        b"ms a 1 T60\r\n1", b"mg a R100 v t", b"mg a R100 v", b"mg a v",
        b"ms a 1 T600\r\n2", b"mg a R100 v"],
    "stale": [
        b"ms a 1\r\n1", b"md a I T100", b"mg a v t", b"mg a v t",
        b"ms a 1\r\n2", b"mg a v t c", b"md a I", b"mg a v c", b"ms a 1 I "
        b"C999999999\r\n3", b"mg a v"],
    "opaque": [b"ms a 1\r\n1", b"mg a O" + b"1" * 31, b"mg a O" + b"1" * 32,
               b"md a O" + b"1" * 32, b"mn", b"mg b q O1", b"mg a q O1 k v"],
    "the largest objects": [
        b"set a 0 0 1000000\r\n" + b"v" * 1_000_000, b"get a",
        b"set a 0 0 1048577\r\n" + b"v" * 1_048_577, b"get a",
        b"set a 0 0 600000\r\n" + b"v" * 600_000,
        b"append a 0 0 400000\r\n" + b"w" * 400_000, b"get a",
        b"append a 0 0 400000\r\n" + b"w" * 400_000, b"incr a 1",
        b"set a 0 0 2000000 noreply\r\n" + b"v" * 2_000_000, b"get a"],
    "refused": [
        b"shutdown", b"watch", b"watch fetchers", b"slabs reassign 1 2",
        b"lru_crawler", b"cache_memlimit 1", b"lru x"]}


@pytest.mark.parametrize("name", CASES)
def test_replies(name: str, both: tuple[Server, Server]) -> None:
    equal = parse.Equality()
    for command in CASES[name]:
        ours, theirs = (parse.text(exchange(one.connect(),
                                            [command + b"\r\n"]))
                        for one in both)
        assert len(ours) == len(theirs) and all(
            map(equal.replies, ours, theirs)), \
            f"{command[:100]!r}: {list(map(parse.show, ours))}, and " \
            f"memcached: {list(map(parse.show, theirs))}"


@pytest.mark.parametrize("line", ids=["any", "set", "get"], argvalues=[
    b"x" * 5000, b"set " + b"y" * 3000, b" " * 200 + b"get a" + b"z" * 3000])
def test_a_line_without_end(line: bytes, server: Server) -> None:
    """The server closes the connection, and does not wait for more."""
    with server.connect() as connection:
        connection.sendall(b"version\r\n")
        assert connection.recv(100).startswith(b"VERSION ")
        connection.sendall(line)
        assert connection.recv(100) == b""


EXPIRY: dict[str, list[bytes]] = {
    "set": [b"set a 0 2 1\r\n1"],
    "set, with a date": [b"set a 0 %d 1\r\n1"],
    "touch": [b"set a 0 0 1\r\n1", b"touch a 2"],
    "gat": [b"set a 0 1000 1\r\n1", b"gat 2 a"],
    "mg T": [b"set a 0 1000 1\r\n1", b"mg a T2"],
    "ms T": [b"ms a 1 T2\r\n1"],
    "ma T": [b"set a 0 0 1\r\n1", b"ma a T2"],
    "ma N": [b"ma a N2 J5"],
    "mg N": [b"mg a N2"],
    "incr keeps it": [b"set a 0 2 1\r\n1", b"incr a 1"],
    "append keeps it": [b"set a 0 2 1\r\n1", b"append a 0 0 1\r\n1"]}
AFTERWARDS = [b"delete a", b"touch a 0", b"incr a 1", b"append a 0 0 1\r\n1",
              b"replace a 0 0 1\r\n1", b"cas a 0 0 1 5\r\n1",
              b"add a 0 0 1\r\n1", b"get a"]


def ask(connection: socket.socket, command: bytes) -> bytes:
    connection.sendall(command + b"\r\nmn\r\n")
    received = b""
    while not received.endswith(b"MN\r\n"):
        part = connection.recv(4096)
        assert part, command
        received += part
    return received[:-4]


def test_expiry(server: Server) -> None:
    """Each item ends, and is then as if it had never been."""
    keys = {name: b"key%d" % n for n, name in enumerate(EXPIRY)}

    def of(name: str, command: bytes) -> bytes:
        return re.sub(rb"\ba\b", keys[name], command)

    with server.connect() as connection:
        for name, commands in EXPIRY.items():
            for command in commands:
                received = ask(connection, of(name, command).replace(
                    b"%d", b"%d" % (time.time() + 2)))
                assert b"ERROR" not in received, (name, received)
        for name, key in keys.items():
            wait_until(lambda: ask(connection, b"get " + key) == b"END\r\n",
                       f"the end after {name}")
            assert [ask(connection, of(name, command))
                    for command in AFTERWARDS] == [
                b"NOT_FOUND\r\n", b"NOT_FOUND\r\n", b"NOT_FOUND\r\n",
                b"NOT_STORED\r\n", b"NOT_STORED\r\n", b"NOT_FOUND\r\n",
                b"STORED\r\n", b"VALUE %s 0 1\r\n1\r\nEND\r\n" % key], name


def test_a_flush_in_the_future(server: Server) -> None:
    """It flushes what is set before its time, also after the command."""
    with server.connect() as connection:
        ask(connection, b"set a 0 0 1\r\n1")
        assert ask(connection, b"flush_all 2") == b"OK\r\n"
        ask(connection, b"set b 0 0 1\r\n1")
        wait_until(lambda: ask(connection, b"get a b") == b"END\r\n", "a flush")
        wait_until(lambda: ask(connection, b"set c 0 0 1\r\n1\r\nget c")
                   == b"STORED\r\nVALUE c 0 1\r\n1\r\nEND\r\n",
                   "what is set after it is there")
