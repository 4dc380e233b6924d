# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A new build is installed while httpd runs. If its layout differs, graceful
starts a new instance beside the old one, which drains (acceptance B3)."""
import os
import signal
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.httpd import Held, Httpd
from harness.procs import alive, kill9, kill9_if_alive
from harness.threads import Threads
from harness.tracer import injected
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until

DEAD = r"(spawner|watchdog) \d+ (ended|died)"


def upgrade(httpd: Httpd, number: int = 1) -> None:
    """Install another build than the one that runs, and reload."""
    files = {name: other_build() / name for name in this_build()} \
        if number % 2 else this_build()
    install(httpd.libexec, files)
    httpd.graceful()


def start(httpd: Httpd) -> None:
    other_build()  # takes long; no request waits yet
    httpd.libexec = httpd.dir / "lib"
    httpd.module = httpd.libexec / "mod_apppool.so"
    install(httpd.libexec, this_build())
    httpd.start()


def instances(httpd: Httpd) -> list[Path]:
    """The runtime directories in which a spawner works."""
    places = [httpd.runtime, *httpd.runtime.glob("[0-9]*")]
    return sorted(place for place in places
                  if (place / "spawner.pid").exists())


def test_under_load(httpd: Httpd) -> None:
    """No request fails. The old apps finish open requests. Then they are gone,
    with everything of their instance."""
    app = httpd.app("shop", "MaxInstances 3", "MinInstances 3")
    start(httpd)
    held = httpd.hold("shop", "a")
    httpd.settles(active=1, count=3)
    old = httpd.pids(app)
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")
    httpd.note_segments()
    before = set(httpd.segments)
    with Threads(httpd, "shop", 8, kept=4) as clients:
        clients.more(50)
        upgrade(httpd)
        clients.more(50)
    assert clients.failed == []
    httpd.settles(active=0, count=3)
    new = httpd.pids(app)
    assert len(new) == 3 and not set(new) & set(old)
    assert instances(httpd) == [httpd.runtime, httpd.runtime / "1"]
    httpd.log.wait_for("another build of the module")
    assert alive(held.pid) and alive(watchdog) and alive(spawner)
    response = held.release()
    assert response.status == 200 and response.text == str(held.pid)
    wait_until(lambda: not any(map(alive, [*old, watchdog, spawner])),
               "the old instance is gone")
    httpd.log.wait_for("old instance in .* has ended")
    assert instances(httpd) == [httpd.runtime / "1"]
    left = {path.name for path in httpd.runtime.iterdir()}
    assert left == {"lock", "current", "1"}
    for pid in [httpd.pid, *httpd.children()]:
        assert not procs.segments(pid) & before, "the old segment is mapped"
    assert httpd.pids(app) == new
    httpd.check()
    assert httpd.ctl("status").returncode == 0


@pytest.mark.mpms("event")
def test_its_end_is_logged_last(httpd: Httpd) -> None:
    """When the log says that it has ended, nothing of it is left: no file, no
    memory. The parent waits after each line here."""
    httpd.app("shop", "MinInstances 1")
    start(httpd)
    held = httpd.hold("shop", "a")
    httpd.note_segments()
    before = set(httpd.segments)
    upgrade(httpd)
    httpd.log.wait_for("another build of the module")
    with injected(httpd.pid, "write", "delay_exit=500000"):
        held.release()
        httpd.log.wait_for("the old instance in .* has ended")
        assert procs.segments(httpd.pid) and instances(httpd) == \
            [httpd.runtime / "1"]
        assert not procs.segments(httpd.pid) & before
    httpd.check()


@pytest.mark.mpms("event")
def test_a_module_that_forks(httpd: Httpd) -> None:
    """mod_cgid forks its daemon before the new instance begins. The daemon
    executes no program, so it has all files that its parent has then, but
    nothing that keeps the old instance."""
    httpd.modules.append("cgid")
    httpd.directives.append(f"ScriptSock {httpd.dir}/cgi")
    httpd.app("shop", "MinInstances 1")
    start(httpd)
    upgrade(httpd)
    httpd.log.wait_for("the old instance in .* has ended")
    assert httpd.get("/pid", "shop").status == 200
    httpd.check()


def both_of(httpd: Httpd, n: int) -> list[int]:
    """The helpers of n instances. For a moment there may be more: a forked
    process counts as its parent's program, until it executes its own."""
    def there() -> list[int]:
        found = [httpd.helpers(name) for name in ("watchdog", "spawner")]
        return sum(found, []) if [*map(len, found)] == [n, n] else []
    return wait_until(there, f"there are {n} of each helper")


def test_again_and_again(httpd: Httpd) -> None:
    """Several upgrades while requests of each build are open"""
    app = httpd.app("shop", "MaxInstances 2")
    start(httpd)
    held: list[Held] = []
    for n in range(4):
        held.append(httpd.hold("shop", str(n)))
        upgrade(httpd, n + 1)
    assert len(set(one.pid for one in held)) == 4
    both_of(httpd, 5)
    pid = int(httpd.get("/pid", "shop").text)
    assert len(instances(httpd)) == 5
    for one in held[::-1]:
        assert one.release().status == 200
        wait_until(lambda: not alive(one.pid), "its app ends")
    wait_until(lambda: len(httpd.helpers("watchdog")) == 1, "all have drained")
    # The next one finds the place of the first one free.
    upgrade(httpd, 5)
    wait_until(lambda: instances(httpd) == [httpd.runtime], "drained")
    assert not (httpd.runtime / "current").exists()
    assert httpd.get("/pid", "shop").text != str(pid)
    assert len(httpd.pids(app)) == 1
    httpd.check()


