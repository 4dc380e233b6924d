# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apachectl graceful keeps segment, helpers and apps (acceptance B3)."""
from harness.httpd import Httpd
from harness.procs import alive
from harness.threads import Threads
from harness.wait import wait_until


def test_everything_stays(httpd: Httpd) -> None:
    app = httpd.app("shop")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(2)]
    for one in held:
        one.release()
    pids = httpd.pids(app)
    helpers = httpd.helper("watchdog"), httpd.helper("spawner")
    httpd.note_segments()
    segments = set(httpd.segments)
    assert len(segments) == 1
    for _ in range(3):
        httpd.graceful()
        assert httpd.get("/pid", "shop").status == 200
    assert httpd.pids(app) == pids
    assert (httpd.helper("watchdog"), httpd.helper("spawner")) == helpers
    httpd.note_segments()
    assert httpd.segments == segments
    httpd.check()


def test_open_request_is_finished(httpd: Httpd) -> None:
    app = httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    httpd.graceful()
    new = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=2)
    assert held.release().status == 200
    assert waiting.result().text == new.result().text == str(held.pid)
    assert httpd.pids(app) == [held.pid]


def test_no_request_fails(httpd: Httpd) -> None:
    """B3 in a short form: clients without a pause, and graceful again and
    again."""
    app = httpd.app("shop", "MaxInstances 2", "MinInstances 2")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    pids = httpd.pids(app)
    with Threads(httpd, "shop", 8, pause=0) as clients:
        for _ in range(4):
            httpd.graceful()
            clients.more(50)
    assert clients.failed == []
    assert clients.good > 200
    assert httpd.pids(app) == pids


def test_new_options_apply(httpd: Httpd) -> None:
    app = httpd.app("shop", "MinInstances 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    app.directives[0] = "MinInstances 3"
    httpd.graceful()
    wait_until(lambda: len(httpd.pids(app)) == 3, "the new minimum")
    assert pid in httpd.pids(app)
    app.directives[0] = "MinInstances 1"
    httpd.directives.append("MaxPoolSize 1")
    httpd.graceful()
    httpd.settles(active=0, count=1)


def test_removed_app_drains(httpd: Httpd) -> None:
    """Its processes end, and its open requests are finished."""
    blog = httpd.app("blog")
    shop = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    held = httpd.hold("blog", "a")
    other = int(httpd.get("/pid", "blog").text)
    httpd.apps.remove(blog)
    httpd.graceful()
    wait_until(lambda: not alive(other), "its idle process ends")
    assert alive(held.pid)
    assert held.release().status == 200
    wait_until(lambda: not alive(held.pid), "its busy process ends")
    assert httpd.pids(shop) == [pid]
    httpd.settles(active=0, count=1)


def test_last_app_is_removed(httpd: Httpd) -> None:
    """httpd serves what else it has, and the app later when it is back."""
    shop = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    httpd.apps.remove(shop)
    httpd.graceful()
    wait_until(lambda: not alive(pid), "its process ends")
    for _ in range(3):
        assert httpd.get("/nothing").status == 404
    httpd.apps.append(shop)
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 200


def test_added_app(httpd: Httpd) -> None:
    shop = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    httpd.app("blog")
    httpd.graceful()
    assert httpd.get("/who", "blog").text.startswith("blog ")
    assert httpd.pids(shop) == [pid]
    httpd.settles(active=0, count=2)


def test_changed_command(httpd: Httpd) -> None:
    """New processes serve within the boot time."""
    httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    httpd.apps[0].directives.append("AppSetEnv CHANGED yes")
    httpd.graceful()
    wait_until(lambda: httpd.get("/process", "shop").json()["environment"]
               .get("CHANGED") == "yes", "the new environment")
    wait_until(lambda: not alive(pid), "the old process ends")
    httpd.settles(active=0, count=1)


def test_hard_restart_starts_afresh(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    httpd.note_segments()
    httpd.restart()
    assert not alive(pid)
    response = httpd.get("/pid", "shop")
    assert response.status == 200 and response.text != str(pid)
    httpd.settles(active=0, count=1)


def test_two_httpds_never_meet(hosts: list[Httpd]) -> None:
    """Each has a pool of its own, also with one DefaultRuntimeDir. The end of
    one does not touch the other."""
    httpd, other = hosts
    for one in hosts:
        one.directives = [f'DefaultRuntimeDir "{httpd.dir}/run"']
        one.app("shop")
        one.start()
    first = httpd.get("/pid", "shop").text
    second = other.get("/pid", "shop").text
    assert first != second
    assert len(list((httpd.dir / "run").glob("apppool-*"))) == 2
    other.stop()
    assert other.remains() == []
    assert not alive(int(second))
    assert httpd.get("/pid", "shop").text == first
