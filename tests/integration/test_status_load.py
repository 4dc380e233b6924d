# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The status under load: each answer is of one instant."""
import time
from typing import Any

import pytest

from harness.client import Connection
from harness.httpd import STATUS, Httpd
from harness.load import WORKERS, Load, half_and_half

SAMPLES = 1000
CLIENTS, PAUSE = 30, 0.13  # some 200 requests a second


def wrong_sums(status: dict[str, Any]) -> list[str]:
    """What does not add up."""
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
        "leaving": (pool["leaving"], are("leaving", "dying", "zombie")),
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
    """No wrong sum, while processes come, idle, retire and are restarted"""
    httpd.directives += WORKERS["event"] + ["MaxPoolSize 6"]
    shop = httpd.app("shop", "MaxInstances 4", "MaxRequests 100")
    httpd.app("blog", "MaxInstances 2", "PoolIdleTime 1s")
    httpd.start()
    load = Load(httpd.port, httpd.dir / "attempts",
                half_and_half(CLIENTS, "shop", PAUSE, 0.01)
                + half_and_half(CLIENTS // 10, "blog", PAUSE, 0.01))
    connection = Connection(httpd.port)
    seen = set()
    try:
        for n in range(SAMPLES):
            answer = connection.request("GET", f"{STATUS}?json", "status")
            status = answer.json()
            assert wrong_sums(status) == [], n
            seen.add((status["pool"]["active"], status["pool"]["waiting"]))
            if n % 250 == 100:
                shop.touch()
            time.sleep(0.01)  # so many samples are no load themselves
        assert load.running()
    finally:
        connection.close()
        load.kill()
    assert len(seen) > 5, "nothing changed meanwhile"
    assert status["counters"]["requests"] > SAMPLES, "there was no load"
    httpd.check()
