# Licensed under the Apache License, Version 2.0; see LICENSE.
"""server: a fresh server of each tested kind (harness/kinds.py).
both: the same, and a memcached as reference. No test hangs the whole run."""
import os
import signal
from typing import Any, Iterator

import pytest

from harness.kinds import KINDS, TESTED
from harness.servers import Memcached, Server
from hosts.network import why_none
import second_look

BOUND = 300  # seconds


def pytest_configure(config: pytest.Config) -> None:
    """One seed for all processes of pytest. The short form always has the same
    one: of some thousand random cases, one still finds something in which
    memcached is not like itself (harness/replies.py)."""
    new = str(int.from_bytes(os.urandom(4), "big"))
    config.pluginmanager.register(second_look)
    os.environ.setdefault("SEED", new if os.environ.get("APPPOOL_LONG") else "1")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"SEED={os.environ['SEED']} repeats the random "
                                "cases")


@pytest.fixture(scope="session")
def seed() -> int:
    return int(os.environ["SEED"])


@pytest.fixture(autouse=True)
def bound() -> Iterator[None]:
    def late(number: int, frame: Any) -> None:
        raise TimeoutError(f"the test took more than {BOUND} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(BOUND)
    yield
    signal.alarm(0)


@pytest.fixture(params=TESTED)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with KINDS[request.param]() as one:
        yield one


@pytest.fixture(params=TESTED)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """The tested server and the reference."""
    with KINDS[request.param]() as tested, Memcached() as reference:
        yield tested, reference


@pytest.fixture(scope="session")
def why_no_namespaces() -> str:
    return why_none()


@pytest.fixture
def namespaces(why_no_namespaces: str) -> None:
    """For tests that need hosts of their own."""
    if why_no_namespaces:
        pytest.skip(f"no network namespaces here: {why_no_namespaces}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    """A cluster tells what its hosts have logged."""
    outcome = yield
    if call.when == "call" and outcome.get_result().failed:
        for value in getattr(item, "funcargs", {}).values():
            if hasattr(value, "report"):
                value.report()