def test_back_after_a_failure(httpd: Httpd) -> None:
    """The new build cannot begin, so the old instance waits for the next
    build. That is the old one, which begins a new instance."""
    httpd.log.expect(sentences.OTHER_BUILD, sentences.NO_POOL)
    httpd.app("shop", "MinInstances 1")
    start(httpd)
    pid = int(httpd.get("/pid", "shop").text)
    install(httpd.libexec, {"mod_apppool.so": other_build() /
                            "mod_apppool.so"})
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 503
    assert alive(pid)
    install(httpd.libexec, this_build())
    httpd.graceful()
    assert int(httpd.get("/pid", "shop").text) != pid
    httpd.log.wait_for("the old instance in .* has ended")
    assert not alive(pid)
    httpd.check()


@pytest.mark.mpms("prefork")  # its children leave an open request at once
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP,
                                  signal.SIGKILL])
def test_httpd_ends_meanwhile(httpd: Httpd, sign: signal.Signals) -> None:
    """Nothing of either instance is left."""
    httpd.log.expect(sentences.CHILDREN_LEFT, sentences.PARENT_GONE)
    httpd.app("shop", "AppStopTimeout 1")
    start(httpd)
    held = httpd.hold("shop", "a")
    old = [held.pid, int(httpd.get("/daemon", "shop").text)]
    upgrade(httpd)
    new = [int(httpd.get("/pid", "shop").text),
           int(httpd.get("/daemon", "shop").text)]
    helpers = both_of(httpd, 2)
    orphans = httpd.children()
    httpd.note_segments()
    everything = old + new + helpers
    if sign == signal.SIGHUP:
        httpd.restart()
        assert not any(map(alive, everything))
        assert httpd.get("/pid", "shop").status == 200
        assert instances(httpd) == [httpd.runtime]
        return
    procs.send(httpd.pid, sign)
    assert httpd.process is not None
    httpd.process.wait(40)
    if sign == signal.SIGKILL:
        for orphan in orphans:
            kill9_if_alive(orphan)
        wait_until(lambda: not any(map(alive, everything)), "all end")
    assert not [pid for pid in everything if alive(pid)]
    assert httpd.remains() == []
    assert not httpd.runtime.exists()


@pytest.mark.mpms("event")
def test_helpers_die_meanwhile(httpd: Httpd) -> None:
    """The draining instance also repairs itself. Its helpers are started
    again, from its own build. It ends when its requests are finished."""
    httpd.log.expect(DEAD)
    httpd.app("shop")
    start(httpd)
    held = httpd.hold("shop", "a")
    spawner, watchdog = httpd.helper("spawner"), httpd.helper("watchdog")
    upgrade(httpd)
    assert httpd.get("/pid", "shop").status == 200
    kill9(spawner)
    kill9(watchdog)
    again = wait_until(lambda: [
        pid for pid in httpd.helpers("spawner")
        if procs.command(pid).endswith(str(httpd.runtime))], "another one")
    assert os.readlink(f"/proc/{again[0]}/exe").endswith(" (deleted)")
    wait_until(lambda: len(httpd.helpers("watchdog")) == 2, "its watchdog")
    assert held.release().status == 200
    wait_until(lambda: not alive(held.pid), "it drains")
    wait_until(lambda: len(httpd.helpers("watchdog")) == 1, "and ends")
    wait_until(lambda: instances(httpd) == [httpd.runtime / "1"], "cleanly")
    httpd.check()


@pytest.mark.mpms("event")
def test_open_request_of_an_orphan(httpd: Httpd) -> None:
    """A killed child of httpd delays nothing."""
    httpd.app("shop")
    start(httpd)
    held = httpd.hold("shop", "a")
    child = httpd.child_of(held.pending)
    upgrade(httpd)
    kill9(child)
    wait_until(lambda: not alive(held.pid), "the old apps end")
    wait_until(lambda: instances(httpd) == [httpd.runtime / "1"], "drained")


def test_same_layout(httpd: Httpd) -> None:
    """Another build with the same layout: apps and helpers stay."""
    app = httpd.app("shop")
    start(httpd)
    pid = int(httpd.get("/pid", "shop").text)
    helpers = httpd.helper("watchdog"), httpd.helper("spawner")
    install(httpd.libexec, this_build())
    httpd.graceful()
    assert httpd.pids(app) == [pid]
    assert (httpd.helper("watchdog"), httpd.helper("spawner")) == helpers
    assert instances(httpd) == [httpd.runtime]


@pytest.mark.mpms("event")
def test_disk_changes_under_httpd(httpd: Httpd) -> None:
    """Until a reload, httpd uses the programs with which it started, also when
    they have to be started again."""
    httpd.log.expect(DEAD)
    app = httpd.app("shop")
    start(httpd)
    pid = int(httpd.get("/pid", "shop").text)
    install(httpd.libexec, {name: other_build() / name
                            for name in this_build()})
    for name in ("spawner", "watchdog", "spawner"):
        victim = httpd.helper(name)
        kill9(victim)
        wait_until(lambda: victim not in httpd.helpers(name)
                   and httpd.helpers(name), f"another {name}")
        exe = os.readlink(f"/proc/{httpd.helper(name)}/exe")
        assert exe == f"{httpd.libexec}/apppool-{name} (deleted)"
    assert httpd.get("/pid", "shop").text == str(pid)
    for name in this_build():
        (httpd.libexec / name).unlink()
    kill9(pid)
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=1)
    assert httpd.pids(app) != [pid]
