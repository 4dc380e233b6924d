# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The life of a store: killed, stopped, and with another configuration."""
import os
import signal
import socket
from typing import Iterator

import pytest

from harness.client import ask, get, is_closed, is_served, put
from harness.servers import wait_until
from harness.store import Store, space


@pytest.fixture
def store() -> Iterator[Store]:
    with Store() as running:
        yield running


# ---- death and end

def test_killed_store_keeps_items(store: Store) -> None:
    """And a connect while no store runs waits for the next one."""
    with store.connect() as connection:
        for i in range(1000):
            put(connection, b"key%d" % i, b"%d" % i * (i % 50))
        store.kill()
        assert is_closed(connection)
    with store.connect() as waiting:
        waiting.sendall(b"get key123\r\n")
        store.start()
        value = b"123" * (123 % 50)
        assert ask(waiting, b"", b"END\r\n") == \
            b"VALUE key123 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)
        for i in range(1000):
            assert get(waiting, b"key%d" % i) == b"%d" % i * (i % 50)
    assert "recovered 1000 items, dropped 0" in store.output()


def test_killed_again_and_again(store: Store) -> None:
    """The socket is always the same one."""
    inode = store.path.stat().st_ino
    for i in range(5):
        with store.connect() as connection:
            put(connection, b"n", b"%d" % i)
        store.kill()
        store.start()
        with store.connect() as connection:
            assert get(connection, b"n") == b"%d" % i
    assert store.path.stat().st_ino == inode


def test_newest_listener_of_a_path() -> None:
    """The mailbox may have an older one, whose socket was removed. No connect
    reaches it."""
    store = Store()
    try:
        with socket.socket(fileno=os.dup(store.fds["MAILBOX"])) as mailbox:
            for _ in range(2):
                store.path.unlink(missing_ok=True)
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(str(store.path))
                    listener.listen()
                    socket.send_fds(mailbox, [b"shop"], [listener.fileno()])
        store.start()
        with store.connect() as connection:
            put(connection, b"a", b"1")
    finally:
        store.destroy()


def test_stop_with_unread_replies(store: Store) -> None:
    """Y43: it ends at once."""
    with store.connect() as connection:
        put(connection, b"value", b"x" * 1_000_000)
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                connection.send(b"get value\r\n" * 1000)
        assert store.end() == 0
    with pytest.raises(OSError):
        store.connect()


# ---- the configuration

def test_spaces_come_and_go() -> None:
    """Y37, Y38: the workers close the connections to a space that is gone."""
    with Store(space("shop"), space("blog")) as store, \
            store.connect() as shop, store.connect_to("blog") as blog:
        put(shop, b"a", b"1")
        put(blog, b"a", b"2")
        store.table["spaces"] = [space("shop"), space("wiki")]
        store.write_table()
        store.ring()
        assert is_closed(blog)
        store.wait_logged("space blog is gone")
        with store.connect_to("wiki") as wiki:
            put(wiki, b"a", b"3")
        with pytest.raises(OSError):
            store.connect_to("blog")
        assert get(shop, b"a") == b"1"
        store.kill()
        store.start()
        store.table["spaces"].append(space("blog"))
        store.write_table()
        store.ring()
        wait_until(lambda: store.listens_at("blog"), "blog is back")
        with store.connect_to("blog") as again:
            assert get(again, b"a") == b"2"


def test_space_that_is_gone_for_an_hour() -> None:
    """Its memory is free, whether a store has it open or not. The space that
    comes then has none of its counters. The test moves the time at which it was
    lost (base/store_format.h)."""
    with Store(space("shop"), space("blog"), space("wiki")) as store:
        for key in ("blog", "wiki"):
            with store.connect_to(key) as connection:
                for i in range(50):
                    put(connection, b"key%d" % i, b"x" * 200_000)
        store.table["spaces"] = [space("shop"), space("wiki")]
        store.write_table()
        store.ring()
        store.wait_logged("space blog is gone: ")
        before = os.fstat(store.fds["ITEMS"]).st_blocks
        store.lost_long_ago("blog")
        store.wait_logged("space blog was gone for an hour")
        assert before - os.fstat(store.fds["ITEMS"]).st_blocks > 9_000_000 / 512
        store.table["spaces"].append(space("news"))
        store.write_table()
        store.ring()
        wait_until(lambda: store.listens_at("news"), "news has come")
        with store.connect_to("news") as connection:
            assert b" cmd_set 0\r\n" in ask(connection, b"stats\r\n",
                                            b"END\r\n")
        store.kill()
        store.table["spaces"] = [space("shop")]
        store.write_table()
        store.start()
        assert not store.socket_of("wiki").exists()
        wait_until(lambda: store.lost_long_ago("wiki"), "wiki is lost")
        store.wait_logged("space wiki was gone for an hour")
        assert os.fstat(store.fds["ITEMS"]).st_blocks < 2_000_000 / 512
        store.table["spaces"] += [space("blog"), space("wiki")]
        store.write_table()
        store.ring()
        for key in ("blog", "wiki"):
            wait_until(lambda: store.listens_at(key), "both are back")
            with store.connect_to(key) as connection:
                assert get(connection, b"key1") == b""


def test_damaged_configuration_changes_nothing(store: Store) -> None:
    with store.connect() as connection:
        put(connection, b"a", b"1")
        store.write_table('{"threads": 4, "max_object": 1048576, "spaces": [1]')
        store.ring()
        store.wait_logged("cannot read")
        assert get(connection, b"a") == b"1"
        with store.connect() as another:
            assert get(another, b"a") == b"1"


def test_more_users_and_connections() -> None:
    with Store(space("shop", max_connections=1)) as store, \
            store.connect() as first:
        ask(first, b"version\r\n")
        with store.connect() as second:
            assert second.recv(12) == b"SERVER_ERROR"
        store.table["spaces"] = [space("shop", max_connections=2)]
        store.write_table()
        store.ring()

        wait_until(lambda: is_served(store.connect()), "a second connection")


def test_store_without_a_configuration() -> None:
    """It makes no sense to start it again."""
    store = Store()
    try:
        store.write_table("{}")
        store.start()
        assert store.process is not None
        assert store.process.wait() == 78
        store.process = None
        assert "cannot read" in store.output()
    finally:
        store.destroy()


def test_signals_of_a_terminal_do_nothing(store: Store) -> None:
    for sign in (signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE):
        os.kill(store.pid, sign)
    with store.connect() as connection:
        put(connection, b"a", b"1")
    assert store.end() == 0
