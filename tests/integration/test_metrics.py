# Licensed under the Apache License, Version 2.0; see LICENSE.
"""?metrics and ?auto: the status for programs."""
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import \
    text_string_to_metric_families as text_string_to_older_families

from harness.httpd import STATUS, Httpd

pytestmark = pytest.mark.one_mpm("it is a text about the pool")

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def metrics(httpd: Httpd) -> dict[str, Any]:
    """Families by name, as a real and strict parser reads them."""
    response = httpd.get(f"{STATUS}?metrics=")  # as Prometheus sends it
    assert response.status == 200
    assert response.headers["Content-Type"] == OPENMETRICS
    assert response.text.endswith("\n# EOF\n")
    return {family.name: family
            for family in text_string_to_metric_families(response.text)}


def value(families: dict[str, Any], family: str, suffix: str = "",
          **labels: str) -> float:
    found = [sample.value for sample in families[family].samples
             if sample.name == family + suffix and sample.labels == labels]
    assert len(found) == 1, (family, suffix, labels)
    return found[0]


def test_metrics(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 5")
    httpd.app("shop", "MaxInstances 2", "AppGroupName shop")
    httpd.app("blog", "AppGroupName blog")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.get("/pid", "blog")
    held = [httpd.hold("shop", str(n)) for n in range(2)]
    waiting = httpd.hold_async("shop", "late")
    httpd.settles(active=2, count=3, waiting=1)
    now = metrics(httpd)
    shop = {"app": "shop"}
    assert value(now, "apppool_pool_limit") == 5
    assert value(now, "apppool_processes", **shop, state="busy") == 2
    assert value(now, "apppool_processes", **shop, state="idle") == 0
    assert value(now, "apppool_processes", app="blog", state="idle") == 1
    assert value(now, "apppool_queue_length", **shop) == 1
    assert value(now, "apppool_instances_limit", **shop) == 2
    assert value(now, "apppool_failing", **shop) == 0
    assert value(now, "apppool_requests", "_total", **shop) == 3
    assert value(now, "apppool_starts", "_total", **shop) == 2
    assert value(now, "apppool_memory_bytes", **shop) > 1 << 21
    assert value(now, "apppool_oldest_request_seconds", **shop) > 0
    assert value(now, "apppool_queue_seconds", "_count", **shop) == 3
    assert value(now, "apppool_app_seconds", "_count", **shop) == 1
    assert value(now, "apppool_app_seconds", "_bucket", **shop,
                 le="+Inf") == 1
    assert value(now, "apppool_pool_requests", "_total") == 4
    for family in now.values():
        assert family.documentation, family.name
        if family.name.endswith(("seconds", "bytes")):
            assert family.unit == family.name.rpartition("_")[2]
    for one in (*held, waiting):
        one.release()
    httpd.settles(active=0, count=3)
    now = metrics(httpd)
    assert value(now, "apppool_app_seconds", "_count", **shop) == 4
    buckets = [sample for sample in now["apppool_app_seconds"].samples
               if sample.name.endswith("_bucket")
               and sample.labels["app"] == "shop"]
    assert len(buckets) == 16


def test_counters_of_the_document(httpd: Httpd) -> None:
    """Each of them is a metric, and has its value"""
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=1)
    counters = httpd.status()["counters"]
    now = metrics(httpd)
    assert len(counters) >= 18
    for key, number in counters.items():
        assert value(now, f"apppool_pool_{key}", "_total") == number


def test_names_are_escaped(httpd: Httpd) -> None:
    name = 'a "b" \\c {d="e"} \u00e4'
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    httpd.app("shop", f'AppGroupName "{quoted}"')
    httpd.start()
    httpd.get("/pid", "shop")
    assert httpd.status()["groups"][0]["name"] == name
    assert value(metrics(httpd), "apppool_requests", "_total", app=name) == 1
    text = httpd.get(f"{STATUS}?metrics", headers={"Accept": "text/plain"}).text
    older = {family.name: family
             for family in text_string_to_older_families(text)}
    assert value(older, "apppool_requests", "_total", app=name) == 1


@pytest.mark.mpms("prefork", "event")
def test_metrics_of_nothing(httpd: Httpd) -> None:
    """No app has had a request, or there is no app at all."""
    httpd.start()
    assert value(metrics(httpd), "apppool_pool_requests", "_total") == 0
    httpd.app("shop")
    httpd.graceful()
    assert value(metrics(httpd), "apppool_pool_requests", "_total") == 0


def lines(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.splitlines()
                if ": " in line)


def test_auto(httpd: Httpd) -> None:
    """?auto, on our own page and in mod_status."""
    httpd.modules.append("status")
    httpd.directives += ["<Location /server-status>",
                         "SetHandler server-status", "</Location>",
                         "MaxPoolSize 5"]
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    held = httpd.hold("shop", "a")
    response = httpd.get(f"{STATUS}?auto")
    assert response.headers["Content-Type"].startswith("text/plain")
    own = lines(response.text)
    assert own.items() >= {
        "AppPoolMax": "5", "AppPoolCount": "1", "AppPoolActive": "1",
        "AppPoolProcessesBusy": "1", "AppPoolProcessesIdle": "0",
        "AppPoolTotalRequests": "2", "AppPoolTotalQueueFull": "0"}.items()
    theirs = lines(httpd.get("/server-status?auto").text)
    assert "ServerUptimeSeconds" in theirs
    own.pop("AppPoolSpawnerAge", None)  # it grows meanwhile
    assert theirs.items() >= own.items()
    page = httpd.get("/server-status").text
    assert "Application pool" in page and "/hold" in page
    held.release()
