# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the server promises its clients beside the commands: order, fairness,
memory, limits."""
import os
import resource
import socket
import threading
from contextlib import ExitStack, suppress
from typing import Iterator

import pytest

from harness.client import ask, get, is_served, put
from harness.exchange import exchange
from harness.servers import wait_until
from harness.store import Store, space

MANY = 20_000


@pytest.fixture
def store() -> Iterator[Store]:
    with Store() as running:
        yield running


@pytest.fixture
def descriptors() -> Iterator[int]:
    """Many for this process. @return for how many connections"""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, MANY + 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    yield most - 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# ---- commands over sockets

def test_input_in_pieces(store: Store) -> None:
    """Each byte alone, and all at once."""
    value = b"some\r\nvalue"
    commands = b"set a 5 0 %d\r\n%s\r\nget a b\r\nincr a 1\r\ndelete a\r\n" \
        b"get a\r\nquit\r\n" % (len(value), value)
    expected = b"STORED\r\nVALUE a 5 %d\r\n%s\r\nEND\r\n" % (
        len(value), value) + \
        b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n" \
        b"DELETED\r\nEND\r\n"
    bytes_alone = [commands[i:i + 1] for i in range(len(commands))]
    assert exchange(store.connect(), bytes_alone) == expected
    assert exchange(store.connect(), [commands]) == expected


def test_large_value_in_pieces(store: Store) -> None:
    value = os.urandom(1 << 19) * 2
    value = value[:-1000]
    command = b"set large 0 0 %d\r\n%s\r\n" % (len(value), value)
    pieces = [command[i:i + 99_999] for i in range(0, len(command), 99_999)]
    assert exchange(store.connect(), pieces) == b"STORED\r\n"
    with store.connect() as connection:
        assert get(connection, b"large") == value


def test_a_kill_keeps_large_values() -> None:
    value = os.urandom(1 << 19) * 2
    with Store() as store:
        with store.connect() as connection:
            put(connection, b"large", value)
        store.kill()
        store.start()
        with store.connect() as connection:
            assert get(connection, b"large") == value
        assert "recovered 1 item, dropped 0" in store.output()


def test_pipeline_is_in_order(store: Store) -> None:
    """Y15: more commands than a turn serves."""
    n = 20_000
    with store.connect() as connection:
        put(connection, b"n", b"0")
    got = exchange(store.connect(), [b"incr n 1\r\n" * n])
    assert got == b"".join(b"%d\r\n" % (i + 1) for i in range(n))


def test_bytes_and_end_at_once(store: Store) -> None:
    """Y16, Y39: the store sees both in one event."""
    for i in range(200):
        with store.connect() as connection:
            connection.sendall(b"set %d 0 0 1 noreply\r\nx\r\n" % i)
    with store.connect() as connection:
        wait_until(lambda: b"STAT curr_connections 1\r\n" in ask(
            connection, b"stats\r\n", b"END\r\n"), "all are closed")
        assert get(connection, b"199") == b"x"


# ---- memory and fairness

def test_memory_of_idle_connections(descriptors: int) -> None:
    """Y12: each has served a command, and has the beginning of another
    one."""
    with Store(space("shop", max_connections=MANY)) as store, \
            ExitStack() as stack:
        first = [stack.enter_context(store.connect()) for _ in range(100)]
        for connection in first:
            ask(connection, b"version\r\n")
        before = store.memory()
        many = [stack.enter_context(store.connect())
                for _ in range(descriptors - 100)]
        for connection in many:
            connection.sendall(b"version\r\n")
        for connection in many:
            assert connection.recv(100).startswith(b"VERSION ")
            connection.sendall(b"get abc")
        for connection in many[-100:] + many[:100]:
            assert ask(connection, b"\r\n") == b"END\r\n"
        each = (store.memory() - before) / len(many)
        print(f"{len(many)} connections, {each:.0f} bytes each")
        assert each < 1024


def drain(client: socket.socket) -> None:
    """Until it is closed."""
    with suppress(ConnectionResetError):
        while client.recv(1 << 16):
            pass


def test_a_stream_with_descriptors(store: Store) -> None:
    """The store keeps none of them, and closes the connection."""
    before = len(os.listdir(f"/proc/{store.pid}/fd"))
    with store.connect() as other:
        for _ in range(20):
            with store.connect() as client:
                socket.send_fds(client, [b"get a\r\n"], [client.fileno()])
                with suppress(BrokenPipeError):
                    client.sendall(b"get a\r\n" * 3)
                drain(client)
        assert ask(other, b"get a\r\n") == b"END\r\n"
    wait_until(lambda: len(os.listdir(f"/proc/{store.pid}/fd")) == before,
               "no descriptor is left")


def test_a_stream_with_urgent_bytes(store: Store) -> None:
    with store.connect() as other, store.connect() as client:
        client.sendall(b"get a\r\n")
        try:
            client.send(b"!", socket.MSG_OOB)
        except OSError:
            pytest.skip("this kernel has none on Unix sockets")
        with suppress(BrokenPipeError):
            client.sendall(b"get a\r\n" * 3)
        drain(client)
        assert ask(other, b"get a\r\n") == b"END\r\n"


def test_memory_of_a_client_that_takes_nothing(store: Store) -> None:
    """Y17: it asks for values and reads none. It is not read any more,
    the store's memory does not grow, and another client is served."""
    value = b"x" * 500_000
    with store.connect() as other, store.connect() as silent:
        put(other, b"value", value)
        before = store.memory()
        silent.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while sent < 100 << 20:
                sent += silent.send(b"get value\r\n" * 1000)
        silent.settimeout(60)
        assert silent.recv(25, socket.MSG_WAITALL) == \
            b"VALUE value 0 500000\r\nxxx"
        for i in range(50):
            put(other, b"value", b"%d" % i * 50_000)
            assert get(other, b"value") == b"%d" % i * 50_000
        assert store.memory() - before < 4 << 20


