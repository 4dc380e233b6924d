# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppNotify: the administrator gets one notification about each failure."""
import re
import socket
from datetime import datetime, timezone

import pytest

from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.late import Late
from harness.notify import PERIOD, break_it, events, notifications, place, \
    start, witness
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def test_failed_start(httpd: Httpd) -> None:
    """The notification, and the user as which the command runs."""
    app = start(httpd, witness(httpd))
    break_it(httpd)
    note, = notifications(httpd)
    assert events(note) == ["start_failed", "backoff_opened"]
    o = note["object"]
    assert sorted(o) == ["app", "app_root", "count", "earlier", "event",
                         "host", "id", "pid", "text", "time"]
    assert o["app"] == f"{app.root} (production)"
    assert o["app_root"] == str(app.root)
    assert o["host"] == socket.gethostname()
    assert o["count"] == 2
    failed = o["earlier"][0]
    assert sorted(failed) == ["event", "id", "pid", "text", "time"]
    line, = httpd.log.wait_for("could not be started")
    assert f"shop[{failed['pid']}]" in line
    for part in ("exit code 1", "last output: this app cannot start"):
        assert part in failed["text"]
    error_id, = re.findall(r"error id ([0-9a-f]{16})", line)
    assert error_id in failed["text"]
    assert re.fullmatch("[0-9a-f]{16}", failed["id"])
    age = datetime.now(timezone.utc) - datetime.fromisoformat(
        failed["time"].replace("Z", "+00:00"))
    assert -2 < age.total_seconds() < 60


def test_coalesced(httpd: Httpd) -> None:
    """Failures of one minute come in one notification at its end."""
    start(httpd, witness(httpd))
    with Late(httpd.helper("spawner")) as late:
        break_it(httpd)
        notifications(httpd)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    first, second = notifications(httpd, 2, 3 * PERIOD)
    assert events(second)[-1] == "backoff_closed"
    assert second["object"]["text"] == "it starts again"
    assert set(events(second)[:-1]) <= {"start_failed"}
    assert second["object"]["count"] == len(events(second))
    # The kernel noted both times. The first command may have begun late.
    assert second["forked"] - first["forked"] > PERIOD - 1 - late.seconds


def test_broken_deploy(httpd: Httpd) -> None:
    """New code that does not start, while the old code serves."""
    app = start(httpd, witness(httpd))
    old = httpd.get("/pid", "shop").text
    (httpd.dir / "broken").touch()
    app.touch()
    assert httpd.get("/pid", "shop").text == old
    note, = notifications(httpd, bound=40)
    assert events(note) == ["start_failed", "backoff_opened", "broken_deploy"]
    assert "the old ones continue to serve: it ended with exit code 1" \
        in note["object"]["text"]
    assert httpd.get("/pid", "shop").text == old


def test_died_young(httpd: Httpd) -> None:
    # One such end is no failure.
    httpd.log.expect("died: exit code 7")
    httpd.app("shop", witness(httpd), "AppPreStart On", "MinInstances 1",
              program="quitter.py")
    httpd.start()
    note, = notifications(httpd)
    assert events(note)[:2] == ["start_failed", "backoff_opened"]
    assert "as soon as it was ready" in note["object"]["text"]
    second = notifications(httpd, 2, 3 * PERIOD)[1]
    assert set(events(second)) == {"start_failed"}, \
        "that each of them was ready is no end of it"


def test_deaths(httpd: Httpd) -> None:
    """One process may die. Three deaths in a minute are reported."""
    httpd.log.expect(*KILLED)
    start(httpd, witness(httpd))
    for n in range(3):
        assert not list(place(httpd).iterdir())
        # A process that has responded does not end early.
        assert httpd.get("/pid", "shop").status == 200
        held = httpd.hold("shop", str(n))
        kill9(held.pid)
        assert held.pending.result().status == 502
    note, = notifications(httpd)
    assert events(note) == ["deaths"]
    assert note["object"]["pid"] == held.pid
    assert note["object"]["text"] == ("3 processes died within 60 s, the last "
                                      "one with signal 9 (SIGKILL)")


def test_killed(httpd: Httpd) -> None:
    httpd.log.expect("is hung and is killed", "was killed and gave no response",
                     *KILLED)
    # The request has to reach the app before it is killed.
    httpd.app("shop", witness(httpd), "AppHungAfter 300ms",
              "AppKillAfter 8")
    httpd.start()
    held = httpd.hold("shop", "a")
    note, = notifications(httpd)
    assert events(note) == ["killed"]
    assert note["object"]["pid"] == held.pid
    assert re.match(r"it was killed: GET /hold had lasted \d+\.\d s",
                    note["object"]["text"])
    assert held.pending.result().status == 504


def test_nothing_when_all_is_well(httpd: Httpd) -> None:
    """Starts, stops and deployments that succeed cause no notification."""
    app = start(httpd, witness(httpd))
    for _ in range(2):
        assert httpd.get("/pid", "shop").status == 200
        app.touch()
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 200
    httpd.stop()
    assert list(place(httpd).iterdir()) == []


def test_many_apps(httpd: Httpd) -> None:
    """A few commands run at a time, and in the end all have run."""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    httpd.directives.append("MaxPoolSize 30")
    for n in range(12):
        httpd.app(f"shop{n}", witness(httpd), command="/bin/false")
    httpd.start()
    pending = [httpd.get_async("/", f"shop{n}") for n in range(12)]
    assert [one.result().status for one in pending] == [502] * 12
    notes = notifications(httpd, 12, 60)
    assert len({note["object"]["app"] for note in notes}) == 12


ODD = r"""sh -c 'printf "\\033[1m\"\\ \\377 end\n"; exit 1'"""


def test_odd_text(httpd: Httpd) -> None:
    """Whatever an app prints arrives as JSON."""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    httpd.app("shop", witness(httpd), command=ODD)
    httpd.start()
    assert httpd.get("/", "shop").status == 502
    note, = notifications(httpd)
    text = note["object"]["text"]
    assert "\\x1b[1m" in text and text.endswith("end")
    assert text.isprintable()
