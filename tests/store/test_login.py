# Licensed under the Apache License, Version 2.0; see LICENSE.
"""TCP clients of AppStoreListen, and their logins."""
import hmac
import os
import resource
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import Any, Iterator

import bmemcached
import pylibmc
import pytest

from harness.client import ask, get, is_closed, put
from harness.figures import Figures
from harness.servers import PATIENCE, wait_until
from harness.store import Store, space

SECRET = bytes(range(40))
LOGIN_LIMIT = 10  # seconds


def password(name: str) -> str:
    return hmac.new(SECRET, b"client" + name.encode(), "sha256").hexdigest()


class TcpStore(Store):
    """Two spaces, and a listener of the first one."""

    def __init__(self, has_key: bool, **more: Any) -> None:
        super().__init__(space("a shop", key="shop", **more), space("blog"))
        self.port = self.free_port()
        self.table["cluster"] = {
            "ports": [11211, 11213], "peers": [], "plain": [],
            "changes": 1 << 20, "slave_timeout": 10}
        if has_key:
            self.table["cluster"]["secret"] = SECRET.hex()
        self.listen(self.port, "a shop")
        self.write_table()

    def listen(self, port: int, name: str) -> None:
        self.table.setdefault("listens", []).append(
            {"address": "127.0.0.1", "port": port, "space": name})

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def tcp(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def is_open(self, port: int) -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        except ConnectionError:  # refused; or reset, while it is closed
            return False
        return True

    def wait_until_open(self, port: int) -> None:
        wait_until(lambda: self.is_open(port), f"port {port} is open")

    def wait_until_closed(self, port: int) -> None:
        wait_until(lambda: not self.is_open(port), f"port {port} is closed")


@pytest.fixture(name="open_store")
def make_open_store() -> Iterator[TcpStore]:
    with TcpStore(False) as store:
        yield store


@pytest.fixture(name="store")
def make_store() -> Iterator[TcpStore]:
    with TcpStore(True) as store:
        yield store


@contextmanager
def descriptors(n: int) -> Iterator[None]:
    """This process may have that many."""
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(n, old[0]), old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, old)


def log_in(connection: socket.socket, name: str, word: str,
           more: bytes = b"", end: bytes = b"\r\n") -> bytes:
    text = f"{name} {word}".encode()
    return ask(connection, b"set any 0 0 %d\r\n%s\r\n%s" %
               (len(text), text, more), end)


def test_space_of_a_listener(open_store: TcpStore) -> None:
    """Without a key nobody is asked, and the socket has the same items."""
    with open_store.tcp() as tcp, open_store.connect() as unix:
        put(tcp, b"k", b"v")
        assert get(unix, b"k") == b"v"
        assert tcp.getsockname()[1] != open_store.port
    with open_store.connect_to("blog") as blog:
        assert get(blog, b"k") == b""


def test_listeners_change(open_store: TcpStore) -> None:
    """A graceful restart adds and removes listeners; others keep theirs."""
    other = open_store.free_port()
    with open_store.tcp() as kept:
        put(kept, b"k", b"v")
        open_store.listen(other, "blog")
        open_store.table["listens"][0]["space"] = "blog"
        open_store.write_table()
        open_store.ring()
        open_store.wait_until_open(other)
        assert get(kept, b"k") == b"v"
        with open_store.tcp() as tcp:
            assert get(tcp, b"k") == b""
    open_store.table["listens"] = open_store.table["listens"][1:]
    open_store.write_table()
    open_store.ring()
    open_store.wait_until_closed(open_store.port)
    with socket.create_connection(("127.0.0.1", other), PATIENCE) as tcp:
        assert get(tcp, b"k") == b""


def test_connect_while_no_store_runs(open_store: TcpStore) -> None:
    with open_store.tcp() as tcp:
        put(tcp, b"k", b"v")
    open_store.kill()
    with open_store.tcp() as tcp:
        tcp.sendall(b"get k\r\n")
        open_store.start()
        assert get_reply(tcp) == b"VALUE k 0 1\r\nv\r\nEND\r\n"


def get_reply(connection: socket.socket) -> bytes:
    got = b""
    while not got.endswith(b"END\r\n"):
        part = connection.recv(4096)
        assert part, got
        got += part
    return got


def missing(store: Store) -> int:
    """How many listeners it lacks, as the status shows it."""
    return Figures(os.pread(store.fds["FIGURES"], 4096, 0)).missing


