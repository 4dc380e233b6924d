# Licensed under the Apache License, Version 2.0; see LICENSE.
"""SetHandler apppool-health: what a load balancer asks."""
import json
import os
import signal

import pytest

from harness import sentences
from harness.client import Response
from harness.httpd import Httpd
from harness.procs import freeze, kill9
from harness.segment import LOCK, Segment
from harness.users import as_user
from harness.wait import wait_until

PATH = "/apppool-health"


@pytest.fixture(autouse=True)
def health(httpd: Httpd) -> None:
    httpd.directives += [f'<Location "{PATH}">', "SetHandler apppool-health",
                         "</Location>"]


def word(httpd: Httpd, query: str = "", host: str = "status") -> str:
    """Its word, which has to agree with its status."""
    response = httpd.get(PATH + query, host)
    assert response.text.endswith("\n")
    found = response.text[:-1]
    assert response.status == {"ok": 200, "unknown": 404,
                               "too many": 400}.get(found, 503)
    return found


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_response(httpd: Httpd) -> None:
    """It starts no process and needs none, also below an AppRoot. HEAD and
    OPTIONS get the same, because balancers send them."""
    app = httpd.app("shop")
    httpd.start()
    for host in ("status", "shop"):
        for method in ("GET", "HEAD", "OPTIONS"):
            response: Response = httpd.request(method, PATH, host)
            assert response.status == 200
            assert response.text == ("" if method == "HEAD" else "ok\n")
            assert response.headers["Cache-Control"] == "no-store"
            assert response.headers["Content-Type"].startswith("text/plain")
        assert httpd.request("POST", PATH, host, b"x").status == 405
    assert httpd.group(app)["processes"] == []
    assert httpd.ctl("out").returncode == 0
    for method in ("GET", "HEAD", "OPTIONS"):
        assert httpd.request(method, PATH).status == 503
    assert httpd.requests_seen() == []


@pytest.mark.mpms("event")
def test_names(httpd: Httpd) -> None:
    """An app has its AppGroupName or its short name. Each of the apps that are
    named has to be well. Without a name, one app is enough."""
    for name in ("shop", "blog"):
        httpd.app(name)
    httpd.app("news", 'AppGroupName "the news & more"')
    httpd.start()
    assert word(httpd) == "ok"
    assert httpd.ctl("drain", "shop").returncode == 0
    assert word(httpd) == "ok"
    assert word(httpd, "?app=shop") == "drained"
    assert word(httpd, "?app=blog") == "ok"
    assert word(httpd, "?app=the+news+%26%20more") == "ok"
    assert word(httpd, "?app=blog&app=shop") == "drained"
    assert word(httpd, "?app=shop&app=blog", "blog") == "drained"
    for query in ("?app=", "?app=shopp", "?app", "?App=shop", "?app=%zz",
                  "?app=shop&app=none", "?app=shop&x=1", "?json"):
        assert word(httpd, query) == "unknown", query
    assert httpd.ctl("out").returncode == 0
    assert word(httpd, "?app=none") == "unknown"
    assert word(httpd, "?app=blog") == "out"
    assert httpd.ctl("in").returncode == 0
    for name in ("blog", "news"):
        assert httpd.ctl("drain", str(httpd.dir / name)).returncode == 0
    assert word(httpd) == "drained"


@pytest.mark.mpms("event")
def test_many_names(httpd: Httpd) -> None:
    """Anybody may ask, so the work of one request has a limit."""
    httpd.app("shop")
    httpd.start()
    assert word(httpd, "?" + "&".join(["app=shop"] * 64)) == "ok"
    assert word(httpd, "?" + "&".join(["app=shop"] * 65)) == "too many"
    assert word(httpd, "?" + "&".join(["app=none"] * 65)) == "unknown"
    assert httpd.ctl("out").returncode == 0
    assert word(httpd, "?" + "&".join(["app=shop"] * 65)) == "too many"


@pytest.mark.mpms("event")
def test_stuck_lock(httpd: Httpd) -> None:
    """With many apps the response comes as soon as with one: a balancer waits
    only some seconds for it."""
    for n in range(100):
        httpd.app(f"app{n}")
    httpd.start()
    assert word(httpd) == "ok", "a child has joined the pool"
    spawner = httpd.helper("spawner")
    freeze(spawner)  # it would free the lock
    with Segment(httpd) as segment:
        segment.write_word(LOCK, httpd.pid)
        response = httpd.get(PATH, "status", timeout=25)
        segment.write_word(LOCK, 0)
    assert (response.status, response.text) == (503, "broken\n")
    os.kill(spawner, signal.SIGCONT)
    wait_until(lambda: word(httpd) == "ok", "the lock is free")


@pytest.mark.mpms("event")
def test_without_an_app(httpd: Httpd) -> None:
    """There is no pool, and nothing to refuse."""
    httpd.start()
    assert word(httpd) == "ok"
    assert word(httpd, "?app=shop") == "unknown"


