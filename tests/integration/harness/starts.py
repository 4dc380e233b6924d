# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Does the spawner start anything? And first requests, which start processes."""
from concurrent.futures import ThreadPoolExecutor
from typing import Mapping

from harness import procs
from harness.client import Response
from harness.httpd import Httpd
from harness.visitor import PATIENCE
from harness.wait import wait_until

AT_ONCE = 6  # first requests


def first(httpd: Httpd, paths: Mapping[str, str] = {}) -> dict[str, Response]:
    """The first response of each application, also by its path. Most of the time
    of a start is waiting, so some of them start at the same time."""
    def response(name: str) -> Response:
        return httpd.get(paths.get(name, "/"), name, timeout=PATIENCE)

    names = [app.name for app in httpd.apps]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(names, pool.map(response, names)))


def another(httpd: Httpd, name: str) -> None:
    """A process of that app is killed. Another one starts and serves."""
    pid = int(httpd.get("/pid", name).text)
    procs.send(pid, 9)
    wait_until(lambda: httpd.get("/pid", name).text not in ("", str(pid)),
               f"another process of {name} serves")