def test_port_is_taken(open_store: TcpStore) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        open_store.listen(port, "blog")
        open_store.write_table()
        open_store.ring()
        open_store.wait_logged(
            f"the store cannot listen at 127.0.0.1, port {port} (AppStoreListen "
            "for space blog): Address already in use")
        wait_until(lambda: missing(open_store) == 1, "the figures have it")
    open_store.wait_until_open(port)
    wait_until(lambda: missing(open_store) == 0, "none is missing")
    open_store.wait_logged(f"the store listens at 127.0.0.1, port {port} now")


def test_connection_limit() -> None:
    """Clients of TCP and of the Unix socket are counted together."""
    with TcpStore(False, max_connections=2) as store, store.tcp() as one, \
            store.connect() as two:
        put(one, b"k", b"v")
        put(two, b"k", b"v")
        with store.tcp() as three:
            assert three.recv(100) == \
                b"SERVER_ERROR too many open connections\r\n"
            assert is_closed(three)


def test_text_login(store: TcpStore) -> None:
    with store.tcp() as tcp:
        for command in (b"get k\r\n", b"version\r\n", b"flush_all\r\n"):
            assert ask(tcp, command) == b"CLIENT_ERROR unauthenticated\r\n"
        assert log_in(tcp, "a shop", password("blog")) == \
            b"CLIENT_ERROR authentication failure\r\n"
        assert log_in(tcp, "other", password("other")) == \
            b"CLIENT_ERROR authentication failure\r\n"
        assert log_in(tcp, "a shop", password("a shop")) == b"STORED\r\n"
        put(tcp, b"k", b"v")
        assert get(tcp, b"any") == b""
    with store.connect() as unix:
        assert get(unix, b"k") == b"v"
    assert store.output().count("a TCP client was refused") == 1
    assert password("a shop") not in store.output()


def test_clients_without_a_login_take_no_place() -> None:
    with TcpStore(True, max_connections=2) as store, ExitStack() as stack:
        for _ in range(5):
            tcp = stack.enter_context(store.tcp())
            assert ask(tcp, b"get k\r\n") == \
                b"CLIENT_ERROR unauthenticated\r\n"
        with store.connect() as unix, store.tcp() as tcp:
            put(unix, b"k", b"v")
            assert log_in(tcp, "a shop", password("a shop")) == b"STORED\r\n"
            assert get(tcp, b"k") == b"v"
            # These two are the two that the space may have.
            assert log_in(stack.enter_context(store.tcp()), "a shop",
                          password("a shop")) == \
                b"CLIENT_ERROR authentication failure\r\n"
            with store.connect() as three:
                assert three.recv(100) == \
                    b"SERVER_ERROR too many open connections\r\n"


def test_login_has_a_time_limit(store: TcpStore) -> None:
    with store.tcp() as silent, store.tcp() as busy, store.tcp() as member:
        assert log_in(member, "a shop", password("a shop")) == b"STORED\r\n"
        busy.sendall(b"set any 0 0 100\r\n")
        assert is_closed(silent)
        assert is_closed(busy)
        put(member, b"k", b"v")
    assert store.output().count("it has not logged in for 10 s") in range(1, 5)


def test_too_many_clients_without_a_login(store: TcpStore) -> None:
    """They have a limit of their own. It is not that of a space. They do not
    keep others from logging in."""
    with ExitStack() as stack:
        stack.enter_context(descriptors(8000))

        def is_full() -> bool:
            for _ in range(1030):
                stack.enter_context(store.tcp())
            return "closed, because 1024 have not logged in" in store.output()

        first = stack.enter_context(store.tcp())
        wait_until(is_full, "one is closed")
        assert is_closed(first)
        with store.tcp() as tcp:
            assert log_in(tcp, "a shop", password("a shop")) == b"STORED\r\n"
        with store.connect() as unix:
            put(unix, b"k", b"v")


def test_another_host_without_a_login(store: TcpStore) -> None:
    """A host that fills all places keeps out only itself: who came before from
    another host can still log in, if that is in time."""
    def logs_in() -> bool:
        with ExitStack() as stack:
            began = time.monotonic()
            stack.enter_context(descriptors(8000))
            other = stack.enter_context(socket.create_connection(
                ("127.0.0.1", store.port), PATIENCE, ("127.0.0.2", 0)))
            first = stack.enter_context(store.tcp())
            for _ in range(1030):
                stack.enter_context(store.tcp())
            assert is_closed(first)
            try:
                assert log_in(other, "a shop", password("a shop")) == \
                    b"STORED\r\n"
            except (AssertionError, OSError):
                if time.monotonic() - began < LOGIN_LIMIT:
                    raise
                return False  # it was too late
        return True

    wait_until(logs_in, "it logs in in time")
    assert "closed, because 1024 have not logged in" in store.output()


