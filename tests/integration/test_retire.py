# Licensed under the Apache License, Version 2.0; see LICENSE.
"""STOPPING=1: a process of an app leaves the pool by itself. It finishes its
requests, ends when it wants, and no request is lost."""
import os
import signal

import pytest

from harness import sentences
from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.registry import between_spawners, write
from harness.threads import Threads
from harness.wait import wait_until


def retiring(httpd: Httpd, *directives: str, idle: str = "0.5") -> App:
    """An app that retires on SIGUSR1, and is up."""
    app = httpd.app("shop", f"AppSetEnv RETIRES {idle}", *directives)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    return app


def retired(httpd: Httpd, pid: int) -> bool:
    """It ended by itself, without a signal."""
    wait_until(lambda: not alive(pid), f"{pid} is gone")
    wait_until(lambda: httpd.log.matching(rf"shop\[{pid}\] ended: "),
               "its end is in the log")
    # A spawner does not know the exit status of a process that another spawner
    # has started.
    return bool(httpd.log.matching(
        rf"shop\[{pid}\] ended: exit (code 0|status not known)")) and not httpd.log.matching(rf"shop\[{pid}\] is stopped")


@pytest.mark.one_mpm("the process says it, and the spawner waits for it")
@pytest.mark.parametrize("killed", ["nobody", "spawner"])
def test_no_request_is_lost(httpd: Httpd, killed: str) -> None:
    """One process after the other, under load, also while the spawner is
    dead."""
    httpd.log.expect(sentences.DIES_OFTEN)
    app = retiring(httpd, "MinInstances 3", "MaxInstances 3",
                   "AppQueueTimeout 60s")
    httpd.settles(active=0, count=3)
    with Threads(httpd, "shop", 6) as clients:
        for _ in range(6):
            wait_until(lambda: len(httpd.pids(app)) == 3, "three serve", 40)
            pid = httpd.pids(app)[0]
            if killed == "spawner":
                kill9(httpd.helper("spawner"))
            os.kill(pid, signal.SIGUSR1)
            assert retired(httpd, pid)
            clients.more()
    assert clients.failed == []
    httpd.settles(active=0, count=3)
    assert httpd.status()["counters"]["died"] == 0
    httpd.check()


@pytest.mark.mpms("event")
def test_the_spawner_is_killed_meanwhile(httpd: Httpd) -> None:
    """The record says that the process retires, so the next spawner lets it
    end."""
    app = retiring(httpd, "AppStopTimeout 20")
    held = httpd.hold("shop", "a")
    os.kill(held.pid, signal.SIGUSR1)
    wait_until(lambda: httpd.pids(app, "leaving") == [held.pid], "it leaves")
    kill9(httpd.helper("spawner"))
    wait_until(lambda: httpd.log.matching(rf"{held.pid}\] is adopted"),
               "the next spawner has it")
    assert held.release().status == 200
    assert retired(httpd, held.pid)


@pytest.mark.mpms("event")
def test_the_spawner_is_killed_before_it_hears(httpd: Httpd) -> None:
    """The record says that the process retires, and the segment does not say
    so yet. The next spawner takes the process out of the pool."""
    app = retiring(httpd, "AppStopTimeout 20", idle="1.5")
    pid = httpd.pids(app)[0]
    with between_spawners(httpd) as record:
        write(record, 0, stops_itself=1)
    wait_until(lambda: httpd.pids(app, "leaving") == [pid], "it leaves")
    os.kill(pid, signal.SIGUSR1)
    assert retired(httpd, pid)


@pytest.mark.mpms("event")
def test_process_does_not_end(httpd: Httpd) -> None:
    """It gets the stop signal AppStopTimeout after its last request."""
    app = retiring(httpd, "AppStopTimeout 1", idle="100")
    held = httpd.hold("shop", "a")
    os.kill(held.pid, signal.SIGUSR1)
    wait_until(lambda: httpd.pids(app, "leaving") == [held.pid], "it leaves")
    assert not httpd.log.matching("is stopped")
    assert held.release().status == 200
    wait_until(lambda: not alive(held.pid), "it is gone")
    httpd.log.wait_for(rf"shop\[{held.pid}\] is stopped: exited")
