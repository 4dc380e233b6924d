# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What is known of a process before it is killed: the report, and what it
prints on AppDumpSignal. Nobody waits for either."""
import re
import time

import pytest

from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import alive, freeze, kill9
from harness.wait import wait_until

KILL = ("AppHungAfter 300ms", "AppKillAfter 600ms", "AppDyingLimit 1s")


def start(httpd: Httpd, *directives: str, program: str = "stuck.py") -> App:
    httpd.log.expect("is hung and is killed", "did not end in time: SIGKILL",
                     "AH01102|AH01110|AH01114|AH00898", "gave no answer",
                     "died: signal")
    app = httpd.app("shop", *KILL, *directives, program=program)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    return app


def place_of(httpd: Httpd, pid: int, *patterns: str) -> list[int]:
    """Where in the log the first line is that matches, of each."""
    lines = httpd.log.lines()
    return [next((n for n, line in enumerate(lines)
                  if f"shop[{pid}] " in line and re.search(pattern, line)),
                 -1) for pattern in patterns]


def test_what_it_prints(httpd: Httpd) -> None:
    """Report, signal, the app's own words, TERM: in this order"""
    app = start(httpd, "AppDumpSignal USR2")
    pid = httpd.pids(app)[0]
    assert httpd.get("/nap", "shop").status == 504
    wait_until(lambda: not alive(pid), "it ends", 10)
    places = place_of(
        httpd, pid, "is hung and is killed: GET /nap has lasted",
        rf"report: process {pid} \(python3\) sleeps in \w+",
        "report: command", r"is sent signal 12 \(SIGUSR2\) \(AppDumpSignal\)",
        r'File ".*/stuck.py", line \d+ in do_nap', "is stopped: ")
    assert -1 not in places and places == sorted(places), places


def test_none(httpd: Httpd) -> None:
    """The default: a report, and TERM right after it"""
    app = start(httpd, "AppDumpSignal none")
    pid = httpd.pids(app)[0]
    assert httpd.get("/nap", "shop").status == 504
    wait_until(lambda: not alive(pid), "it ends", 10)
    places = place_of(httpd, pid, "is hung and", "report: command",
                      "is stopped: ")
    assert -1 not in places and places == sorted(places), places
    assert not httpd.log.matching("AppDumpSignal\\)|do_nap")


def test_nobody_waits(httpd: Httpd) -> None:
    """The next process serves while the old one yet prints"""
    app = start(httpd, "AppDumpSignal USR2", "MaxInstances 1")
    pid = httpd.pids(app)[0]
    pending = httpd.get_async("/nap", "shop")
    wait_until(lambda: httpd.log.matching("AppDumpSignal\\)"), "it is killed",
               10)
    assert int(httpd.get("/pid", "shop").text) != pid
    assert not httpd.log.matching(rf"shop\[{pid}\] is stopped")
    assert alive(pid)
    assert pending.result().status == 504
    wait_until(lambda: not alive(pid), "it ends", 10)


def test_no_handler(httpd: Httpd) -> None:
    """A signal that it does not expect ends it a second earlier"""
    app = start(httpd, "AppDumpSignal SIGUSR1", program="app.py")
    held = httpd.hold("shop", "a")
    assert held.pending.result().status == 504
    wait_until(lambda: httpd.log.matching(
        rf"shop\[{held.pid}\] ended: signal 10"), "it ends", 10)
    assert httpd.get("/pid", "shop").status == 200
    assert held.pid not in httpd.pids(app)


def test_stopped(httpd: Httpd) -> None:
    """It does not even hear the signals"""
    start(httpd, "AppDumpSignal 12")
    held = httpd.hold("shop", "a")
    freeze(held.pid)
    assert held.pending.result().status == 504
    wait_until(lambda: not alive(held.pid), "it ends", 10)
    places = place_of(httpd, held.pid, "is hung and", "is stopped [(]state",
                      "AppDumpSignal[)]", "is stopped: ", "SIGKILL")
    assert -1 not in places and places == sorted(places), places


@pytest.mark.mpms("event")
def test_many(httpd: Httpd) -> None:
    """All are killed in time, whether there is a report of each or not"""
    httpd.directives.append("MaxPoolSize 40")
    httpd.log.expect("report: too many are being written")
    app = start(httpd, "AppDumpSignal USR2", "AppHungExtra 0")
    begun = time.monotonic()
    pending = [httpd.get_async("/nap", "shop", 60) for _ in range(24)]
    assert {one.result().status for one in pending} == {504}
    assert time.monotonic() - begun < 45
    wait_until(lambda: len(httpd.log.matching("is stopped: ")) >= 24,
               "all are stopped", 20)
    assert len(httpd.log.matching("AppDumpSignal\\)")) == 24
    wait_until(lambda: httpd.pids(app, "leaving", "dying", "busy") == [],
               "all are gone", 20)


@pytest.mark.mpms("event")
def test_event_stream(httpd: Httpd) -> None:
    """Is meant to last: neither slow nor hung"""
    httpd.log.expect("is slow: GET", *KILLED)
    app = httpd.app("shop", *KILL, "AppSlowLog 300ms", program="stuck.py")
    httpd.app("other", "AppSlowLog 300ms", program="stuck.py")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    stream = httpd.get_async("/stream", "shop")
    wait_until(lambda: httpd.group(app)["requests"], "it is open")
    for n in range(2):
        held = httpd.hold("other", str(n))
        wait_until(lambda: len(httpd.log.matching("other.*is slow")) == n + 1,
                   "others are slow", 20)
        held.release()
    assert not httpd.log.matching(r"shop\[\d+\] is (slow|killed)")
    kill9(pid)
    stream.result()


@pytest.mark.mpms("event")
@pytest.mark.parametrize("value", [
    "USR3", "KILL", "SIGSTOP", "9", "0", "-1", "32", "65", "12x", "SIG",
    "99999999999999999999"])
def test_bad_value(httpd: Httpd, value: str) -> None:
    httpd.app("shop", f"AppDumpSignal {value}")
    done = httpd.test()
    assert done.returncode != 0
    assert f'AppDumpSignal: "{value}" is no signal' in done.stdout


@pytest.mark.mpms("event")
@pytest.mark.parametrize("value", ["usr2", "SIGQUIT", "3", "64", "None"])
def test_good_value(httpd: Httpd, value: str) -> None:
    httpd.app("shop", f"AppDumpSignal {value}")
    assert httpd.test().returncode == 0
