# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/monitoring/ with Debian's Prometheus: promtool finds nothing wrong, each
rule fires when it should, and each panel shows something."""
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.packaged import UNPACKED
from harness.ports import reserve_port
from harness.wait import wait_until
from test_monitoring import KIT, busy, names, panels, text_of

pytestmark = [
    pytest.mark.mpms("event"),
    pytest.mark.skipif(
        not (UNPACKED / "prometheus").exists(),
        reason="not unpacked: tests/run long integration packages")]
PROGRAMS = UNPACKED / "prometheus" / "usr" / "bin"
RULES = KIT / "alerts.yml"


def promtool(*words: object, text: str = "") -> str:
    done = subprocess.run([str(PROGRAMS / "promtool"), *map(str, words)],
                          input=text, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_conventions(busy: Httpd) -> None:
    assert promtool("check", "metrics", text=text_of(busy)) == ""
    promtool("check", "rules", RULES)


# Alert: a series, values by which it fires, values by which it does not, and the
# minutes after which it fires.
APP = '{app="a",instance="h",job="apppool"'
FIRES = {
    "ApppoolNoAnswer": ('up{instance="h",job="apppool"}', "0x60", "1x60", 2),
    "ApppoolSpawnerStopped": ('apppool_problems{kind="spawner"}', "1x60",
                              "0x60", 1),
    "ApppoolFailing": (f"apppool_failing{APP}}}", "1x60", "0x60", 2),
    "ApppoolErrors": (f'apppool_responses_total{APP},code="5xx"}}', "0+9x60",
                      "0+4x60", 3),  # of 109, or of 104
    "ApppoolQueueFull": (f'apppool_errors_total{APP},reason="queue_full"}}',
                         "0+1x60", "7x60", 1),
    "ApppoolQueueing": (f"apppool_queue_length{APP}}}", "2x60",
                        "2 0 2 0 2 0 2 0 2 0 2 0 2 0 2 0 2 0 2 0", 5),
    "ApppoolHung": (f'apppool_processes{APP},state="hung"}}', "1x60", "0x60",
                    5),
    "ApppoolUnkillable": (f'apppool_processes{APP},state="unkillable"}}',
                          "1x60", "0x60", 0),
    "ApppoolDeaths": (f"apppool_deaths_total{APP}}}", "0+1x60", "0 1 2 3 3x60",
                      4),
    "ApppoolSlow": (f'apppool_latency_seconds{APP},quantile="0.95"}}', "6x60",
                    "4x60", 10),
    "ApppoolDrained": ('apppool_problems{kind="drained"}', "1x90", "0x90", 60),
    "ApppoolPoolFull": ('apppool_problems{kind="full"}', "1x60", "0x60", 5),
    "ApppoolStore": ('apppool_problems{kind="store"}', "1x60", "0x60", 2),
    "ApppoolStoreFull": ('apppool_store_out_of_memory_total{space="s"}',
                         "0+1x60", "3x60", 1),
    "ApppoolOmitted": ("apppool_omitted_applications", "9x60", "0x60", 10),
}
ALWAYS = {"ApppoolErrors": [{
    "series": f'apppool_responses_total{APP},code="2xx"}}',
    "values": "0+100x90"}]}


def alerts(name: str, minute: int, count: int) -> dict[str, Any]:
    return {"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": "{}", "value": count}] * (count > 0)}


def test_rules_fire(tmp_path: Path) -> None:
    rules = RULES.read_text()
    assert rules.count("- alert: ") == len(FIRES)
    tests = []
    for name, (series, bad, good, after) in FIRES.items():
        assert f"- alert: {name}\n" in rules
        before = [alerts(name, after - 1, 0)] * (after > 0)
        for values, expected in ((bad, [*before, alerts(name, after, 1)]),
                                 (good, [alerts(name, n, 0)
                                         for n in (1, 15, 50)])):
            tests.append({
                "interval": "1m", "promql_expr_test": expected,
                "input_series": [{"series": series, "values": values},
                                 *ALWAYS.get(name, [])]})
    file = tmp_path / "tests.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)],
                                "evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", file)


class Prometheus:
    def __init__(self, place: Path, httpd: Httpd) -> None:
        self.port, self.claim = reserve_port()
        config = place / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [{
                "job_name": "apppool", "metrics_path": "/apppool-status",
                "params": {"metrics": [""]}, "static_configs": [
                    {"targets": [f"127.0.0.1:{httpd.port}"]}]}]}))
        self.claim.close()
        with open(place / "log", "w") as log:
            self.process = subprocess.Popen(
                [str(PROGRAMS / "prometheus"), f"--config.file={config}",
                 f"--storage.tsdb.path={place}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=log, stderr=log)

    def ask(self, what: str, **words: str) -> Any:
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?" \
            + urllib.parse.urlencode(words)
        try:
            with urllib.request.urlopen(url, timeout=20) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None  # it starts
            raise AssertionError(f"{words}: {error.read()!r}") from error
        except OSError:
            return None  # it does not listen yet

    def query(self, text: str) -> list[Any]:
        data = self.ask("query", query=text)
        return data["result"] if data else []

    def value(self, text: str) -> float:
        found = self.query(text)
        return float(found[0]["value"][1]) if found else 0


@pytest.fixture
def prometheus(busy: Httpd, tmp_path: Path) -> Iterator[Prometheus]:
    one = Prometheus(tmp_path, busy)
    yield one
    one.process.terminate()
    one.process.wait(40)


def test_real_scrape(busy: Httpd, prometheus: Prometheus) -> None:
    busy.log.expect(sentences.NO_RESPONSE, sentences.HTTP_WRONG)
    wait_until(lambda: prometheus.value(
        "min(count_over_time(apppool_cpu_seconds_total[1m]))") >= 3,
        "it has scraped three times", 60)
    for (title, query), case in cases(panels()):
        with case:
            query = query.replace("$__rate_interval", "30s")
            for name in ("$instance", "$app"):
                query = query.replace(name, ".*")
            assert prometheus.query(query), title
    for name in names(RULES.read_text()):
        assert prometheus.query(name), name
    rules = prometheus.ask("rules")["groups"][0]["rules"]
    assert len(rules) == len(FIRES)
    for rule in rules:
        assert rule["health"] == "ok" and not rule.get("lastError"), rule
    assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []
    # The counters of the pool are those of the document.
    assert prometheus.value("apppool_pool_requests_total") \
        == busy.status()["counters"]["requests"]


def test_reset(busy: Httpd, prometheus: Prometheus) -> None:
    """After a restart of httpd, counters begin at 0. Prometheus sees that, and
    no rate is below 0."""
    wait_until(lambda: prometheus.value('apppool_requests_total{app="blog"}')
               == 1, "it has scraped", 60)
    busy.stop()
    busy.start()
    for _ in range(2):
        assert busy.get("/pid", "blog").status == 200
    wait_until(lambda: prometheus.value('apppool_requests_total{app="blog"}')
               == 2, "it has scraped the new one", 60)
    busy.graceful()
    assert busy.get("/pid", "blog").status == 200
    wait_until(lambda: prometheus.value('apppool_requests_total{app="blog"}')
               == 3, "a graceful restart resets nothing", 60)
    assert prometheus.value('increase(apppool_requests_total[1m]) < 0') == 0
    assert prometheus.value("max(resets(apppool_pool_requests_total[5m]))") == 1
