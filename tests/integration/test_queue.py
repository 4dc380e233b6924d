# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The queue: limit, deadline, order, and clients that leave (B9, B10)."""
import socket
import struct
from http.client import HTTPException

import pytest

from harness import procs, sentences
from harness.client import Raw
from harness.httpd import Httpd
from harness.late import Late
from harness.procs import kill9
from harness.wait import wait_until


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_limit(httpd: Httpd) -> None:
    """B10: with limit 3, the fourth request gets 503 at once, and the three
    are served."""
    httpd.log.expect(sentences.QUEUE_FULL)
    httpd.app("shop", "MaxInstances 1", "AppMaxQueue 3",
              "AppQueueTimeout 1h")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = [httpd.get_async("/pid", "shop") for _ in range(3)]
    httpd.settles(active=1, count=1, waiting=3)
    response = httpd.get("/pid", "shop")
    assert response.status == 503
    assert int(response.headers["Retry-After"]) >= 1
    httpd.log.wait_for("shop: the queue is full: .* AppMaxQueue 3 wait")
    held.release()
    assert [one.result().status for one in waiting] == [200, 200, 200]
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_deadline(httpd: Httpd) -> None:
    """B10: with a timeout of 2 s, the 503 comes between 2.0 and 2.5 s."""
    httpd.log.expect(sentences.QUEUE_LATE)
    httpd.app("shop", "MaxInstances 1", "AppQueueTimeout 2", "AppPreStart On",
              "MinInstances 1")
    httpd.start()
    httpd.settles(active=0, count=1)
    held = httpd.hold("shop", "a")
    with Late(*procs.marked(str(httpd.dir))) as late:
        response = httpd.get("/pid", "shop")
    assert response.status == 503
    assert int(response.headers["Retry-After"]) >= 1
    assert late.took >= 2.0
    late.within(2.5)
    httpd.log.wait_for(r"shop: no process was free.*2000 ms \(AppQueue")
    httpd.settles(active=1, count=1)
    held.release()
    httpd.settles(active=0, count=1)  # so the next request need not wait
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_first_come_first_served(httpd: Httpd) -> None:
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = []
    for n in range(8):
        waiting.append(httpd.get_async(f"/pid?{n}", "shop"))
        httpd.settles(active=1, count=1, waiting=n + 1)
    held.release()
    assert all(one.result().status == 200 for one in waiting)
    order = [line.split("?")[1] for line in httpd.requests_seen()
             if "/pid?" in line]
    assert order == [str(n) for n in range(8)]


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_client_leaves_while_it_waits(httpd: Httpd) -> None:
    """B9: its request never reaches the app"""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    gone = httpd.get_async("/pid?gone", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    gone.leave()
    httpd.settles(active=1, count=1, waiting=0)
    stays = httpd.get_async("/pid?stays", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    held.release()
    assert stays.result().status == 200
    seen = "\n".join(httpd.requests_seen())
    assert "/pid?stays" in seen and "/pid?gone" not in seen


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_client_leaves_just_before_its_turn(httpd: Httpd) -> None:
    """B9: also if the process becomes free at the same moment."""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    for n in range(3):
        held = httpd.hold("shop", f"a{n}")
        gone = httpd.get_async(f"/pid?gone{n}", "shop")
        httpd.settles(active=1, count=1, waiting=1)
        gone.leave()
        held.release()
        assert httpd.get("/pid", "shop").status == 200
        httpd.settles(active=0, count=1)
    assert "gone" not in "\n".join(httpd.requests_seen())


def test_reset_connection(httpd: Httpd) -> None:
    """Its client has left as well."""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    with Raw(httpd.port, b"GET /pid?gone HTTP/1.1\r\nHost: shop\r\n\r\n") as raw:
        httpd.settles(active=1, count=1, waiting=1)
        raw.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
    httpd.settles(active=1, count=1, waiting=0)
    held.release()
    httpd.settles(active=0, count=1)
    assert "gone" not in "\n".join(httpd.requests_seen())


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_half_closed_connection(httpd: Httpd, version: str) -> None:
    """A client that has only finished sending gets its response."""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    with Raw(httpd.port, f"GET /pid HTTP/{version}\r\nHost: shop\r\n\r\n"
             .encode()) as raw:
        httpd.settles(active=1, count=1, waiting=1)
        raw.sock.shutdown(socket.SHUT_WR)
        if version == "1.1":
            assert raw.head()[0] == 100, "httpd has looked"
        pid = held.release().text
        response = raw.response()
        assert (response.status, response.text) == (200, pid)


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_busy_app_does_not_starve_a_new_one(httpd: Httpd) -> None:
    """The pool is full: groups take turns."""
    httpd.directives.append("MaxPoolSize 1")
    httpd.app("busy", "AppMaxQueue 50")
    httpd.app("new")
    httpd.start()
    held = httpd.hold("busy", "a")
    before = [httpd.get_async("/pid", "busy") for _ in range(3)]
    httpd.settles(active=1, count=1, waiting=3)
    new = httpd.get_async("/pid", "new")
    httpd.settles(active=1, count=1, waiting=4)
    after = [httpd.get_async("/pid?after", "busy") for _ in range(10)]
    httpd.settles(active=1, count=1, waiting=14)
    held.release()
    assert new.result(30).status == 200
    assert all(one.result(30).status == 200 for one in before + after)
    seen = [line.split()[3] if line.startswith("busy") else "new"
            for line in httpd.requests_seen()]
    assert "/pid?after" in seen[seen.index("new"):], "those came later"


@pytest.mark.mpms("event")  # a child of prefork ends at once
@pytest.mark.parametrize("what", ["a start", "a process"])
def test_waiters_get_a_response_at_a_stop(httpd: Httpd, what: str) -> None:
    """Their threads stop waiting, so httpd does not have to kill its child.
    httpd has closed their connections before, so the 503 is in the access log
    only."""
    httpd.directives.append('CustomLog access.log "%>s %U"')
    httpd.app("shop", "MaxInstances 1", "AppStopTimeout 1",
              "AppQueueTimeout 1h", "AppStartTimeout 1h",
              f"AppSetEnv BOOT_IF {httpd.dir}/go")
    if what == "a process":
        (httpd.dir / "go").touch()
    httpd.start()
    if what == "a process":
        held = httpd.hold("shop", "a")
        kill9(httpd.child_of(held.pending))  # the process works on
        httpd.settles(active=1, count=1)
    waiting = [httpd.get_async("/pid", "shop") for _ in range(3)]
    wait_until(lambda: httpd.counts()[2] == 3, "all wait")
    httpd.stop()
    for one in waiting:
        with pytest.raises((OSError, HTTPException)):
            one.result()
    lines = (httpd.dir / "access.log").read_text().splitlines()
    assert lines.count("503 /pid") == 3 or httpd.log.crashes_at_stops()


def test_open_request_at_a_stop(httpd: Httpd) -> None:
    """A request inside an app does not keep a child of event. No client
    hangs."""
    httpd.app("shop", "MaxInstances 1", "AppStopTimeout 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    httpd.stop()
    wait_until(lambda: waiting.done() and held.pending.done(),
               "no client hangs")


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_out_of_slots(httpd: Httpd) -> None:
    """503, and a line that names the directive. Afterwards requests are served
    again."""
    httpd.directives.append("AppPoolCapacity 10 2")
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    httpd.log.expect(r"shop: no place in the pool: .*AppPoolCapacity")
    refused = httpd.get("/pid", "shop")
    assert refused.status == 503 and int(refused.headers["Retry-After"]) > 0
    assert len(httpd.log.wait_for("no place in the pool")) == 1
    held.release()
    assert waiting.result().status == 200
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=1)
    httpd.check()
