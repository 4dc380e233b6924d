# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Requests that httpd has ended with 504 because their app was silent, or
whose clients have left. The process keeps such a request until it has finished
it (Paste's thread pool: P14, P22)."""
import os
import signal
from typing import Iterator

import pytest

from harness import procs, sentences
from harness.client import Raw
from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, pids, stat, threads
from harness.wait import wait_until
from harness.web import BROKEN, SERVERS, Place, mount
from test_hung import become

# No other response takes this long, also on a slow machine.
SILENT = ("AppTimeout 8",)


@pytest.fixture(autouse=True)
def expected_lines(httpd: Httpd) -> None:
    httpd.log.expect("AH01102|AH00898|AH01110", sentences.STUCK,
                     "Script timed out before returning headers",
                     *BROKEN, sentences.SILENT, sentences.NO_BACKEND,
                     sentences.SLOW)


def abandon(httpd: Httpd, app: App, path: str = "/nap") -> int:
    """@return the process that keeps the request"""
    before = set(httpd.pids(app, "busy", "hung"))
    assert httpd.get(path, "shop").status == 504
    pid, = set(httpd.pids(app, "busy", "hung")) - before
    return pid


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_process_gets_no_other_request(httpd: Httpd) -> None:
    """It is hung, does not count as capacity, and is ended. Other requests are
    served meanwhile."""
    app = httpd.app("shop", *SILENT, "AppHungAfter 9", "AppKillAfter 25",
                    "AppHungStopTimeout 1", "MaxInstances 1",
                    "AppSpawnIfUnder 1")
    httpd.start()
    pid = abandon(httpd, app)
    request, = httpd.group(app)["requests"]
    assert (request["uri"], request["pid"]) == ("/nap", pid)
    assert request["abandoned"] is True
    assert "abandoned" in httpd.ctl("status").stdout
    response = httpd.get("/pid", "shop")
    assert response.status == 200 and response.text != str(pid)
    become(httpd, app, hung=1, idle=1)
    wait_until(lambda: not alive(pid), "it is killed", 60)
    line, = httpd.log.wait_for("is hung and is killed")
    assert f"shop[{pid}]" in line and "GET /nap" in line
    seconds = float(line.split("has lasted ")[1].split()[0])
    assert 25 <= seconds < 35, "of the request, not of its client's patience"
    become(httpd, app, idle=1)
    assert httpd.get("/pid", "shop").text == response.text
    httpd.check()


@pytest.mark.parametrize("listen", ["fd", "tcp"])
def test_app_does_not_read_the_request(httpd: Httpd, listen: str) -> None:
    """Over TCP, an app does not see that the client has left before it has
    read the body."""
    app = httpd.app("shop", *SILENT, "AppHungAfter 9", "AppKillAfter 25",
                    "AppHungStopTimeout 1", "AppListen " + listen)
    httpd.log.expect("AH01084|AH01097")
    httpd.start()
    assert httpd.post("/deaf", "shop", b"x" * 30000000).status == 504
    pid, = httpd.pids(app, "busy", "hung")
    become(httpd, app, hung=1)
    assert httpd.get("/pid", "shop").text != str(pid)
    wait_until(lambda: not alive(pid), "it is killed", 60)
    assert not httpd.log.matching("is done with a request")
    httpd.check()


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_it_goes_on(httpd: Httpd) -> None:
    """When the process has finished the request, it gets other requests at
    once. No other process was started."""
    app = httpd.app("shop", *SILENT, "AppHungAfter 15", "AppHungExtra 0")
    httpd.start()
    held = httpd.hold("shop", "a")
    pid = held.pid
    assert held.pending.result().status == 504
    waiter = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.group(app)["queue"] == 0
               and httpd.group(app)["size"] == 2, "another is started")
    assert waiter.result().text != str(pid)
    become(httpd, app, hung=1, idle=1)
    held.go.touch()
    become(httpd, app, idle=2)
    counters = httpd.status()["counters"]
    assert (counters["hung"], counters["unhung"]) == (1, 1)
    httpd.log.wait_for("is done with an abandoned request")
    assert httpd.group(app)["requests"] == []
    httpd.check()


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_response_breaks_off(httpd: Httpd) -> None:
    app = httpd.app("shop", *SILENT, f"AppSetEnv GO {httpd.dir}/go",
                    program="long_lived.py")
    httpd.start()
    with pytest.raises(Exception, match="(?i)incomplete|reset|closed"):
        httpd.get("/text", "shop")
    become(httpd, app, busy=1)
    pid, = httpd.pids(app, "busy")
    assert httpd.get("/", "shop").text != str(pid)
    (httpd.dir / "go").touch()
    become(httpd, app, idle=2)
    httpd.check()


