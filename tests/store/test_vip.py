# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The ports of the virtual address, on one host that has it."""
import socket
from contextlib import ExitStack
from typing import Iterator

import pytest

from harness.client import ask, get, is_closed, put
from harness.servers import wait_until
from harness.vip_store import MEMCACHE, REPL, VipStore


def connections(client: socket.socket) -> int:
    """To the space of this client, without its own."""
    got = ask(client, b"stats\r\n", b"END\r\n").decode()
    line, = [line for line in got.splitlines() if "curr_connections" in line]
    return int(line.split()[2]) - 1


@pytest.fixture(name="store")
def make_store() -> Iterator[VipStore]:
    with VipStore() as store:
        yield store


def test_connect_while_no_store_runs(store: VipStore) -> None:
    with store.tcp() as tcp:
        put(tcp, b"k", b"v")
    store.kill()
    with store.tcp() as tcp:
        store.start()
        assert get(tcp, b"k") == b"v"


@pytest.mark.parametrize("port", [MEMCACHE, REPL],
                         ids=["memcache", "repl"])
def test_port_is_taken(port: int) -> None:
    """Each space is served at its socket. The port is tried again."""
    with ExitStack() as stack, socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        store = VipStore()
        store.ports[port] = taken
        store.write_table()
        stack.enter_context(store)
        with store.connect() as unix:
            put(unix, b"k", b"v")
        store.wait_logged(f"the store cannot listen at 127.0.0.1, port {taken}")
        assert ": Address already in use; it tries again" in store.output()
        other.close()
        wait_until(lambda: store.is_open(port), "it listens")
        store.wait_logged(f"the store listens at 127.0.0.1, port {taken} now")


def test_a_peer_that_says_nothing_is_a_client(store: VipStore) -> None:
    """It could be a relay, for 10 s."""
    with store.connect() as unix, store.tcp() as tcp:
        wait_until(lambda: connections(unix) == 1, "it has the open space")
        put(tcp, b"k", b"v")


def test_a_peer_that_says_nothing_is_closed_without_a_space() -> None:
    store = VipStore()
    del store.table["cluster"]["open_space"]
    store.write_table()
    with store, store.tcp() as tcp:
        assert is_closed(tcp)
