# Licensed under the Apache License, Version 2.0; see LICENSE.
"""uwsgi: what this module does itself."""
import os
import signal

import pytest

from harness import procs, sentences
from harness.httpd import Httpd
from harness.recorder import app_of, seen
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

def test_a_byte_at_a_time(httpd: Httpd) -> None:
    app_of(httpd, "uwsgi")
    assert httpd.get("/?bytes", "shop").text == "whole"


def test_sent_and_closed_at_once(httpd: Httpd) -> None:
    """httpd sees the end while more than one read of the response is left"""
    app_of(httpd, "uwsgi")
    response = httpd.get_async("/?large", "shop")
    wait_until(lambda: seen(httpd) == ["GET large"], "the app has the request")
    children = httpd.children()
    for child in children:
        procs.freeze(child)
    (httpd.dir / "hold" / "seen.go").touch()
    wait_until(lambda: seen(httpd)[-1] == "closed", "the app has closed")
    for child in children:
        os.kill(child, signal.SIGCONT)
    assert response.result(20).body == b"x" * 100000


def test_more_variables_than_a_packet_holds(httpd: Httpd) -> None:
    """The variables are larger than 64 KB. The request does not reach the
    process"""
    httpd.log.expect(sentences.UWSGI_LARGE)
    httpd.directives += ["LimitRequestFieldSize 100000"]
    app_of(httpd, "uwsgi")
    names = httpd.get("/?names", "shop", headers={"X-Large": "l" * 60000})
    assert f"HTTP_X_LARGE={'l' * 80}:60000" in names.text.splitlines()
    response = httpd.get("/?names", "shop", headers={"X-Large": "l" * 66000})
    assert response.status == 431
    httpd.log.wait_for("the request has more than 65535 bytes of variables")
    assert len(seen(httpd)) == 1
    assert httpd.get("/", "shop").text == "ok"
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("method, times", [
    ("GET", 2), ("DELETE", 1), ("POST", 1)])
def test_how_often(httpd: Httpd, method: str, times: int) -> None:
    """GET may be sent once more. Nobody knows what the process has read"""
    httpd.log.expect(rf"shop\[\d+\] gave no response: {method} /: error ")
    app_of(httpd, "uwsgi")
    body = b"x" if method == "POST" else None
    assert httpd.request(method, "/?unread", "shop", body).status == 502
    assert seen(httpd) == [f"{method} unread"] * times
    assert httpd.get("/", "shop").text == "ok"


def test_wait_in_vain(httpd: Httpd) -> None:
    """The socket that was made for the request is closed."""
    httpd.log.expect(sentences.QUEUE_LATE, sentences.STILL_STARTING)
    httpd.directives += ["StartServers 1", "MinSpareThreads 1",
                         "MaxSpareThreads 16", "MaxRequestWorkers 16"]
    app_of(httpd, "uwsgi", "AppQueueTimeout 100ms")
    # The start of a process may take longer than the queue waits.
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it runs")
    httpd.settles(active=0, count=1)
    response = httpd.get_async("/?large", "shop")
    wait_until(lambda: seen(httpd)[-1] == "GET large", "the app has the request")
    child, = httpd.children()
    before = procs.descriptors(child)
    for _ in range(8):
        assert httpd.get("/", "shop").status == 503
    wait_until(lambda: procs.descriptors(child) <= before, "nothing is left")
    (httpd.dir / "hold" / "seen.go").touch()
    assert response.result(20).body == b"x" * 100000