@pytest.mark.parametrize("kind", ["", "&type=text/event-stream", "&accel=no"])
def test_client_leaves_during_the_response(httpd: Httpd, kind: str) -> None:
    """The app does not know that, and still works on the request. Another
    process gets the next request. The same is true for a response that
    lasts."""
    app = httpd.app("shop", "MaxInstances 2")
    httpd.start()
    hold = httpd.dir / "hold"
    with Raw(httpd.port, f"GET /parts?n=100000&keys=a,b&stubborn=1{kind} "
             "HTTP/1.1\r\nHost: shop\r\n\r\n".encode()):
        wait_until((hold / "a.held").exists, "a part is sent")
        busy, = httpd.pids(app, "busy")
    (hold / "a.go").touch()
    wait_until((hold / "b.held").exists, "so is another")
    wait_until(lambda: [one["abandoned"] for one
                        in httpd.group(app)["requests"]] == [True],
               "httpd has noticed that the client has left")
    assert httpd.get("/pid", "shop").text != str(busy)
    (hold / "b.go").touch()
    become(httpd, app, idle=2)
    httpd.check()


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_as_many_abandoned_as_it_serves_at_once(httpd: Httpd) -> None:
    """If an app uses threads, only the threads that hang are lost."""
    app = httpd.app("shop", *SILENT, "AppConcurrency 3", "MaxInstances 1",
                    "AppSetEnv APP_THREADS 1")
    httpd.start()
    held = [httpd.hold("shop", f"key{n}") for n in range(2)]
    pid, = {one.pid for one in held}
    for one in held:
        assert one.pending.result().status == 504
    process, = httpd.group(app)["processes"]
    assert process["sessions"] == 2
    assert httpd.get("/pid", "shop").text == str(pid)
    for n in (1, 0):
        held[n].go.touch()
        wait_until(lambda: httpd.group(app)["processes"][0]["sessions"] == n,
                   "one more is done")
    httpd.check()


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_it_keeps_no_process_that_has_to_end(httpd: Httpd) -> None:
    """A process that has to end ends at once, because no client waits for
    it."""
    app = httpd.app("shop", *SILENT, "AppStopTimeout 1")
    httpd.start()
    pid = abandon(httpd, app)
    app.touch()
    assert httpd.get("/pid", "shop").status == 200
    wait_until(lambda: not alive(pid), "it is ended")
    httpd.check()


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_abandoned_request_gives_way_to_another_app(httpd: Httpd) -> None:
    """A pool full of abandoned requests still serves other apps."""
    httpd.directives += ["MaxPoolSize 2"]
    app = httpd.app("shop", *SILENT, "AppStopTimeout 1")
    httpd.app("blog")
    httpd.log.expect(sentences.NO_BACKEND, sentences.SILENT)
    httpd.start()
    pids = {abandon(httpd, app), abandon(httpd, app)}
    assert len(pids) == 2
    assert httpd.get("/pid", "blog").status == 200
    evicted, = [one["pid"] for one in httpd.events("evicted")]
    assert evicted in pids
    wait_until(lambda: not alive(evicted), "it is ended")
    assert httpd.pids(app, "busy", "hung") == list(pids - {evicted})
    httpd.check()


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_the_spawner_dies(httpd: Httpd) -> None:
    """The next spawner also sees when the app has finished the request."""
    app = httpd.app("shop", *SILENT)
    httpd.start()
    held = httpd.hold("shop", "a")
    assert held.pending.result().status == 504
    httpd.log.expect(sentences.NO_BACKEND, sentences.SILENT)
    old = httpd.spawner_now()
    procs.send(old, signal.SIGKILL)
    wait_until(lambda: httpd.spawner_now() not in (0, old), "another is there")
    become(httpd, app, busy=1)
    held.go.touch()
    become(httpd, app, idle=1)
    httpd.check()


def test_connections_that_others_keep(httpd: Httpd) -> None:
    """A child process of the app has inherited a connection. That is not a
    request."""
    app = httpd.app("shop", *SILENT, "AppHungAfter 9", "MaxInstances 1")
    httpd.start()
    assert httpd.get("/fork", "shop").status == 200
    held = httpd.hold("shop", "a")
    pid = held.pid
    assert held.pending.result().status == 504
    become(httpd, app, hung=1)  # connections have been counted until then
    held.go.touch()
    become(httpd, app, idle=1)
    assert httpd.get("/pid", "shop").text == str(pid)
    httpd.check()


@pytest.fixture(params=SERVERS)
def place(httpd: Httpd, request: pytest.FixtureRequest) -> Iterator[Place]:
    first, *_ = mount(httpd, SERVERS[request.param], *SILENT)
    httpd.start()
    yield first


def session_of(pid: int) -> list[int]:
    found = {one: stat(one) for one in pids()}
    return [one for one, now in found.items() if now and now.sid == pid]


@pytest.mark.one_mpm("it is about the app's server")
def test_all_servers(place: Place) -> None:
    httpd = place.httpd
    app = httpd.apps[0]
    wait_until(lambda: place.get("/echo").status == 200, "it serves")
    become(httpd, app, idle=1)
    pid, = httpd.pids(app)
    stopped = session_of(pid)
    for one in stopped:
        os.kill(one, signal.SIGSTOP)
    try:
        wait_until(lambda: all(threads(one) == {"T"} for one in stopped),
                   "all have stopped")
        assert place.get("/echo").status == 504
        become(httpd, app, busy=1)
    finally:
        for one in stopped:
            os.kill(one, signal.SIGCONT)
    become(httpd, app, idle=1)
    assert place.get("/echo").status == 200
    httpd.check()
