# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The threads of a store, and what each of them owns. The numbers are those of
tests/claims.md."""
import os
import re
import signal
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.client import ask, get, is_served, put
from harness.store import Store

CPUS = len(os.sched_getaffinity(0))


def helpers(store: Store) -> list[str]:
    """The names of the threads that a store starts."""
    names = [(task / "comm").read_text().strip()
             for task in Path(f"/proc/{store.pid}/task").iterdir()]
    return sorted(name for name in names
                  if name.startswith(("worker", "sweeper")))


def connections_of_workers(store: Store) -> list[list[int]]:
    """What each epoll watches edge-triggered: only clients."""
    watched = []
    for info in Path(f"/proc/{store.pid}/fdinfo").iterdir():
        found = re.findall(r"tfd: +(\d+) events: +([0-9a-f]+)",
                           info.read_text())
        fds = [int(fd) for fd, events in found if int(events, 16) >> 31 & 1]
        if fds:
            watched.append(fds)
    return watched


def test_threads_do_not_depend_on_clients() -> None:
    """Y26, Y46: some workers and one sweeper."""
    with Store(threads=2) as store, ExitStack() as stack:
        expected = ["sweeper"] + [f"worker {i}" for i in range(min(2, CPUS))]
        assert helpers(store) == expected
        for _ in range(100):
            ask(stack.enter_context(store.connect()), b"version\r\n")
        assert helpers(store) == expected


@pytest.mark.skipif(os.getuid() != 0, reason="only root sees its descriptors")
def test_a_connection_has_one_worker() -> None:
    """Y13, Y15: each worker has an epoll of its own, edge-triggered, and all
    of them have as many clients."""
    workers = min(2, CPUS)
    with Store(threads=2) as store, ExitStack() as stack:
        for _ in range(40 * workers):
            ask(stack.enter_context(store.connect()), b"version\r\n")
        watched = connections_of_workers(store)
        assert [len(fds) for fds in watched] == [40] * workers
        assert set(Counter(sum(watched, [])).values()) == {1}


def test_a_turn_is_short() -> None:
    """Y14: two clients are ready at the same moment, the first one with
    thousands of commands. The second one waits for one or two turns of the
    first one, which have 64 commands each."""
    with Store(threads=1) as store, store.connect() as greedy, \
            store.connect() as other:
        ask(greedy, b"version\r\n")
        put(other, b"n", b"0")
        os.kill(store.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, store.pid, os.WSTOPPED)
        greedy.setblocking(False)
        command = b"incr n 1 noreply\r\n"
        sent = greedy.send(command * 5000) // len(command)
        assert sent > 1000
        other.sendall(b"get n\r\n")
        os.kill(store.pid, signal.SIGCONT)
        assert int(ask(other, b"", b"END\r\n").split()[4]) <= 2 * 64


def test_a_busy_worker_forgets_no_connection() -> None:
    """Y16, Y19: all clients have sent more commands than a turn serves, before
    the first one reads a reply."""
    clients, each = 100, 200
    with Store(threads=1) as store, ExitStack() as stack:
        many = [stack.enter_context(store.connect()) for _ in range(clients)]
        put(many[0], b"n", b"0")
        for connection in many:
            connection.sendall(b"incr n 1\r\n" * each)
        seen: list[int] = []
        for connection in many:
            got = b""
            while got.count(b"\r\n") < each:
                part = connection.recv(1 << 16)
                assert part
                got += part
            numbers = [int(line) for line in got.split()]
            assert numbers == sorted(numbers)
            seen += numbers
        assert sorted(seen) == list(range(1, clients * each + 1))


def test_no_wake_up_is_lost() -> None:
    """Y18, Y40: the worker often looks for connections while the main thread
    hands it the next one. Nothing else wakes the worker for that one."""
    served: list[int] = []
    with Store(threads=1) as store:
        def come_and_go() -> None:
            for _ in range(60):
                with ExitStack() as stack:
                    many = [stack.enter_context(store.connect())
                            for _ in range(20)]
                    served.extend(map(is_served, many))

        threads = [threading.Thread(target=come_and_go) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert served == [True] * 4 * 60 * 20


def test_no_thread_waits_for_a_client() -> None:
    """Y17: one client takes nothing, another one sends half of a value. The
    same worker serves a third one."""
    with Store(threads=1) as store, store.connect() as silent, \
            store.connect() as slow, store.connect() as other:
        put(other, b"value", b"x" * 500_000)
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                silent.send(b"get value\r\n" * 1000)
        slow.sendall(b"set slow 0 0 100000\r\n" + b"y" * 50_000)
        for i in range(50):
            put(other, b"a", b"%d" % i)
            assert get(other, b"a") == b"%d" % i
        assert ask(slow, b"y" * 50_000 + b"\r\n") == b"STORED\r\n"
        assert get(other, b"slow") == b"y" * 100_000
