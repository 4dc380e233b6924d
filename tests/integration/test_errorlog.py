# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The check of the error log finds lines that a test did not expect."""
from datetime import datetime
from pathlib import Path
from typing import Callable

import pytest

from harness import late, procs
from harness.errorlog import ErrorLog

PID = 2 ** 22 + 1  # the kernel gives no such number
WHEN = 1e9
BROKE = "[proxy:error] [pid 1:tid 1] (2)No such file: AH02454: FCGI: attempt " \
    "to connect to Unix domain socket apppool-1 failed"
DIED = f"[apppool:warn] [pid 2:tid 2] apppool: blog[{PID}] died: signal 9 " \
    "(SIGKILL)"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ErrorLog:
    monkeypatch.setattr(procs, "SENT", {})
    return ErrorLog(tmp_path / "error.log")


def write(log: ErrorLog, *lines: tuple[float, str]) -> list[str]:
    """@return the lines as they are in the log"""
    written = [f"[{datetime.fromtimestamp(when):%a %b %d %H:%M:%S.%f %Y}] {line}"
               for when, line in lines]
    log.path.write_text("".join(line + "\n" for line in written))
    return written


def test_a_request_gets_a_process_that_the_test_has_killed(log: ErrorLog
                                                           ) -> None:
    procs.SENT[(PID, 9)] = WHEN
    write(log, (WHEN + 0.001, BROKE), (WHEN + 0.1, DIED))
    assert log.unexpected() == []


def test_nobody_has_killed_it(log: ErrorLog) -> None:
    lines = write(log, (WHEN + 0.001, BROKE), (WHEN + 0.1, DIED))
    assert log.unexpected() == lines


def test_another_was_killed(log: ErrorLog) -> None:
    """A helper, for example"""
    procs.SENT[(PID + 1, 9)] = WHEN
    lines = write(log, (WHEN + 0.001, BROKE))
    assert log.unexpected() == lines


def test_it_broke_before(log: ErrorLog) -> None:
    procs.SENT[(PID, 9)] = WHEN
    lines = write(log, (WHEN - 0.001, BROKE), (WHEN + 0.1, DIED))
    assert log.unexpected() == lines[:1]


EBADF = "[mpm_event:error] [pid 3:tid 4] (9)Bad file descriptor: "
NO_SOCKET = EBADF + "AH10503: process_socket: apr_pollset_add failure in " \
    "CONN_STATE_ASYNC_WAITIO"
CRASHED = "[core:notice] [pid 1:tid 1] AH00051: child pid 3 exit signal " \
    "Segmentation fault (11), possible coredump in /tmp"
STOPPED = "[mpm_event:notice] [pid 1:tid 1] AH00491: caught SIGTERM, " \
    "shutting down"
RESTARTS = "[mpm_event:notice] [pid 1:tid 1] AH00494: SIGHUP received.  " \
    "Attempting to restart"
SERVES = "[mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.71 " \
    "configured -- resuming normal operations"


@pytest.mark.parametrize("line", [
    NO_SOCKET, EBADF + "AH00468: error closing socket",
    EBADF + "AH03092: process_lingering_close: apr_pollset_add failure",
    CRASHED])
@pytest.mark.parametrize("signals,expected", [
    ([], False), ([-1], True), ([0.5], False), ([-9, -1], True),
    ([-9], False), ([-3], False)])
def test_at_a_stop(log: ErrorLog, line: str, signals: list[float],
                   expected: bool) -> None:
    """event itself says so while it is stopped, and at no other time."""
    log.stops = [WHEN + when for when in signals]
    lines = write(log, (WHEN - 8, STOPPED), (WHEN - 2, SERVES), (WHEN, line),
                  (WHEN + 1, STOPPED))
    assert log.unexpected() == ([] if expected else lines[2:3])


@pytest.mark.parametrize("signals,expected", [([-2], False),
                                              ([-2, 2], True)])
def test_at_a_restart(log: ErrorLog, signals: list[float],
                      expected: bool) -> None:
    """event says so before it stops its children. There is at most one crash
    for each stop."""
    log.stops = [WHEN + when for when in signals]
    lines = write(log, (WHEN - 1, RESTARTS), (WHEN, CRASHED), (WHEN, CRASHED),
                  (WHEN + 1, SERVES), (WHEN + 3, STOPPED))
    assert log.unexpected() == ([] if expected else lines[1:3])


def test_another_error_at_a_stop(log: ErrorLog) -> None:
    log.stops = [WHEN - 1]
    lines = write(log, (WHEN, NO_SOCKET.replace("(9)", "(22)")),
                  (WHEN + 1, STOPPED))
    assert log.unexpected() == lines[:1]


