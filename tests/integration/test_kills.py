# Licensed under the Apache License, Version 2.0; see LICENSE.
"""SIGKILL for any process: an app, the spawner, the watchdog, a child of
httpd, httpd itself (acceptance B1, B2, B7)."""
import http.client
import signal
import time

import pytest

from harness import procs, sentences
from harness.client import Connection, Pending
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.late import Late
from harness.procs import alive, kill9, kill9_if_alive
from harness.wait import wait_until


ORPHANS = 30  # seconds for which children may continue without their parent


def ten(httpd: Httpd, host: str = "shop") -> set[str]:
    """Ten requests. @return the pids that served them"""
    responses = [httpd.get("/pid", host) for _ in range(10)]
    assert [response.status for response in responses] == [200] * 10
    return {response.text for response in responses}


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_app_dies_in_a_request(httpd: Httpd) -> None:
    """B7: this request gets 502. Another process serves the next one."""
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert httpd.get("/crash", "shop").status == 502
    response = httpd.get("/pid", "shop")
    assert response.status == 200 and response.text != pid
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_app_dies_on_a_kept_connection(httpd: Httpd) -> None:
    """B7: the client's connection gets its 502, and is kept if possible."""
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    client = Connection(httpd.port)
    assert client.request("GET", "/pid", "shop").status == 200
    assert client.request("GET", "/pid", "shop").status == 200
    assert client.request("GET", "/crash", "shop").status == 502
    assert client.request("GET", "/pid", "shop").status == 200
    client.close()


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_app_dies_within_a_response(httpd: Httpd) -> None:
    """The client does not take half a response for a complete one."""
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        httpd.get("/half", "shop")
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_waiters_of_a_killed_process(httpd: Httpd) -> None:
    """They get the process that replaces it."""
    httpd.log.expect(*KILLED)
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = [httpd.get_async("/pid", "shop") for _ in range(3)]
    httpd.settles(active=1, count=1, waiting=3)
    kill9(held.pid)
    assert held.pending.result().status == 502
    responses = [one.result() for one in waiting]
    assert [response.status for response in responses] == [200] * 3
    assert str(held.pid) not in {response.text for response in responses}
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_no_request_goes_to_a_dying_process(httpd: Httpd) -> None:
    """A request has failed because its process was killed. That process still
    listens for a moment, because the kernel closes its youngest files
    first."""
    httpd.log.expect(*KILLED)
    httpd.app("shop", "MaxInstances 1", "AppSetEnv OPEN_FILES 10000")
    httpd.start()
    for _ in range(5):
        held = httpd.hold("shop", "a")
        waiting = [Pending(Connection(httpd.port), method, "/pid", "shop",
                           "a body", {"Connection": "close"})
                   for method in ("POST", "GET", "POST")]
        httpd.settles(active=1, count=1, waiting=3)
        procs.send(held.pid, signal.SIGKILL)
        assert held.pending.result().status == 502
        responses = [one.result() for one in waiting]
        assert [response.status for response in responses] == [200] * 3
        held.held.unlink()
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("the spawner ends it or starts it")
@pytest.mark.parametrize("victims", ["spawner", "watchdog", "both"])
def test_helpers_die(httpd: Httpd, victims: str) -> None:
    """B1: no request fails, and the processes of the app stay."""
    httpd.log.expect("apppool.*(spawner|watchdog).*(SIGKILL|died|ended)",
                     sentences.DIED)
    app = httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    before = ten(httpd)
    spawner, watchdog = httpd.helper("spawner"), httpd.helper("watchdog")
    victim = [spawner] if victims == "spawner" else [watchdog] \
        if victims == "watchdog" else [watchdog, spawner]
    for pid in victim:
        kill9(pid)
    assert ten(httpd) == before
    # A start needs the spawner, so this request waits for the next one.
    assert ten(httpd, "blog")
    wait_until(lambda: not any(alive(pid) for pid in victim), "all are gone")
    assert httpd.helper("watchdog") not in victim
    assert httpd.helper("spawner") not in victim
    assert ten(httpd) == before
    assert [str(pid) for pid in httpd.pids(app)] == list(before)
    # The next spawner treats the adopted process as its own.
    kill9(int(before.pop()))
    httpd.log.expect(sentences.DIED)
    assert ten(httpd)
    httpd.settles(active=0, count=2)


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_spawner_dies_while_an_app_starts(httpd: Httpd) -> None:
    """The waiting request is served, whenever the spawner dies: before the app
    may run, while the shell runs, or while the app boots."""
    moments = (0, 0.001, 0.003, 0.01, 0.1)
    apps = [httpd.app(f"shop{n}", "AppSetEnv BOOT_SLEEP 0.3")
            for n in range(len(moments))]
    httpd.start()
    for app, moment in zip(apps, moments):
        spawner = httpd.helper("spawner")
        first = httpd.get_async("/pid", app.name)
        wait_until(lambda: httpd.group(app)["processes"], "it starts")
        time.sleep(moment)
        kill9(spawner)
        response = first.result()
        assert response.status == 200, f"killed after {moment} s"
        assert [response.text] == [str(pid) for pid in httpd.pids(app)]
    httpd.settles(active=0, count=len(apps))
    httpd.check()


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_leftovers_of_a_killed_spawner(httpd: Httpd) -> None:
    """It had no time to record a process. The next spawner removes the sockets
    and the FIFO of that process, and no others."""
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    places = [httpd.runtime / name for name in ("s", "o", "n")]
    own = {file for place in places for file in place.iterdir()}
    assert len(own) == 3
    strays = {place / "0123456789abcdef" for place in places}
    for stray in strays:
        stray.touch()
    kill9(httpd.helper("spawner"))
    wait_until(lambda: not any(stray.exists() for stray in strays),
               "they are removed")
    assert {file for place in places for file in place.iterdir()} == own
    assert httpd.get("/pid", "shop").text == pid


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_output_outlives_the_spawner(httpd: Httpd) -> None:
    """There is no SIGPIPE, and the next spawner reads on."""
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    old = httpd.helper("spawner")
    kill9(old)
    assert httpd.get("/print?text=afterwards", "shop").status == 200
    wait_until(lambda: httpd.log.matching(rf"shop.*\[{pid}\].*afterwards"),
               "the line is in the log")
    assert httpd.get("/pid", "shop").text == pid


