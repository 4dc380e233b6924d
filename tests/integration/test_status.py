# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The status page, its JSON, and apppoolctl."""
import json
import re
import subprocess
import time
import urllib.parse

import pytest

from harness.client import Raw
from harness.httpd import STATUS, Httpd
from harness.places import CTL
from harness.procs import alive
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("it is a text about the pool")

ISO = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


@pytest.mark.mpms("prefork", "worker", "event")
def test_json(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 5")
    app = httpd.app("shop", "MaxInstances 3", "MinInstances 1")
    httpd.start()
    httpd.get("/pid", "shop")
    held = httpd.hold("shop", "a")
    waiting = [httpd.hold_async("shop", str(n)) for n in range(3)]
    httpd.settles(active=3, count=3, waiting=1)
    response = httpd.get(f"{STATUS}?json")
    assert response.headers["Content-Type"].startswith("application/json")
    status = response.json()
    assert status["pool"].items() >= {
        "max": 5, "count": 3, "active": 3, "spawning": 0, "waiting": 1,
        "leaving": 0}.items()
    group = httpd.group(app)
    assert (group["max"], group["min"], group["queue"]) == (3, 1, 1)
    assert not group["last_error"]
    assert len(group["processes"]) == 3
    for process in group["processes"]:
        assert alive(process["pid"])
        assert process["state"] == "busy" and process["sessions"] == 1
        assert process["memory"] > 1 << 20
        assert ISO.match(process["started"])
        assert ISO.match(process["last_used"])
        assert re.fullmatch("[0-9a-f]{16}", process["id"])
    requests = group["requests"]
    assert len(requests) == 4
    assert {request["method"] for request in requests} == {"GET"}
    assert {request["client"] for request in requests} == {"127.0.0.1"}
    assert {request["uri"] for request in requests} == {"/hold"}
    held.release()
    for one in waiting:
        one.release()
    httpd.settles(active=0, count=3)
    processed = [process["processed"] for process
                 in httpd.group(app)["processes"]]
    assert sum(processed) == 5
    assert httpd.status()["counters"]["requests"] == 5


def test_histograms(httpd: Httpd) -> None:
    """How long requests waited for a process, and how long they had it."""
    app = httpd.app("shop", "MaxInstances 1")
    httpd.start()
    for _ in range(6):  # one of them may be delayed on the way
        httpd.get("/pid", "shop")
    first = httpd.hold("shop", "a")
    second = httpd.hold_async("shop", "b")
    httpd.settles(active=1, count=1, waiting=1)
    time.sleep(0.3)  # what is measured
    first.release()
    second.release()
    httpd.settles(active=0, count=1)
    group = httpd.group(app)
    for name in ("queue_time", "app_time"):
        times = group[name]
        counts = [bucket["count"] for bucket in times["buckets"]]
        assert counts == sorted(counts) and counts[-1] == times["count"] == 8
        slow = [b["le"] for b in times["buckets"] if b["count"] < 8]
        assert 0.25 in slow and times["sum"] > 0.25, (name, times)
    assert group["queue_time"]["buckets"][0]["count"] >= 1
    counters = httpd.status()["counters"]
    assert counters["served"] == 8
    assert abs(counters["app_seconds"] - group["app_time"]["sum"]) < 1e-5


def test_history(httpd: Httpd) -> None:
    """A sample every five seconds, also while nobody looks at the status."""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    wait_until(lambda: httpd.status()["history"], "two samples")
    for _ in range(10):
        httpd.get("/pid", "shop")
    held = httpd.hold("shop", "a")
    waiting = httpd.hold_async("shop", "b")
    httpd.settles(active=1, count=1, waiting=1)
    waiting.pending.leave()
    httpd.settles(active=1, count=1)

    def has_sample() -> bool:
        return sum(one["rate"] * one["seconds"]
                   for one in httpd.status()["history"]) > 10.9

    wait_until(has_sample, "the next sample")
    history = httpd.status()["history"]
    assert max(one["queue"] for one in history) >= 1
    assert history[-1]["busy"] == 1
    assert any(one["latency"] for one in history)
    assert all(ISO.match(one["time"]) and one["seconds"] >= 5
               for one in history)
    held.release()


def test_no_secrets(httpd: Httpd) -> None:
    """A17: no sockets, no query strings, no environment. P27: no header of a
    request, also with AppStatusDetail full."""
    httpd.directives.append('<Location "/all">\nSetHandler apppool-status\n'
                            "AppStatusDetail full\n</Location>")
    httpd.app("shop", "AppSetEnv TOKEN hunter2")
    httpd.start()
    head = {"Cookie": "id=c00kie", "Authorization": "Basic c3RyYW5nZXI=",
            "User-Agent": "br0wser", "Referer": "http://n0where/"}
    with Raw(httpd.port, ("GET /hold?key=k3y HTTP/1.1\r\nHost: shop\r\n"
                          + "".join(f"{name}: {value}\r\n" for name, value
                                    in head.items()) + "\r\n").encode()) as one:
        held = httpd.dir / "hold" / "k3y.held"
        wait_until(held.exists, "the app has the request")
        name = urllib.parse.quote(httpd.status()["groups"][0]["name"])
        for query in ("?json", f"?json&app={name}", "?list", ""):
            for view in (STATUS + query, "/all" + query):
                text = httpd.get(view).text
                shown = query.startswith("?json")
                assert ("/hold" in text) == shown, view
                assert ("k3y" in text) == (shown and view.startswith("/all"))
                for secret in ("hunter2", str(httpd.runtime), *head.values()):
                    assert secret not in text, view
        held.with_suffix(".go").touch()
        assert one.head()[0] == 200


def test_page(httpd: Httpd) -> None:
    """Without script: one table of what is wrong and of the totals."""
    httpd.app("shop", "AppGroupName <script>alert(1)</script>",
              "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    response = httpd.get(STATUS)
    assert response.headers["Content-Type"].startswith("text/html")
    assert "1 of 6 processes (1 busy, 0 idle, 0 hung)" in response.text
    assert "0 waiting, 1 so far" in response.text
    assert "<td>problems</td><td>0</td>" in response.text
    waiting = httpd.hold_async("shop", "b")
    wait_until(lambda: "<td>queueing</td>" in httpd.get(STATUS).text,
               "a problem")
    text = httpd.get(STATUS).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert" not in text
    assert "<td>problems</td><td>1</td>" in text
    held.release()
    waiting.release()


def test_only_for_reading(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    assert httpd.request("PUT", STATUS, body=b"x").status == 405


def test_status_beside_an_app(httpd: Httpd) -> None:
    """SetHandler has precedence over the app around it."""
    httpd.app("shop")
    httpd.start()
    response = httpd.get(f"{STATUS}?json", "shop")
    assert "pool" in response.json()


def test_events(httpd: Httpd) -> None:
    httpd.app("shop", "MaxRequests 1")
    httpd.start()
    for _ in range(3):
        httpd.get("/pid", "shop")
    assert len(httpd.events("ready")) >= 3
    assert all(ISO.match(event["time"]) for event in httpd.events("ready"))
    assert len(httpd.events("retired")) >= 2


def test_ctl_status(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    table = httpd.ctl("status")
    assert table.returncode == 0, table.stderr
    assert pid in table.stdout

    def same() -> bool:
        """Two views may round a time differently, and are about another
        minute."""
        done = httpd.ctl("status", "--json")
        assert done.returncode == 0, done.stderr
        of_ctl, = json.loads(done.stdout)["groups"]
        of_page, = httpd.status()["groups"]
        for group in (of_ctl, of_page):
            for window in group["recent"].values():
                del window["seconds"], window["rate"]
        return of_ctl == of_page

    wait_until(same, "both say the same")
    # Numbers as people write them.
    for text in (httpd.ctl("status", "--json").stdout,
                 httpd.ctl("top", "-n", "1", "--json").stdout,
                 httpd.get(f"{STATUS}?json").text):
        assert "0.0025" in text and not re.search(r"\.\d{16}", text)


def test_ctl_status_as_httpds_user(httpd: Httpd) -> None:
    """status works for httpd's user, and check only for root."""
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    program = httpd.dir / "apppoolctl"
    program.write_bytes(CTL.read_bytes())
    program.chmod(0o755)

    def run(user: str, word: str) -> int:
        return subprocess.run(
            [str(program), "--dir", str(httpd.runtime), word],
            user=user, group=user if user != "nobody" else "nogroup",
            extra_groups=[], capture_output=True, timeout=20).returncode

    assert run("www-data", "status") == 0
    assert run("www-data", "check") == 1
    assert run("nobody", "status") != 0


def test_ctl_check(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    done = httpd.ctl("check")
    assert done.returncode == 0, done.stdout + done.stderr
    done = httpd.ctl("check", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)


def test_ctl_without_httpd(httpd: Httpd) -> None:
    """A clear message and an exit status."""
    done = httpd.ctl("status")
    assert done.returncode == 3
    assert done.stderr.startswith("apppoolctl: ")
    assert str(httpd.runtime) in done.stderr


def test_ctl_usage(httpd: Httpd) -> None:
    done = httpd.ctl("frobnicate")
    assert done.returncode == 2
    assert "frobnicate" in done.stderr
    done = httpd.ctl("--help")
    assert done.returncode == 0 and "status" in done.stdout


def test_ctl_without_a_command(httpd: Httpd) -> None:
    """Wrong usage: the help goes to stderr."""
    done = httpd.ctl()
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == httpd.ctl("--help").stdout


def test_last_use_of_a_process_that_hangs(httpd: Httpd) -> None:
    """The time when it got its request, however long the request takes."""
    app = httpd.app("shop", "AppHungAfter 1")
    httpd.start()
    held = httpd.hold("shop", "one")
    wait_until(lambda: httpd.pids(app, "hung"), "it hangs")
    row, = re.findall(r"^  \d+ +hung .*", httpd.ctl("status").stdout, re.M)
    assert not re.search(r" 0 s  [0-9a-f]{16}$", row), row
    assert held.release().status == 200
