# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that does not start is tried again less and less often, with one
start at a time. This costs other apps nothing (acceptance B6)."""
from datetime import datetime
from typing import Any

import pytest

from harness import procs, sentences
from harness.config import App
from harness.httpd import Httpd
from harness.late import Late
from harness.threads import Threads
from harness.wait import wait_until
from missed import within

pytestmark = pytest.mark.one_mpm("the pool and the spawner decide when")

FAILED = "could not be started"


@pytest.fixture(autouse=True)
def failures(httpd: Httpd) -> None:
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)


def broken(httpd: Httpd, *directives: str) -> App:
    """An app that cannot start while the file `broken` exists."""
    (httpd.dir / "broken").touch()
    return httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {httpd.dir}/broken",
                     *directives)


def when_logged(httpd: Httpd, pattern: str) -> list[datetime]:
    return [datetime.strptime(line[1:line.index("]")],
                              "%a %b %d %H:%M:%S.%f %Y")
            for line in httpd.log.matching(pattern)]


def tries(httpd: Httpd) -> list[datetime]:
    return when_logged(httpd, FAILED)


def test_pauses_grow(httpd: Httpd) -> None:
    """The pauses between two tries are 1 s, 2 s, 4 s, however many requests
    come. The response to a request that does not wait for a try says when to
    come again."""
    broken(httpd)
    httpd.app("blog")
    httpd.start()
    blog = httpd.get("/pid", "blog").text
    with Threads(httpd, "blog", 1) as others:
        load = FourClients(httpd)
        with load:
            wait_until(lambda: len(tries(httpd)) >= 4, "four tries", 60)
    assert others.failed == []
    assert httpd.get("/pid", "blog").text == blog
    when = tries(httpd)
    gaps = [(b - a).total_seconds() for a, b in zip(when, when[1:])]
    assert all(gap > least - 0.05 for gap, least in zip(gaps, (1, 2, 4)))
    assert load.good == 0
    assert set(load.failed) <= {"GET 502", "GET 503", "POST 502",
                                "POST 503"}
    assert len([one for one in load.failed if "502" in one]) \
        <= 4 * len(when)
    # If the pause is over by now, this is one more try. It is logged before the
    # pool counts it. After a 503 nobody asks for another one.
    last = wait_until(lambda: (one := httpd.get("/pid", "shop")).status == 503
                      and one, "a request does not wait for a try")
    assert 1 <= int(last.headers["Retry-After"]) \
        <= 2 ** (len(tries(httpd)) - 1)


class FourClients(Threads):
    """Four requests for an app that does not start."""

    def __init__(self, httpd: Httpd) -> None:
        super().__init__(httpd, "shop", 4)

    def more(self, count: int = 1) -> None:
        wait_until(lambda: len(self.failed) >= count, "they are served")


def test_one_try_for_all_that_wait(httpd: Httpd) -> None:
    """Five waiters, one start, five responses."""
    app = broken(httpd)
    go = httpd.dir / "go"
    app.command = f"/bin/sh -c 'until test -e {go}; do sleep 0.1; done; exit 3'"
    httpd.log.expect("a shell runs the whole command")
    httpd.start()
    waiting = [httpd.get_async("/pid", "shop") for _ in range(5)]
    wait_until(lambda: httpd.counts() == (0, 0, 5), "five wait")
    go.touch()
    assert {one.result().status for one in waiting} == {502}
    assert len(tries(httpd)) == 1
    assert httpd.pool("spawning") == 0


def test_a_try_that_succeeds_ends_it(httpd: Httpd) -> None:
    """Half open: there is one start, and it serves all requests that came
    meanwhile."""
    app = broken(httpd)
    httpd.start()
    for _ in range(2):
        wait_until(lambda: httpd.get("/pid", "shop").status == 502, "a try")
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it is back")
    assert len(tries(httpd)) == 2
    pause = when_logged(httpd, r"shop\[\d+\] starts as")[2] - tries(httpd)[1]
    assert pause.total_seconds() > 2 - 0.05
    assert httpd.group(app)["state"] == "running"
    # The next failure counts as the first one.
    (httpd.dir / "broken").touch()
    app.touch()
    with Late(*procs.marked(str(httpd.dir))) as late:
        wait_until(lambda: httpd.get("/pid", "shop") and
                   len(tries(httpd)) == 4, "it fails twice")
    when = tries(httpd)
    # It is 4 s after the third one.
    within((when[3] - when[2]).total_seconds(), 4 + late.seconds, "the pause")


@pytest.mark.parametrize("way", ["restart.txt", "apppoolctl"])
def test_a_restart_forgets_the_pause(httpd: Httpd, way: str) -> None:
    """After a repair, a restart starts the app at once."""
    app = broken(httpd)
    httpd.start()
    for _ in range(4):
        wait_until(lambda: httpd.get("/pid", "shop").status == 502, "a try")
    (httpd.dir / "broken").unlink()
    with Late(*procs.marked(str(httpd.dir))) as late:
        if way == "restart.txt":
            app.touch()
        else:
            assert httpd.ctl("restart", "shop").returncode == 0
        assert httpd.get("/pid", "shop").status == 200
    late.within(5, "a pause that was eight seconds")


def test_evicts_no_process(httpd: Httpd) -> None:
    """An app that backs off does not take the place of an idle process."""
    httpd.directives.append("MaxPoolSize 1")
    broken(httpd)
    httpd.app("blog")
    httpd.start()
    for _ in range(5):  # makes the pause long enough
        wait_until(lambda: httpd.get("/pid", "shop").status == 502, "a try")
    blog = httpd.get("/pid", "blog").text
    assert httpd.get("/pid", "shop").status == 503
    assert httpd.get("/pid", "blog").text == blog


def test_healthy_processes_continue_to_serve(httpd: Httpd) -> None:
    """While more of them cannot be started."""
    app = broken(httpd, "MaxInstances 3")
    (httpd.dir / "broken").unlink()
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    (httpd.dir / "broken").touch()
    with Threads(httpd, "shop", 4) as clients:
        wait_until(lambda: len(tries(httpd)) >= 2, "starts fail")
        assert state(httpd, app) == "failing"
        clients.more()
    assert clients.failed == []
    assert httpd.get("/pid", "shop").text == pid


def state(httpd: Httpd, app: App) -> Any:
    return httpd.group(app)["state"]
