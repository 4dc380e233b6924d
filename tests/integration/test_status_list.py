# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The documents of the status page: ?list, and ?json&app=NAME."""
import re
import time
import urllib.parse
from datetime import datetime
from typing import Any

import pytest

from harness.httpd import STATUS, Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def listed(httpd: Httpd) -> dict[str, Any]:
    document: dict[str, Any] = httpd.get(f"{STATUS}?list").json()
    return document


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By the name of the application."""
    return {row[0]: dict(zip(document["columns"], row))
            for row in document["rows"]}


def test_list(httpd: Httpd) -> None:
    """A row for each application, in the order of the configuration, used or
    not, with the worst of its problems; and one for an application that is not
    configured any more."""
    httpd.log.expect("could not be started", "did not start: error")
    httpd.app("zoo", "AppGroupName zoo")
    httpd.app("shop", "AppGroupName shop", "MaxInstances 2")
    httpd.app("bad", "AppGroupName bad", command="/bin/false")
    old = httpd.app("old", "AppGroupName old")
    httpd.start()
    assert httpd.get("/", "bad").status == 502
    assert httpd.get("/pid", "old").status == 200
    held = httpd.hold("shop", "a")
    document = listed(httpd)
    assert [row[0] for row in document["rows"]] == ["zoo", "shop", "bad", "old"]
    now = rows(document)
    assert now["zoo"] == {"name": "zoo", "tenant": "www-data",
                          "state": "unused"}
    assert now["shop"].items() >= {
        "tenant": "www-data", "state": "running", "problem": None, "size": 1,
        "max": 2, "busy": 1, "hung": 0, "queue": 0, "suspended": 0}.items()
    assert now["shop"]["memory"] > 1 << 20
    assert (now["bad"]["state"], now["bad"]["problem"]) == ("failing",) * 2
    assert [one["app"] for one in document["problems"]] == ["bad"]
    assert document["problems_total"] == 1 and document["token"] is None
    held.release()
    last = httpd.hold("old", "b")
    httpd.apps.remove(old)
    httpd.graceful()
    wait_until(lambda: rows(listed(httpd))["old"]["state"] == "removed",
               "the spawner has read the new configuration")
    last.release()
    wait_until(lambda: "old" not in rows(listed(httpd)), "it has ended")


def test_one(httpd: Httpd) -> None:
    """A document of one application, whatever its name is."""
    names = ["a+b & c=d", "100%", "x/y?z#", "\u00fc"]
    for n, name in enumerate(names):
        httpd.app(f"app{n}", f'AppGroupName "{name}"', "AppStore 8M")
    httpd.start()
    for n, name in enumerate(names):
        assert httpd.get("/pid", f"app{n}").status == 200
        one = httpd.get(f"{STATUS}?json&app="
                        + urllib.parse.quote(name, safe="")).json()
        assert [group["name"] for group in one["groups"]] == [name]
        assert [app["name"] for app in one["configured"]] == [name]
        assert len(one["store"]["spaces"]) == 1
        assert one["groups"][0]["history"] == []
    for query in ("?json&app=", "?json&app=nosuch", "?json&app=%ff%00",
                  "?json&app=%zz"):
        answer = httpd.get(STATUS + query)
        assert answer.status == 200 and answer.json()["groups"] == [], query


def test_server(httpd: Httpd) -> None:
    """Which server it is, and its clock. A graceful restart does not change
    when it was started."""
    httpd.app("shop")
    before = time.time()
    httpd.start()
    server = httpd.status()["server"]
    assert set(server) == {"host", "server_name", "version", "httpd",
                           "started", "uptime", "now", "zone"}

    def when(key: str) -> float:
        return datetime.fromisoformat(
            httpd.status()["server"][key].replace("Z", "+00:00")).timestamp()

    started = when("started")
    assert before - 1 < started <= time.time()
    assert abs(when("now") - time.time()) < 5
    assert re.fullmatch(r"Apache 2\.\d+\.\d+", server["httpd"])
    assert re.fullmatch(r"[+-]\d\d:\d\d", server["zone"])
    assert 0 <= server["uptime"] < 60
    httpd.graceful()
    assert abs(when("started") - started) < 0.5


def test_many_problems(httpd: Httpd) -> None:
    """The document says how many there are, and has the worst. A sentence is
    cut between two characters."""
    # An error of a start is as long as its output.
    httpd.log.expect("could not be started", "did not start: error")
    text = "\u00e4" * 300
    httpd.app("long", "AppGroupName long", command=
              f"/bin/sh -c 'echo x{text} >&2; exit 1'")
    httpd.start()
    assert httpd.get("/", "long").status == 502
    document = listed(httpd)
    sentence = document["problems"][0]["text"]
    assert 380 < len(sentence.encode()) <= 400
    assert sentence.endswith("\u00e4"), sentence
    full = httpd.status()["problems"][0]["text"]
    assert full.startswith(sentence) and len(full) > len(sentence)
