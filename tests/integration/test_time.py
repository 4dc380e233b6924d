# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What happens in a pool with time: acceptance A8 and A10, idle time,
MaxRequests."""
import threading
import time

import pytest

from harness import procs
from harness.client import UPGRADE, Connection, Pending
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.late import Late
from harness.procs import alive, kill9
from harness.threads import Threads
from harness.wait import wait_until
from missed import witnesses

pytestmark = pytest.mark.one_mpm("the pool counts, and the spawner ends it")


def test_idle_process_ends_on_time(httpd: Httpd) -> None:
    """A8: after six seconds, not earlier and not much later."""
    httpd.directives.append("PoolIdleTime 6")
    httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)  # it starts
    with Late(*procs.marked(str(httpd.dir))) as late:
        assert int(httpd.get("/pid", "shop").text) == pid
        wait_until(lambda: not alive(pid), "the idle process has ended")
    assert late.took > 6
    late.within(6.9)
    httpd.settles(active=0, count=0)


def test_idle_time_keeps_the_minimum(httpd: Httpd) -> None:
    """A8: of three processes two are active, and the minimum is two: two
    stay."""
    httpd.directives.append("PoolIdleTime 1")
    app = httpd.app("shop", "MinInstances 2")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(3)]
    assert httpd.counts() == (3, 3, 0)
    held[0].release()
    httpd.settles(active=2, count=2)
    for one in held[1:]:
        one.release()
    httpd.settles(active=0, count=2)
    pids = httpd.pids(app)
    # An idle process above the minimum would end meanwhile.
    time.sleep(1.5)
    assert httpd.pids(app) == pids


def test_idle_time_zero_is_never(httpd: Httpd) -> None:
    httpd.directives.append("PoolIdleTime 1")
    keep = httpd.app("keep", "PoolIdleTime 0")
    httpd.app("drop")
    httpd.start()
    pid = int(httpd.get("/pid", "keep").text)
    gone = int(httpd.get("/pid", "drop").text)
    wait_until(lambda: not alive(gone), "the other one has ended")
    assert httpd.pids(keep) == [pid]


def test_max_requests(httpd: Httpd) -> None:
    """A10"""
    httpd.app("shop", "MaxRequests 4")
    httpd.start()
    pids = [int(httpd.get("/pid", "shop").text) for _ in range(5)]
    assert len(set(pids[:4])) == 1
    assert pids[4] != pids[0]
    wait_until(lambda: not alive(pids[0]), "the retired process is gone")
    httpd.settles(active=0, count=1)


def test_max_requests_with_jitter(httpd: Httpd) -> None:
    """Each process ends after 3 to 3 + 4 requests, and not all after the same
    number."""
    httpd.app("shop", "MaxRequests 3 4", "MaxInstances 1")
    httpd.start()
    runs = [1]
    last = httpd.get("/pid", "shop").text
    while len(runs) < 25:
        pid = httpd.get("/pid", "shop").text
        if pid == last:
            runs[-1] += 1
        else:
            runs.append(1)
        last = pid
    assert 3 <= min(runs[:-1]) and max(runs) <= 7
    assert len(set(runs[:-1])) > 1
    wait_until(lambda: httpd.status()["counters"]["retired"] == 24,
               "all have retired")


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_max_requests_while_others_wait(httpd: Httpd) -> None:
    """Its place goes to a process of the same app. No request fails, and no
    process gets more requests than its number."""
    httpd.directives.append("MaxPoolSize 1")
    httpd.app("shop", "MaxRequests 5")
    httpd.app("blog")
    httpd.start()
    with Threads(httpd, "shop", 4) as clients:
        clients.more(60)
    assert clients.failed == []
    served: dict[str, int] = {}
    for line in httpd.requests_seen():
        pid = line.split()[1]
        served[pid] = served.get(pid, 0) + 1
    assert max(served.values()) == 5 and len(served) > 10
    httpd.check()


@pytest.mark.mpms("event")
@pytest.mark.parametrize("count, mode", [(1, "rolling"), (1, "blocking"),
                                         (3, "blocking")])
def test_max_requests_without_a_wait(httpd: Httpd, count: int,
                                     mode: str) -> None:
    """The replacement starts first. No request waits for its start, and there
    is never more than one process above the limit."""
    app = httpd.app("shop", "MaxRequests 60 20", f"MaxInstances {count}",
                    f"MinInstances {count}", f"AppRestartMode {mode}",
                    "AppSetEnv BOOT_SLEEP 0.5")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=count)
    before = httpd.status()["counters"]
    sizes, statuses = set(), set()
    witnesses.append(lambda: statuses - {200})

    def client() -> None:
        """It waits itself for a start that takes longer than a few requests:
        the pool may expect a client that is as slow as this one has been, and
        start the replacement six requests before the end."""
        since = 0
        while not enough.is_set():
            since = since + 1 if httpd.group(app)["spawning"] else 0
            if since * count <= 5:
                statuses.add(httpd.get("/pid", "shop").status)
            enough.wait(0.04)

    def retired() -> int:
        status = httpd.status()
        sizes.update(group["size"] + group["spawning"]
                     for group in status["groups"])
        return int(status["counters"]["retired"])

    enough = threading.Event()
    clients = [threading.Thread(target=client) for _ in range(count)]
    for one in clients:
        one.start()
    try:
        wait_until(lambda: retired() >= count + 1, "all are replaced", 120)
    finally:
        enough.set()
        for one in clients:
            one.join(20)
    after = httpd.status()["counters"]
    assert after["waits"] == before["waits"], "nobody had to wait"
    assert statuses == {200} and max(sizes) == count + 1
    served = [line.split()[1] for line in httpd.requests_seen()]
    assert max(served.count(pid) for pid in set(served)) <= 80
    httpd.check()


@pytest.mark.one_mpm("one function connects, sends and reads")
@pytest.mark.parametrize("limit", ["AppTimeout 8", "ProxyTimeout 8",
                                   "Timeout 8"])
def test_silent_app_times_out(httpd: Httpd, limit: str) -> None:
    """P29: 504, and the next request is served. Without AppTimeout,
    ProxyTimeout applies, and without that httpd's Timeout."""
    httpd.log.expect("AH01102|AH00898", "shop.*silent for too long")
    httpd.app("shop", limit)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    with Late(*procs.marked(str(httpd.dir))) as late:
        held = httpd.hold_async("shop", "a")
        other = Pending(Connection(httpd.port), "GET", "/hold?key=b", "shop",
                        headers=UPGRADE)
        assert held.pending.result(50).status == 504
        assert other.result(50).status == 504
    assert late.took > 8
    late.within(9)  # once, and no longer limit
    held.go.touch()
    (held.go.parent / "b.go").touch()
    # It waits until the process wakes up, which must be before its timeout.
    assert httpd.get("/pid", "shop").status == 200


def test_killed_minimum_is_restored(httpd: Httpd) -> None:
    """After a crash, the minimum is restored without a request."""
    httpd.log.expect(*KILLED)
    app = httpd.app("shop", "MinInstances 2")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    pids = httpd.pids(app)
    kill9(pids[0])
    wait_until(lambda: len(httpd.pids(app)) == 2
               and pids[0] not in httpd.pids(app), "two again")
    assert pids[1] in httpd.pids(app)
