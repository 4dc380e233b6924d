# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppMemoryLimit: a process that uses more memory is replaced. The new process
starts first."""
import re
from datetime import datetime

import pytest

from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner measures it")

# The memory of a process from its start on.
BALLAST = ("AppSetEnv BALLAST 5",)
HEAVY = "uses .* MB of memory, more than"


def start(httpd: Httpd, *directives: str, limit: str = "60M") -> App:
    app = httpd.app("shop", f"AppMemoryLimit {limit}", "MaxInstances 1",
                    *directives, *BALLAST)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    return app


@pytest.mark.parametrize("way", ["eat", "child"])
def test_replaced(httpd: Httpd, way: str) -> None:
    """The memory of its child processes counts, too. No request fails or
    waits. There is never less than one process, and never more than one above
    the limit."""
    app = start(httpd, "AppSetEnv BOOT_SLEEP 0.5")
    old = httpd.pids(app)[0]
    assert httpd.get(f"/{way}?mb=100", "shop").text == str(old)
    seen, sizes = {old}, set()

    def replaced() -> bool:
        response = httpd.get("/pid", "shop")
        assert response.status == 200
        seen.add(int(response.text))
        sizes.add(httpd.group(app)["size"])
        return len(seen) == 2

    wait_until(replaced, "another serves")
    assert sizes <= {1, 2}
    line, = httpd.log.wait_for(rf"shop\[{old}\] {HEAVY} the 60.0 MB")
    assert float(re.findall(r"uses ([0-9.]+) MB", line)[0]) > 100
    wait_until(lambda: not alive(old), "the old one ends")
    httpd.settles(active=0, count=1)
    httpd.check()


def test_its_request_is_finished(httpd: Httpd) -> None:
    app = start(httpd)
    held = httpd.hold("shop", "a", "/gorge")
    wait_until(lambda: set(httpd.pids(app)) - {held.pid}, "one replaces it")
    assert httpd.get("/pid", "shop").text != str(held.pid)
    assert alive(held.pid)
    assert held.release().text == str(held.pid)
    wait_until(lambda: not alive(held.pid), "the old one ends")


def test_shared_memory_counts_once(httpd: Httpd) -> None:
    """Five processes that share 30 MB do not use 150 MB."""
    canary(httpd)
    app = start(httpd, limit="120M")
    old = httpd.pids(app)
    assert httpd.get("/share?mb=30", "shop").status == 200
    wait_until(lambda: len(httpd.log.matching("has [1-9]")) == 4,
               "all have seen it")
    wait_for_scan(httpd)
    assert httpd.pids(app) == old
    assert httpd.get("/eat?mb=150", "shop").status == 200
    wait_until(lambda: httpd.log.matching(rf"shop\[\d+\] {HEAVY}"),
               "that is too much")


def canary(httpd: Httpd) -> None:
    """For wait_for_scan(): an app that is above its limit from its start
    on."""
    httpd.app("canary", "AppMemoryLimit 1M", "MaxInstances 1",
              *BALLAST)


def wait_for_scan(httpd: Httpd) -> None:
    """Wait until the memory of all processes was read: a new canary was
    reported, and so was the process that replaced it."""
    assert httpd.get("/pid", "canary").status == 200
    wait_until(
        lambda: len(httpd.log.matching(rf"canary\[\d+\] {HEAVY}")) == 2,
        "two looks", 90)


def test_the_new_one_does_not_start(httpd: Httpd) -> None:
    """The old process still serves, and the status says so, until a new one
    starts."""
    httpd.log.expect("could not be started")
    broken = httpd.dir / "broken"
    app = start(httpd, f"AppSetEnv BOOT_FAIL_IF {broken}")
    broken.touch()
    old = httpd.get("/eat?mb=100", "shop").text
    wait_until(lambda: httpd.group(app)["state"] == "failing",
               "the status says that it fails")
    assert httpd.get("/pid", "shop").text == old
    broken.unlink()
    wait_until(lambda: httpd.get("/pid", "shop").text != old,
               "it is replaced")


def test_limit_too_low(httpd: Httpd) -> None:
    """A process that is above the limit at once is not replaced all the time.
    It serves ten times as long as it took to start."""
    start(httpd, "AppSetEnv BOOT_SLEEP 0.3", limit="1M")
    wait_until(lambda: len(httpd.log.matching(HEAVY)) == 2, "two are replaced",
               250)  # ten times what two starts take
    for line in httpd.log.matching(HEAVY):
        name = re.findall(r"shop\[\d+\]", line)[0]
        ready, = httpd.log.wait_for(re.escape(name) + " ready after")
        boot = float(re.findall(r"after ([0-9.]+) s", ready)[0])
        assert boot >= 0.3
        assert (when(line) - when(ready)).total_seconds() >= 10 * boot - 0.1


def when(line: str) -> datetime:
    return datetime.strptime(line[1:line.index("]")],
                             "%a %b %d %H:%M:%S.%f %Y")


@pytest.mark.mpms("event")
def test_next_spawner_continues_to_measure(httpd: Httpd) -> None:
    start(httpd)
    old = httpd.get("/pid", "shop").text
    kill9(httpd.helper("spawner"))
    assert httpd.get("/eat?mb=100", "shop").text == old
    wait_until(lambda: httpd.get("/pid", "shop").text != old,
               "it is replaced")


@pytest.mark.mpms("event")
def test_status_counts_what_it_has_started(httpd: Httpd) -> None:
    """Without a limit, and in each view. A process of somebody else does not
    count."""
    app = start(httpd, limit="0")
    httpd.app("blog")
    httpd.graceful()
    httpd.get("/pid", "blog")

    def memory(of: App) -> int:
        (one,) = httpd.group(of)["processes"]
        return one["memory"] >> 20

    before, other = memory(app), memory(httpd.apps[1])
    assert 0 < before < 50
    httpd.get("/child?mb=50", "shop")
    wait_until(lambda: memory(app) >= before + 50, "the child has it")
    assert memory(app) < before + 50 + 40
    assert memory(httpd.apps[1]) < other + 10

    def agree() -> bool:
        total = memory(app)
        shown = re.findall(r"(\d+) MB", httpd.ctl("status").stdout)
        metrics = httpd.get("/apppool-status?metrics").text
        seen, = re.findall(
            r'apppool_memory_bytes{app="[^"]*shop[^"]*"} (\d+)', metrics)
        return any(abs(int(mb) - total) <= 2 for mb in shown) \
            and abs((int(seen) >> 20) - total) <= 2

    wait_until(agree, "all say the same, once the child has all of it")


@pytest.mark.mpms("event")
def test_no_limit(httpd: Httpd) -> None:
    """0, and a limit that comes with a graceful restart."""
    canary(httpd)
    app = start(httpd, limit="0")
    old = httpd.get("/eat?mb=100", "shop").text
    wait_for_scan(httpd)
    assert not httpd.log.matching(rf"shop\[\d+\] {HEAVY}")
    app.directives[0] = "AppMemoryLimit 61440K"
    httpd.graceful()
    wait_until(lambda: httpd.log.matching(rf"\[{old}\] {HEAVY} the 60.0 MB"),
               "now there is one")
