# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Spawner, template or forked process is killed at each step from the order to
"go": every request is served, nothing is left, and nothing serves without a
record."""
import os
import signal
import threading
from contextlib import contextmanager, suppress
from typing import Iterator

import pytest

from harness import cgroups, procs, registry, sentences, template
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

STEPS = ["order", "child", "hello", "go"]


def stopped(httpd: Httpd) -> list[int]:
    """Processes of the app that have stopped at their step."""
    return [pid for pid in procs.newer(httpd.born)
            if procs.is_marked(pid, str(httpd.dir))
            and (found := procs.stat(pid)) and found.state == "T"]


def unrecorded(httpd: Httpd) -> list[int]:
    """Processes of the app that lead a session and are in no record."""
    known = {record["pid"] for record in
             registry.read(httpd.runtime / "registry")}
    return [pid for pid in procs.newer(httpd.born)
            if str(template.program(httpd)) in procs.command(pid)
            and pid not in known and alive(pid)]


@contextmanager
def going_on(httpd: Httpd) -> Iterator[None]:
    """Whatever stops goes on, as whoever has stopped it could at any time."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(0.05):
            for pid in stopped(httpd):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("victim", ["spawner", "template", "forked"])
@pytest.mark.parametrize("by", cgroups.WAYS)
def test_killed(httpd: Httpd, step: str, victim: str, by: str) -> None:
    httpd.wrapper = cgroups.wrapper(by)
    httpd.directives.append("LogLevel apppool:info")
    app = template.add(httpd, f"stop-{step}", "AppStopTimeout 1",
                       "AppStartTimeout 8")
    httpd.log.expect(template.DIED, template.KILLED, sentences.DIED,
                     sentences.SPAWNER_KILLED, sentences.NO_RECORD,
                     sentences.NOT_STARTED, sentences.START_ERROR,
                     "shop template.* (left processes|did not end in time)",
                     sentences.CHILDREN_LEFT, sentences.NO_TERM)
    httpd.start()
    pending = httpd.get_async("/pid", "shop")
    found, = wait_until(lambda: stopped(httpd), "it stops at its step")
    is_template = step == "order"
    if victim == "spawner":
        old = httpd.helper("spawner")
        kill9(old)
        wait_until(lambda: httpd.spawner_now() not in (0, old), "the next one")
    elif victim == "template":
        kill9(int(str(template.ready(httpd, app)["pid"])))
    elif not is_template:
        kill9(found)
    with going_on(httpd):
        # One that is killed after its "go" is a start that failed.
        assert pending.result().status == 200 or \
            (victim, step) == ("forked", "go")
        wait_until(lambda: httpd.get("/pid", "shop").status == 200,
                   "it serves")
        serving = httpd.pids(app)
        wait_until(lambda: not set(unrecorded(httpd)) - set(serving),
                   "nothing is left")
    httpd.check()
