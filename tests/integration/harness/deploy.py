# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A new version of an application, and a new configuration of httpd, while
visitors work."""
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


def more_are_served(crowd: Visits) -> None:
    """Wait until the present processes have served more visits."""
    before = crowd.done
    wait_until(lambda: crowd.done > before + len(crowd.threads),
               "visits that began now are over", PATIENCE)