def test_idle_httpd_children_die(httpd: Httpd) -> None:
    """B1: all of them die, and the process of the app stays."""
    httpd.app("shop")
    httpd.start()
    before = ten(httpd)
    for pid in httpd.children():
        kill9(pid)
    wait_until(lambda: len(httpd.children()) > 0, "new children")
    assert ten(httpd) == before
    httpd.settles(active=0, count=1)


def test_httpd_child_dies_with_a_session(httpd: Httpd) -> None:
    """B1: its process gets no other request until the app closes the
    connection. The spawner checks that at least once a second."""
    httpd.log.expect("AH10392")
    app = httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    kill9(httpd.child_of(held.pending))
    with pytest.raises(OSError):
        held.pending.result()
    wait_until(lambda: any(one["abandoned"] for one in
                           httpd.group(app)["requests"]),
               "its process keeps the request")
    time.sleep(5.5)  # it checks less and less often, down to once a second
    assert httpd.counts() == (1, 1, 0)
    with Late(*procs.marked(str(httpd.dir))) as late:
        held.go.touch()
        httpd.settles(active=0, count=1)
    late.within(2.2)
    assert httpd.get("/pid", "shop").text == str(held.pid)
    assert httpd.pids(app) == [held.pid]
    httpd.check()


def test_httpd_child_dies_in_the_queue(httpd: Httpd) -> None:
    """Its waiting requests leave the queue and never reach the app."""
    if httpd.mpm == "prefork":
        httpd.app("shop", "MaxInstances 1")
    else:
        # A child with many threads may have both requests.
        httpd.directives += ["StartServers 1", "ThreadsPerChild 16"]
        httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid?gone", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    kill9(httpd.child_of(waiting))
    wait_until(lambda: httpd.counts()[2] == 0, "the queue is empty")
    held.go.touch()
    wait_until(lambda: httpd.counts() == (0, 1, 0), "nothing is held")
    assert httpd.get("/pid", "shop").text == str(held.pid)
    assert not [line for line in httpd.requests_seen() if "gone" in line]


@pytest.mark.mpms("event")
def test_httpd_itself_dies(httpd: Httpd) -> None:
    """B2: nothing is left, not even a process that ignores SIGTERM. httpd's
    children have some time to finish their requests."""
    httpd.log.expect(sentences.PARENT_GONE, sentences.CHILDREN_LEFT,
                     sentences.PID_FILE)
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    daemon = int(httpd.get("/daemon", "shop").text)
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")
    orphans = httpd.children()
    httpd.note_segments()
    with Late(*procs.marked(str(httpd.dir))) as late:
        procs.send(httpd.pid, signal.SIGKILL)
        assert httpd.process is not None
        httpd.process.wait()
        httpd.log.wait_for("httpd's parent process is gone")
        known = time.monotonic()
        while time.monotonic() < known + 2:
            assert httpd.get("/pid", "shop").text == str(pid)
        wait_until(lambda: not any(alive(p) for p in (pid, daemon, spawner,
                                                      watchdog)),
                   "apps and helpers are gone", 120)
    late.within(ORPHANS + 5)
    for orphan in orphans:
        kill9_if_alive(orphan)
    wait_until(lambda: not any(alive(p) for p in orphans), "children ended")
    assert not list(procs.marked(str(httpd.dir)))
    # A new httpd finds no process.
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
