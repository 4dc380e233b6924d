# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app whose processes end as soon as they are ready, while requests wait:
from the second one in a row on, that is a failed start. A URL that ends its
process does not stop the other requests of its app."""
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from harness import procs, sentences, template
from harness.client import UPGRADE
from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import kill9
from harness.threads import Threads
from harness.wait import wait_until
from missed import witnesses

pytestmark = pytest.mark.one_mpm("the pool and the spawner decide")

# How it ends, and directives. Over FastCGI nobody reads what it says.
WAYS = {"request": (), "later": (), "close": (), "stopping": (),
        "deaf": (),
        "fcgi": ("AppProtocol fcgi",),
        "threads": ("AppConcurrency 0", "AppSetEnv MORTAL_THREADS 1")}
HEALTH = "/apppool-health"
REFUSED = "refused a connection"
FATAL = 20  # requests that end their process: about three seconds


def mortal(httpd: Httpd, name: str, how: str, *directives: str) -> App:
    """An app that ends early while the file `mortal` exists."""
    (httpd.dir / "mortal").touch()
    httpd.log.expect(sentences.DIED_OTHERWISE, sentences.NO_RESPONSE,
                     sentences.START_ERROR,
                     rf"deaf\[\d+\] {REFUSED} as soon as it was ready")
    return httpd.app(name, f"AppSetEnv MORTAL {how}", "AppFriendlyErrors On",
                     f"AppSetEnv MORTAL_IF {httpd.dir}/mortal", *directives,
                     program="mortal.py")


def early_ends(httpd: Httpd, name: str) -> list[datetime]:
    """When an early end was logged that counts as a failed start."""
    return [datetime.strptime(line[1:line.index("]")],
                              "%a %b %d %H:%M:%S.%f %Y")
            for line in httpd.log.matching(
                rf"{name}\[\d+\] ((died|ended by itself): .*,|"
                rf"{REFUSED}) as soon as it was ready \(error id ")]


def state(httpd: Httpd, app: App) -> str:
    return str(httpd.group(app)["state"])


def word(httpd: Httpd, app: App) -> str:
    return httpd.get(f"{HEALTH}?app={app.name}").text.strip()


def says_why(httpd: Httpd, app: App) -> bool:
    """A request that no process has seen gets a page about the last one."""
    response = httpd.get("/pid", app.name, headers={"Accept": "text/html"})
    assert response.status in (502, 503)
    return b"Staying alive" in response.body and b"I am mortal" in response.body


def test_backs_off(httpd: Httpd) -> None:
    """Whatever the process does with the request that it has, and whoever
    notices its end first. Otherwise it would be started twenty times a
    second."""
    httpd.directives += [f'<Location "{HEALTH}">', "SetHandler apppool-health",
                         "</Location>", "MaxPoolSize 20"]
    apps = [mortal(httpd, name, name if not more else "later",
                   "MaxInstances 1", *more) for name, more in WAYS.items()]
    httpd.start()

    def ends() -> bool:
        seen = [httpd.get_async("/pid", app.name) for app in apps * 2]
        assert {one.result().status for one in seen} <= {502, 503}
        return all(len(early_ends(httpd, app.name)) >= 2 for app in apps)

    wait_until(ends, "each app has failed twice", 60)
    for app in apps:
        when = early_ends(httpd, app.name)
        assert all((b - a).total_seconds() > 1 - 0.05
                   for a, b in zip(when, when[1:])), app.name
        # The first one is free, or two if the machine was slow.
        assert len(httpd.log.matching(rf"{app.name}\[\d+\] starts as")) < 10
        assert state(httpd, app) == "failing", app.name
        wait_until(lambda: says_why(httpd, app), "no try in this moment")
        wait_until(lambda: httpd.get("/pid", app.name) and
                   word(httpd, app) == "failing", "its health says so, too")
    (httpd.dir / "mortal").unlink()
    apps = [app for app in apps if app.name != "fcgi"]
    for app in apps:
        wait_until(lambda: httpd.get("/pid", app.name).status == 200,
                   f"{app.name} is back", 60)
        assert state(httpd, app) == "running"
        assert word(httpd, app) == "ok"


def test_one_response_each(httpd: Httpd) -> None:
    """Each process ends with its response. That is no early end, whatever
    httpd makes of the response."""
    statuses = {"http": 200, "scgi": 200, "sorry": 500, "elsewhere": 200,
                "upgrade": 101}
    apps = [mortal(httpd, "http", "served"),
            mortal(httpd, "scgi", "served", "AppProtocol scgi"),
            mortal(httpd, "sorry", "sorry", "AppProtocol scgi",
                   "ProxyErrorOverride On", 'ErrorDocument 500 "own"'),
            mortal(httpd, "elsewhere", "elsewhere", "AppProtocol scgi"),
            mortal(httpd, "upgrade", "upgrade")]
    for app in apps:
        app.put({"public/file": "text"})
    httpd.start()
    for app in apps * 4:
        response = httpd.get("/pid", app.name, headers=UPGRADE)
        assert response.status == statuses[app.name], app.name
    for app in apps:
        wait_until(lambda: len(httpd.log.matching(
            rf"{app.name}\[\d+\] died: exit code 7$")) >= 4, "all have ended")
        assert state(httpd, app) != "failing", app.name


def test_a_forked_process(httpd: Httpd) -> None:
    """It dies in its first request."""
    httpd.log.expect(*KILLED, sentences.START_ERROR)
    app = template.add(httpd, "", "MaxInstances 1")
    httpd.start()

    def ends() -> bool:
        assert httpd.get("/die", "shop").status == 502
        httpd.settles(active=0, count=0)
        return state(httpd, app) == "failing"

    wait_until(ends, "it backs off")
    assert httpd.get("/pid", "shop").status == 503
    assert len(early_ends(httpd, "shop")) == 1
    assert template.logged(httpd, template.FORKED)


def test_a_neighbour_keeps_its_process(httpd: Httpd) -> None:
    """In a pool of one place: the tries stand above the limit, until one of
    them has responded."""
    httpd.directives.append("MaxPoolSize 1")
    mortal(httpd, "shop", "request")
    httpd.app("blog")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 502
    with Threads(httpd, "blog", 1) as neighbour:
        wait_until(lambda: httpd.get("/pid", "shop") and
                   early_ends(httpd, "shop"), "it ends early")
        neighbour.more()
    assert neighbour.failed == []
    assert len(neighbour.names()) == 1
    (httpd.dir / "mortal").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it is back")
    httpd.settles(active=0, count=1)


def test_one_url_that_ends_its_process(httpd: Httpd) -> None:
    """Again and again, and often two processes in a row: a GET request is sent
    again, because the process has read only a part of it. Nobody else gets an
    error."""
    httpd.log.expect(*KILLED)
    httpd.directives.append("MaxPoolSize 20")
    reads = ("AppSetEnv READS 512",)
    apps = [httpd.app("one", "MaxInstances 1", *reads),
            httpd.app("many", *reads)]
    httpd.start()
    visitors = [Threads(httpd, app.name, 2) for app in apps]
    ended = threading.Event()
    statuses: list[int] = []
    witnesses.append(lambda: set(statuses) - {502})

    def poison(host: str, method: str) -> None:
        while not ended.wait(0.75):  # three clients send four in a second
            statuses.append(httpd.request(method, "/poison", host, headers={
                "Cookie": "c" * 3000}).status)

    with visitors[0], visitors[1], ThreadPoolExecutor(6) as clients:
        sent = [clients.submit(poison, app.name, method) for app in apps
                for method in ("GET", "POST", "GET")]
        try:
            wait_until(lambda: len(statuses) >= FATAL or
                       any(their.failed for their in visitors),
                       "processes have ended")
        finally:
            ended.set()
        for one in sent:
            one.result()
        for their in visitors:
            their.more(2)
    assert [their.failed for their in visitors] == [[], []]
    assert set(statuses) == {502}
    assert [state(httpd, app) for app in apps] == ["running"] * 2
    assert httpd.log.matching("as soon as it was ready") == []


def test_a_kill_costs_no_pause(httpd: Httpd) -> None:
    """Not even of a process that has served nothing yet."""
    httpd.log.expect(*KILLED)
    app = httpd.app("shop", "AppPreStart On", "MinInstances 1")
    httpd.start()
    first, = wait_until(lambda: httpd.pids(app), "it is there")
    wait_until(lambda: state(httpd, app) == "running", "it is ready")
    kill9(first)
    assert httpd.get("/pid", "shop").status == 200
    assert not procs.alive(first)
    assert httpd.log.matching("as soon as it was ready") == []
