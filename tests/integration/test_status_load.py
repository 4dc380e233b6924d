# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The status under load: each response shows one instant."""
import subprocess
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from typing import Any

import pytest

from harness import procs
from harness.client import Connection
from harness.figures import say
from harness.httpd import STATUS, Httpd
from harness.late import Late
from harness.load import WORKERS, Load, half_and_half
from harness.long import lasts
from harness.places import holder

SAMPLES = lasts(50, 1000)
BATCH = 50  # of them while there was enough load
RATE = lasts(100, 200)  # requests a second, at least
CLIENTS, PAUSE, WORK = 60, 0.13, 0.005  # twice as many, if this machine can
ENOUGH = lasts(50, 150)  # seconds; until then, a slow machine tries to have enough load


def wrong_sums(status: dict[str, Any]) -> list[str]:
    """The sums that are wrong."""
    pool, groups = status["pool"], status["groups"]
    processes = [one for group in groups for one in group["processes"]]
    requests = [one for group in groups for one in group["requests"]]

    def are(*states: str) -> int:
        return sum(one["state"] in states for one in processes)

    served = sum(request["state"] != "waiting" for request in requests)
    sums = {
        "count": (pool["count"], are("idle", "busy", "hung")),
        "active": (pool["active"], are("busy", "hung")),
        "spawning": (pool["spawning"], are("starting")),
        "leaving": (pool["leaving"], are("leaving", "dying", "unkillable")),
        "size": (pool["count"], sum(group["size"] for group in groups)),
        "waiting": (pool["waiting"], len(requests) - served),
        "queue": (pool["waiting"], sum(group["queue"] for group in groups)),
        "sessions": (sum(one["sessions"] for one in processes), served),
        "requests": (status["counters"]["requests"],
                     sum(group["requests_total"] for group in groups)),
        "queue_time": (status["counters"]["requests"],
                       sum(group["queue_time"]["count"] for group in groups)),
        "app_time": (status["counters"]["served"],
                     sum(group["app_time"]["count"] for group in groups)),
        "held": (status["counters"]["requests"]
                 - status["counters"]["served"], served),
    }
    return [f"{name}: {a} is not {b}" for name, (a, b) in sums.items()
            if a != b]


@pytest.mark.mpms("event")
def test_sums(httpd: Httpd) -> None:
    """No sum is wrong while processes start, become idle, retire and are
    restarted, under a given number of requests a second."""
    httpd.directives += WORKERS[httpd.mpm] + ["MaxPoolSize 6"]
    shop = httpd.app("shop", "MaxInstances 4", "MaxRequests 100")
    httpd.app("blog", "MaxInstances 2", "PoolIdleTime 1s")
    httpd.start()
    load = Load(httpd.port, httpd.dir / "attempts",
                half_and_half(CLIENTS, "shop", PAUSE, WORK)
                + half_and_half(CLIENTS // 10, "blog", PAUSE, WORK))
    seen: set[tuple[int, int]] = set()

    def batch() -> bool:
        """Take samples. @return was there enough load meanwhile?"""
        served = []
        for n in range(BATCH):
            status = httpd.status()
            assert wrong_sums(status) == [], n
            seen.add((status["pool"]["active"], status["pool"]["waiting"]))
            served.append((time.monotonic(), status["counters"]["served"]))
            time.sleep(0.01)  # so the samples are no load themselves
        return served[-1][1] - served[0][1] \
            >= RATE * (served[-1][0] - served[0][0])

    taken = good = 0
    end = time.monotonic() + ENOUGH
    try:
        while good < SAMPLES and (taken < SAMPLES or time.monotonic() < end):
            good += BATCH * batch()
            taken += BATCH
            if taken % (2 * BATCH) == 0:
                shop.touch()
        assert load.running()
    finally:
        load.kill()
    say(f"{httpd.mpm}: {good} of {taken} looks at {RATE} requests a second")
    assert good >= BATCH, "no sum was checked under load"
    assert len(seen) > 5, "nothing changed meanwhile"
    httpd.check()


@pytest.mark.mpms("prefork")
@pytest.mark.parametrize("steps,status", [(0, 200), (60, 503)])
def test_locked(httpd: Httpd, steps: int, status: int) -> None:
    """A child of httpd is stopped while it has the pool's lock, which the
    status does not take. If the pool is half changed, the status cannot be
    right. It says so soon, and everything works again when the child is
    gone."""
    program = str(holder())  # a build may take longer than KeepAliveTimeout
    httpd.directives += WORKERS["prefork"] + ["MaxKeepAliveRequests 0",
                                              "KeepAliveTimeout 60"]
    httpd.log.expect("the status cannot be shown: ", "repaired")
    httpd.app("shop")
    httpd.start()
    connection = Connection(httpd.port, timeout=60)
    assert connection.request("GET", "/pid", "shop").status == 200
    child = procs.socket_owner(httpd.children(), httpd.port,
                               connection.local_port())
    holding = subprocess.Popen([program, str(child), str(steps)],
                               stdout=subprocess.PIPE, text=True)

    def fetch() -> None:
        with suppress(OSError, HTTPException):
            while True:  # until httpd has ended
                connection.request("GET", "/pid", "shop")

    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    try:
        assert holding.stdout is not None and holding.stdout.readline()
        with Late(*procs.marked(str(httpd.dir))) as late:
            assert httpd.get(STATUS).status == status
        late.within(1.5)
        assert bool(httpd.log.matching("the status cannot be shown: ")) == (status == 503)
        waiting = httpd.get_async("/pid", "shop", timeout=60)
    finally:
        procs.kill9(child)
        holding.wait(20)
    assert waiting.result().status == 200
    thread.join(20)
    assert httpd.status()["counters"]["repairs"] == 1
    httpd.check()
