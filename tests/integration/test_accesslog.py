# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What LogFormat can say about a request: its process and its times."""
import signal
import time

import pytest

from harness import procs, sentences
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the module measures it")

FORMAT = "%U %>s %<{APPPOOL_PID}e %<{APPPOOL_QUEUE_MS}e %<{APPPOOL_APP_MS}e"


def log_format(httpd: Httpd) -> None:
    httpd.directives += [f'LogFormat "{FORMAT}" apppool',
                         "CustomLog access.log apppool"]


def logged(httpd: Httpd, path: str) -> list[list[str]]:
    """Status, pid and times of the one request for this path."""
    file = httpd.dir / "access.log"

    def lines() -> list[list[str]]:
        return [line.split()[1:] for line in file.read_text().splitlines()
                if line.split()[0] == path]

    return wait_until(lines, f"{path} is in the log")


def test_times(httpd: Httpd) -> None:
    log_format(httpd)
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    [(status, logged_pid, waited, took)] = logged(httpd, "/pid")
    assert (status, logged_pid) == ("200", pid)
    assert int(waited) > 0  # the process had to start
    began = time.monotonic()
    first = httpd.hold("shop", "a", "/one/hold")
    reached = (time.monotonic() - began) * 1000
    second = httpd.hold_async("shop", "b", "/two/hold")
    httpd.settles(active=1, count=1, waiting=1)
    time.sleep(0.3)  # what is measured
    first.release()
    second.release()
    [one], [two] = logged(httpd, "/one/hold"), logged(httpd, "/two/hold")
    assert one[:2] == two[:2] == ["200", pid]
    assert int(one[2]) <= reached and int(one[3]) >= 300
    assert int(two[2]) >= 300
    assert httpd.get("/none", "status").status == 404
    assert logged(httpd, "/none") == [["404", "-", "-", "-"]]


def test_failed_in_the_app(httpd: Httpd) -> None:
    """An ErrorDocument does not change them."""
    log_format(httpd)
    httpd.app("shop", 'ErrorDocument 502 /sorry.html')
    (httpd.dir / "shop" / "public" / "sorry.html").write_text("sorry")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    httpd.log.expect(*KILLED)
    held = httpd.hold("shop", "a")
    time.sleep(0.1)  # what is measured
    procs.send(int(pid), signal.SIGKILL)
    response = held.pending.result()
    assert (response.status, response.text) == (502, "sorry")
    [(status, logged_pid, waited, took)] = logged(httpd, "/hold")
    assert (status, logged_pid) == ("502", pid)
    assert int(waited) < 5000 and int(took) >= 100


def test_failed_in_the_queue(httpd: Httpd) -> None:
    log_format(httpd)
    httpd.app("shop", "MaxInstances 1", "AppQueueTimeout 300ms")
    httpd.log.expect(sentences.STILL_STARTING)
    httpd.start()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it runs")
    httpd.settles(active=0, count=1)  # so the next request need not wait
    httpd.log.expect("no process was free")
    held = httpd.hold("shop", "a")
    assert httpd.get("/who", "shop").status == 503
    held.release()
    [(status, pid, waited, took)] = logged(httpd, "/who")
    assert (status, pid, took) == ("503", "-", "-")
    assert int(waited) >= 300
