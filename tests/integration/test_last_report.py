# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What is recorded about a process before it is killed: the report, and what
it prints on AppDumpSignal. No request waits for either."""
import re

import pytest

from harness import procs
from harness.cases import cases
from harness.client import Raw
from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.late import Late
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner writes it")

KILL = ("AppHungAfter 300ms", "AppKillAfter 600ms", "AppHungStopTimeout 1s")
# For requests that have to get somewhere, or other requests that have to be
# served, before they are killed.
LATE_KILL = ("AppHungAfter 300ms", "AppKillAfter 8s", "AppHungStopTimeout 1s")
TRIES = 5  # an app has a second to print; a loaded machine may keep it


def start(httpd: Httpd, *directives: str,
          kill: tuple[str, ...] = KILL) -> App:
    httpd.log.expect("is hung and is killed", "did not end in time: SIGKILL",
                     "AH01102|AH01110|AH01114|AH00898", "gave no response",
                     "died: signal")
    app = httpd.app("shop", *kill, "AppPreStart On", "MinInstances 1",
                    *directives)
    httpd.start()
    return app


def idle(httpd: Httpd, app: App) -> int:
    """A process that is known before it gets the request that ends it."""
    return wait_until(lambda: httpd.pids(app, "idle"), "one is idle")[0]


def place_of(httpd: Httpd, pid: int, *patterns: str) -> list[int]:
    """The position in the log of the first line that matches, for each
    pattern."""
    lines = httpd.log.lines()
    # Our lines are `shop[PID] text`, lines of the app are `shop[PID]> text`.
    own = re.compile(rf"shop\[{pid}\]>? ")
    return [next((n for n, line in enumerate(lines)
                  if own.search(line) and re.search(pattern, line)),
                 -1) for pattern in patterns]


def test_what_it_prints(httpd: Httpd) -> None:
    """Report, signal, the output of the app, TERM: in this order."""
    app = start(httpd, "AppDumpSignal USR2")
    for _ in range(TRIES):
        pid = idle(httpd, app)
        assert httpd.get("/nap", "shop").status == 504
        wait_until(lambda: not alive(pid), "it ends")
        places = place_of(
            httpd, pid, "is hung and is killed: GET /nap has lasted",
            rf"report: process {pid} \(sample\) sleeps in \w+",
            "report: command",
            r"is sent signal 12 \(SIGUSR2\) \(AppDumpSignal\)",
            "it is in /nap", "is stopped: ")
        if -1 not in places and places == sorted(places):
            return
    raise AssertionError(places)


def test_without_a_dump_signal(httpd: Httpd) -> None:
    """The default: a report, and TERM right after it."""
    app = start(httpd, "AppDumpSignal none")
    pid = idle(httpd, app)
    assert httpd.get("/nap", "shop").status == 504
    wait_until(lambda: not alive(pid), "it ends")
    httpd.log.wait_for("is stopped: ")
    places = place_of(httpd, pid, "is hung and", "report: command",
                      "is stopped: ")
    assert -1 not in places and places == sorted(places), places
    assert not httpd.log.matching("AppDumpSignal\\)|it is in ")


def test_next_process_does_not_wait_for_the_report(httpd: Httpd) -> None:
    """The next process serves while the old one still prints."""
    app = start(httpd, "AppDumpSignal USR2", "MaxInstances 1",
                kill=LATE_KILL)
    for _ in range(TRIES):
        pid = idle(httpd, app)
        pending = httpd.get_async("/nap", "shop")
        httpd.log.wait_for(rf"shop\[{pid}\] is sent .* \(AppDumpSignal\)")
        assert int(httpd.get("/pid", "shop").text) != pid
        prints = not httpd.log.matching(rf"shop\[{pid}\] is stopped")
        assert pending.result().status == 504
        wait_until(lambda: not alive(pid), "it ends")
        if prints:
            return
    raise AssertionError("the next one always came when it was stopped")


def test_no_handler(httpd: Httpd) -> None:
    """An app that does not handle the signal ends a second earlier."""
    app = start(httpd, "AppDumpSignal SIGUSR1", kill=LATE_KILL)
    held = httpd.hold("shop", "a")
    assert held.pending.result().status == 504
    httpd.log.wait_for(rf"shop\[{held.pid}\] ended: signal 10")
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "another one serves")
    assert held.pid not in httpd.pids(app)


def test_stopped(httpd: Httpd) -> None:
    """A stopped process gets no signal before it is continued."""
    app = start(httpd, "AppDumpSignal 12", kill=LATE_KILL)
    pid = idle(httpd, app)
    assert httpd.get("/stop", "shop").status == 504
    wait_until(lambda: not alive(pid), "it ends")
    httpd.log.wait_for(rf"shop\[{pid}\] ended")
    places = place_of(httpd, pid, "is hung and", "is stopped [(]state",
                      "AppDumpSignal[)]", "is stopped: ",
                      "ended: signal 15")
    assert -1 not in places and places == sorted(places), places


@pytest.mark.mpms("event")
def test_many(httpd: Httpd) -> None:
    """All are killed in time, whether there is a report of each or not."""
    httpd.directives.append("MaxPoolSize 40")
    httpd.log.expect("report: too many are being written")
    # On a slow machine the starts take longer than a request waits otherwise.
    app = start(httpd, "AppDumpSignal USR2", "AppHungExtra 0",
                "AppQueueTimeout 5min")
    with Late(*procs.marked(str(httpd.dir))) as late:
        pending = [httpd.get_async("/nap", "shop", 200) for _ in range(24)]
        assert {one.result(200).status for one in pending} == {504}
    late.within(45)
    wait_until(lambda: len(httpd.log.matching("is stopped: ")) >= 24,
               "all are stopped")
    assert len(httpd.log.wait_for("AppDumpSignal\\)", 24)) == 24
    wait_until(lambda: httpd.pids(app, "leaving", "dying", "busy") == [],
               "all are gone")


@pytest.mark.mpms("worker")
def test_event_stream(httpd: Httpd) -> None:
    """An event stream is neither slow nor hung. The limits come when it has
    begun, with a graceful restart. event would end the stream there."""
    httpd.log.expect("is slow: GET", *KILLED)
    app = httpd.app("shop", "AppPreStart On", "MinInstances 1")
    httpd.app("other", "AppSlowAfter 300ms")
    httpd.start()
    pid = idle(httpd, app)
    with Raw(httpd.port, b"GET /stream HTTP/1.1\r\nHost: shop\r\n"
             b"Connection: close\r\n\r\n") as stream:
        assert stream.head()[0] == 200
        wait_until(lambda: [one["state"] for one
                            in httpd.group(app)["requests"]]
                   == ["long_lived"], "it is an event stream")
        app.directives += [*KILL, "AppSlowAfter 300ms"]
        httpd.graceful()
        for n in range(2):
            held = httpd.hold("other", str(n))
            httpd.log.wait_for("other.*is slow: .*/hold", n + 1)
            held.release()
        assert not httpd.log.matching(
            r"shop\[\d+\] is (slow|hung and is killed)")
        kill9(pid)
        stream.rest()


@pytest.mark.mpms("event")
def test_bad_value(httpd: Httpd) -> None:
    app = httpd.app("shop")
    for value, case in cases((
            "USR3", "KILL", "SIGSTOP", "9", "0", "-1", "32", "65", "12x", "SIG",
            "99999999999999999999")):
        app.directives = [f"AppDumpSignal {value}"]
        done = httpd.test()
        with case:
            assert done.returncode != 0
            assert f'AppDumpSignal: "{value}" is not a signal' in done.stdout


@pytest.mark.mpms("event")
def test_good_value(httpd: Httpd) -> None:
    app = httpd.app("shop")
    for value, case in cases(("usr2", "SIGQUIT", "3", "64", "None")):
        app.directives = [f"AppDumpSignal {value}"]
        with case:
            assert httpd.test().returncode == 0
