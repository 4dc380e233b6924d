# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A new version of an application, while its visitors are at work."""
from typing import Callable

from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive
from harness.visitor import PATIENCE, visits
from harness.wait import wait_until


def restart_under_load(httpd: Httpd, app: App,
                       visit: Callable[[], None]) -> None:
    """No visit fails, and in the end new processes serve them."""
    old = httpd.pids(app)
    assert old
    with visits(visit) as crowd:
        app.touch()
        wait_until(lambda: not any(alive(pid) for pid in old),
                   "the old processes are gone", PATIENCE)
        before = crowd.done
        wait_until(lambda: crowd.done > before, "new ones serve", PATIENCE)
    assert httpd.pids(app)
