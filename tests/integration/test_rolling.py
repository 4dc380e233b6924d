# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Rolling restarts: the new process starts first. The old code serves until
then, also if the new code does not start."""
import re
from typing import Callable

import pytest

from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.threads import Threads
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the pool and the spawner decide when")


def start(httpd: Httpd, *directives: str) -> App:
    """An app with two idle processes."""
    app = httpd.app("shop", "MaxInstances 2", "MinInstances 2", *directives)
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    return app


def under_load(httpd: Httpd, deploy: Callable[[], None],
               ended: Callable[[], bool]) -> set[str]:
    """The processes that served eight clients while the app was deployed. No
    request fails."""
    counts: list[int] = []

    def done() -> bool:
        counts.append(httpd.pool("count"))
        return ended()

    with Threads(httpd, "shop", 8) as clients:
        clients.more(50)
        deploy()
        wait_until(done, "the processes are replaced")
        clients.more(50)
    assert clients.failed == []
    assert min(counts) >= 2, "never below its capacity"
    assert max(counts) <= 3, "never more than one above it"
    return clients.names()


def replaced(httpd: Httpd, app: App, old: list[int]) -> bool:
    return len(httpd.pids(app)) == 2 and not set(httpd.pids(app)) & set(old)


def test_touch(httpd: Httpd) -> None:
    """restart.txt in production: no request fails, and none waits for a
    boot."""
    app = start(httpd, "AppSetEnv BOOT_SLEEP 0.3")
    old = httpd.pids(app)
    names = under_load(httpd, lambda: app.touch() and None,
                       lambda: replaced(httpd, app, old))
    assert {str(pid) for pid in old} <= names
    wait_until(lambda: not any(alive(pid) for pid in old), "the old ones end")
    assert httpd.status()["counters"]["restarts"] == 1
    httpd.settles(active=0, count=2)
    httpd.check()


def test_next_request(httpd: Httpd) -> None:
    """By default, one request after a touch is enough, even for an app that
    had a request a moment ago. A request 10 ms later sees the file."""
    app = start(httpd)
    for _ in range(3):
        old = httpd.pids(app)
        assert httpd.get("/pid", "shop").status == 200
        app.touch()
        assert httpd.get("/pid", "shop").status == 200
        wait_until(lambda: replaced(httpd, app, old), "it was seen")
    assert httpd.status()["counters"]["restarts"] == 3


@pytest.mark.mpms("prefork", "event")
def test_changed_configuration(httpd: Httpd) -> None:
    """graceful with another environment has the same effect."""
    app = start(httpd, "AppSetEnv BOOT_SLEEP 0.3")
    old = httpd.pids(app)

    def change() -> None:
        app.directives.append("AppSetEnv CHANGED yes")
        httpd.graceful()

    under_load(httpd, change, lambda: replaced(httpd, app, old))
    new = httpd.get("/process", "shop").json()["environment"]
    assert new["CHANGED"] == "yes"
    wait_until(lambda: not any(alive(pid) for pid in old), "the old ones end")
    httpd.settles(active=0, count=2)
    httpd.check()


def test_broken_code(httpd: Httpd) -> None:
    """The old code serves until the new one starts, and the status says so."""
    httpd.log.expect("could not be started")
    broken = httpd.dir / "broken"
    app = start(httpd, f"AppSetEnv BOOT_FAIL_IF {broken}")
    old = httpd.pids(app)
    broken.touch()
    app.touch()
    assert int(httpd.get("/pid", "shop").text) in old
    wait_until(lambda: httpd.group(app)["state"] == "failing",
               "the status says that it fails")
    assert httpd.group(app)["outdated"] == 2
    assert "exit" in httpd.group(app)["last_error"]
    shown = httpd.ctl("status").stdout
    assert re.search(r"failing, 2 with old code\n  the last start failed "
                     r"\d+ s ago: it ended", shown)
    assert re.search(r"<td>failing</td><td>new processes do not start: it "
                     "ended .*; 2 processes of the old code serve requests",
                     httpd.get("/apppool-status").text)
    httpd.log.wait_for(r"shop\[\d+\] could not be started: .*exit code 1")
    for _ in range(10):
        assert int(httpd.get("/pid", "shop").text) in old
    broken.unlink()
    wait_until(lambda: replaced(httpd, app, old), "it recovers by itself")
    assert httpd.group(app)["outdated"] == 0
    assert httpd.group(app)["state"] == "running"
    # The events show what has happened.
    assert httpd.group(app)["last_error_time"] is None
    assert "start failed" not in httpd.ctl("status").stdout
    assert "do not start" not in httpd.get("/apppool-status").text


def test_broken_code_under_load(httpd: Httpd) -> None:
    """No request fails, and no old process ends, until a later try starts.
    Each try is at most one process above the limit."""
    httpd.log.expect("could not be started")
    broken = httpd.dir / "broken"
    app = start(httpd, f"AppSetEnv BOOT_FAIL_IF {broken}",
                "AppSetEnv BOOT_SLEEP 0.2")
    old = httpd.pids(app)
    sizes = []

    def deploy() -> None:
        broken.touch()
        assert httpd.ctl("restart", "shop", "--rolling").returncode == 0
        wait_until(lambda: sizes.append(size(httpd, app)) or
                   len(httpd.log.matching("could not be started")) >= 2,
                   "it was tried twice")
        assert httpd.pids(app) == old
        broken.unlink()

    under_load(httpd, deploy, lambda: replaced(httpd, app, old))
    assert set(sizes) <= {2, 3}
    assert httpd.group(app)["state"] == "running"
    httpd.settles(active=0, count=2)
    httpd.check()


def size(httpd: Httpd, app: App) -> int:
    group = httpd.group(app)
    return int(group["size"] + group["spawning"])


def test_held_request_is_finished(httpd: Httpd) -> None:
    app = start(httpd)
    held = httpd.hold("shop", "a")
    old = httpd.pids(app)
    app.touch()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200 and
               replaced(httpd, app, old), "the processes are replaced")
    assert alive(held.pid)
    assert held.release().text == str(held.pid)
    wait_until(lambda: not alive(held.pid), "the old one ends")
    httpd.settles(active=0, count=2)


@pytest.mark.mpms("prefork", "event")
def test_spawner_dies_meanwhile(httpd: Httpd) -> None:
    """The next spawner continues the restart."""
    warm = httpd.dir / "warm"
    warm.touch()
    app = start(httpd, f"AppSetEnv UP_IF {warm}", "AppReady /up")
    old = httpd.pids(app)
    warm.unlink()
    app.directives.append("AppSetEnv CHANGED yes")
    httpd.graceful()
    wait_until(lambda: httpd.group(app)["spawning"] == 1, "one is started")
    kill9(httpd.helper("spawner"))
    warm.touch()
    wait_until(lambda: replaced(httpd, app, old), "all are replaced")
    assert httpd.get("/process", "shop").json()["environment"]["CHANGED"]
    httpd.settles(active=0, count=2)
    httpd.check()