@pytest.mark.one_mpm("the spawner ends it or starts it")
def test_full(httpd: Httpd) -> None:
    """Until there is room in the queue again."""
    httpd.log.expect(sentences.QUEUE_FULL)
    app = httpd.app("shop", "MaxInstances 1", "AppMaxQueue 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    assert word(httpd) == "ok"
    waiting = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.group(app)["queue"] == 1, "one waits")
    assert word(httpd) == word(httpd, "?app=shop") == "full"
    assert httpd.get("/pid", "shop").status == 503
    assert held.release().status == 200
    assert waiting.result().status == 200
    assert word(httpd) == "ok"


@pytest.mark.mpms("event")
def test_failing(httpd: Httpd) -> None:
    """While the app does not start. Its minimum is tried again without a
    request, so a repair is noticed without one."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "MinInstances 1")
    broken = httpd.dir / "broken"
    app.command = f"/bin/sh -c 'test ! -e {broken} && exec {app.command}'"
    broken.touch()
    httpd.start()
    assert word(httpd) == "ok"  # nobody knows it yet
    assert httpd.get("/pid", "shop").status in (502, 503)
    assert word(httpd, "?app=shop") == "failing"
    httpd.log.wait_for(sentences.NOT_STARTED, 3)
    assert word(httpd) == "failing"
    broken.unlink()
    wait_until(lambda: word(httpd) == "ok", "a try has a success")
    assert httpd.requests_seen() == []
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.mpms("event")
def test_ready(httpd: Httpd) -> None:
    """A balancer that asks for it sends no request to an app that has no process
    yet: its start may fail, or take long."""
    httpd.log.expect(sentences.DIED)
    app = httpd.app("shop", "AppPreStart On", "MinInstances 1")
    blocked, waits = httpd.dir / "blocked", httpd.dir / "waits"
    waits.write_text(f'#!/bin/sh\nwhile test -e {blocked}; do sleep 0.1; done\n'
                     'exec "$@"\n')
    waits.chmod(0o755)
    app.command = f"{waits} {app.command}"
    httpd.app("blog")
    blocked.touch()
    httpd.start()
    assert word(httpd, "?app=shop") == "ok"
    for query in ("?ready", "?ready&app=shop", "?ready&app=blog"):
        assert word(httpd, query) == "starting"
    for query in ("?app=shop&ready", "?readyapp=shop", "?ready&app=none",
                  "?ready&ready"):
        assert word(httpd, query) == "unknown"
    blocked.unlink()
    wait_until(lambda: word(httpd, "?ready&app=shop") == "ok", "it has started")
    assert word(httpd, "?ready") == "ok"
    assert word(httpd, "?ready&app=shop&app=blog") == "starting"
    assert httpd.requests_seen() == []
    blocked.touch()
    process, = httpd.pids(app)
    kill9(process)
    wait_until(lambda: word(httpd, "?ready") == "starting", "it is dead")
    blocked.unlink()
    wait_until(lambda: word(httpd, "?ready") == "ok", "there is another one")


@pytest.mark.mpms("event")
def test_out(httpd: Httpd) -> None:
    """A host that is out serves requests. It stays out when the spawner is
    killed and in a graceful restart, and is in after a restart."""
    httpd.log.expect(sentences.SPAWNER_KILLED)
    httpd.app("shop")
    httpd.start()
    done = httpd.ctl("out")
    assert done.returncode == 0
    assert done.stdout.startswith("this host is out: ")
    assert httpd.ctl("out").returncode == 0
    httpd.log.wait_for("this host is out: ")
    assert word(httpd) == word(httpd, "?app=shop") == "out"
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.status()["pool"]["out"] is True
    assert "this host is out" in httpd.ctl("status").stdout
    assert "this host is out" in httpd.get("/apppool-status").text
    assert "\napppool_pool_out 1\n" in httpd.get(
        "/apppool-status?metrics").text
    kill9(httpd.helper("spawner"))
    httpd.graceful()
    assert word(httpd) == "out"
    wait_until(lambda: httpd.ctl("in").returncode == 0, "a spawner runs")
    assert word(httpd) == "ok"
    assert len(httpd.log.matching("this host is out: ")) == 1
    httpd.log.wait_for("this host is in again")
    assert httpd.ctl("out").returncode == 0
    httpd.restart()
    assert word(httpd) == "ok"
    assert httpd.status()["pool"]["out"] is False
    assert "\napppool_pool_out 0\n" in httpd.get(
        "/apppool-status?metrics").text


@pytest.mark.mpms("event")
def test_only_root(httpd: Httpd) -> None:
    """The user of an app cannot take a host out."""
    httpd.app("shop", "AppUser games")
    httpd.start()
    for verb in ("out", "in"):
        done = as_user(httpd, "games", "--json", verb)
        assert done.returncode == 1
        assert json.loads(done.stdout) == {
            "error": f"only root may use {verb}"}
    assert word(httpd) == "ok"
