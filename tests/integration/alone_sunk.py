# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Processes that wait in the kernel for a disk that does not respond. No
signal ends them, and a process that reads their memory waits as well."""
import os
import pwd
import subprocess
from contextlib import contextmanager
from typing import Callable, Iterator

import pytest

from harness import cgroups, procs, sentences
from harness.disk import Disk, why_not
from harness.httpd import Httpd
from harness.late import Late
from harness.notify import PERIOD, events, notifications, witness
from harness.places import SAMPLE
from harness.procs import alive, kill9
from harness.wait import wait_until

# They wait for limits of up to a minute. Tests of one group run one after the
# other.
pytestmark = [pytest.mark.mpms("event"), pytest.mark.xdist_group("rest"),
              pytest.mark.skipif(why_not() != "", reason=why_not())]

# The log lines about a process of an app that no signal ends.
STUCK = (sentences.UNKILLABLE, sentences.CHILDREN_STAY, sentences.NO_TERM,
         sentences.SLOW, sentences.KILLED_NO_RESPONSE, sentences.NO_RESPONSE,
         sentences.IS_UNKILLABLE, sentences.UNKILLABLES,
         sentences.TOO_MANY_UNKILLABLE,
         sentences.CHILDREN_LEFT, sentences.SURVIVE, sentences.REPORT_LATE,
         sentences.NO_BACKEND, sentences.TIMED_OUT)


@pytest.fixture
def disk(httpd: Httpd) -> Iterator[Disk]:
    with Disk(httpd.dir / "disk") as made:
        yield made


@contextmanager
def stranger(httpd: Httpd, disk: Disk) -> Iterator[int]:
    """A process of another user that has nothing to do with httpd."""
    nobody = pwd.getpwnam("nobody")
    process = subprocess.Popen(
        [SAMPLE, "sink", disk.file],
        user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd="/")
    try:
        disk.wait_for_write()
        wait_until(lambda: sunk(process.pid), "it waits in the kernel")
        yield process.pid
        assert sunk(process.pid)
    finally:
        process.kill()
        disk.release()
        process.wait(20)


def sunk(pid: int) -> bool:
    now = procs.stat(pid)
    return now is not None and now.state == "D"


@pytest.mark.parametrize("way", cgroups.WAYS)
def test_a_stranger(httpd: Httpd, disk: Disk, way: str) -> None:
    """It may belong to any user. None of these waits for it: the end of an
    app's process, the next start, the next spawner, the stop of httpd."""
    httpd.wrapper = cgroups.wrapper(way)
    httpd.log.expect("was left over", *STUCK)
    app = httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    with stranger(httpd, disk) as sink:
        for _ in range(2):
            left = int(httpd.get("/daemon?kind=session", "shop").text)
            procs.send(pid, 9)
            wait_until(lambda: httpd.get("/pid", "shop").status == 200,
                       "another one serves")
            wait_until(lambda: not alive(left), "what it has left is ended")
            old, pid = pid, int(httpd.get("/pid", "shop").text)
            assert pid != old
            wait_until(lambda: httpd.pids(app, "idle", "busy", "leaving")
                       == [pid], "nothing of it is known any more")
        spawner = httpd.spawner_now()
        kill9(spawner)
        wait_until(lambda: httpd.spawner_now() not in (0, spawner),
                   "the next spawner")
        wait_until(lambda: httpd.log.matching(rf"shop\[{pid}\] is adopted"),
                   "it takes over")
        left = int(httpd.get("/daemon?kind=session", "shop").text)
        procs.send(pid, 9)
        wait_until(lambda: httpd.get("/pid", "shop").status == 200,
                   "another one serves")
        wait_until(lambda: not alive(left), "what it has left is ended")
        left = int(httpd.get("/daemon?kind=session", "shop").text)
        httpd.stop()
        assert not alive(left)
    named = httpd.log.matching(rf"environment of process {sink}\b.*cannot be")
    assert named or way == "cgroup", "it is said whose mark is not known"


@pytest.mark.skipif(not cgroups.usable(),
                    reason="no cgroup v2 may be written to")
def test_what_is_left_survives(httpd: Httpd, disk: Disk) -> None:
    """When SIGKILL had no effect for a while, the process is forgotten. Its
    cgroup is removed together with it."""
    httpd.log.expect(*STUCK)
    app = httpd.app("shop", "AppStopTimeout 1", f"AppSetEnv SINK {disk.file}")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    left = int(httpd.get("/sinking", "shop").text)
    disk.wait_for_write()
    name, = cgroups.names(httpd.runtime)
    procs.send(pid, 9)
    wait_until(lambda: httpd.log.matching(
        rf"shop\[{pid}\] left processes that survive SIGKILL"),
        "it is given up", 40)
    assert sunk(left)
    assert httpd.get("/pid", "shop").status == 200
    assert name in cgroups.names(httpd.runtime)
    disk.release()
    wait_until(lambda: name not in cgroups.names(httpd.runtime),
               "its cgroup is removed")
    assert not alive(left)
    assert cgroups.names(httpd.runtime) == {
        one["id"] for one in httpd.group(app)["processes"]}