def test_a_space_that_is_gone_has_clients_without_a_login() -> None:
    """They are closed, and do not keep it."""
    with TcpStore(True) as store, store.tcp() as tcp:
        ask(tcp, b"get k\r\n")
        store.table["spaces"] = store.table["spaces"][1:]
        store.table["listens"] = []
        store.write_table()
        store.ring()
        assert is_closed(tcp)
        wait_until(lambda: store.lost_long_ago("a shop"), "it is lost")
        store.wait_logged("space a shop was gone for an hour")


def connections(store: Store, key: str) -> int:
    with store.connect_to(key) as unix:
        got = ask(unix, b"stats\r\n", b"END\r\n")
    line, = [line for line in got.decode().splitlines()
             if "curr_connections" in line]
    return int(line.split()[2]) - 1


def test_another_space(store: TcpStore) -> None:
    """A login moves the connection, and it counts there."""
    with store.tcp() as tcp:
        assert log_in(tcp, "blog", password("blog")) == b"STORED\r\n"
        put(tcp, b"k", b"of the blog")
        with store.connect() as shop, store.connect_to("blog") as blog:
            assert get(shop, b"k") == b""
            assert get(blog, b"k") == b"of the blog"
        assert connections(store, "blog") >= 1


def test_unix_sockets_need_no_login(store: TcpStore) -> None:
    with store.connect() as unix:
        put(unix, b"k", b"v")
        assert log_in(unix, "a shop", password("a shop")) == b"STORED\r\n"
        assert get(unix, b"any").startswith(b"a shop ")


def test_pylibmc(store: TcpStore) -> None:
    def client(word: str) -> pylibmc.Client:
        return pylibmc.Client([store.address], binary=True,
                              username="a shop", password=word,
                              behaviors={"_poll_timeout": 60_000})

    client(password("a shop")).set("k", "v")
    assert client(password("a shop")).get("k") == "v"
    with pytest.raises(pylibmc.Error):
        client(password("blog")).get("k")


def test_bmemcached(store: TcpStore) -> None:
    client = bmemcached.Client([store.address], "blog", password("blog"),
                               socket_timeout=60)
    assert client.set("k", "v")
    assert client.get("k") == "v"
    with store.connect() as shop:
        assert get(shop, b"k") == b""


RUBY = """
require "dalli"
client = Dalli::Client.new(ARGV[0], username: ARGV[1], password: ARGV[2],
                           socket_timeout: 60)
begin
  client.set("k", "v")
  puts client.get("k")
rescue Dalli::DalliError => e
  puts "refused"
end
"""


@pytest.mark.parametrize("where", ["tcp", "unix"])
def test_dalli(store: TcpStore, where: str) -> None:
    """It also logs in at a Unix socket, when it has a password."""
    def run(word: str) -> str:
        done = subprocess.run(
            ["ruby", "-e", RUBY, store.address if where == "tcp" else
             str(store.path), "a shop", word], text=True, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout.splitlines()[-1]

    assert run(password("a shop")) == "v"
    assert run(password("blog")) == "refused"


def test_sasl_comes_first(store: TcpStore) -> None:
    """Any other command of the binary protocol is refused, as by memcached."""
    with store.tcp() as tcp:
        tcp.sendall(b"\x80\x0a" + bytes(22))
        got = tcp.recv(100)
        assert got[:8] == b"\x81\x0a\0\0\0\0\0\x20"
        assert is_closed(tcp)


# struct tcp_info of linux/tcp.h: tcpi_data_segs_in
SEGMENTS = 152


def segments(connection: socket.socket) -> int:
    """How many packets with data have arrived."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int.from_bytes(info[SEGMENTS:SEGMENTS + 4], "little")


def test_replies_to_many_commands_are_few_packets(open_store: TcpStore) -> None:
    """Y35: The replies of a turn are one write."""
    with open_store.tcp() as connection:
        put(connection, b"k", b"x" * 10)
        before = segments(connection)
        connection.sendall(b"get k\r\n" * 50)
        got = b""
        while got.count(b"END\r\n") < 50:
            got += connection.recv(65536)
        assert segments(connection) - before <= 2
