# Licensed under the Apache License, Version 2.0; see LICENSE.
"""All MaxRequestWorkers are held by requests that wait for one application.
What an administrator sees then, and what helps (doc/operations.md, When
nothing responds)."""
import json
from typing import Any

import pytest

from harness import sentences
from harness.httpd import STATUS, Httpd
from harness.wait import wait_until

WORKERS = 4
LIMITS = {
    "prefork": ("StartServers 4", "MinSpareServers 1", "MaxSpareServers 4",
                f"ServerLimit {WORKERS}", f"MaxRequestWorkers {WORKERS}"),
    "event": ("StartServers 1", "ServerLimit 1", "MinSpareThreads 1",
              f"MaxSpareThreads {WORKERS}", f"ThreadsPerChild {WORKERS}",
              f"MaxRequestWorkers {WORKERS}"),
}
LIMITS["worker"] = LIMITS["event"]


def pool_status(httpd: Httpd) -> dict[str, Any]:
    """The status, by the control socket."""
    done = httpd.ctl("--json", "status")
    assert done.returncode == 0, done.stderr
    status: dict[str, Any] = json.loads(done.stdout)
    return status


@pytest.mark.mpms("prefork", "worker", "event")
def test_all_wait(httpd: Httpd) -> None:
    httpd.log.expect("AH00161|AH00286|AH00484|AH00488|AH03490|"
                     "MaxRequestWorkers",
                     sentences.DRAINED, r"may run are more than half of the "
                     r"\d+ workers \(MaxRequestWorkers\)")
    httpd.directives += LIMITS[httpd.mpm]
    httpd.app("shop", "MaxInstances 1", "AppQueueTimeout 10min",
              "AppHungAfter 0")
    httpd.app("blog")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = [httpd.get_async("/pid", "shop", 100)
               for _ in range(WORKERS - 1)]
    wait_until(lambda: pool_status(httpd)["pool"]["waiting"] == WORKERS - 1,
               "all workers are held")
    page = httpd.get_async(f"{STATUS}?json", "status", 100)
    other = httpd.get_async("/pid", "blog", 100)
    httpd.log.wait_for("MaxRequestWorkers")

    shown = httpd.ctl("status")
    assert shown.returncode == 0
    assert "shop" in shown.stdout and f"{WORKERS - 1} waiting" in shown.stdout
    assert len([one for group in pool_status(httpd)["groups"]
                for one in group["requests"]]) == WORKERS
    top = httpd.ctl("top", "-n", "1")
    assert top.returncode == 0 and "shop" in top.stdout
    assert httpd.ctl("check").returncode == 0
    assert not page.done() and not other.done()

    assert httpd.ctl("drain", "shop").returncode == 0
    assert [one.result().status for one in waiting] == [503] * len(waiting)
    assert page.result().status == 200
    assert other.result().status == 200
    assert held.release().status == 200
    assert httpd.ctl("restart", "shop", "--wait").returncode == 0
    assert httpd.get("/pid", "shop").status == 200