def test_memory_of_clients_that_take_no_small_values() -> None:
    """Small values are copied for each client, so there is a lower limit."""
    reply = b"VALUE value 0 1000\r\n" + b"x" * 1000 + b"\r\nEND\r\n"
    with Store(threads=1) as store, store.connect() as other, \
            ExitStack() as stack:
        put(other, b"value", b"x" * 1000)
        before = store.memory()
        silent = [stack.enter_context(store.connect()) for _ in range(50)]
        for one in silent:
            one.sendall(b"get value\r\n" * 3000)
        # Each one has a turn, of 64 commands, before this one has the next.
        for _ in range(100):
            assert get(other, b"value") == b"x" * 1000
        assert store.memory() - before < 50 * (400 << 10)
        received = bytearray()
        while len(received) < 3000 * len(reply):
            received += silent[0].recv(1 << 20)
        assert received == 3000 * reply


def test_client_that_never_stops() -> None:
    """Y14, Y19: one worker. The other client has its turns, too."""
    with Store(threads=1) as store, store.connect() as greedy, \
            store.connect() as other:
        over = threading.Event()

        def send() -> None:
            batch = b"set a 0 0 1 noreply\r\nx\r\n" * 2000
            while not over.is_set():
                greedy.sendall(batch)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            for i in range(300):
                put(other, b"b", b"%d" % i)
                assert get(other, b"b") == b"%d" % i
            assert get(other, b"a") == b"x"
        finally:
            over.set()
            thread.join()


# ---- users that may connect

@pytest.mark.skipif(os.getuid() != 0, reason="only root has other users")
def test_other_users_are_refused() -> None:
    with Store(space("shop", uids=[4001])) as store:
        def as_user(uid: int, times: int) -> int:
            pid = os.fork()
            if pid == 0:
                served = 0
                try:
                    os.setuid(uid)
                    for _ in range(times):
                        with store.connect() as connection:
                            try:
                                connection.sendall(b"version\r\n")
                                served += bool(connection.recv(10))
                            except OSError:
                                pass
                finally:
                    os._exit(served)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        store.dir.chmod(0o711)
        assert as_user(4001, 5) == 5
        assert as_user(4002, 5) == 0
        with store.connect() as connection:
            ask(connection, b"version\r\n")
        assert store.output().count("of user 4002 is refused") == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root has other users")
def test_a_user_that_is_removed_is_closed() -> None:
    """Also a connection that does nothing. Those of other users stay."""
    def connect_as(uid: int) -> socket.socket:
        os.seteuid(uid)
        try:
            return store.connect()
        finally:
            os.seteuid(0)

    with Store(space("shop", uids=[4001, 4002])) as store:
        store.dir.chmod(0o711)
        with connect_as(4001) as one, connect_as(4002) as two, \
                connect_as(4001) as busy:
            for connection in (one, two, busy):
                ask(connection, b"version\r\n")
            busy.sendall(b"set a 0 0 100\r\n")
            store.table["spaces"] = [space("shop", uids=[4002])]
            store.write_table()
            store.ring()
            drain(one)
            drain(busy)
            assert ask(two, b"get a\r\n") == b"END\r\n"


def test_too_many_connections() -> None:
    with Store(space("shop", max_connections=3)) as store, ExitStack() as stack:
        three = [stack.enter_context(store.connect()) for _ in range(3)]
        for connection in three:
            ask(connection, b"version\r\n")
        with store.connect() as fourth:
            assert fourth.makefile("rb").read() == \
                b"SERVER_ERROR too many open connections\r\n"
        three.pop().close()

        wait_until(lambda: is_served(store.connect()),
                   "a connection that ended makes room")
