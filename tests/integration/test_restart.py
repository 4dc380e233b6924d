# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Deploying by touch, all processes at once: acceptance A6, A7, A11, A12."""
import os

import pytest

from harness import procs, template
from harness.config import App
from harness.httpd import Httpd
from harness.late import Late
from harness.preloaded import preload
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the pool restarts the app, and both ask it")


@pytest.fixture(autouse=True)
def blocking(httpd: Httpd) -> None:
    httpd.directives.append("AppRestartMode blocking")


def pid_of(httpd: Httpd, host: str) -> int:
    response = httpd.get("/pid", host)
    assert response.status == 200
    return int(response.text)


def test_created_restarts_all(httpd: Httpd) -> None:
    """A6: created while two processes are idle. The count is 1 after the next
    request."""
    app = httpd.app("shop")
    httpd.start()
    one, two = httpd.hold("shop", "1"), httpd.hold("shop", "2")
    one.release()
    two.release()
    httpd.settles(active=0, count=2)
    file = app.touch()
    assert pid_of(httpd, "shop") not in (one.pid, two.pid)
    httpd.settles(active=0, count=1)
    assert file.exists()
    wait_until(lambda: not alive(one.pid) and not alive(two.pid),
               "the old ones are gone")


def test_old_restart_txt_restarts_nothing(httpd: Httpd) -> None:
    """A6: a file from before the start restarts nothing"""
    app = httpd.app("shop")
    app.touch()
    httpd.start()
    pids = {pid_of(httpd, "shop") for _ in range(4)}
    assert len(pids) == 1


def test_before_the_first_request(httpd: Httpd) -> None:
    """A process that was started before all requests is older than the
    change."""
    app = httpd.app("shop", "AppPreStart On", "MinInstances 1")
    httpd.start()
    old, = wait_until(lambda: httpd.pids(app), "it is started")
    app.touch()
    assert pid_of(httpd, "shop") != old
    assert len({pid_of(httpd, "shop") for _ in range(4)}) == 1


# The time of day of httpd and of its spawner, moved by what a file says.
CLOCK = """
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static time_t moved(void)
{
    long by = 0;
    FILE *f = fopen("%s", "r");

    if (f && fscanf(f, "%%ld", &by) != 1)
        by = 0;
    if (f)
        fclose(f);
    return by;
}
int clock_gettime(clockid_t id, struct timespec *t)
{
    int rv = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_REALTIME)
        t->tv_sec += moved();
    return rv;
}
int gettimeofday(struct timeval *t, void *zone)
{
    int rv = (int)syscall(SYS_gettimeofday, t, zone);

    t->tv_sec += moved();
    return rv;
}
"""


def restarts_once(httpd: Httpd, app: App, old: int) -> None:
    assert pid_of(httpd, app.name) != old, app.name
    assert len({pid_of(httpd, app.name) for _ in range(4)}) == 1, app.name


def test_clock_that_is_set_before_the_first_request(httpd: Httpd) -> None:
    """Processes that AppPreStart has started, and the clock is set after the
    deployment, or a file that is no deployment is there. One of them is forked
    by a template, one is adopted by another spawner."""
    ahead = ("AppPreStart On", "MinInstances 1")
    clock = httpd.dir / "clock"
    preload(httpd, CLOCK % clock)
    names = ("later", "earlier", "left", "left-too", "adopted")
    apps = {name: httpd.app(name, *ahead) for name in names}
    apps["forked"] = template.add(httpd, "", *ahead, name="forked")
    for name in ("left", "left-too", "adopted"):
        apps[name].touch()
    httpd.start()
    old = {name: wait_until(lambda: httpd.pids(app), f"{name} is started")[0]
           for name, app in apps.items()}
    apps["later"].touch()
    apps["forked"].touch()
    clock.write_text("3600")
    restarts_once(httpd, apps["later"], old["later"])
    restarts_once(httpd, apps["forked"], old["forked"])
    assert pid_of(httpd, "left") == old["left"]
    apps["earlier"].touch()
    clock.write_text("-3600")
    restarts_once(httpd, apps["earlier"], old["earlier"])
    assert pid_of(httpd, "left-too") == old["left-too"]
    kill9(httpd.helper("spawner"))
    httpd.log.wait_for(rf"adopted\[{old['adopted']}\] is adopted")
    os.utime(apps["adopted"].root / "tmp" / "restart.txt", (1000, 1000))
    restarts_once(httpd, apps["adopted"], old["adopted"])


