# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The pool, as seen through httpd: acceptance A1 to A5, A9, A13, A14."""
import pytest

from harness import sentences
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the pool decides, whichever process asks it")


def test_get_request_close(httpd: Httpd) -> None:
    """A1"""
    app = httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    assert httpd.counts() == (1, 1, 0)
    assert held.release().text == str(held.pid)
    httpd.settles(active=0, count=1)
    assert httpd.get("/pid", "shop").text == str(held.pid)
    assert httpd.pids(app) == [held.pid]


def test_two_sessions_two_processes(httpd: Httpd) -> None:
    """A2, one app"""
    httpd.app("shop")
    httpd.start()
    one, two = httpd.hold("shop", "1"), httpd.hold("shop", "2")
    assert one.pid != two.pid
    assert httpd.counts() == (2, 2, 0)
    one.release()
    two.release()
    httpd.settles(active=0, count=2)


def test_two_apps(httpd: Httpd) -> None:
    """A2, two apps"""
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    one, two = httpd.hold("shop", "1"), httpd.hold("blog", "2")
    assert httpd.counts() == (2, 2, 0)
    one.release()
    two.release()
    httpd.settles(active=0, count=2)
    assert httpd.get("/who", "shop").text == f"shop {one.pid}"
    assert httpd.get("/who", "blog").text == f"blog {two.pid}"


def test_second_waits_for_the_only_process(httpd: Httpd) -> None:
    """A3"""
    httpd.directives.append("MaxPoolSize 1")
    httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    second = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    assert not second.done()
    held.release()
    assert second.result().text == str(held.pid)
    httpd.settles(active=0, count=1)


def test_killed_idle_process_is_replaced(httpd: Httpd) -> None:
    """A4: at once, possibly before the spawner has noticed."""
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    for _ in range(5):
        kill9(pid)
        response = httpd.get("/pid", "shop")
        assert response.status == 200
        assert int(response.text) != pid
        pid = int(response.text)
    httpd.settles(active=0, count=1)


def test_full_pool_busy_with_another_app(httpd: Httpd) -> None:
    """A5, both held"""
    httpd.directives.append("MaxPoolSize 2")
    httpd.app("a")
    httpd.app("b")
    httpd.start()
    one, two = httpd.hold("a", "1"), httpd.hold("a", "2")
    third = httpd.hold_async("b", "3")
    httpd.settles(active=2, count=2, waiting=1)
    third.pending.thread.join(0.5)
    assert httpd.counts() == (2, 2, 1)
    one.release()
    wait_until(third.held.exists, "b is served")
    httpd.settles(active=2, count=2)
    third.release()
    two.release()
    httpd.settles(active=0, count=2)


def test_full_pool_idle_gives_way(httpd: Httpd) -> None:
    """A5, both idle"""
    httpd.directives.append("MaxPoolSize 2")
    a = httpd.app("a")
    b = httpd.app("b")
    httpd.start()
    one, two = httpd.hold("a", "1"), httpd.hold("a", "2")
    one.release()
    two.release()
    httpd.settles(active=0, count=2)
    assert httpd.get("/who", "b").status == 200
    httpd.settles(active=0, count=2)
    assert len(httpd.pids(a)) == 1 and len(httpd.pids(b)) == 1
    gone = one.pid if one.pid not in httpd.pids(a) else two.pid
    wait_until(lambda: not alive(gone), "the one that gave way is gone")


