# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Thousands of processes run that have nothing to do with httpd. The loop of
the spawner has no more work than without them: it reads nothing about them."""
import json
import signal
from typing import Iterator

import pytest

from harness import cgroups, procs, sentences
from harness.config import App
from harness.crowd import query, cpu, quiet, strangers
from harness.httpd import Httpd
from harness.long import lasts
from harness.procs import alive, children
from harness.wait import wait_until

STRANGERS = 3000
APPS = 20
QUESTIONS = 30
# Seconds of CPU time. One pass over all of them takes 0.06 s. One pass for
# each app, or for each question, would take more than 1 s.
LOOP = 0.5
WAYS = list(cgroups.WAYS)

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with strangers(quiet(tmp_path_factory.mktemp("quiet")), STRANGERS):
        yield


@pytest.fixture
def server(httpd: Httpd, request: pytest.FixtureRequest, crowd: None
           ) -> Httpd:
    """Each of its processes has another process in its session."""
    httpd.wrapper = cgroups.wrapper(request.param)
    httpd.log.expect(sentences.DIED, sentences.CHILDREN_LEFT)
    httpd.directives.append(f"MaxPoolSize {APPS}")
    httpd.app("shop", f"MinInstances {APPS}", f"MaxInstances {APPS}",
              "AppPreStart On", "AppStopTimeout 2", "AppMemoryLimit 1G",
              command=f"{quiet(httpd.dir)} left")
    httpd.start()
    all_run(httpd, httpd.apps[0])
    return httpd


def all_run(httpd: Httpd, app: App) -> list[int]:
    wait_until(lambda: len(httpd.pids(app, "idle")) == APPS, "all run", 60)
    return httpd.pids(app, "idle")


@pytest.mark.parametrize("server", lasts(["plain"], WAYS), indirect=True)
def test_deaths(server: Httpd) -> None:
    """What dead processes have left is ended even then."""
    spawner, app = server.spawner_now(), server.apps[0]
    leaders = all_run(server, app)
    left = [pid for leader in leaders for pid in children(leader)]
    assert len(left) == APPS
    before, _ = cpu(spawner)
    for pid in leaders:
        procs.send(pid, signal.SIGKILL)
        wait_until(lambda: not alive(pid), "it is dead")
    wait_until(lambda: not any(map(alive, left)), "nothing is left", 60)
    wait_until(lambda: not set(leaders) & set(server.pids(
        app, "idle", "busy", "leaving")), "they are forgotten", 60)
    assert cpu(spawner)[0] - before < LOOP


@pytest.mark.parametrize("server", lasts(["cgroup"], WAYS), indirect=True)
def test_status(server: Httpd) -> None:
    """The memory of all processes is read, but not by the loop."""
    spawner = server.spawner_now()
    before, _ = cpu(spawner)
    for _ in range(QUESTIONS):
        response = json.loads(query(server, "status"))
        processes = [process for group in response["groups"]
                     for process in group["processes"]]
        assert len(processes) == APPS
        assert all(process["memory"] > 0 for process in processes)
    assert cpu(spawner)[0] - before < LOOP
