# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Requests that take too long: their processes do not count as capacity
(Paste's thread pool: P4 to P13, P21)."""
import json

import pytest

from harness import procs
from harness.client import Raw
from harness.config import App
from harness.httpd import Held, Httpd
from harness.late import Late
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner looks at the pool")

HUNG = ("AppHungAfter 1", "AppKillAfter 0")


@pytest.mark.mpms("event")
def test_limits(httpd: Httpd) -> None:
    """The defaults: P4, P6, P14, P18"""
    httpd.app("shop")
    httpd.start()
    app = json.loads((httpd.runtime / "table").read_text().splitlines()[1])
    assert {key: app[key] for key in (
        "hung_after", "kill_after", "hung_stop_timeout", "spawn_if_under",
        "hung_extra", "unkillable_stop")} == {
            "hung_after": 30, "kill_after": 1800, "hung_stop_timeout": 10,
            "spawn_if_under": 0, "hung_extra": 2, "unkillable_stop": 0}


def states(httpd: Httpd, app: App) -> dict[str, int]:
    """The states in which there is a process, with their numbers. They add
    up."""
    group = httpd.group(app)
    if not group["processes"]:
        return {}
    found = {state: count for state, count in group["states"].items() if count}
    assert sum(found.values()) == len(group["processes"])
    return found


def become(httpd: Httpd, app: App, **want: int) -> None:
    wait_until(lambda: states(httpd, app) == want,
               f"its states are {want}", 40)


def holds(httpd: Httpd, first: int, last: int) -> list[Held]:
    return [httpd.hold("shop", f"key{n}") for n in range(first, last)]


@pytest.mark.mpms("prefork", "worker", "event")
def test_hung_process_recovers(httpd: Httpd) -> None:
    """P4: this is seen without another request. The process is back at once,
    and both changes are counted."""
    app = httpd.app("shop", *HUNG)
    httpd.start()
    held = httpd.hold("shop", "a")
    become(httpd, app, hung=1)
    request, = httpd.group(app)["requests"]
    assert (request["state"], request["pid"]) == ("hung", held.pid)
    assert request["age"] >= 1
    assert held.release().status == 200
    become(httpd, app, idle=1)
    counters = httpd.status()["counters"]
    assert (counters["hung"], counters["unhung"]) == (1, 1)
    for event in ("hung", "unhung"):
        assert [one["pid"] for one in httpd.events(event)] == [held.pid]
    assert httpd.get("/pid", "shop").text == str(held.pid)
    httpd.check()


@pytest.mark.mpms("prefork", "worker", "event")
def test_eleventh_request_without_another_request(httpd: Httpd) -> None:
    """P21: the eleventh request is served within AppHungAfter + 1 s + boot,
    without another request."""
    httpd.directives += ["MaxPoolSize 10"]
    app = httpd.app("shop", "AppHungAfter 3", "AppSpawnIfUnder 1")
    httpd.start()
    boot = httpd.get_async("/pid", "shop")
    assert boot.result().status == 200
    held = holds(httpd, 0, 10)
    with Late(*procs.marked(str(httpd.dir))) as late:
        last = httpd.hold_async("shop", "last")
        wait_until(last.held.exists, "it reaches the app")
    late.within(3 + 1 + boot.took + 0.5)
    assert httpd.group(app)["size"] == 11
    for one in (*held, last):
        assert one.release().status == 200
    # P11: the surplus ends
    wait_until(lambda: httpd.counts() == (0, 10, 0), "ten are left")
    httpd.check()


def test_six_hang_and_four_are_busy(httpd: Httpd) -> None:
    """P8: of ten, with AppSpawnIfUnder 5: exactly one more"""
    httpd.directives += ["MaxPoolSize 20"]
    app = httpd.app("shop", "AppHungAfter 15", "MaxInstances 10",
                    "AppSpawnIfUnder 5", "AppHungExtra 4")
    httpd.start()
    held = holds(httpd, 0, 6)
    become(httpd, app, hung=6)
    held += [httpd.hold_async("shop", f"key{n}") for n in range(6, 10)]
    wait_until(lambda: all(one.held.exists() for one in held), "four are busy")
    assert states(httpd, app) == {"hung": 6, "busy": 4}
    waiting = [httpd.hold_async("shop", f"key{n}") for n in (10, 11)]
    wait_until(lambda: any(one.held.exists() for one in waiting),
               "one is served")
    assert states(httpd, app) == {"hung": 6, "busy": 5}
    assert httpd.group(app)["queue"] == 1
    for one in held + waiting:
        one.go.touch()
    for one in held + waiting:
        assert one.pending.result().status == 200
    wait_until(lambda: httpd.group(app)["size"] == 10, "ten are left")


@pytest.mark.mpms("prefork", "event")
def test_enough_are_busy(httpd: Httpd) -> None:
    """P10: requests wait. Without AppSpawnIfUnder the limits hold."""
    app = httpd.app("shop", *HUNG, "MaxInstances 2")
    httpd.start()
    held = holds(httpd, 0, 2)
    become(httpd, app, hung=2)
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=2, count=2, waiting=1)
    httpd.graceful()  # and one tick at least
    httpd.settles(active=2, count=2, waiting=1)
    assert held[0].release().status == 200
    assert waiting.result().text == str(held[0].pid)
    assert held[1].release().status == 200


def test_shared_processes(httpd: Httpd) -> None:
    """Where requests share processes, a hung process gets none while another
    one has room. Another process is started."""
    app = httpd.app("shop", "AppHungAfter 12", "AppKillAfter 0",
                    "AppConcurrency 10", "AppSetEnv APP_THREADS 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    become(httpd, app, hung=1)
    assert httpd.get("/pid", "shop").text == str(held.pid)
    become(httpd, app, hung=1, idle=1)
    assert {httpd.get("/pid", "shop").text for _ in range(5)} \
        != {str(held.pid)}
    other = httpd.hold("shop", "b")
    assert other.pid != held.pid
    assert httpd.get("/pid", "shop").text == str(other.pid)
    assert other.release().status == held.release().status == 200


@pytest.mark.parametrize("path,status", [("/events", 200),
                                         ("/upgrade", 101)])
def test_long_lived_connections_never_hang(httpd: Httpd, path: str,
                                           status: int) -> None:
    """Event streams and upgraded connections are neither hung nor killed."""
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 12",
                    f"AppSetEnv GO {httpd.dir}/go", "AppConcurrency 2",
                    "MaxInstances 1", program="long_lived.py")
    httpd.start()
    want = "Connection: Upgrade\r\nUpgrade: echo\r\n" if status == 101 \
        else "Connection: close\r\n"
    with Raw(httpd.port, f"GET {path} HTTP/1.1\r\nHost: shop\r\n{want}\r\n"
             .encode()) as line:
        assert line.head()[0] == status
        wait_until(lambda: [request["state"]
                            for request in httpd.group(app)["requests"]]
                   == ["long_lived"], "it is one that lasts")
        pid, = httpd.pids(app, "busy")
        # Another request that does hang shows that the clock runs.
        for n in range(1, 6):  # more than AppKillAfter in all
            wait_until(lambda: httpd.get("/sleep/2.5", "shop").text == str(pid)
                       and httpd.status()["counters"]["hung"] == n,
                       f"it hangs for the {n}. time")
            become(httpd, app, busy=1)
        if status == 101:
            line.send(b"still there?\n")
            assert line.stream.file.readline() == b"STILL THERE?\n"
        else:
            (httpd.dir / "go").touch()
            assert b"data: last" in line.rest()
    assert httpd.status()["counters"]["killed"] == 0
    httpd.settles(active=0, count=1)