def test_app_log(httpd: Httpd, disk: Disk) -> None:
    """AppLog is on that disk. Its app serves and prints, processes of other
    apps start, also under the next spawner, and httpd stops."""
    httpd.log.expect("was left over", "lines dropped", *STUCK)
    httpd.app("shop", f"AppLog {disk.file}", "AppStopTimeout 1")
    httpd.app("blog", "AppStopTimeout 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    for _ in range(2):
        assert httpd.get("/print?text=hello", "shop").status == 200
        disk.wait_for_write()
        blog = int(httpd.get("/pid", "blog").text)
        procs.send(blog, 9)
        wait_until(lambda: httpd.get("/pid", "blog").text
                   not in ("", str(blog)), "another one is started")
        assert httpd.get("/pid", "shop").text == str(pid)
        spawner = httpd.spawner_now()
        kill9(spawner)
        wait_until(lambda: httpd.spawner_now() not in (0, spawner),
                   "the next spawner")
        httpd.log.wait_for(rf"shop\[{pid}\] is adopted")
    for _ in range(300):
        httpd.get(f"/print?text={'x' * 7000}", "shop")
    httpd.log.wait_for("is not written fast enough: .* lines dropped")
    httpd.stop(20)
    assert not alive(pid)
    disk.release()
    wait_until(lambda: not httpd.remains(), "what waited for it has ended")


def test_client_of_an_unkillable_process(httpd: Httpd, disk: Disk) -> None:
    """Only AppTimeout ends its connection."""
    httpd.log.expect(*STUCK)
    httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
              "AppHungStopTimeout 1", "AppTimeout 10",
              f"AppSetEnv SINK {disk.file}")
    httpd.start()
    bad = httpd.get_async("/sink", "shop", 60)
    disk.wait_for_write()
    assert bad.result(40).status == 504
    wait_until(lambda: httpd.events("unkillable"), "it is unkillable")
    assert httpd.get("/pid", "shop").status == 200
    httpd.check()


@pytest.mark.xdist_group("unkillable")
def test_unkillable(httpd: Httpd, disk: Disk) -> None:
    """P18: a process of an app survives SIGKILL. It is shown and reported. If
    this is one more than AppMaxUnkillable, no process of the app is started
    until it is gone."""
    httpd.log.expect(*STUCK)
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 1", "AppMaxUnkillable 0",
                    "AppTimeout 20", f"AppSetEnv SINK {disk.file}", witness(httpd))
    httpd.app("blog")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    bad = httpd.get_async("/sink", "shop", 60)
    disk.wait_for_write()
    wait_until(lambda: httpd.pids(app, "unkillable") == [pid], "it is so",
               30)
    assert sunk(pid)
    wait_until(lambda: httpd.group(app)["state"] == "unkillable", "it says so")
    httpd.log.wait_for(rf"shop\[{pid}\] is unkillable")
    assert [one["pid"] for one in httpd.events("unkillable")] == [pid]
    notes = [*notifications(httpd)]
    if "unkillable" not in events(notes[0]):  # the kill was reported at once
        notes = notifications(httpd, 2, 3 * PERIOD)
    unkillable, = [one for note in notes for one in
                [*note["object"]["earlier"], note["object"]]
                if one["event"] == "unkillable"]
    assert unkillable["pid"] == pid
    assert unkillable["text"] == ("1 of its processes survive SIGKILL: none is "
                               "started until there are fewer")
    starts = httpd.log.matching(r"shop\[\d+\] starts as")
    response = httpd.get("/pid", "shop")
    assert response.status == 503 and int(response.headers["Retry-After"]) >= 1
    assert httpd.get("/pid", "blog").status == 200
    assert httpd.log.matching(r"shop\[\d+\] starts as") == starts
    disk.release()
    wait_until(lambda: httpd.pids(app, "unkillable") == [], "it is gone")
    assert not alive(pid)
    assert bad.result().status == 504
    assert httpd.get("/pid", "shop").status == 200
    httpd.check()


@contextmanager
def silent(httpd: Httpd, helper: int) -> Iterator[None]:
    """It writes no line meanwhile: about a process of another test, for
    example. It holds no lock either."""
    if sunk(helper):
        yield
        return
    with procs.frozen(helper):
        wait_until(lambda: not procs.copies(helper), "its child has ended")
        httpd.status()
        yield


def sink_helper(httpd: Httpd, disk: Disk, pid: Callable[[], int],
                other: int, cause: Callable[[], None]) -> int:
    """The log of our helpers is on the disk. Wait until the helper waits for
    the disk, which writes a line because of `cause`. The other helper writes
    none. @return its pid"""
    link = httpd.runtime / "errorlog"
    beside = httpd.runtime / "beside"

    def lead_to(place: str) -> None:
        beside.symlink_to(place)
        beside.rename(link)

    real = os.readlink(link)
    with silent(httpd, other):
        lead_to(str(disk.file))
        cause()
        wait_until(lambda: disk.held and all(sunk(pid()) for _ in range(20)),
                   "it waits in the kernel")
        lead_to(real)
    return pid()


