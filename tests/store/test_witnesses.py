# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the harness has seen when a test was late (lib/missed.py)."""
import os
import shutil
import signal
from typing import Iterator

import pytest

from harness.checker import Checker, Wrong
from harness.cluster import ByHand
from harness.members import store as member
from harness.servers import Server, wait_until
from harness.store import Store
from missed import Missed, only_missed, witnesses


def seen() -> list[str]:
    return [str(what) for witness in witnesses for what in witness()]


@pytest.mark.parametrize("sign", [signal.SIGSEGV, signal.SIGABRT])
def test_crash(server: Server, sign: int) -> None:
    """It is known when the test ends it, or starts it again."""
    os.kill(server.pid, sign)
    wait_until(lambda: server.process and server.process.poll(), "it is dead")
    server.again()
    assert seen() == [f"{server.name} ended with {-sign}"]


def test_crash_before_its_end(server: Server) -> None:
    """Of a server that several tests share."""
    os.kill(server.pid, signal.SIGSEGV)
    wait_until(lambda: server.process and server.process.poll(), "it is dead")
    assert seen() == [f"{server.name} ended with {-signal.SIGSEGV}"]


REPORT = "==9==ERROR: AddressSanitizer: heap-use-after-free"


@pytest.fixture
def reporting() -> Iterator[Store]:
    """A store that a sanitizer has complained about. It is left to the test to
    destroy it."""
    store = Store()
    store.start()
    with store.words.open("a") as words:
        words.write(f"{REPORT}\n")
    yield store
    shutil.rmtree(store.dir, ignore_errors=True)


def test_sanitizer(reporting: Store) -> None:
    assert seen() == [REPORT]
    with pytest.raises(AssertionError, match="heap-use"):
        reporting.destroy()
    assert seen() == [REPORT]


def test_sanitizer_at_a_late_end(reporting: Store,
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    end = reporting.end

    def late(sign: int) -> None:
        end(sign)
        raise Missed("it did not end")

    monkeypatch.setattr(reporting, "end", late)
    with pytest.raises(AssertionError, match="heap-use") as found:
        reporting.destroy()
    assert not only_missed(found.value)
    assert seen() == [REPORT]


@pytest.mark.usefixtures("namespaces")
def test_sanitizer_of_another_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one is late, and the second one is looked at, too."""
    with pytest.raises(AssertionError) as found:
        with ByHand(member, member) as cluster:
            first, second = [node.member for node in cluster.nodes]
            with second.words.open("a") as words:
                words.write(f"{REPORT}\n")
            end = first.end

            def late(sign: int) -> None:
                end(sign)
                raise Missed("it did not end")

            monkeypatch.setattr(first, "end", late)
    assert not only_missed(found.value)
    assert not second.dir.exists() and REPORT in seen()


def test_end(server: Server) -> None:
    server.again()
    server.end()
    assert seen() == []


def test_wrong_data(server: Server, seed: int) -> None:
    checker = Checker(server, seed)
    checker.load()
    checker.wait_for(10)
    checker.settle()
    assert seen() == []
    checker.wrong.append(Wrong("missing", "0-1", None, [1]))
    assert len(seen()) == 1


def test_limit() -> None:
    with pytest.raises(Missed):
        wait_until(lambda: False, "nothing", 0.01)
