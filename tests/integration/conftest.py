# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Each test gets an httpd of its own, in prefork and in event. After the test
nothing of this httpd may be left, and its error log may contain nothing
unexpected.

    @pytest.mark.mpms("event")   other MPMs than the usual two
    @pytest.mark.one_mpm("why")  half of the cases in one MPM, half in the
                                 other, because the MPM does not matter; all
                                 cases with APPPOOL_LONG
    @pytest.mark.in_long("why")  only with APPPOOL_LONG
    APPPOOL_MPM=event            only this one; worker is run in place of event
    @pytest.mark.bound(400)      seconds, for a test that does a lot"""
import os
import signal
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import browser, figures, machine
from harness.damage import look
from harness.httpd import Httpd
from harness.long import LONG
from harness.places import MODULE
import second_look

BOUND = 300  # seconds; a test that takes longer is hung
LONGEST = Path(__file__).with_name("longest")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(second_look)
    config.addinivalue_line("markers", "mpms(name, ...): MPMs to test in")
    config.addinivalue_line("markers", "one_mpm(why): one of them, by turns")
    config.addinivalue_line("markers", "in_long(why): only in the long form")
    config.addinivalue_line("markers", "bound(s): it hangs after that")


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.option.collectonly:
        return  # tests/source asks for the names
    if os.getuid() != 0:
        pytest.exit("the integration tests need root", returncode=4)
    if not MODULE.exists():
        pytest.exit(f"{MODULE} is not there: build first", returncode=4)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mpm" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("mpms")
        only = os.environ.get("APPPOOL_MPM")
        mpms = list(mark.args) if mark else [only or "prefork",
                                             only or "event"]
        # A test for event also works with worker, which has threads as well.
        if only == "worker" and "event" in mpms:
            mpms = [only]
        metafunc.parametrize("mpm", [m for m in dict.fromkeys(mpms)
                                     if only in (None, m)])


def other_turn(item: pytest.Item) -> bool:
    """Does the other MPM run this case?"""
    mark = next((one for one in item.iter_markers()
                 if one.name in ("mpms", "one_mpm")), None)
    case = getattr(item, "callspec", None)
    if case is None or mark is None or mark.name == "mpms" or LONG \
            or "APPPOOL_MPM" in os.environ:
        return False
    assert len(mark.args) == 1, f"{item.nodeid}: one_mpm wants a reason"
    mpm = case.params.get("mpm", "")
    name = item.nodeid.replace(mpm, "", 1)
    return mpm == ("prefork", "event")[zlib.crc32(name.encode()) % 2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests come first."""
    items[:] = [item for item in items if not other_turn(item)
                and (LONG or not item.get_closest_marker("in_long"))]
    names = LONGEST.read_text().splitlines()
    order = {name: n for n, name in enumerate(names)}

    def place(item: pytest.Item) -> int:
        name = getattr(item, "originalname", item.name)
        return order.get(f"{item.path.name}::{name}", len(names))

    items.sort(key=place)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in figures.lines:
        terminalreporter.write_line(line)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    outcome = yield
    setattr(item, f"report_{call.when}", outcome.get_result())


@pytest.fixture(autouse=True)
def bound(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test hangs the whole run."""
    mark = request.node.get_closest_marker("bound")
    seconds = mark.args[0] if mark else BOUND

    def late(number: int, frame: Any) -> None:
        raise TimeoutError(f"the test took more than {seconds} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session", autouse=True)
def chromium() -> Iterator[None]:
    """End the browser that tests have started."""
    yield
    if browser.shared.cache_info().currsize:
        browser.shared().end()


@contextmanager
def checked(mpm: str, request: pytest.FixtureRequest,
            name: str = "") -> Iterator[Httpd]:
    """An httpd of which nothing may be left. The name is for its logs, if a
    test has several."""
    server = Httpd(mpm)
    passed = False
    try:
        try:
            yield server
        finally:
            report = getattr(request.node, "report_call", None)
            missed = second_look.missed_so_far(request.node)
            with second_look.noted(request.node):
                look(server, report is not None and report.passed, missed)
        passed = report is not None and report.passed
    finally:
        if not passed:
            second_look.keep(request.node, server.keep_logs(
                f"{request.path.stem}-{request.node.name}{name}"))
        server.destroy()


@pytest.fixture
def httpd(mpm: str, request: pytest.FixtureRequest) -> Iterator[Httpd]:
    with checked(mpm, request) as server:
        yield server


@pytest.fixture
def hosts(mpm: str, request: pytest.FixtureRequest) -> Iterator[list[Httpd]]:
    """Two httpds that share nothing."""
    with checked(mpm, request, "-a") as a, checked(mpm, request, "-b") as b:
        yield [a, b]


@pytest.fixture
def front(mpm: str, request: pytest.FixtureRequest) -> Iterator[Httpd]:
    """An httpd in front of others."""
    with checked(mpm, request, "-front") as server:
        yield server


@pytest.fixture
def debian() -> Iterator[None]:
    """The test is on a machine that has applications of Debian."""
    if why := machine.cannot():
        pytest.skip(why)
    with machine.machine():
        yield
