# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a new spawner takes from the registry of the last one. A pid does not
identify a process, and damaged records are not used."""
import fcntl
import random
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

from harness import registry, sentences
from harness.config import App
from harness.httpd import USER, Httpd
from harness.innocent import Innocent
from harness.procs import alive, kill9
from harness.registry import between_spawners
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# What a spawner and its watchdog log when another spawner has the registry for
# longer than the spawner waits.
CANNOT_BEGIN = ("registry cannot be used: another spawner uses it",
                r"apppool: spawner \d+ ended: exit code 1")


@pytest.fixture
def app(httpd: Httpd) -> Iterator[App]:
    """It has two processes."""
    httpd.log.expect("processes that the spawner does not have",
                     "process .* belongs to an app, but has no record: SIGKILL",
                     sentences.DIED, sentences.RECORDS_DAMAGED)
    app = httpd.app("shop", "MinInstances 2", "AppStopTimeout 2")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    yield app


def recovers(httpd: Httpd, app: App, old: list[int]) -> None:
    """Old processes without a record are gone, and new ones serve."""
    wait_until(lambda: not any(alive(pid) for pid in old), f"{old} are gone")
    assert httpd.get("/pid", "shop").status == 200
    wait_until(lambda: httpd.counts() == (0, 2, 0)
               and not set(httpd.pids(app)) & set(old), "two others serve")
    httpd.check()


def forgotten(file: Path, innocent: Innocent) -> None:
    """Its record is gone, at the latest when the mark of the old process is
    gone."""
    wait_until(lambda: innocent.pid not in [
        record["pid"] for record in registry.read(file)], "it is forgotten")


@pytest.mark.parametrize("state", [registry.BOOTING, registry.LIVE,
                                   registry.ENDING])
def test_another_start_time(httpd: Httpd, app: App, state: int) -> None:
    """The pid now belongs to another process of the same user. That process
    gets no signal, and the process that has our mark is ended."""
    old = httpd.pids(app)
    with Innocent(httpd.dir / "hold", USER) as innocent:
        with between_spawners(httpd) as file:
            lost = registry.read(file)[0]["pid"]
            registry.write(file, 0, pid=innocent.pid, state=state, deadline=1)
        recovers(httpd, app, [lost])
        assert set(old) - {lost} <= set(httpd.pids(app))
        forgotten(file, innocent)
        time.sleep(0.1)
        assert innocent.unharmed()
        httpd.stop()
        assert innocent.unharmed()


@pytest.mark.parametrize("state", [registry.LIVE, registry.ENDING])
def test_another_user(httpd: Httpd, app: App, state: int) -> None:
    """Pid and start time are right, but it runs as another user."""
    with Innocent(httpd.dir) as innocent:
        with between_spawners(httpd) as file:
            lost = registry.read(file)[0]["pid"]
            registry.write(file, 0, pid=innocent.pid, start=innocent.start(),
                           state=state, deadline=1)
        recovers(httpd, app, [lost])
        forgotten(file, innocent)
        assert innocent.unharmed()
        httpd.stop()
        assert innocent.unharmed()


# ---- damage

def test_process_that_ended(httpd: Httpd, app: App) -> None:
    """Its record is free for another process."""
    httpd.log.expect("shop.*died")
    lost = httpd.pids(app)[0]
    kill9(lost)
    wait_until(lambda: httpd.counts() == (0, 2, 0)
               and lost not in httpd.pids(app), "another one serves")
    file = httpd.runtime / "registry"
    wait_until(lambda: {record["pid"] for record in registry.read(file)} - {0}
               == set(httpd.pids(app)), "the others alone are on record")


def garbage(file: Path) -> None:
    file.write_bytes(random.Random(4711).randbytes(100000))


def large(file: Path) -> None:
    """Larger than all possible records together."""
    garbage(file)
    with open(file, "r+b") as opened:
        opened.truncate(1 << 33)


def shortened(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def other_layout(file: Path) -> None:
    for index in range(2):
        registry.write(file, index, magic=0x31706c61)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def removed(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize("damage,lines", [
    (garbage, ["196"]), (large, ["196"]), (shortened, ["1"]),
    (other_layout, ["2"]), (emptied, []), (removed, [])])
def test_damage(httpd: Httpd, app: App, damage: Callable[[Path], None],
                lines: list[str]) -> None:
    """One line says how many records are lost, if there were any."""
    httpd.log.expect("records of .*/registry are damaged: the processes that "
                     "were in them are ended")
    old = httpd.pids(app)
    names = [(one["pid"], one["id"])
             for one in httpd.group(app)["processes"]]
    with between_spawners(httpd) as file:
        damage(file)
    recovers(httpd, app, old)
    assert [line.split(" records of ")[0].split()[-1]
            for line in httpd.log.matching("are damaged")] == lines
    assert file.stat().st_size < 10000
    assert len(names) == 2
    for pid, name in names:  # the second one where there are cgroups
        wait_until(lambda: httpd.log.matching(
            f"process ({pid}|{name}) belongs to an app, but has no record"),
            "it is found")


def test_it_cannot_be_opened(httpd: Httpd, app: App) -> None:
    """The log says so, apps still serve, and it is tried again."""
    why = "/registry cannot be used: Too many levels of symbolic links"
    httpd.log.expect(why, r"apppool: spawner \d+ ended: exit code 1")
    pids = httpd.pids(app)
    with between_spawners(httpd) as file:
        kept = file.rename(httpd.dir / "kept")
        file.symlink_to(kept)
    httpd.log.wait_for(why)
    assert int(httpd.get("/pid", "shop").text) in pids
    kept.rename(file)  # in one step: a spawner may start at any time
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it runs")
    assert httpd.pids(app) == pids


def test_no_error_of_an_orphan(httpd: Httpd, app: App) -> None:
    """Its watchdog is killed while it waits for the registry. Another watchdog
    has started another spawner by then, which may have waited for too long."""
    httpd.log.expect(*CANNOT_BEGIN)
    with between_spawners(httpd) as file:
        watchdog = httpd.watchdog_now()
        taken = open(file, "r+b")
        fcntl.lockf(taken, fcntl.LOCK_EX)
    orphan = httpd.helper("spawner")
    kill9(watchdog)
    wait_until(lambda: not alive(orphan), "it has ended")
    line, = httpd.log.matching(f"spawner {orphan} ends: its watchdog is gone")
    assert ":info]" in line
    taken.close()
    wait_until(lambda: httpd.spawner_now() not in (0, orphan), "another works")
    assert httpd.get("/pid", "shop").status == 200
    assert [line for line in httpd.log.matching("another spawner uses it")
            if f"[pid {orphan}]" in line] == []
    httpd.check()


def test_one_that_cannot_begin(httpd: Httpd, app: App) -> None:
    """A watchdog that does not find the running spawner starts another one.
    That one ends, and the watchdog still sees the heartbeat of the first."""
    httpd.log.expect(*CANNOT_BEGIN)
    spawner, beat = httpd.helper("spawner"), httpd.runtime / "spawner.beat"
    file = httpd.runtime / "spawner.pid"
    seen = beat.stat().st_ino
    kept = file.rename(httpd.dir / "kept")
    kill9(httpd.helper("watchdog"))
    httpd.log.wait_for("another spawner uses it")
    kept.rename(file)
    httpd.log.wait_for(f"watchdog joins the running spawner {spawner}$")
    assert beat.stat().st_ino == seen
    httpd.check()
