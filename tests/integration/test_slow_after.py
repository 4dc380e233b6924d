# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppSlowAfter: a request that lasts is reported once, with what its process
is doing. A line says for each reason why it does not continue."""
import os
import re
import signal

import pytest

from harness.client import Pending
from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, command, freeze, kill9, read, waits
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner looks at the process")

SLOW = r"is slow: "


def start(httpd: Httpd, *directives: str) -> App:
    """No request is slow before limit() sets the time."""
    httpd.log.expect(SLOW, r"died: signal 9", "AH01102|AH01110|AH00898",
                     "gave no response")
    app = httpd.app("shop", "AppSlowAfter 1h", *directives)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    return app


def limit(httpd: Httpd, app: App, time: str = "500ms") -> None:
    """From now on, also for open requests."""
    app.directives[0] = f"AppSlowAfter {time}"
    httpd.graceful()


def asleep(pid: int) -> int:
    """The number of threads that sleep, each by itself: a thread that waits
    for a lock waits for another one."""
    places = waits(pid)
    if len(places) > 1:
        places = [place for place in places if "futex" not in place]
    return sum(place not in ("", "0") for place in places)


def get_stuck(httpd: Httpd, pid: int, path: str, sleepers: int = 1
              ) -> Pending:
    """A request that has reached the point where it stays."""
    pending = httpd.get_async(path, "shop", timeout=100)
    seen = f"{pid} GET {path}"
    wait_until(lambda: any(seen in line for line in httpd.requests_seen())
               and asleep(pid) == sleepers, "it is stuck")
    return pending


def report(httpd: Httpd, pid: int) -> list[str]:
    """The lines of its first report, with the command last."""
    wait_until(lambda: httpd.log.matching(
        rf"shop\[{pid}\] report: command"), "the report is written")
    return httpd.log.matching(rf"shop\[{pid}\] report: ")


def stuck(httpd: Httpd, app: App, path: str) -> tuple[int, str]:
    """A process with a request that does not end, and the line about it."""
    pid = httpd.pids(app)[0]
    pending = get_stuck(httpd, pid, path, path != "/loop")
    limit(httpd, app)
    lines = report(httpd, pid)
    request, = httpd.log.wait_for(rf"shop\[{pid}\] {SLOW}")
    assert re.search(rf"GET {path} has lasted [0-9.]+ s, client 127.0.0.1", request)
    kill9(pid)
    pending.result()
    line, = [line for line in lines if f"process {pid} (" in line]
    return pid, line


@pytest.mark.parametrize("path,says", [
    ("/loop", r"runs \(state R; CPU \d+% now"),
    ("/nap", r"sleeps in (clock_nanosleep|pselect6|select) "
             r"\(state S; CPU 0% now"),
    ("/lock", r"waits for a lock \(futex\) \(state S; CPU 0% now"),
    ("/read", r"sleeps in read \(state S; CPU 0% now"),
])
def test_reason_of_each_thread(httpd: Httpd, path: str, says: str) -> None:
    app = start(httpd)
    pid, line = stuck(httpd, app, path)
    assert re.search(rf"process {pid} \(sample\) {says}", line), line
    if path != "/loop":
        assert re.search(r"; syscall \d+ 0x[0-9a-f]+ ", line), line
        assert re.search(r"; wchan [a-z]\w+", line), line
        assert re.search(r"; kernel stack \w+\+0x\w+/0x\w+( \[\w+\])? < ",
                         line), line


@pytest.mark.mpms("event")
def test_cpu_time_of_a_process_that_runs(httpd: Httpd) -> None:
    """A process that runs uses CPU time. How much depends on the other
    programs of the machine."""
    app = start(httpd)

    def used() -> bool:
        limit(httpd, app, "1h")
        assert httpd.get("/pid", "shop").status == 200
        _, line = stuck(httpd, app, "/loop")
        return "CPU 0% now" not in line

    wait_until(used, "a loop uses CPU time", 100)


def test_stopped(httpd: Httpd) -> None:
    """By SIGSTOP, during a request."""
    app = start(httpd)
    held = httpd.hold("shop", "a")
    freeze(held.pid)
    limit(httpd, app)
    line, = [line for line in report(httpd, held.pid)
             if f"process {held.pid} (" in line]
    assert "(sample) is stopped (state T; CPU 0% now" in line
    assert httpd.pids(app) == [held.pid]
    os.kill(held.pid, signal.SIGCONT)
    assert held.release().status == 200


def test_first_and_last_line_of_the_report(httpd: Httpd) -> None:
    """The first and the last line of a report."""
    app = start(httpd)
    pid = httpd.pids(app)[0]
    pending = get_stuck(httpd, pid, "/nap")
    limit(httpd, app)
    first, *_, last = report(httpd, pid)
    assert re.search(r"report: 1 process, 1 thread, [1-9]\d*\.\d MB, CPU "
                     r"\d+\.\d\d s in all and 0% now, \d+ s old$", first)
    assert f"report: command {app.command}" in last
    kill9(pid)
    pending.result()


def test_threads(httpd: Httpd) -> None:
    """Threads that do something come before those that sleep, and only some
    are shown."""
    app = start(httpd)
    pid = httpd.pids(app)[0]
    pending = get_stuck(httpd, pid, "/threads", 20)
    limit(httpd, app)
    lines = report(httpd, pid)
    assert "1 process, 21 threads" in lines[0]
    assert f"process {pid} (sample) runs" in lines[1]
    assert [bool(re.search(r"thread \d+ \(sample\) sleeps in", line))
            for line in lines[2:9]] == [True] * 7
    assert "and 13 threads more" in lines[9]
    kill9(pid)
    pending.result()


def test_worker(httpd: Httpd) -> None:
    """A process that the app has started may be the one that hangs."""
    app = start(httpd)
    pid = httpd.pids(app)[0]
    pending = get_stuck(httpd, pid, "/worker")
    limit(httpd, app)
    lines = report(httpd, pid)
    assert "2 processes, 2 threads" in lines[0]
    assert f"process {pid} (sample) sleeps in wait4" in lines[1]
    assert re.search(r"process \d+ \(sample\) runs \(state R", lines[2])
    assert f"process {pid} " not in lines[2]
    kill9(pid)
    pending.result()


def test_once(httpd: Httpd) -> None:
    """Each slow request is reported once, and no fast one."""
    limit(httpd, start(httpd))
    first = httpd.hold("shop", "a")
    wait_until(lambda: httpd.log.matching(SLOW), "it is slow")
    second = httpd.hold("shop", "b")
    wait_until(lambda: len(httpd.log.matching(SLOW)) == 2, "so is this")
    wait_for_scans(httpd, 3)
    assert first.release().status == second.release().status == 200
    assert len(httpd.log.wait_for(SLOW, 2)) == 2
    # A report that took more than two seconds has no end.
    assert len(httpd.log.wait_for("report: (command|it took too long)", 2)) == 2
    assert httpd.get("/pid", "shop").status == 200


def wait_for_scans(httpd: Httpd, n: int) -> None:
    """The spawner has checked at least n times."""
    spawner = httpd.helper("spawner")

    def turns() -> int:
        with open(f"/proc/{spawner}/status") as file:
            return int(re.findall(r"^voluntary_ctxt_switches:\t(\d+)",
                                  file.read(), re.M)[0])

    before = turns()
    wait_until(lambda: turns() >= before + 2 * n, "it looks", 60)


def test_off(httpd: Httpd) -> None:
    """The default."""
    app = httpd.app("shop")
    httpd.app("other", "AppSlowAfter 500ms")
    httpd.log.expect(SLOW)
    httpd.start()
    held = httpd.hold("shop", "a")
    slow = httpd.hold("other", "b")
    wait_until(lambda: httpd.log.matching(rf"other\[{slow.pid}\] {SLOW}"),
               "the other app's request is slow")
    wait_for_scans(httpd, 2)
    assert held.release().status == slow.release().status == 200
    assert not httpd.log.matching(r"shop\[\d+\] is slow")
    assert httpd.pids(app) == [held.pid]


def test_shared_process(httpd: Httpd) -> None:
    """Many requests of one process: a line for each, and one report."""
    app = start(httpd, "AppConcurrency 10", "AppSetEnv APP_THREADS 1",
                "MaxInstances 1")
    held = [httpd.hold("shop", str(n)) for n in range(5)]
    limit(httpd, app)
    wait_until(lambda: len(httpd.log.matching(SLOW)) == 5, "all are slow")
    assert len(report(httpd, held[0].pid)) > 3
    assert len(httpd.log.wait_for("report: command")) == 1
    assert [one.release().status for one in held] == [200] * 5


def test_spawner_dies(httpd: Httpd) -> None:
    """During a report. The next spawner also writes a report."""
    app = start(httpd)
    httpd.log.expect(r"spawner \d+ ended")
    held = httpd.hold("shop", "a")
    limit(httpd, app)
    wait_until(lambda: httpd.log.matching(SLOW), "it is slow")
    kill9(httpd.helper("spawner"))
    wait_until(lambda: len(httpd.log.matching(SLOW)) == 2, "once more")
    assert held.release().status == 200
    assert httpd.pids(app) == [held.pid]
    httpd.check()


@pytest.mark.mpms("event")
def test_report_hangs(httpd: Httpd) -> None:
    """A child that reads /proc can be made to wait. Nothing waits for that
    child."""
    app = start(httpd)
    limit(httpd, app)
    httpd.log.expect("it took too long")
    spawner = httpd.helper("spawner")

    def stop_reader() -> int:
        """If it exists, which it does for a quarter of a second."""
        for pid in map(int, read(spawner, f"task/{spawner}/children").split()):
            if "apppool-spawner" in command(pid):
                os.kill(pid, signal.SIGSTOP)
                return pid
        return 0

    reader, n = 0, 0
    while not reader:  # until one is stopped
        held = httpd.hold("shop", f"a{n}")
        n += 1
        reader = wait_until(
            lambda: stop_reader() or
            (-1 if len(httpd.log.matching("report: command")) == n else 0),
            "the report")
        # for a while there is no other report about this process
        if reader < 0:
            assert held.release().status == 200
            kill9(held.pid)
            reader = 0
    other = httpd.hold("shop", "b")
    assert sorted(httpd.pids(app)) == sorted([held.pid, other.pid])
    wait_until(lambda: httpd.log.matching(
        rf"shop\[{held.pid}\] report: it took too long"), "it is given up")
    wait_until(lambda: not alive(reader), "it is killed")
    assert held.release().status == other.release().status == 200


@pytest.mark.mpms("event")
def test_hostile_text(httpd: Httpd) -> None:
    """Control characters of a URL are escaped, and long URLs are cut."""
    app = start(httpd)
    limit(httpd, app)
    key = "%1b%5b31m%0a%0d%09" + "%ff" * 4 + "x" * 200
    held = httpd.hold("shop", "a", path=f"/{key}/hold")
    line = wait_until(lambda: httpd.log.matching(SLOW), "it is slow")[0]
    assert re.search(r"GET /\\x1b\[31m\\x0a\\x0d\t.{4}x{90,110} has lasted",
                     line), line
    assert len(line) < 400
    assert len(httpd.log.wait_for(SLOW)) == 1
    assert held.release().status == 200
    assert httpd.pids(app)


@pytest.mark.mpms("event")
@pytest.mark.parametrize("value", ["soon", "-1", "86401"])
def test_bad_value(httpd: Httpd, value: str) -> None:
    httpd.app("shop", f"AppSlowAfter {value}")
    done = httpd.test()
    assert done.returncode != 0
    assert f'AppSlowAfter: "{value}" is not a time' in done.stdout
    assert "0 means never" in done.stdout


@pytest.mark.mpms("prefork", "event")
def test_reload(httpd: Httpd) -> None:
    """A new limit also applies to open requests."""
    app = start(httpd)
    held = httpd.hold("shop", "a")
    wait_for_scans(httpd, 2)
    assert not httpd.log.matching(SLOW)
    limit(httpd, app, "100ms")
    wait_until(lambda: httpd.log.matching(SLOW), "it is slow")
    assert held.release().status == 200