def test_max_instances_leaves_room(httpd: Httpd) -> None:
    """A9"""
    httpd.directives.append("MaxPoolSize 3")
    a = httpd.app("a", "MaxInstances 1")
    httpd.app("b", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("a", "1")
    second = httpd.get_async("/pid", "a")
    httpd.settles(active=1, count=1, waiting=1)
    assert httpd.get("/pid", "b").status == 200
    httpd.settles(active=1, count=2, waiting=1)
    held.release()
    assert second.result().text == str(held.pid)
    assert httpd.pids(a) == [held.pid]


def test_minimum_follows_the_first_request(httpd: Httpd) -> None:
    """A13, the first get"""
    app = httpd.app("shop", "MinInstances 3")
    httpd.start()
    assert httpd.counts() == (0, 0, 0), "nobody has asked yet"
    assert httpd.get("/pid", "shop").status == 200
    wait_until(lambda: len(httpd.pids(app)) == 3, "three processes")
    httpd.settles(active=0, count=3)


def test_minimum_while_one_is_held(httpd: Httpd) -> None:
    """A13: the process that is free first serves another request."""
    httpd.directives.append("MaxPoolSize 3")
    httpd.app("shop", "MinInstances 3", "MaxInstances 3")
    httpd.start()
    held = httpd.hold("shop", "a")
    response = httpd.get("/pid", "shop")
    assert response.status == 200 and response.text != str(held.pid)
    httpd.settles(active=1, count=3)
    held.release()
    httpd.settles(active=0, count=3)


@pytest.mark.mpms("prefork", "event")
def test_raised_maximum_serves_one_more(httpd: Httpd) -> None:
    """A14"""
    httpd.directives.append("MaxPoolSize 3")
    httpd.app("shop")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(3)]
    late = [httpd.hold_async("shop", f"late{n}") for n in range(2)]
    httpd.settles(active=3, count=3, waiting=2)
    httpd.directives[-1] = "MaxPoolSize 4"
    httpd.graceful()
    httpd.settles(active=4, count=4, waiting=1)
    wait_until(lambda: any(one.held.exists() for one in late), "one served")
    assert not all(one.held.exists() for one in late)
    held[0].release()
    wait_until(lambda: all(one.held.exists() for one in late), "the last one")
    httpd.settles(active=4, count=4)
    for one in held[1:] + late:
        assert one.release().status == 200
    httpd.settles(active=0, count=4)


def test_concurrency_shares_a_process(httpd: Httpd) -> None:
    app = httpd.app("shop", "AppConcurrency 3", "MaxInstances 1",
                    "AppSetEnv APP_THREADS 1")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(3)]
    assert len({one.pid for one in held}) == 1
    fourth = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    assert httpd.group(app)["processes"][0]["sessions"] == 3
    for one in held:
        one.release()
    assert fourth.result().text == str(held[0].pid)
    httpd.settles(active=0, count=1)


def test_no_global_queue(httpd: Httpd) -> None:
    """Off: a request gets the process with the fewest sessions at once."""
    app = httpd.app("shop", "AppGlobalQueue Off", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    second = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.group(app)["processes"][0]["sessions"] == 2,
               "both sessions are with the process")
    assert httpd.counts() == (1, 1, 0)
    held.release()
    assert second.result().text == str(held.pid)
    httpd.settles(active=0, count=1)


def test_started_with_httpd(httpd: Httpd) -> None:
    """AppPreStart: the minimum runs before the first request."""
    app = httpd.app("shop", "AppPreStart On", "MinInstances 2")
    httpd.app("blog", "MinInstances 2")
    httpd.start()
    httpd.settles(active=0, count=2)
    assert len(httpd.pids(app)) == 2


def test_out_of_slots(httpd: Httpd) -> None:
    """503 with one line in the log, and nothing leaks."""
    httpd.log.expect(sentences.NO_ROOM)
    httpd.directives += ["AppPoolCapacity 2 3", "MaxPoolSize 2"]
    httpd.app("shop")
    httpd.start()
    for turn in range(2):
        held = [httpd.hold("shop", f"{turn}{n}") for n in range(2)]
        waiting = httpd.get_async("/pid", "shop")
        httpd.settles(active=2, count=2, waiting=1)
        lines = len(httpd.log.bad())
        assert httpd.get("/pid", "shop").status == 503
        assert len(httpd.log.bad()) == lines + 1
        for one in held:
            assert one.release().status == 200
        assert waiting.result().status == 200
        httpd.settles(active=0, count=2)
    httpd.check()
