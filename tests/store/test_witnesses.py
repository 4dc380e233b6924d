# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the harness has seen when a test was late (lib/missed.py)."""
import os
import signal

import pytest

from harness.checker import Checker, Wrong
from harness.servers import Server, wait_until
from missed import Missed, witnesses


def seen() -> list[str]:
    return [str(what) for witness in witnesses for what in witness()]


@pytest.mark.parametrize("sign", [signal.SIGSEGV, signal.SIGABRT])
def test_crash(server: Server, sign: int) -> None:
    """It is known when the test ends it, or starts it again."""
    os.kill(server.pid, sign)
    wait_until(lambda: server.process and server.process.poll(), "it is dead")
    server.again()
    assert seen() == [f"{server.name} ended with {-sign}"]


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
