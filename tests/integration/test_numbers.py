# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The numbers of an application: its responses by class, errors of our own by
reason, bytes, and how long the requests took."""
import collections
import http.client
import json
import threading
import time
from typing import Any
from urllib.parse import quote

import pytest

from harness import sentences
from harness.client import Raw
from harness.config import App
from harness.errorlog import KILLED
from harness.http2 import Http2
from harness.httpd import STATUS, Httpd
from harness.procs import kill9
from harness.wait import wait_until

CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"]


def numbers(httpd: Httpd, app: App, requests: int) -> dict[str, Any]:
    """The group when it has so many responses: httpd counts a response after
    its client has it."""
    return wait_until(
        lambda: next((one for one in httpd.status()["groups"]
                      if one["name"] == httpd.group(app)["name"]
                      and sum(one["responses"].values()) == requests), None),
        f"{requests} responses are counted")


def counted(group: dict[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """What is not 0 of its responses and errors."""
    assert list(group["responses"]) == CLASSES
    responses, errors = ({key: n for key, n in group[name].items() if n}
                         for name in ("responses", "errors"))
    return responses, errors


def test_classes_and_errors(httpd: Httpd) -> None:
    """Each response counts once, as its client saw it."""
    httpd.log.expect(
        *KILLED, sentences.QUEUE_FULL, sentences.QUEUE_LATE,
        sentences.NOT_STARTED, sentences.START_ERROR, sentences.DRAINED,
        sentences.ODD_RESPONSE, sentences.SILENT, sentences.TIMED_OUT)
    shop = httpd.app("shop", "MaxInstances 1", "AppMaxQueue 1",
                     "LimitRequestBody 5")
    late = httpd.app("late", "MaxInstances 1", "AppQueueTimeout 300ms",
                     "MinInstances 1", "AppPreStart On")
    mute = httpd.app("mute", "AppTimeout 1")
    dead = httpd.app("dead", command="/bin/false")
    httpd.start()
    for code in (200, 204, 302, 404, 500, 503):
        assert httpd.get(f"/status?code={code}", "shop").status == code
    assert httpd.post("/sum", "shop", b"too long").status == 413
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=2, waiting=1)
    assert httpd.get("/pid", "shop").status == 503
    held.release()
    assert waiting.result().status == 200
    assert httpd.get("/crash", "shop").status == 502
    assert httpd.get("/garbage", "shop").status == 502
    assert httpd.ctl("drain", "shop").returncode == 0
    assert httpd.get("/pid", "shop").status == 503
    group = numbers(httpd, shop, 13)
    assert counted(group) == (
        {"2xx": 4, "3xx": 1, "4xx": 2, "5xx": 6},
        {"queue_full": 1, "died": 1, "bad_response": 1, "other": 1})
    assert group["bytes"] > 0
    wait_until(lambda: httpd.pids(late, "idle"), "it is started")
    held = httpd.hold("late", "b")
    assert httpd.get("/pid", "late").status == 503
    held.release()
    assert counted(numbers(httpd, late, 2)) == (
        {"2xx": 1, "5xx": 1}, {"queue_timeout": 1})
    assert httpd.get("/nap?s=600", "mute").status == 504
    assert counted(numbers(httpd, mute, 1)) == ({"5xx": 1}, {"killed": 1})
    died, = httpd.group(shop)["deaths"]
    assert (died["reason"], died["count"]) == ("signal 9 (SIGKILL)", 1)
    # It has never started.
    assert httpd.group(late)["next_try"] is None
    assert httpd.get("/", "dead").status == 502
    assert httpd.get("/", "dead").status in (502, 503)  # after a pause of 1 s
    group = httpd.group(dead)
    assert group["failures"] in (1, 2)
    assert 0 <= group["next_try"] <= group["failures"]
    assert group["failing_since"][:16] <= group["last_error_time"][:16]
    assert {one["tenant"] for one in httpd.status()["groups"]} == {"www-data"}
    assert counted(numbers(httpd, dead, 2)) == ({"5xx": 2},
                                                {"start_failed": 2})
    for group in httpd.status()["groups"]:
        recent = group["recent"]["60m"]
        assert recent["requests"] == sum(group["responses"].values())
        assert recent["errors"] == group["responses"]["5xx"]


@pytest.mark.one_mpm("httpd redirects, and the MPM does not see it")
def test_what_is_counted_once(httpd: Httpd) -> None:
    """An error whose ErrorDocument is a file, a text, or a page of the
    application. What a page includes from the application is no response."""
    httpd.log.expect(*KILLED)
    httpd.modules += ["include"]
    shop = httpd.app("shop", "ErrorDocument 404 /sorry.html",
                     "ErrorDocument 502 /count", "ErrorDocument 500 Sorry",
                     "ProxyErrorOverride On",
                     "<Location /page.shtml>\nOptions +Includes\n"
                     "SetOutputFilter INCLUDES\n</Location>")
    (shop.public / "sorry.html").write_text("sorry")
    (shop.public / "page.shtml").write_text(
        '<!--#include virtual="/who" --> and more')
    httpd.start()
    text = httpd.get("/page.shtml", "shop").text
    assert text.startswith("shop ") and text.endswith(" and more")
    for code in (404, 500):
        assert httpd.get(f"/status?code={code}", "shop").status == code
    assert httpd.get("/crash", "shop").status == 502
    assert httpd.get("/pid", "shop").status == 200
    assert counted(numbers(httpd, shop, 4)) == (
        {"2xx": 1, "4xx": 1, "5xx": 2}, {"died": 1})


@pytest.mark.one_mpm("httpd redirects, and the MPM does not see it")
def test_document_of_another_application(httpd: Httpd) -> None:
    """That its ErrorDocument does not start is no fault of the application, and
    the time of that page is not its time."""
    httpd.log.expect("could not be started", "did not start: error",
                     "first: do that once")
    shop = httpd.app("shop", "ErrorDocument 500 /sorry/x",
                     "ErrorDocument 404 /slow/x", "ProxyErrorOverride On")
    httpd.app("sorry", location="/sorry", command="/bin/false")
    httpd.app("slow", location="/slow",
              command=f"/bin/sh -c 'sleep 1; exec {httpd.command}'")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.get("/status?code=500", "shop").status == 500
    assert httpd.get("/status?code=404", "shop").status == 404
    assert counted(numbers(httpd, shop, 3)) == (
        {"2xx": 1, "4xx": 1, "5xx": 1}, {})
    assert httpd.group(shop)["recent"]["60m"]["p99"] < 1


@pytest.mark.mpms("event")
def test_streams(httpd: Httpd) -> None:
    """Streams of HTTP/2 count once each. A WebSocket counts at its end, and
    is no measure of time; an event stream neither."""
    httpd.log.expect(sentences.ODD_RESPONSE, sentences.TIMED_OUT)
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    shop = httpd.app("shop", "AppConcurrency 0", f"AppSetEnv GO {httpd.dir}/go",
                     program="long_lived.py")
    plain = httpd.app("plain")
    httpd.start()
    with Http2(httpd.port, 1 << 30) as client:
        streams = [client.get("/pid", "plain") for _ in range(5)]
        assert [client.response(one).status for one in streams] == [200] * 5
    assert counted(numbers(httpd, plain, 5)) == ({"2xx": 5}, {})
    with Raw(httpd.port, b"GET /websocket HTTP/1.1\r\nHost: shop\r\nConnection: "
             b"Upgrade\r\nUpgrade: websocket\r\n\r\n") as socket:
        assert socket.head()[0] == 101
        with Raw(httpd.port,
                 b"GET /stream HTTP/1.1\r\nHost: shop\r\n\r\n") as stream:
            assert stream.head()[0] == 200
            wait_until(lambda: len(httpd.group(shop)["requests"]) == 2,
                       "both are open")
            assert sum(httpd.group(shop)["responses"].values()) == 0
    group = numbers(httpd, shop, 2)
    assert counted(group) == ({"1xx": 1, "2xx": 1}, {})
    assert group["recent"]["1m"]["p50"] is None


@pytest.mark.one_mpm("the pool knows how long it took")
def test_percentiles(httpd: Httpd) -> None:
    """The time begins when the body is there. It ends with the application's
    last byte."""
    app = httpd.app("shop")
    httpd.start()
    for _ in range(15):
        assert httpd.get("/pid", "shop").status == 200
    begin = time.monotonic()
    assert httpd.get("/sleep?s=0.5", "shop").status == 200
    took = time.monotonic() - begin
    group = numbers(httpd, app, 16)
    for window in group["recent"].values():
        assert window["requests"] == 16 and window["errors"] == 0
        assert 0 < window["p50"] <= window["p95"] <= window["p99"]
        assert 0.5 / 1.1 < window["p99"] < took * 1.1
        assert window["rate"] == pytest.approx(16 / window["seconds"])
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 200
    numbers(httpd, app, 17)


class Load(threading.Thread):
    """One client, with one request after the other."""

    def __init__(self, httpd: Httpd) -> None:
        super().__init__()
        self.httpd, self.stopped = httpd, threading.Event()
        self.seen: collections.Counter[str] = collections.Counter()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                status = self.httpd.get("/pid", "shop").status
                self.seen[f"{status // 100}xx"] += 1
            except (http.client.HTTPException, OSError):
                self.seen["lost"] += 1


def test_children_are_killed(httpd: Httpd) -> None:
    """Nothing is counted twice. What a child had not counted when it was
    killed is missing: at most the requests that it had."""
    httpd.log.expect(*KILLED)
    app = httpd.app("shop", "MaxInstances 3")
    httpd.start()
    clients = [Load(httpd) for _ in range(4)]
    for client in clients:
        client.start()
    kills = 0
    for _ in range(4):
        before = sum(httpd.group(app)["responses"].values())
        wait_until(lambda: sum(httpd.group(app)["responses"].values())
                   > before + 30, "they serve")
        for pid in httpd.children():
            kill9(pid)
            kills += 1
    for client in clients:
        client.stopped.set()
    for client in clients:
        client.join()
    seen = sum((client.seen for client in clients), collections.Counter())
    lost = seen.pop("lost", 0)
    # A killed child has had at most the requests of all clients.
    most, least = sum(seen.values()) + lost, sum(seen.values()) - 4 * kills
    found = wait_until(
        lambda: (group := httpd.group(app)) and
        sum(group["responses"].values()) >= least and group, "they are counted")
    assert least <= sum(found["responses"].values()) <= most
    assert found["responses"]["2xx"] <= seen["2xx"] + lost
    assert found["recent"]["60m"]["requests"] == sum(
        found["responses"].values())


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """The only group. Two views may round a time of its history
    differently."""
    group, = report["groups"]
    for step in group["history"]:
        assert step.pop("time").endswith("Z")
    return group


@pytest.mark.one_mpm("the spawner looks at it")
def test_what_processes_use(httpd: Httpd) -> None:
    """Memory, and CPU time, also that of dead processes. A document about one
    application has its last ten minutes."""
    httpd.log.expect(*KILLED, sentences.SPAWNER_KILLED)
    app = httpd.app("shop", "MinInstances 1", "AppPreStart On")
    httpd.app("blog")
    httpd.start()
    wait_until(lambda: httpd.pids(app, "idle"), "it is started")
    name = quote(httpd.group(app)["name"])

    def one() -> dict[str, Any]:
        return without_times(httpd.get(f"{STATUS}?json&app={name}").json())

    first, *_ = wait_until(lambda: one()["history"], "there is a record", 60)
    assert first["idle"] + first["starting"] == 1
    assert first["busy"] == first["queue"] == first["requests"] == 0
    assert httpd.get("/pid", "blog").status == 200
    assert one()["name"] == httpd.group(app)["name"]
    of_ctl = json.loads(httpd.ctl("status", "shop", "--json").stdout)
    assert without_times(of_ctl)["history"][0] == first
    assert "history" not in httpd.group(app)
    assert httpd.get("/eat?mb=100", "shop").status == 200
    assert one()["memory"] > 100 << 20
    used = one()["cpu_seconds"]
    kill9(httpd.pids(app, "idle")[0])
    wait_until(lambda: one()["cpu_seconds"] > used, "its time is counted")
    before, old = one(), httpd.helper("spawner")
    kill9(old)
    wait_until(lambda: httpd.spawner_now() not in (0, old), "another one works")
    assert httpd.get("/pid", "shop").status == 200
    after = numbers(httpd, app, sum(before["responses"].values()) + 1)
    assert after["cpu_seconds"] >= before["cpu_seconds"]
    assert one()["history"][:len(before["history"])] == before["history"]
