# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppool-watchdog or apppool-spawner hangs. Another one takes over after 30
s, and a stop of httpd still ends everything."""
import os
import signal
import time
from typing import Iterator

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.late import Late
from harness.load import WORKERS, Load, half_and_half
from harness.procs import alive, freeze, traced
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

LIMIT = 30  # s; one check more or less
HANGS = [["spawner"], ["watchdog"], ["spawner", "watchdog"]]
LOGGED = (r"(spawner|watchdog) \d+ (ended|died|has (not|had no)|was told)",)
STOP_TIMEOUT = 2


def names(hang: list[str]) -> str:
    return "+".join(hang)


def replaced(httpd: Httpd, pids: dict[str, int]) -> None:
    """Each of these processes was replaced by one that runs."""
    for name, pid in pids.items():
        wait_until(lambda: not alive(pid), f"the {name} is ended", 240)
        wait_until(lambda: httpd.helpers(name) not in ([], [pid]),
                   f"the next {name}")


@pytest.fixture
def load(httpd: Httpd) -> Iterator[Load]:
    """shop has load, and blog has no process yet."""
    httpd.log.expect(*LOGGED)
    httpd.directives += WORKERS[httpd.mpm] + ["MaxKeepAliveRequests 0"]
    httpd.app("shop", "MinInstances 2", "MaxInstances 2",
              "AppSetEnv APP_THREADS 1")
    httpd.app("blog", "AppQueueTimeout 200", "AppStartTimeout 200")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=2)
    clients = Load(httpd.port, httpd.dir / "record",
                   half_and_half(4, "shop", pause=0.2))
    try:
        yield clients
    finally:
        clients.kill()


@pytest.mark.parametrize("hang", HANGS, ids=names)
def test_in_service(httpd: Httpd, load: Load, hang: list[str]) -> None:
    """No request fails, no process is lost, and a request that waits for a
    start gets a process."""
    pids = {name: httpd.helper(name) for name in ("spawner", "watchdog")}
    before = httpd.pids(httpd.apps[0])
    for name in hang:
        freeze(pids[name])
    began = time.monotonic()
    waiting = httpd.get_async("/pid", "blog", timeout=200)
    replaced(httpd, {name: pids[name] for name in hang})
    assert time.monotonic() - began >= LIMIT - 10
    assert waiting.result(200).status == 200
    for name in {*pids} - {*hang}:
        assert httpd.helper(name) == pids[name], f"the {name} is another one"
    attempts = load.end()
    assert len(attempts) > 100
    assert {one.outcome for one in attempts} == {"200"}
    assert {*before} <= {*httpd.pids(httpd.apps[0])}
    assert httpd.log.matching(r"has had no heartbeat for \d+ s")
    httpd.check()


def test_only_for_a_while(httpd: Httpd) -> None:
    """The helper and its supervisor are stopped together, as when a machine is
    suspended. No process is ended because of that."""
    httpd.app("shop")
    httpd.start()
    app = httpd.get("/pid", "shop").text
    pids = [httpd.helper("watchdog"), httpd.helper("spawner")]
    for pid in [httpd.pid, *pids]:
        freeze(pid)
    time.sleep(LIMIT + 15)  # there is no event to wait for
    for pid in [*pids[::-1], httpd.pid]:
        os.kill(pid, signal.SIGCONT)
    assert httpd.get("/pid", "shop").text == app
    beats = [httpd.runtime / f"{name}.beat" for name in ("watchdog", "spawner")]
    times = [beat.stat().st_mtime_ns for beat in beats]
    for beat, then in zip(beats, times):
        wait_until(lambda: beat.stat().st_mtime_ns > then, "it beats")
    assert [httpd.helper("watchdog"), httpd.helper("spawner")] == pids
    httpd.check()


def stop_in_time(httpd: Httpd, hang: list[str], margin: float) -> None:
    left = [int(httpd.get("/pid", "shop").text),
            int(httpd.get("/daemon", "shop").text)]
    helpers = [httpd.helper(name) for name in ("spawner", "watchdog")
               if name not in hang]
    # Not those that hang: the time for which they are stopped counts.
    with Late(httpd.pid, *left, *helpers) as late:
        httpd.stop()
    assert not any(map(alive, left))
    late.within(STOP_TIMEOUT + margin)
    assert not httpd.runtime.exists()


@pytest.fixture
def stubborn(httpd: Httpd) -> Httpd:
    """An app that has to be killed after AppStopTimeout."""
    httpd.log.expect(*LOGGED, sentences.NO_TERM)
    httpd.app("shop", f"AppStopTimeout {STOP_TIMEOUT}",
              "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    return httpd


@pytest.mark.parametrize("hang", HANGS, ids=names)
def test_stop_of_stopped(stubborn: Httpd, hang: list[str]) -> None:
    """Processes stopped by SIGSTOP are continued. Otherwise four checks, one a
    second, would find no heartbeat first."""
    for name in hang:
        freeze(stubborn.helper(name))
    stop_in_time(stubborn, hang, 2)


@pytest.mark.parametrize("hang", HANGS, ids=names)
def test_stop(stubborn: Httpd, hang: list[str]) -> None:
    """They hang in another way. Other programs do their part."""
    with traced(*[stubborn.helper(name) for name in hang]):
        stop_in_time(stubborn, hang, 6 + 6 * len(hang))
