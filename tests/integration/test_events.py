# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl events: what happened, and what happens."""
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from harness import sentences
from harness.config import App
from harness.httpd import Httpd
from harness.places import CTL
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*Z +(\w+) +(\d+|-) +"
                  r"([0-9a-f]{16}|-) +(.+)")


class Follower:
    """apppoolctl events -f"""

    def __init__(self, httpd: Httpd, *words: str) -> None:
        self.out, self.err = httpd.dir / "out", httpd.dir / "err"
        with open(self.out, "w") as out, open(self.err, "w") as err:
            self.process = subprocess.Popen(
                [str(CTL), "--dir", str(httpd.runtime), "events", "-f",
                 *words], stdout=out, stderr=err)

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines()

    def events(self) -> list[str]:
        return [match[1] for line in self.lines()
                if (match := LINE.fullmatch(line))]

    def sees(self, event: str, times: int = 1) -> None:
        wait_until(lambda: self.events().count(event) >= times,
                   f"{event} is seen {times} times")


@pytest.fixture
def app(httpd: Httpd) -> App:
    app = httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it responds")
    return app


@pytest.fixture
def follower(httpd: Httpd, app: App) -> Iterator[Follower]:
    one = Follower(httpd)
    yield one
    one.process.kill()
    one.process.wait(40)


def test_once(httpd: Httpd, app: App) -> None:
    assert httpd.ctl("events").stdout == ""
    pid = int(httpd.get("/pid", "shop").text)
    done = httpd.ctl("events")
    assert (done.returncode, done.stderr) == (0, "")
    match = LINE.fullmatch(done.stdout.rstrip("\n"))
    assert match and match[1] == "ready" and match[2] == str(pid)
    assert match[4] == f"{app.root} (production)"
    event = json.loads(httpd.ctl("--json", "events").stdout)
    assert event == httpd.status()["events"][0]
    assert (event["number"], event["pid"], event["id"]) == (0, pid, match[3])


def test_reasons(httpd: Httpd) -> None:
    """A failed start and a death have a reason, and the number of the log
    lines about it."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken = httpd.dir / "broken"
    broken.touch()
    httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {broken}")
    httpd.start()
    assert httpd.get("/", "shop").status >= 500
    broken.unlink()
    wait_until(lambda: httpd.get("/", "shop").status == 200, "it recovers")
    pid = int(httpd.get("/pid", "shop").text)
    kill9(pid)
    wait_until(lambda: httpd.events("died"), "the event")
    failed, died = httpd.events("start_failed")[0], httpd.events("died")[0]
    assert "exit code 1 while it started" in failed["reason"]
    assert httpd.log.matching(f"error id {failed['error_id']}")
    assert died["reason"] == "signal 9 (SIGKILL)" and died["pid"] == pid
    assert "error_id" not in died
    lines = httpd.ctl("events").stdout.splitlines()
    line, = [line for line in lines if " died " in line]
    assert line.endswith(": signal 9 (SIGKILL)")
    line = [line for line in lines if " start_failed " in line][0]
    assert "exit code 1 while it started" in line
    assert line.endswith(f" (error id {failed['error_id']})")
    page = httpd.get("/apppool-status?list").text
    assert "signal 9 (SIGKILL)" in page and failed["error_id"] in page
    assert not {"reason", "error_id"} & set(httpd.events("ready")[0])


def test_follow(httpd: Httpd, app: App, follower: Follower) -> None:
    """Each event once, in order"""
    for n in range(1, 4):
        pid = int(httpd.get("/pid", "shop").text)
        follower.sees("ready", n)
        known, = [one["id"] for one in httpd.group(app)["processes"]
                  if one["pid"] == pid]
        assert httpd.ctl("detach", known).returncode == 0
        follower.sees("detached", n)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), "it ends")
    assert follower.events() == ["ready", "detached"] * 3
    assert follower.err.read_text() == ""
    # Without -f, events that repeat are one line.
    folded = httpd.status()["events_folded"]
    assert [(one["event"], one["count"]) for one in folded] == [
        ("ready", 3), ("detached", 3)]
    assert folded[0]["first"] == httpd.events("ready")[0]["time"]
    ready, detached = httpd.ctl("events").stdout.splitlines()
    assert ready.endswith(f" (3 times since {folded[0]['first']})")
    assert f" {pid}  " in detached
    assert len(httpd.ctl("--json", "events").stdout.splitlines()) == 6


def test_follow_when_the_spawner_dies(httpd: Httpd, app: App,
                                      follower: Follower) -> None:
    httpd.log.expect(r"spawner \d+ ended")
    assert httpd.get("/pid", "shop").status == 200
    follower.sees("ready")
    spawner = httpd.helper("spawner")
    os.kill(httpd.watchdog_now(), signal.SIGSTOP)
    kill9(spawner)
    wait_until(lambda: "waiting for it" in follower.err.read_text(),
               "it says so")
    os.kill(httpd.watchdog_now(), signal.SIGCONT)
    app.touch()
    assert httpd.get("/pid", "shop").status == 200
    follower.sees("restart")
    follower.sees("ready", 2)
    assert follower.err.read_text().count("\n") == 1


def test_follow_when_httpd_restarts(httpd: Httpd, app: App,
                                    follower: Follower) -> None:
    for _ in range(3):
        assert httpd.get("/pid", "shop").status == 200
        app.touch()
    follower.sees("ready", 2)
    httpd.restart()
    pid = httpd.get("/pid", "shop").text
    wait_until(lambda: any(f" {pid} " in line for line in follower.lines()),
               "it goes on")
    wait_until(lambda: "httpd was restarted"
               in follower.err.read_text(), "it says so")


def test_more_than_are_kept(httpd: Httpd, app: App,
                            follower: Follower) -> None:
    """Events that came too fast are counted."""
    assert httpd.get("/pid", "shop").status == 200
    follower.sees("ready")
    follower.process.send_signal(signal.SIGSTOP)
    for _ in range(40):
        assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
        assert httpd.get("/pid", "shop").status == 200
    follower.process.send_signal(signal.SIGCONT)
    wait_until(lambda: re.search(r"apppoolctl: \d+ events were missed",
                                 follower.err.read_text()), "it says so")


def test_output_is_closed(httpd: Httpd, app: App) -> None:
    """The command ends when its output is closed."""
    process = subprocess.Popen(
        [str(CTL), "--dir", str(httpd.runtime), "events", "-f"],
        stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert httpd.get("/pid", "shop").status == 200
    assert b"ready" in process.stdout.readline()
    process.stdout.close()
    app.touch()
    assert httpd.get("/pid", "shop").status == 200
    process.wait(20)


@pytest.mark.parametrize("words", [
    ("events", "now"), ("events", "--rolling"), ("status", "-f"),
    ("restart", "shop", "--follow"), ("--follow",)])
def test_wrong_usage(httpd: Httpd, words: tuple[str, ...]) -> None:
    done = httpd.ctl(*words)
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr


def test_httpd_is_not_running(httpd: Httpd) -> None:
    httpd.app("shop")
    for words in (("events",), ("events", "-f")):
        done = httpd.ctl(*words)
        assert done.returncode == 3
        assert "no httpd with mod_apppool runs in" in done.stderr
