# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The spawner, the template or the forked process is killed at each step from
the order to "go". Every request is served, no process is left, and no process
serves without a record."""
import os
import signal
import threading
from contextlib import contextmanager, suppress
from typing import Iterator

import pytest

from harness import cgroups, procs, registry, sentences, template
from harness.httpd import Httpd
from harness.procs import alive, kill9, kill9_if_alive
from harness.tracer import injected
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
    """Each process that stops is continued, as a process that has stopped it
    could do at any time."""
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
                       "AppStartTimeout 30")
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
        # If a process is killed after its "go", its start has failed.
        assert pending.result().status == 200 or \
            (victim, step) == ("forked", "go")
        wait_until(lambda: httpd.get("/pid", "shop").status == 200,
                   "it serves")
        serving = httpd.pids(app)
        wait_until(lambda: not set(unrecorded(httpd)) - set(serving),
                   "nothing is left")
    httpd.check()


def test_forks_at_once(httpd: Httpd) -> None:
    """As many as the requests need, and no more than the app may have."""
    httpd.directives.append("MaxPoolSize 20")
    app = template.add(httpd, "stop-go", "AppConcurrency 1", "MaxInstances 8")
    httpd.start()
    pending = [httpd.get_async("/pid", "shop") for _ in range(20)]
    httpd.settles(active=0, count=0, waiting=20)
    wait_until(lambda: len(stopped(httpd)) == 8, "all of them")
    with going_on(httpd):
        assert {one.result().status for one in pending} == {200}
    assert len(httpd.pids(app)) <= 8
    assert int(str(template.ready(httpd, app)["forked"])) == 8
    httpd.check()


# What the spawner is about to do when it is killed, from the order to "go" and
# to the end of that turn. A number says which call of that name it is.
CALLS = ["bind", "pipe2", "pipe2:2", "sendmsg", "mkdirat", "pwrite64", "write",
         "write:2", "write:3", "pwrite64:2"]


@contextmanager
def killed_at(pid: int, call: str) -> Iterator[None]:
    """The next time that this process makes this call, it is killed instead.
    It may not make it; then it is killed in the end."""
    name, _, number = call.partition(":")
    with injected(pid, name, f"signal=KILL:when={number or 1}"):
        try:
            yield
        finally:
            kill9_if_alive(pid)


@pytest.mark.parametrize("calls", [CALLS[:5], CALLS[5:]], ids=["order", "go"])
@pytest.mark.parametrize("by", cgroups.WAYS)
def test_spawner_killed_between(httpd: Httpd, calls: list[str],
                                by: str) -> None:
    """Between any two of its own steps"""
    httpd.wrapper = cgroups.wrapper(by)
    httpd.directives.append("LogLevel apppool:info")
    app = template.add(httpd)
    httpd.log.expect(sentences.SPAWNER_KILLED, sentences.DIED,
                     sentences.NO_RECORD, sentences.NO_BACKEND)
    httpd.start()
    for call in calls:
        wait_until(lambda: template.who(httpd), "it serves")
        for pid in httpd.pids(app):
            kill9(pid)
        wait_until(lambda: not httpd.pids(app), "there is none")
        template.who(httpd)
        template.ready(httpd, app)
        for pid in httpd.pids(app):
            kill9(pid)
        wait_until(lambda: not httpd.pids(app), "there is none")
        spawner = httpd.helper("spawner")
        with killed_at(spawner, call):
            assert template.who(httpd)["forked"] == "1", call
        wait_until(lambda: httpd.spawner_now() not in (0, spawner),
                   "another one")
        wait_until(lambda: not set(unrecorded(httpd)) - set(httpd.pids(app)),
                   "nothing is left")
        httpd.check()
