# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/monitoring/: its rules and its dashboard name metrics that exist.
packages_monitoring.py lets a real Prometheus read them."""
import json
import re
from typing import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from harness import sentences
from harness.httpd import STATUS, Httpd
from harness.places import TOP
from harness.space import Space
from test_metrics import metrics, value

pytestmark = pytest.mark.mpms("event")

KIT = TOP / "doc" / "monitoring"
NAME = re.compile(r"\bapppool_\w+")


def panels() -> list[tuple[str, str]]:
    """Title and query of each panel of the dashboard."""
    board = json.loads((KIT / "dashboard.json").read_text())
    return [(panel["title"], target["expr"]) for panel in board["panels"]
            for target in panel.get("targets", [])]


def names(text: str) -> set[str]:
    return set(NAME.findall(text))


@pytest.fixture
def busy(httpd: Httpd) -> Iterator[Httpd]:
    """An httpd in which something of each kind has happened."""
    httpd.log.expect(sentences.HTTP_WRONG, sentences.NO_RESPONSE,
                     sentences.KILLED_NO_RESPONSE)
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.app("blog", "AppGroupName blog")
    httpd.app("unused", "AppGroupName unused")
    httpd.start()
    space = Space(httpd, "shop")
    space.set("key", "x", 600)
    assert space.get("key") == "x"
    space.close()
    for path in ("pid", "pid", "garbage"):
        httpd.get(f"/{path}", "shop")
    httpd.get("/pid", "blog")
    yield httpd


def text_of(httpd: Httpd, query: str = "metrics") -> str:
    """As a program gets it that does not know OpenMetrics."""
    response = httpd.get(f"{STATUS}?{query}",
                         headers={"Accept": "text/plain;version=0.0.4"})
    assert response.headers["Content-Type"] \
        == "text/plain; version=0.0.4; charset=utf-8"
    return response.text


def test_names(busy: Httpd) -> None:
    """Each name of rules and dashboard is a sample, and each family follows the
    conventions of Prometheus."""
    text = text_of(busy)
    families = list(text_string_to_metric_families(text))
    samples = {sample.name for family in families for sample in family.samples}
    used = names((KIT / "alerts.yml").read_text())
    for _, query in panels():
        used |= names(query)
    assert len(used) > 25 and used - samples == set()
    for family in families:
        assert family.documentation and family.type != "unknown", family.name
        assert re.fullmatch(r"apppool_[a-z0-9_]+", family.name)
        # base units, at the end; the type is not part of the name
        assert not re.search("milli|_ms$|_kb$|gauge|counter", family.name)
        for sample in family.samples:
            assert sample.name.endswith("_total") == (
                family.type == "counter"), sample.name
    # The same in OpenMetrics.
    now = metrics(busy)
    assert {sample.name for family in now.values() for sample in family.samples
            } == samples
    shop = {"app": "shop"}
    group, = [one for one in busy.status()["groups"] if one["name"] == "shop"]
    for code in ("1xx", "2xx", "5xx"):
        assert value(now, "apppool_responses", "_total", **shop, code=code) \
            == group["responses"][code]
    assert value(now, "apppool_errors", "_total", **shop,
                 reason="bad_response") == 1
    assert value(now, "apppool_response_bytes", "_total", **shop) \
        == group["bytes"]
    assert value(now, "apppool_latency_seconds", **shop, quantile="0.5") > 0
    assert value(now, "apppool_cpu_seconds", "_total", **shop) >= 0
    kinds = {sample.labels["kind"] for sample
             in now["apppool_problems"].samples if sample.value == 0}
    page = (TOP / "doc" / "status.md").read_text()
    table = page.split("\n## problems\n")[1].split("\n## ")[0]
    assert kinds == set(re.findall(r"^\| `(\w+)` \|", table, re.M)) - {"kind"}


def test_bound(busy: Httpd) -> None:
    """The first applications have series, and the others are counted."""
    def seen(query: str) -> tuple[set[str], dict[str, float]]:
        families = {family.name: family for family in
                    text_string_to_metric_families(text_of(busy, query))}
        return ({sample.labels["app"] for family in families.values()
                 for sample in family.samples if "app" in sample.labels},
                {key: value(families, f"apppool_{key}applications")
                 for key in ("", "used_", "omitted_")})

    assert seen("metrics") == ({"shop", "blog"}, {"": 3, "used_": 2,
                                                 "omitted_": 0})
    # as Prometheus sends params: {metrics: [""], most: ["1"]}
    for query in ("metrics&most=1", "metrics=&most=1"):
        assert seen(query) == ({"shop"}, {"": 3, "used_": 2, "omitted_": 1})
    assert seen("metrics=&most=nonsense")[1]["omitted_"] == 2
    # The pool counts all of them.
    number = busy.status()["counters"]["requests"]
    assert f"apppool_pool_requests_total {number}\n" \
        in text_of(busy, "metrics&most=1")


def test_dashboard() -> None:
    """A panel has a title and a place of its own, and a unit"""
    board = json.loads((KIT / "dashboard.json").read_text())
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        place = {(at["x"] + x, at["y"] + y) for x in range(at["w"])
                 for y in range(at["h"])}
        assert panel["title"] and not place & taken, panel["title"]
        taken |= place
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    assert (KIT / "README.md").exists()