# Seconds before WHEN, of which the machine was late for the first number, and
# some thread waited for a CPU in the second.
Second = tuple[float, float]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    heart = late.Heart.__new__(late.Heart)  # it does not beat
    heart.beats = []
    monkeypatch.setattr(late, "HEART", heart)

    def was(*seconds: Second) -> None:
        heart.beats = [(WHEN - len(seconds), 0.0, 0.0)]
        for one in seconds:
            heart.beats.append(tuple(  # type: ignore[arg-type]
                a + b for a, b in zip(heart.beats[-1], (1.0, *one))))

    return was


HUNG = "[core:error] AH00046: child process 12 still did not exit, sending a " \
    "SIGKILL"
KILLED = "[core:notice] AH00052: child pid 12 exit signal Killed (9)"
TERM = "[core:warn] AH00045: child process 12 still did not exit, sending a " \
    "SIGTERM"
NO_TERM = "[apppool:warn] [pid 2] apppool: shop[12] did not end in time: SIGKILL"
LEFT = "[apppool:warn] [pid 2] apppool: shop[12] left processes behind: SIGKILL"
REPORT = "[apppool:warn] [pid 2] apppool: shop[12] report: it took too long " \
    "and was stopped"

IDLE, BUSY, STILL = (0.0, 0.0), (0.0, 1.0), (1.0, 1.0)


@pytest.mark.parametrize("line", [TERM, REPORT])
@pytest.mark.parametrize("seconds,expected", [
    ([STILL, IDLE, IDLE], True),
    ([(0.4, 0.0), (0.0, 0.0), (0.7, 0.0)], True),
    ([(0.3, 0.7), (0.3, 0.7), (0.3, 0.7)], False),
    ([BUSY, BUSY, (0.0, 0.5)], True),
    ([BUSY, BUSY, (0.0, 0.3)], False),
    ([STILL, IDLE, IDLE, IDLE], False),
])
def test_slow(log: ErrorLog, machine: Callable[..., None], line: str,
              seconds: list[Second], expected: bool) -> None:
    """A machine explains it that was late for a second, or had work for all of
    the time. What was before that time explains nothing."""
    machine(*seconds)
    lines = write(log, (WHEN, line))
    assert log.unexpected() == ([] if expected else lines)


@pytest.mark.parametrize("line", [NO_TERM, LEFT])
@pytest.mark.parametrize("seconds,expected", [
    ([IDLE, STILL, IDLE], True),
    ([(0.4, 0.0), (0.0, 0.0), (0.7, 0.0)], True),
    ([(0.3, 1.0), (0.3, 1.0), (0.3, 1.0)], False),
    ([BUSY, BUSY, BUSY], False),
    ([STILL, IDLE, IDLE, IDLE], False),
])
def test_no_end(log: ErrorLog, machine: Callable[..., None], line: str,
                seconds: list[Second], expected: bool) -> None:
    """An app needs a second for its end only if the machine was still."""
    machine(*seconds)
    lines = write(log, (WHEN, line))
    assert log.unexpected() == ([] if expected else lines)


def test_many_do_not_end(log: ErrorLog, machine: Callable[..., None]) -> None:
    """The machine explains two such lines. A defect would log more."""
    machine(STILL, STILL, STILL)
    write(log, (WHEN, NO_TERM), (WHEN, LEFT))
    assert log.unexpected() == []
    lines = write(log, (WHEN, NO_TERM), (WHEN, LEFT), (WHEN - 1, NO_TERM))
    assert log.unexpected() == lines
    log.expect("left processes behind: SIGKILL")
    assert log.unexpected() == [], "an expected one is not counted"


def test_a_child_of_httpd_hangs(log: ErrorLog, machine: Callable[..., None]
                                ) -> None:
    """No machine explains that."""
    machine(*[STILL] * 9)
    lines = write(log, (WHEN - 1, TERM), (WHEN, HUNG), (WHEN, KILLED))
    assert log.unexpected() == lines[1:2]


def test_between_two_beats(machine: Callable[..., None]) -> None:
    """A machine that stands still has no beats in that time. Only the time
    that was asked for counts."""
    machine(IDLE, STILL, IDLE)
    assert late.HEART.between(WHEN - 1.7, WHEN - 1.2) == pytest.approx((.5, .5))
    assert late.HEART.between(WHEN - 1.2, WHEN - 0.5) == pytest.approx((.2, .2))
    assert late.HEART.between(WHEN - 0.9, WHEN) == (0, 0)
    assert late.HEART.between(WHEN - 0.5, WHEN + 2) == (2, 0), "no beat yet"
