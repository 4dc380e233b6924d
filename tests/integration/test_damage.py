# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the harness finds after a test that was late (harness/damage.py)."""
import os
import signal
import subprocess
from typing import Callable, Iterator

import pytest

from conftest import checked
from harness import stacks
from harness.damage import look
from harness.httpd import Httpd
from harness.segment import RECORDS, Segment
from harness.wait import wait_until
import second_look

# prefork does not crash at a stop.
pytestmark = pytest.mark.mpms("event")


@pytest.fixture
def late(mpm: str) -> Iterator[Httpd]:
    """An httpd with an app that serves. Nothing else looks at it."""
    server = Httpd(mpm)
    try:
        server.app("shop")
        server.start()
        assert server.get("/pid", "shop").status == 200
        yield server
    finally:
        server.destroy()


def log_line(httpd: Httpd) -> None:
    with httpd.log.path.open("a") as log:
        log.write("[Sat Nov 28 17:45:26.085793 2026] [apppool:error] [pid 1] "
                  "apppool: shop[1] is odd\n")


def crash(httpd: Httpd) -> None:
    """Of a helper. procs.send() would say that the test did it."""
    pid = httpd.helper("spawner")
    os.kill(pid, signal.SIGSEGV)
    httpd.log.wait_for(rf"spawner {pid} .*SIGSEGV")
    wait_until(lambda: httpd.ctl("check").returncode == 0, "the next one works")


def crash_of_a_child(httpd: Httpd) -> None:
    os.kill(httpd.children()[0], signal.SIGSEGV)
    httpd.log.wait_for("AH0005[12]: .*Segmentation fault")


def death(httpd: Httpd) -> None:
    os.kill(httpd.pid, signal.SIGABRT)
    wait_until(lambda: httpd.process and httpd.process.poll(), "it has ended")


def sanitizer(httpd: Httpd) -> None:
    with httpd.output.open("a") as output:
        output.write("==9==ERROR: AddressSanitizer: heap-use-after-free\n")


def leftover(httpd: Httpd) -> None:
    os.mkfifo(httpd.dir / "left")


def segment(httpd: Httpd) -> None:
    """The number of the requests of a child is wrong."""
    with Segment(httpd) as memory:
        size = RECORDS["children"][0]
        at = memory.tables["children"] + size
        memory.write_word(at + 24, 3)


def silent(httpd: Httpd) -> None:
    """Nothing responds to `check`."""
    (httpd.runtime / "control.sock").unlink()


DAMAGE = {log_line: "not expected in the log: .* is odd",
          crash: "not expected in the log: .*SIGSEGV",
          crash_of_a_child: "not expected in the log: .*AH0005",
          death: "httpd ended by signal 6|not expected in the log",
          sanitizer: "reported by a sanitizer: .*heap-use",
          leftover: "left after the stop: .*socket or FIFO",
          segment: "I26 does not hold: child 1: 3 sessions",
          silent: "no httpd with mod_apppool runs"}


def test_none(late: Httpd) -> None:
    look(late, passed=False, missed=True)


@pytest.mark.parametrize("do", DAMAGE)
def test_damage(late: Httpd, do: Callable[[Httpd], None]) -> None:
    do(late)
    with pytest.raises(AssertionError, match=DAMAGE[do]):
        look(late, passed=False, missed=True)


def test_late_stop(late: Httpd, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a test that has passed, it is the first limit that was missed."""
    def never(process: object, bound: float) -> None:
        raise subprocess.TimeoutExpired("httpd", bound)

    monkeypatch.setattr(stacks, "wait_for_end", never)
    segment(late)
    os.kill(late.pid, signal.SIGSTOP)  # its helpers still respond
    with pytest.raises(AssertionError, match=DAMAGE[segment]):
        look(late, passed=True, missed=False)


def test_damage_is_noted(mpm: str, request: pytest.FixtureRequest) -> None:
    """pytest may hide it behind a limit that another fixture has missed."""
    item = request.node
    second_look.course(item).missed = True
    with pytest.raises(AssertionError, match=DAMAGE[sanitizer]):
        with checked(mpm, request) as server:
            server.start()
            sanitizer(server)
    noted = second_look.course(item).otherwise
    del item.stash[second_look.COURSE]
    assert noted.startswith("teardown: AssertionError: reported by a sanitizer")


def test_exit_status(late: Httpd) -> None:
    late.stop()
    late.wrapper = ["sh", "-c", "trap 'kill $!' TERM; \"$@\" & wait; wait; "
                    "exit 3", "sh"]
    late.start()
    with pytest.raises(AssertionError, match="httpd ended with 3"):
        look(late, passed=False, missed=True)


@pytest.mark.parametrize("do", [log_line, leftover])
def test_after_other_failures(late: Httpd,
                              do: Callable[[Httpd], None]) -> None:
    """Then it would only hide what has failed."""
    do(late)
    look(late, passed=False, missed=False)


@pytest.mark.parametrize("do", [crash, sanitizer])
def test_reasons(late: Httpd, do: Callable[[Httpd], None]) -> None:
    """These may be why it has failed."""
    do(late)
    with pytest.raises(AssertionError, match="crashed: .*SIGSEGV|"
                                             "sanitizer: .*heap-use"):
        look(late, passed=False, missed=False)
