# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd was killed with all its helpers. The next start clears away what is
left. Two httpds never share a runtime directory."""
import os
import re
import signal
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.httpd import Httpd
from harness.procs import alive, freeze, kill9, kill9_if_alive
from harness.sessions import store_of
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until

UNCLEAN = "AH00098"  # httpd's own: Unclean shutdown of previous run?

pytestmark = pytest.mark.mpms("event")


def kill_all(httpd: Httpd) -> None:
    """httpd, its children and the helpers, but not the apps. They are killed
    together, because otherwise one might clean up after another."""
    assert httpd.process is not None
    victims: list[int] = []
    while found := {*httpd.helpers("watchdog"), *httpd.helpers("spawner"),
                    httpd.pid, *httpd.children()} - set(victims):
        victims += found  # and their new child processes
        for pid in found:
            freeze(pid)
    for pid in victims:
        procs.send(pid, signal.SIGKILL)
    httpd.process.wait(40)
    wait_until(lambda: not any(map(alive, victims)), "all are dead")


def again(httpd: Httpd) -> int:
    """Start httpd. @return the app that serves"""
    httpd.start()
    response = httpd.get("/pid", "shop", timeout=40)
    assert response.status == 200
    return int(response.text)


def files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


def test_apps_of_a_killed_httpd(httpd: Httpd) -> None:
    """They are ended before the new apps serve, also those that left the
    session."""
    httpd.log.expect(UNCLEAN, sentences.CHILDREN_LEFT)
    app = httpd.app("shop", "AppStopTimeout 1", "MaxInstances 2")
    httpd.start()
    held = httpd.hold("shop", "a")
    daemon = int(httpd.get("/daemon", "shop").text)
    old = [*httpd.pids(app), daemon]
    assert len(old) == 3
    kill_all(httpd)
    assert all(map(alive, old)) and alive(held.pid)
    (httpd.runtime / "s" / "0000000000000000").touch()
    pid = again(httpd)
    assert not any(map(alive, old))
    assert len(httpd.log.wait_for("that was killed left in")) == 1
    assert httpd.pids(app) == [pid]
    assert len(list((httpd.runtime / "s").iterdir())) == 1
    httpd.check()


def test_stubborn_app_of_a_killed_httpd(httpd: Httpd) -> None:
    """TERM, AppStopTimeout, KILL, as at any other stop."""
    httpd.log.expect(UNCLEAN, sentences.NO_TERM)
    app = httpd.app("shop", "AppStopTimeout 2", "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    httpd.get("/pid", "shop")
    old = httpd.pids(app)
    kill_all(httpd)
    again(httpd)
    assert not any(map(alive, old))
    httpd.log.wait_for(rf"shop\[{old[0]}\] is stopped")
    httpd.log.wait_for(rf"shop\[{old[0]}\].*SIGKILL")


def test_killed_while_it_drained(httpd: Httpd) -> None:
    """Both instances are cleared away, also by a build that belongs to
    neither."""
    httpd.log.expect(UNCLEAN)
    other_build()  # takes long; no request waits yet
    httpd.app("shop", "AppStopTimeout 1")
    httpd.libexec = httpd.dir / "lib"
    httpd.module = httpd.libexec / "mod_apppool.so"
    install(httpd.libexec, this_build())
    httpd.start()
    held = httpd.hold("shop", "a")
    install(httpd.libexec, {name: other_build() / name
                            for name in this_build()})
    httpd.graceful()
    old = [held.pid, int(httpd.get("/pid", "shop").text)]
    kill_all(httpd)
    assert all(map(alive, old))
    install(httpd.libexec, this_build())
    again(httpd)
    assert not any(map(alive, old))
    assert len(httpd.log.wait_for("that was killed left in", 2)) == 2
    assert not (httpd.runtime / "1").exists()
    assert not (httpd.runtime / "current").is_symlink()
    httpd.check()


def test_nothing_usable_is_left(httpd: Httpd) -> None:
    """The files of a killed instance are damaged. Its apps are found by their
    mark nevertheless."""
    httpd.log.expect(UNCLEAN, sentences.TABLE_REFUSED,
                     sentences.RECORDS_DAMAGED)
    app = httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    httpd.get("/pid", "shop")
    old = httpd.pids(app)
    kill_all(httpd)
    (httpd.runtime / "table").write_text('{"version": 99}')
    (httpd.runtime / "registry").write_bytes(os.urandom(5000))
    (httpd.runtime / "spawner.pid").write_text("1 1\n")
    again(httpd)
    assert not any(map(alive, old)) and alive(1)
    httpd.check()


def test_clean_start_says_nothing(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.stop()
    assert not httpd.runtime.exists()
    again(httpd)
    assert not httpd.log.matching("was killed")


def test_two_in_one_directory(hosts: list[Httpd]) -> None:
    """The second httpd is refused, and the first one is not harmed."""
    httpd, other = hosts
    app = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    before = files(httpd.runtime)
    held = rf"{httpd.runtime}/lock is held by another httpd \(pid {httpd.pid}\)"
    other.directives = [f'AppPoolRuntimeDir "{httpd.runtime}"']
    other.app("shop")
    other.log.expect(held, "AH00020: Configuration Failed")
    other.launch()
    assert other.process is not None
    assert other.process.wait(40) != 0
    line, = [line for line in other.log.lines() if "AppPoolRuntimeDir" in line]
    assert re.search(held, line)
    assert files(httpd.runtime) == before
    assert httpd.pids(app) == [pid]
    httpd.check()


def test_watchdog_outlives_httpd(httpd: Httpd) -> None:
    """A start in the meantime waits for it, and for the end of its directory."""
    httpd.log.expect(UNCLEAN, sentences.PARENT_GONE, sentences.NO_TERM)
    httpd.app("shop", "AppStopTimeout 2", "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    helpers = [httpd.helper("spawner"), httpd.helper("watchdog")]
    children = httpd.children()
    for helper in helpers:
        freeze(helper)
    kill9(httpd.pid)
    for child in children:
        kill9_if_alive(child)
    assert httpd.process is not None
    httpd.process.wait(40)
    httpd.launch()
    wait_until(lambda: httpd.log.matching(
        "waiting until the applications of an httpd"), "it waits")
    assert alive(pid)
    for helper in helpers:
        os.kill(helper, signal.SIGCONT)
    wait_until(httpd.listening, "it listens")
    assert int(httpd.get("/pid", "shop").text) != pid
    assert not alive(pid)
    assert not [p for p in procs.marked(str(httpd.dir)) if p in children]


@pytest.mark.parametrize("survives", [True, False])
def test_spawner_alone(httpd: Httpd, survives: bool) -> None:
    """httpd and the watchdog are dead. If the store survives, the next start
    waits until it has saved its items: no two stores use the same files. Else
    the spawner leaves nothing."""
    httpd.log.expect(UNCLEAN, sentences.PARENT_GONE)
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    httpd.app("shop", "MinInstances 1", "AppStore 16M")
    httpd.start()
    store_of(httpd).set("kept", b"value")
    store, = httpd.helpers("store")
    spawner = httpd.helper("spawner")
    victims = [httpd.pid, httpd.helper("watchdog"), *httpd.children()]
    for pid in victims:
        freeze(pid)
    if not survives:
        kill9(store)
    for pid in victims:
        procs.send(pid, signal.SIGKILL)
    assert httpd.process is not None
    httpd.process.wait(40)
    wait_until(lambda: not alive(spawner), "the spawner has ended", 40)
    assert alive(store) == httpd.runtime.exists() == survives
    again(httpd)
    assert not alive(store)
    if survives:
        assert store_of(httpd).get("kept") == b"value"
    httpd.check()
