# Licensed under the Apache License, Version 2.0; see LICENSE.
"""When an app ends, no process that it has started is left: with cgroups, and
without, where they cannot be written to."""
import os
import signal
from typing import Iterator

import pytest

from harness import cgroups, procs, sentences
from harness.httpd import Httpd
from harness.procs import alive, freeze, kill9
from harness.wait import wait_until

KINDS = ("group", "session", "session.double", "group.stubborn",
         "session.double.stubborn", "bare", "session.double.stubborn.bare")
# It left the session and removed the mark.
HIDDEN = "session.double.stubborn.bare"

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(params=cgroups.WAYS)
def server(httpd: Httpd, request: pytest.FixtureRequest) -> Iterator[Httpd]:
    httpd.wrapper = cgroups.wrapper(request.param)
    httpd.log.expect(sentences.DIED_OTHERWISE, sentences.CHILDREN_LEFT,
                     sentences.PID_FILE)
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    httpd.get("/pid", "shop")
    way = "cgroup, in " if request.param == "cgroup" else "session and "
    httpd.log.wait_for(f"processes that apps start are found by {way}")
    yield httpd


def background(httpd: Httpd) -> dict[str, int]:
    """A process of each kind."""
    pids = {}
    for kind in KINDS:
        pids[kind] = int(httpd.get(f"/daemon?kind={kind}", "shop").text)
        wait_until(lambda: procs.command(pids[kind]).startswith("sleep"),
                   f"{kind} runs")
    return pids


def left(pids: dict[str, int]) -> set[str]:
    return {kind for kind, pid in pids.items() if alive(pid)}


def test_background_processes_of_a_process(server: Httpd) -> None:
    """They end with their process. Those of another process stay."""
    server.app("blog", "AppStopTimeout 1")
    server.graceful()
    pids = background(server)
    other = int(server.get("/daemon?kind=session", "blog").text)
    blog = int(server.get("/pid", "blog").text)
    app = server.apps[0]
    leader = server.pids(app)[0]
    os.kill(leader, signal.SIGTERM)
    hidden = {HIDDEN} if server.wrapper else set()
    wait_until(lambda: left(pids) == hidden, f"only {hidden} are left")
    assert alive(other) and alive(blog)
    wait_until(lambda: server.status()["pool"]["leaving"] == 0, "it is gone")
    if not server.wrapper:
        server.note_segments()
        base = cgroups.of_instance(server.instances.pop())
        assert base is not None
        wait_until(lambda: len(list(base.glob("*/"))) == 1,
                   "its cgroup is gone")
    server.stop()
    assert left(pids) == set() and not alive(other)


def test_stop(server: Httpd) -> None:
    pids = background(server)
    server.stop(bound=25)
    assert left(pids) == set()


def test_hard_restart(server: Httpd) -> None:
    pids = background(server)
    server.note_segments()
    server.restart()
    assert left(pids) == set()
    assert server.get("/pid", "shop").status == 200


@pytest.mark.parametrize("also", ["nobody", "spawner", "watchdog"])
def test_httpd_is_killed(server: Httpd, also: str) -> None:
    server.log.expect(sentences.PARENT_GONE)
    pids = background(server)
    server.note_segments()
    helpers = {name: server.helper(name) for name in ("watchdog", "spawner")}
    freeze(server.pid)  # so it starts no other process
    victims = [*server.children(), server.pid]
    if also in helpers:
        victims.insert(0, helpers[also])
    for pid in victims:
        procs.send(pid, signal.SIGKILL)
    assert server.process is not None
    server.process.wait(20)
    wait_until(lambda: left(pids) == set(), "all ended", 20)
    wait_until(lambda: server.remains() == [], "nothing is left", 20)


def test_all_are_killed_at_once(server: Httpd) -> None:
    """The next httpd clears away what is left, and serves."""
    server.log.expect(sentences.CHILDREN_LEFT, sentences.PID_FILE)
    pids = background(server)
    old = int(server.get("/pid", "shop").text)
    server.note_segments()
    freeze(server.pid)  # so it starts no other process
    victims = [server.helper("watchdog"), server.helper("spawner"),
               *server.children(), server.pid]
    for pid in victims:
        procs.send(pid, signal.SIGKILL)
    assert server.process is not None
    server.process.wait(20)
    wait_until(lambda: not any(map(alive, victims)), "nobody listens")
    assert alive(old)
    server.start()
    assert server.get("/pid", "shop").text != str(old)
    assert not alive(old)
    # They are children of init now and have no mark. Their session can show
    # where they belong, if its leader still lived when the spawner looked.
    remain = left(pids)
    assert remain <= ({"bare", HIDDEN} if server.wrapper else set())
    for kind in remain:
        kill9(pids[kind])
    server.note_segments()


def test_no_cgroups(httpd: Httpd) -> None:
    """If no cgroup v2 is mounted, apps start and nothing is left."""
    httpd.wrapper = cgroups.ABSENT
    check_marks(httpd)


def test_namespace(httpd: Httpd) -> None:
    """The mount shows the cgroups of the host, and the process is not where
    the mount says."""
    if not cgroups.usable():
        pytest.skip("no cgroup v2 may be written to")
    with cgroups.nested() as place:
        httpd.wrapper = cgroups.in_namespace(place)
        check_marks(httpd)


def check_marks(httpd: Httpd) -> None:
    httpd.log.expect(sentences.DIED_OTHERWISE, sentences.CHILDREN_LEFT,
                     sentences.PID_FILE)
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    pids = background(httpd)
    httpd.log.wait_for("session and environment: no mounted "
                       "cgroup v2 shows the cgroup of httpd")
    httpd.stop(bound=25)
    assert left(pids) == set()
