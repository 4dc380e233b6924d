# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A new version of an application, and a new configuration of httpd, while
visitors work."""
from pathlib import Path
from typing import Callable

from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive
from harness.visitor import PATIENCE, Visits, visits
from harness.wait import wait_until


def restart_under_load(httpd: Httpd, app: App,
                       visit: Callable[[], None]) -> None:
    """No visit fails. In the end new processes serve, and a graceful restart
    of httpd has kept them."""
    old = httpd.pids(app)
    assert old
    with visits(visit) as crowd:
        app.touch()
        wait_until(lambda: not any(alive(pid) for pid in old)
                   and httpd.group(app)["outdated"] == 0,
                   "the old processes are gone", PATIENCE)
        more_are_served(crowd)
        new = httpd.pids(app)
        httpd.graceful()
        more_are_served(crowd)
    assert set(httpd.pids(app)) >= set(new)


def broken_under_load(httpd: Httpd, app: App, file: Path, text: str,
                      visit: Callable[[], None]) -> None:
    """With this text in the file, no process starts. The old ones serve until
    the file is mended."""
    httpd.log.expect(r"\S+\[\d+\] could not be started: ",
                     "no template, its command is executed")
    old, good = httpd.pids(app), file.read_text()
    with visits(visit) as crowd:
        file.write_text(text)
        app.touch()
        wait_until(lambda: httpd.group(app)["state"] == "failing",
                   "a start fails", PATIENCE)
        more_are_served(crowd)
        assert set(old) <= set(httpd.pids(app))  # or one that began before
        file.write_text(good)
        wait_until(lambda: not any(alive(pid) for pid in old)
                   and httpd.group(app)["outdated"] == 0,
                   "the mended code serves", PATIENCE)
        more_are_served(crowd)


def more_are_served(crowd: Visits) -> None:
    """Wait until the present processes have served more visits."""
    before = crowd.done
    wait_until(lambda: crowd.done > before + len(crowd.threads),
               "visits that began now are over", PATIENCE)
