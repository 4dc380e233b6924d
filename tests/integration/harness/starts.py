# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Does the spawner start anything?"""

from harness import procs
from harness.httpd import Httpd
from harness.wait import wait_until


def another(httpd: Httpd, name: str) -> None:
    """A process of that app is killed. Another one starts and serves."""
    pid = int(httpd.get("/pid", name).text)
    procs.send(pid, 9)
    wait_until(lambda: httpd.get("/pid", name).text not in ("", str(pid)),
               f"another process of {name} serves")
