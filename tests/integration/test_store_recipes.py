# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipes of doc/store.md: AppStore in a virtual host and nothing else.
Members stay logged in whatever is restarted or killed."""
import pytest

from harness import sentences
from harness.config import App
from harness.deploy import more_are_served, restart_under_load
from harness.httpd import Httpd
from harness.members import APPS, Club, site
from harness.procs import kill9
from harness.visitor import PATIENCE, visits
from harness.wait import wait_until


def restart(httpd: Httpd, app: App) -> None:
    """All processes of the app at once."""
    done = httpd.ctl("restart", str(app.root), "--blocking", "--wait")
    assert done.returncode == 0, done.stderr


def kill(httpd: Httpd, helper: str) -> None:
    """Kill it, and wait for the next one."""
    old = httpd.helper(helper)
    kill9(old)
    wait_until(lambda: httpd.helpers(helper) not in ([], [old]),
               f"another {helper} runs")


@pytest.mark.mpms("event")
def test_stop_and_start(httpd: Httpd) -> None:
    """The store saves the sessions to a file, and loads them."""
    site(httpd, "Sinatra and other Rack applications", "AppStore 64M")
    httpd.start()
    club = Club(httpd)
    for _ in range(2):
        for member in club.members:
            member.visit()
        httpd.stop()
        httpd.start()
    for member in club.members:
        member.visit()


def all_serve(httpd: Httpd, app: App) -> None:
    """Wait until each process has served a visit that began now. A client of
    memcached leaves alone for a while what has failed twice in a row. There
    are no more processes than visitors, so none is idle for long."""
    def served() -> dict[int, int]:
        return {one["pid"]: one["processed"]
                for one in httpd.group(app)["processes"]}

    before = served()
    wait_until(lambda: all(n > before.get(pid, 0) + 1
                           for pid, n in served().items()),
               "all processes serve", PATIENCE)


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", list(APPS))
def test_recipe(httpd: Httpd, name: str) -> None:
    """No session is lost, and no change of one. A request may fail only while
    the store was killed under it."""
    httpd.log.expect(sentences.SPAWNER_KILLED, sentences.WATCHDOG_KILLED,
                     sentences.STORE_KILLED,
                     r"shop\[\d+\]> PHP Warning:  session_\w+\(\): ")
    app = site(httpd, name, "AppStore 64M", "MaxInstances 2")
    httpd.start()
    club = Club(httpd)
    restart_under_load(httpd, app, club.visit)
    with visits(club.visit) as crowd:
        restart(httpd, app)
        for helper in ("spawner", "watchdog"):
            kill(httpd, helper)
            more_are_served(crowd)
    with visits(club.try_visit) as crowd:
        for _ in range(3):
            kill(httpd, "store")
            all_serve(httpd, app)
    for member in club.members:
        wait_until(member.try_visit, f"{member.name} is served")
        member.visit()
    if name != "PHP":  # it waits for the locks of scripts that were cut off
        assert club.failures <= 3 * len(crowd.threads)
