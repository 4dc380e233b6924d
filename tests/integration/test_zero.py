# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Times of 0: no wait, no delay, no limit, as doc/directives.md says."""
import re
from datetime import datetime

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until
from missed import within

pytestmark = pytest.mark.mpms("event")
EARLY = ("AppPreStart On", "MinInstances 1")


def when(httpd: Httpd, pattern: str) -> datetime:
    """The time stamp of the one line that matches."""
    line, = httpd.log.wait_for(pattern)
    stamp = re.match(r"\[([^]]+)\]", line)
    assert stamp is not None, line
    return datetime.strptime(stamp[1], "%a %b %d %H:%M:%S.%f %Y")


def test_queue_timeout(httpd: Httpd) -> None:
    """The request does not wait, not even for the first process to start, but
    that start happens."""
    httpd.log.expect(r"shop: no process was free; .* after 0 ms \(AppQueue",
                     sentences.STILL_STARTING)  # if the spawner was faster
    app = httpd.app("shop", "MaxInstances 1", "AppQueueTimeout 0")
    httpd.start()
    wait_until(lambda: httpd.pool("max") > 0, "the spawner has set the limit")
    first = httpd.get("/pid", "shop")
    assert first.status == 503 and int(first.headers["Retry-After"]) >= 1
    assert httpd.requests_seen() == []
    pid, = wait_until(lambda: httpd.pids(app, "idle"), "it is started")
    held = httpd.hold("shop", "a")
    assert held.pid == pid
    second = httpd.get("/pid", "shop")
    assert second.status == 503 and int(second.headers["Retry-After"]) >= 1
    httpd.settles(active=1, count=1)
    assert held.release().status == 200
    assert len(httpd.log.wait_for(r"after 0 ms \(AppQueueTimeout\)", 2)) == 2
    wait_until(lambda: httpd.pids(app, "idle"), "it is free")
    assert httpd.get("/pid", "shop").text == str(pid)


def test_stop_timeout(httpd: Httpd) -> None:
    """KILL comes at once. The time stamps of the log show that nothing waited
    for 30 s, which is the default."""
    httpd.log.expect(r"shop\[\d+\] did not end in time: SIGKILL")
    app = httpd.app("shop", "AppStopTimeout 0", *EARLY,
                    "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    pid, = wait_until(lambda: httpd.pids(app, "idle"), "it is started")
    one, = httpd.group(app)["processes"]
    assert httpd.ctl("detach", one["id"]).returncode == 0
    end = when(httpd, rf"shop\[{pid}\] ended: signal 9 \(SIGKILL\)")
    begin = when(httpd, rf"shop\[{pid}\] is stopped")
    within((end - begin).total_seconds(), 15, "the end")
    assert not alive(pid)
    other, = wait_until(lambda: httpd.pids(app, "idle"), "its minimum is kept")
    httpd.stop(20)  # seconds
    assert httpd.log.matching(rf"shop\[{other}\] ended: signal 9")


def test_hung_after(httpd: Httpd) -> None:
    """No request makes a process hung. A process of another app, with a later
    request, is hung by then."""
    never = httpd.app("shop", "AppHungAfter 0", *EARLY)
    soon = httpd.app("blog", "AppHungAfter 1", *EARLY)
    httpd.start()
    first, second = httpd.hold("shop", "a"), httpd.hold("blog", "b")
    wait_until(lambda: httpd.pids(soon, "hung"), "the other one hangs")
    assert httpd.pids(never, "hung") == []
    assert httpd.pids(never, "busy") == [first.pid]
    assert first.release().status == second.release().status == 200
    assert [one["pid"] for one in httpd.events("hung")] == [second.pid]


def test_dying_limit(httpd: Httpd) -> None:
    """A process that is killed because of a request gets KILL at once, and not
    after 10 s, which is the default."""
    httpd.log.expect(sentences.SLOW, sentences.KILLED_NO_RESPONSE,
                     sentences.NO_TERM, sentences.REPORT_LATE,
                     sentences.NO_BACKEND)
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 0", "AppStopTimeout 60", *EARLY,
                    "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    pid, = wait_until(lambda: httpd.pids(app, "idle"), "it is started")
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    assert bad.result().status == 504
    killed = when(httpd, rf"shop\[{pid}\] did not end in time: SIGKILL")
    began = when(httpd, rf"shop\[{pid}\] is stopped")
    within((killed - began).total_seconds(), 8, "the end")
    wait_until(lambda: not alive(pid), "it is gone")
    httpd.check()
    # Another replacement would ignore SIGTERM for 60 s, too.
    pid, = wait_until(lambda: httpd.pids(app, "idle"), "it is replaced")
    assert httpd.ctl("drain", "shop").returncode == 0
    kill9(pid)
    wait_until(lambda: not alive(pid), "it is gone")
