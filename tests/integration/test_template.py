# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppPreload: a template loads the code, and the processes are forked from it.
test_template_failures.py has the failures."""
import time

import pytest

from harness import cgroups, procs, registry, sentences, template
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.threads import Threads
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(params=cgroups.WAYS, autouse=True)
def way(httpd: Httpd, request: pytest.FixtureRequest) -> None:
    """With cgroups and without."""
    httpd.wrapper = cgroups.wrapper(request.param)
    httpd.directives.append("LogLevel apppool:info")


def test_forked(httpd: Httpd) -> None:
    """It is a process like any other, with variables of its own."""
    app = template.add(httpd)
    httpd.start()
    one = template.who(httpd)
    assert one["forked"] == "1"
    assert one["pid"] == one["session"] == one["listen_pid"]
    assert one["listen_fds"] == "1" and one["listen_fdnames"] == "apppool"
    assert one["fork"] == ""
    shown, = httpd.group(app)["processes"]
    assert shown["pid"] == int(one["pid"])
    instance, _, number = one["id"].partition("-")
    assert number == shown["id"] and len(instance) == 16
    assert one["notify"].endswith("/n/" + number)
    is_now = template.ready(httpd, app)
    assert is_now["forked"] == 1
    found, = template.logged(httpd, template.FORKED)
    assert found[1] == one["pid"] and found[2] == str(is_now["pid"])
    httpd.check()


def test_the_mark_is_its_own(httpd: Httpd) -> None:
    app = template.add(httpd)
    httpd.start()
    one = template.who(httpd)
    environ = procs.read(int(one["pid"]), "environ").split(b"\0")
    assert f"APPPOOL_ID={one['id']}".encode() in environ
    of_template = procs.read(int(str(template.ready(httpd, app)["pid"])),
                             "environ").split(b"\0")
    assert f"APPPOOL_ID={one['id']}".encode() not in of_template
    httpd.check()


def test_output(httpd: Httpd) -> None:
    """What it prints has its own name."""
    template.add(httpd)
    httpd.start()
    pid = template.who(httpd, "/say/hello")["pid"]
    httpd.log.wait_for(rf"shop\[{pid}\]> hello")


def test_exit_code(httpd: Httpd) -> None:
    """The spawner is its parent, so its exit code is known. Another process
    comes from the same template."""
    app = template.add(httpd)
    httpd.log.expect(r"shop\[\d+\] died: exit code 7")
    httpd.start()
    one = template.who(httpd)
    template.who(httpd, "/exit/7")
    httpd.log.wait_for(rf"shop\[{one['pid']}\] died: exit code 7")
    two = template.who(httpd)
    assert two["forked"] == "1" and two["pid"] != one["pid"]
    assert template.ready(httpd, app)["forked"] == 2
    httpd.check()


def test_a_dead_one_has_no_socket(httpd: Httpd) -> None:
    """The template keeps all descriptors that it gets, also the socket. No
    request waits in the queue of that socket."""
    app = template.add(httpd, "keeps")
    httpd.log.expect(sentences.DIED)
    httpd.start()
    one = template.who(httpd)
    socket = httpd.runtime / "s" / one["id"].partition("-")[2]
    assert socket.exists()
    kill9(int(one["pid"]))
    wait_until(lambda: not socket.exists(), "it is removed")
    assert template.who(httpd)["pid"] != one["pid"]
    assert template.ready(httpd, app)["forked"] == 2


def test_max_requests(httpd: Httpd) -> None:
    """Each next process is forked from the same template."""
    app = template.add(httpd, "", "MaxRequests 3")
    httpd.start()
    seen = {template.who(httpd)["pid"] for _ in range(12)}
    assert len(seen) >= 4
    is_now = template.ready(httpd, app)
    assert int(str(is_now["forked"])) >= 4
    assert len(template.logged(httpd, template.READY)) == 1
    httpd.check()


def test_memory(httpd: Httpd) -> None:
    template.saves_memory(httpd, lambda preload: template.add(
        httpd, "", "MinInstances 4", "AppSetEnv BALLAST 20", name=preload,
        preload=preload))


@pytest.mark.parametrize("mode", ["rolling", "blocking"])
def test_restart(httpd: Httpd, mode: str) -> None:
    """No request fails, and after the restart no response comes from old
    code."""
    app = template.add(httpd, "", f"AppRestartMode {mode}", "MinInstances 2")
    httpd.start()
    old = template.who(httpd)
    with Threads(httpd, "shop", 3,
                 name=lambda r: str(r.headers["X-Version"])) as clients:
        clients.more()
        for version in "23":
            template.deploy(app, version)
            app.touch()
            wait_until(lambda v=version: httpd.get(
                "/pid", "shop").headers["X-Version"] == v, "the new code runs")
            wait_until(lambda: not [
                p for p in httpd.group(app)["processes"]
                if p["state"] == "leaving"] and
                httpd.group(app)["outdated"] == 0, "all of it", 60)
            seen = len(clients.responses[0])
            wait_until(lambda n=seen: len(clients.responses[0]) > n,
                       "the client has no response of before in hand")
            new = len(clients.responses[0])
            clients.more()
            assert set(clients.responses[0][new:]) <= {version}
    assert not clients.failed, clients.failed
    assert clients.names() == {"1", "2", "3"}
    now = template.who(httpd)
    assert now["forked"] == "1" and now["pid"] != old["pid"]
    assert len(template.logged(httpd, template.ENDS + "its code")) >= 2
    httpd.check()


def test_restart_before_the_first_request(httpd: Httpd) -> None:
    """The process is younger than the restart, and its template is not."""
    app = template.add(httpd, "", "AppPreStart On", "MinInstances 1",
                       "AppRestartMode blocking")
    httpd.log.expect(sentences.DIED)
    httpd.start()
    wait_until(lambda: len(httpd.pids(app)) == 1, "it is started")
    template.ready(httpd, app)
    pid, = httpd.pids(app)
    time.sleep(1.1)  # a process that dies within a second is started late
    template.deploy(app, "2")
    app.touch()
    kill9(pid)
    wait_until(lambda: httpd.pids(app) and pid not in httpd.pids(app),
               "another one")
    assert template.who(httpd)["version"] == "2"
    httpd.check()


def test_restart_while_it_loads(httpd: Httpd) -> None:
    """Its code is old before it is ready."""
    app = template.add(httpd, "", "AppSetEnv LOAD_MS 1000",
                       "AppRestartMode blocking")
    httpd.start()
    pending = httpd.get_async("/pid", "shop")
    wait_until(lambda: template.of(httpd, app), "it loads")
    template.deploy(app, "2")
    app.touch()
    assert httpd.get("/pid", "shop").headers["X-Version"] == "2"
    assert pending.result().status == 200
    httpd.check()


def test_broken_code(httpd: Httpd) -> None:
    """The old code continues to serve, and its processes are not ended."""
    app = template.add(httpd, "", "AppRestartMode rolling")
    httpd.log.expect(template.FOR_NOW, sentences.NOT_STARTED)
    httpd.start()
    one = template.who(httpd)
    template.deploy(app, "broken")
    app.touch()
    httpd.get("/pid", "shop")
    httpd.log.wait_for(sentences.NOT_STARTED)
    assert template.who(httpd)["pid"] == one["pid"]
    template.deploy(app, "3")
    app.touch()
    wait_until(lambda: template.who(httpd)["version"] == "3", "it is repaired",
               70)
    assert template.who(httpd)["forked"] == "1"


def test_always_restart(httpd: Httpd) -> None:
    """Each process loads its code, so there is no template."""
    app = template.add(httpd)
    (app.root / "tmp" / "always_restart.txt").touch()
    httpd.start()
    template.who(httpd)
    one = template.who(httpd)
    assert one["forked"] == "0" and one["fork"] == ""
    assert template.of(httpd, app) is None


def test_idle(httpd: Httpd) -> None:
    """One process needs no template, two do."""
    app = template.add(httpd, "", "AppPreloadIdleTime 200ms", "MinInstances 2",
                       "AppConcurrency 1")
    httpd.start()
    template.who(httpd)
    httpd.settles(active=0, count=2)
    first = template.ready(httpd, app)["pid"]
    time.sleep(0.6)
    assert template.ready(httpd, app)["pid"] == first
    app.directives = ["AppPreload On", "AppPreloadIdleTime 200ms",
                      "PoolIdleTime 1s", "MinInstances 1"]
    httpd.graceful()
    httpd.log.wait_for(template.ENDS + "nothing was forked for "
                       "AppPreloadIdleTime")
    wait_until(lambda: template.of(httpd, app) is None, "the status knows")
    assert template.who(httpd)["forked"] == "1"
    httpd.check()


def test_drained(httpd: Httpd) -> None:
    """An app without a process has no template either."""
    app = template.add(httpd)
    httpd.start()
    template.who(httpd)
    pid = int(str(template.ready(httpd, app)["pid"]))
    assert httpd.ctl("drain", "shop").returncode == 0
    wait_until(lambda: not alive(pid), "it ends")
    assert httpd.ctl("restart", "shop").returncode == 0
    assert template.who(httpd)["forked"] == "1"


@pytest.mark.parametrize("stays", [False, True])
def test_spawner_killed(httpd: Httpd, stays: bool) -> None:
    """Its processes continue to serve. The template ends with the spawner, or
    the next spawner ends it."""
    app = template.add(httpd, "stays" if stays else "", "AppStopTimeout 1")
    httpd.log.expect(sentences.SPAWNER_KILLED, sentences.DIED)
    httpd.start()
    one = template.who(httpd)
    old = int(str(template.ready(httpd, app)["pid"]))
    spawner = httpd.helper("spawner")
    kill9(spawner)
    wait_until(lambda: not alive(old), "it is gone")
    wait_until(lambda: httpd.spawner_now() not in (0, spawner), "another one")
    assert template.who(httpd)["pid"] == one["pid"]
    wait_until(lambda: template.of(httpd, app) is None, "the status says so")
    httpd.log.expect(r"shop\[\d+\] died")
    kill9(int(one["pid"]))
    wait_until(lambda: template.who(httpd)["pid"] != one["pid"], "another one")
    assert template.who(httpd)["forked"] == "1"
    assert template.ready(httpd, app)["pid"] != old
    httpd.check()


def test_stray_of_a_forked_one(httpd: Httpd) -> None:
    """Processes that it has started end with it. They are found by its cgroup,
    or by its own mark."""
    template.add(httpd)
    httpd.log.expect(sentences.DIED, sentences.CHILDREN_LEFT)
    httpd.start()
    one = template.who(httpd, "/stray")
    children = procs.children(int(one["pid"]))
    assert children
    kill9(int(one["pid"]))
    wait_until(lambda: not any(alive(pid) for pid in children), "it is gone")


@pytest.mark.parametrize("its", ["alive", "dead"])
def test_mark_of_the_template(httpd: Httpd, its: str) -> None:
    """It did not write its mark. It is adopted all the same, for its session is
    on record. The template need not be."""
    app = template.add(httpd, "no-mark")
    httpd.log.expect(sentences.SPAWNER_KILLED, template.DIED)
    httpd.start()
    one = template.who(httpd)
    assert one["seen"] != one["id"]
    if its == "dead":
        pid = int(str(template.ready(httpd, app)["pid"]))
        kill9(pid)
        wait_until(lambda: pid not in {record["pid"] for record in
                                       registry.read(httpd.runtime / "registry")},
                   "its record is empty")
    spawner = httpd.helper("spawner")
    kill9(spawner)
    wait_until(lambda: httpd.spawner_now() not in (0, spawner), "another one")
    httpd.log.wait_for(rf"shop\[{one['pid']}\] is adopted")
    time.sleep(1)
    assert template.who(httpd)["pid"] == one["pid"]
    httpd.check()