@pytest.mark.mpms("prefork", "event")
def test_touched_restarts_once(httpd: Httpd) -> None:
    """A6: newer and older times alike, once over all httpd children"""
    app = httpd.app("shop")
    file = app.touch()
    httpd.start()
    seen = [pid_of(httpd, "shop")]
    for when in (None, (1000, 1000), (2000000000, 2000000000)):
        os.utime(file, when)
        responses = {pid_of(httpd, "shop") for _ in range(12)}
        assert len(responses) == 1, "exactly one restart"
        assert not responses & set(seen)
        seen += responses


def test_directory_counts(httpd: Httpd) -> None:
    """A6: a directory of that name has the same effect"""
    app = httpd.app("shop")
    httpd.start()
    pid = pid_of(httpd, "shop")
    (app.root / "tmp" / "restart.txt").mkdir()
    new = pid_of(httpd, "shop")
    assert new != pid
    assert pid_of(httpd, "shop") == new


@pytest.mark.parametrize("kind", ["file", "directory"])
def test_always_restart(httpd: Httpd, kind: str) -> None:
    """A7: a new pid at each get, count 1"""
    app = httpd.app("shop")
    always = app.root / "tmp" / "always_restart.txt"
    always.touch() if kind == "file" else always.mkdir()
    app.touch()
    httpd.start()
    pids = [pid_of(httpd, "shop") for _ in range(3)]
    assert len(set(pids)) == 3
    httpd.settles(active=0, count=1)
    assert always.exists() and (app.root / "tmp" / "restart.txt").exists()


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_restart_dir(httpd: Httpd, kind: str) -> None:
    """A7: AppRestartDir"""
    place = httpd.dir / "deploy" if kind == "absolute" else \
        httpd.dir / "shop" / "deploy"
    name = str(place) if kind == "absolute" else "deploy"
    httpd.app("shop", f"AppRestartDir {name}")
    place.mkdir()
    httpd.start()
    pid = pid_of(httpd, "shop")
    (place / "restart.txt").touch()
    assert pid_of(httpd, "shop") != pid


def test_restarts_only_its_app(httpd: Httpd) -> None:
    """A11: max 1; A, B, touch A's restart.txt, A"""
    httpd.directives.append("MaxPoolSize 1")
    a = httpd.app("a")
    httpd.app("b")
    httpd.start()
    first = pid_of(httpd, "a")
    pid_of(httpd, "b")
    a.touch()
    assert pid_of(httpd, "a") != first
    httpd.settles(active=0, count=1)
    assert httpd.status()["counters"]["restarts"] == 1


def test_busy_process_finishes_first(httpd: Httpd) -> None:
    """A12: a detached busy process lives until its session closes, and is gone
    within a second after that."""
    app = httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    app.touch()
    assert pid_of(httpd, "shop") != held.pid
    assert httpd.pids(app, "leaving") == [held.pid]
    httpd.settles(active=0, count=1)
    assert alive(held.pid)
    with Late(*procs.marked(str(httpd.dir))) as late:
        assert held.release().text == str(held.pid)
        wait_until(lambda: not alive(held.pid), "it is gone")
    late.within(1)
    wait_until(lambda: httpd.pool("leaving") == 0, "it is forgotten")
    httpd.settles(active=0, count=1)


def test_app_retires_itself(httpd: Httpd) -> None:
    """STOPPING=1: the process gets no new request, and ends when it wants."""
    httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/stopping", "shop").text)
    wait_until(lambda: httpd.pool("count") == 0, "it is out of the pool")
    assert pid_of(httpd, "shop") != pid
    wait_until(lambda: not alive(pid), "it is gone")
    httpd.log.wait_for(rf"shop\[{pid}\] ended: ")  # not the line of a death


def test_check_interval(httpd: Httpd) -> None:
    """AppRestartCheckInterval: the files are checked once in this time, and no
    more often."""
    app = httpd.app("shop", "AppRestartCheckInterval 3600")
    httpd.start()
    pid = pid_of(httpd, "shop")
    app.touch()
    assert {pid_of(httpd, "shop") for _ in range(3)} == {pid}
