# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The check of the error log finds lines that a test did not expect."""
from datetime import datetime
from pathlib import Path

import pytest

from harness import errorlog, procs
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


@pytest.mark.parametrize("late", [True, False])
def test_slow(log: ErrorLog, monkeypatch: pytest.MonkeyPatch,
              late: bool) -> None:
    """An app needs a second for its end, if the machine is late"""
    asked = []
    monkeypatch.setattr(errorlog, "machine_was_late",
                        lambda *when: asked.append(when) or late)
    lines = write(log, (WHEN, "[apppool:warn] [pid 2] apppool: shop[12] did not "
                        "end in time: SIGKILL"))
    assert log.unexpected() == ([] if late else lines)
    assert asked == [(WHEN, errorlog.PATIENCE)]