def sink_spawner(httpd: Httpd, disk: Disk) -> int:
    app = int(httpd.get("/pid", "shop").text)
    return sink_helper(httpd, disk, httpd.spawner_now, httpd.watchdog_now(),
                       lambda: procs.send(app, 9))


def sink_watchdog(httpd: Httpd, disk: Disk) -> int:
    """The next watchdog, which logs that it joins the spawner."""
    old = httpd.watchdog_now()
    return sink_helper(httpd, disk, httpd.watchdog_now, httpd.spawner_now(),
                       lambda: kill9(old))


HANG = (r"(spawner|watchdog) \d+ (has (not|had no)|survives|ended|died|was told)",
        "was left over", "survive SIGKILL", *STUCK)


@pytest.mark.xdist_group("spawner")
def test_the_spawner(httpd: Httpd, disk: Disk) -> None:
    """It survives SIGKILL. Another spawner works beside it, and takes its lock
    and its processes."""
    httpd.log.expect(*HANG)
    httpd.app("shop", "AppQueueTimeout 200", "AppStopTimeout 1")
    httpd.app("blog")
    httpd.start()
    blog = int(httpd.get("/pid", "blog").text)
    old = sink_spawner(httpd, disk)
    assert httpd.get("/pid", "shop", timeout=100).status == 200
    assert sunk(old) and httpd.spawner_now() not in (0, old)
    httpd.log.wait_for(f"spawner {old} survives SIGKILL.*its registry")
    assert httpd.get("/pid", "blog").text == str(blog)
    # A watchdog that searches a spawner to join does not choose the old one.
    now = httpd.spawner_now()
    kill9(httpd.watchdog_now())
    httpd.log.wait_for(f"joins the running spawner {now}")
    kill9(now)
    wait_until(lambda: httpd.spawner_now() not in (0, old, now), "the next")
    assert sunk(old)
    disk.release()
    wait_until(lambda: not alive(old), "it dies when it can")
    httpd.check()


@pytest.mark.xdist_group("watchdog")
def test_the_watchdog(httpd: Httpd, disk: Disk) -> None:
    """It survives SIGKILL. Another watchdog joins the spawner."""
    httpd.log.expect(*HANG, "long lost child")
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    spawner = httpd.helper("spawner")
    old = sink_watchdog(httpd, disk)
    new, = wait_until(lambda: {*httpd.helpers("watchdog")} - {old},
                      "another watchdog", 180)
    assert sunk(old)
    httpd.log.wait_for(f"watchdog {old} survives SIGKILL")
    httpd.log.wait_for(rf"pid {new}\b.*joins the running spawner {spawner}")
    kill9(spawner)
    wait_until(lambda: httpd.spawner_now() not in (0, spawner), "the next")
    httpd.log.wait_for(rf"shop\[{pid}\] is adopted")
    assert httpd.get("/pid", "shop").text == str(pid)
    disk.release()
    wait_until(lambda: not alive(old), "it dies when it can")
    assert httpd.helpers("watchdog") == [new]
    httpd.check()


@pytest.mark.parametrize("sink", [[sink_spawner], [sink_watchdog],
                                  [sink_spawner, sink_watchdog]])
def test_stop_without_unkillable_processes(httpd: Httpd, disk: Disk,
                      sink: list[Callable[[Httpd, Disk], int]]) -> None:
    """Only unkillable processes survive a stop."""
    httpd.log.expect(*HANG)
    httpd.app("shop", "AppStopTimeout 1")
    httpd.app("blog", "AppStopTimeout 1")
    httpd.start()
    left = [int(httpd.get("/daemon", "blog").text),
            int(httpd.get("/pid", "blog").text)]
    hangs = [one(httpd, disk) for one in sink]
    with Late(*httpd.children(), *hangs, httpd.pid) as late:
        httpd.stop()
    assert all(map(sunk, hangs))
    assert not any(map(alive, left))
    late.within(1 + 5 + 6 * len(hangs))
    disk.release()
    wait_until(lambda: not any(map(alive, hangs)), "they die when they can")
    assert not httpd.runtime.exists()


def test_stop_with_a_sunk_app(httpd: Httpd, disk: Disk) -> None:
    """httpd does not wait for the app, which nothing can end. It waits for its
    own child first."""
    httpd.log.expect("was left over", "AH0004[56]: child process", *STUCK)
    httpd.app("shop", "AppStopTimeout 1", f"AppSetEnv SINK {disk.file}")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    instance = (httpd.runtime / "instance").read_text()
    bad = httpd.get_async("/sink", "shop", 60)
    disk.wait_for_write()
    with Late(*httpd.children(), httpd.pid) as late:
        httpd.stop()
    assert sunk(pid)
    late.within(10 + 1 + 7)
    disk.release()
    wait_until(lambda: not alive(pid), "it dies when it can")
    bad.thread.join(30)
    cgroups.remove(instance)  # only the test can: it was not empty
