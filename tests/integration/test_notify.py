# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppNotify: who is on call is told, once, by a command that nobody waits
for."""
import json
import os
import pwd
import re
import socket
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import USER, Httpd
from harness.procs import alive, command, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

PERIOD = 60  # seconds between two commands of an app


def place(httpd: Httpd) -> Path:
    directory = httpd.dir / "told"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o1777)
    return directory


def witness(httpd: Httpd, way: str = "") -> str:
    """An AppNotify"""
    run = f"{httpd.command_of('witness.py')} {place(httpd)} {way}".strip()
    return f'AppNotify "|{run}"'


def start(httpd: Httpd, *directives: str) -> App:
    """An app that does not start while there is a file `broken`."""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    app = httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {httpd.dir}/broken",
                    *directives)
    httpd.start()
    return app


def told(httpd: Httpd, n: int = 1, bound: float = 10.0
         ) -> list[dict[str, Any]]:
    """What n witnesses wrote down, and the objects that they were told."""
    files = wait_until(lambda: sorted(place(httpd).glob("*.told"))[n - 1:]
                       and sorted(place(httpd).glob("*.told")),
                       f"{n} are told", bound)
    assert len(files) == n
    notes = []
    for file in files:
        note = json.loads(file.read_text())
        assert note["said"].endswith("\n") and note["said"].count("\n") == 1
        assert len(note["said"]) <= 4096
        note["object"] = json.loads(note["said"])
        notes.append(note)
    return notes


def break_it(httpd: Httpd) -> None:
    (httpd.dir / "broken").touch()
    assert httpd.get("/", "shop").status == 502


def events(note: dict[str, Any]) -> list[str]:
    return [event["event"] for event
            in [*note["object"]["earlier"], note["object"]]]


def test_failed_start(httpd: Httpd) -> None:
    """The object, and as whom the command runs"""
    app = start(httpd, witness(httpd), "AppSetEnv SECRET yes")
    break_it(httpd)
    note, = told(httpd)
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
    line, = httpd.log.matching("could not be started")
    assert f"shop[{failed['pid']}]" in line
    for part in ("exit code 1", "last output: this app cannot start"):
        assert part in failed["text"]
    error_id, = re.findall(r"error id ([0-9a-f]{16})", line)
    assert error_id in failed["text"]
    assert re.fullmatch("[0-9a-f]{16}", failed["id"])
    age = datetime.now(timezone.utc) - datetime.fromisoformat(
        failed["time"].replace("Z", "+00:00"))
    assert -2 < age.total_seconds() < 60
    runs_as(httpd, note)


def runs_as(httpd: Httpd, note: dict[str, Any]) -> None:
    user = pwd.getpwnam(USER)
    assert note["uid"] == [user.pw_uid] * 3
    assert note["gid"] == [user.pw_gid] * 3
    assert note["groups"] == os.getgrouplist(USER, user.pw_gid)
    assert note["no_new_privs"] == "1"
    assert int(note["mask"], 16) == int(note["ignored"], 16) & ~0x1001000 == 0
    assert note["cwd"] == "/"
    assert note["fds"][:3] == ["0", "1", "2"] and len(note["fds"]) <= 5
    assert note["sid"] not in (os.getsid(0), os.getsid(httpd.pid),
                               os.getsid(httpd.helper("spawner")))
    environment = note["environment"]
    assert environment["USER"] == USER and "PATH" in environment
    assert not {"SECRET", "DATABASE_URL", "NOTIFY_SOCKET", "LISTEN_FDS",
                "BOOT_FAIL_IF"} & set(environment)


def test_coalesced(httpd: Httpd) -> None:
    """What comes within a minute is told together, at its end"""
    start(httpd, witness(httpd))
    break_it(httpd)
    told(httpd)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts",
               20)
    first, second = told(httpd, 2, PERIOD + 30)
    assert events(second)[-1] == "backoff_closed"
    assert second["object"]["text"] == "it starts again"
    assert set(events(second)[:-1]) <= {"start_failed"}
    assert second["object"]["count"] == len(events(second))
    begun = [int(file.stem) / 1e9
             for file in sorted(place(httpd).glob("*.told"))]
    assert begun[1] - begun[0] > PERIOD - 5


def test_broken_deploy(httpd: Httpd) -> None:
    """New code that does not start, while the old one serves"""
    app = start(httpd, witness(httpd))
    old = httpd.get("/pid", "shop").text
    (httpd.dir / "broken").touch()
    app.touch()
    assert httpd.get("/pid", "shop").text == old
    note, = told(httpd, bound=20)
    assert events(note) == ["start_failed", "backoff_opened", "broken_deploy"]
    assert "the old ones serve on: it ended with exit code 1" \
        in note["object"]["text"]
    assert httpd.get("/pid", "shop").text == old


def test_died_young(httpd: Httpd) -> None:
    httpd.log.expect("as soon as it was ready")
    httpd.app("shop", witness(httpd), "AppPreStart On", "MinInstances 1",
              program="quitter.py")
    httpd.start()
    note, = told(httpd)
    assert events(note)[:2] == ["start_failed", "backoff_opened"]
    assert "as soon as it was ready" in note["object"]["text"]
    second = told(httpd, 2, PERIOD + 30)[1]
    assert set(events(second)) == {"start_failed"}, \
        "that each of them was ready is no end of it"


def test_deaths(httpd: Httpd) -> None:
    """A process may die; three in a minute may not"""
    httpd.log.expect(*KILLED)
    start(httpd, witness(httpd))
    for n in range(3):
        assert not list(place(httpd).iterdir())
        held = httpd.hold("shop", str(n))
        kill9(held.pid)
        assert held.pending.result().status == 502
    note, = told(httpd)
    assert events(note) == ["deaths"]
    assert note["object"]["pid"] == held.pid
    assert note["object"]["text"] == ("3 processes died within 60 s, the last "
                                      "one with signal 9 (SIGKILL)")


def test_killed(httpd: Httpd) -> None:
    httpd.log.expect("is hung and is killed", "was killed and gave no answer",
                     *KILLED)
    httpd.app("shop", witness(httpd), "AppHungAfter 300ms",
              "AppKillAfter 600ms")
    httpd.start()
    held = httpd.hold("shop", "a")
    note, = told(httpd)
    assert events(note) == ["killed"]
    assert note["object"]["pid"] == held.pid
    assert re.match(r"it was killed: GET /hold had lasted \d+\.\d s",
                    note["object"]["text"])
    assert held.pending.result().status == 504


def test_nothing_in_order(httpd: Httpd) -> None:
    """Starts, stops and deploys that go well are nobody's business"""
    app = start(httpd, witness(httpd))
    for _ in range(2):
        assert httpd.get("/pid", "shop").status == 200
        app.touch()
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 200
    httpd.stop()
    assert list(place(httpd).iterdir()) == []


def test_shell(httpd: Httpd) -> None:
    """A pipeline, as in the manual"""
    mail = place(httpd) / "mail"
    start(httpd, f"""AppNotify "|(echo 'Subject: trouble'; echo; cat) """
                 f"""| tee {mail}.new >/dev/null; mv {mail}.new {mail}\"""")
    break_it(httpd)
    lines = wait_until(lambda: mail.exists() and mail.read_text().split("\n"),
                       "there is mail")
    assert lines[:2] == ["Subject: trouble", ""] and lines[3:] == [""]
    assert json.loads(lines[2])["event"] == "backoff_opened"


@pytest.mark.parametrize("way,line", [
    ("/nonexistent/command", r"shop: AppNotify failed with exit code 127: "
                             "/nonexistent/command"),
    ("fail", r"shop: AppNotify failed with exit code 3: .*witness"),
    ("loud", r"shop: AppNotify said: one\\x1b\[31m"),
])
def test_command_fails(httpd: Httpd, way: str, line: str) -> None:
    """A line says so; what it prints is in the log, as far as it makes sense;
    and the app goes on"""
    httpd.log.expect("AppNotify")
    start(httpd, f"AppNotify {way}" if way[0] == "/" else witness(httpd, way))
    break_it(httpd)
    wait_until(lambda: httpd.log.matching(line), "there is a line")
    said = httpd.log.matching("AppNotify said: ")
    if way == "fail":
        assert said[0].endswith("said: no mail today")
    elif way == "loud":
        assert said[1].endswith("said: two")
        assert len(said) <= 10 and sum(map(len, said)) < 3000
        assert not httpd.log.matching("AppNotify failed")
    else:
        assert "not found" in said[0]
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts",
               20)


def test_command_hangs(httpd: Httpd) -> None:
    """It is killed after 30 s; nobody waits for it, nor counts it"""
    httpd.log.expect("AppNotify took more than 30 s")
    app = start(httpd, witness(httpd, "hang"))
    break_it(httpd)
    note, = told(httpd)
    assert alive(note["pid"])
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts",
               20)
    assert alive(note["pid"]) and note["pid"] not in httpd.pids(app)
    assert httpd.counts() == (0, 1, 0)
    line = wait_until(lambda: httpd.log.matching("took more than 30 s"),
                      "it took too long", 60)[0]
    assert re.search(r"shop: AppNotify took more than 30 s and was killed: "
                     r"/usr/bin/python3 .*", line)
    wait_until(lambda: not alive(note["pid"]), "it is killed")


def test_command_does_not_read(httpd: Httpd) -> None:
    start(httpd, witness(httpd, "deaf"))
    break_it(httpd)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts",
               20)
    assert not httpd.log.matching("AppNotify")


@pytest.mark.parametrize("way", ["hang", "orphan"])
def test_stop(httpd: Httpd, way: str) -> None:
    """Commands, and what they leave, end with httpd"""
    httpd.log.expect("was left over: SIGKILL")
    start(httpd, witness(httpd, way))
    break_it(httpd)
    told(httpd)
    httpd.stop()
    assert httpd.remains() == []


def test_spawner_dies(httpd: Httpd) -> None:
    """The next one tells what it sees; a command that ran is ended"""
    httpd.log.expect(r"spawner \d+ ended", "but in no record")
    start(httpd, witness(httpd, "hang"))
    break_it(httpd)
    note, = told(httpd)
    kill9(httpd.helper("spawner"))
    wait_until(lambda: not alive(note["pid"]), "the command is ended", 20)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts",
               20)
    second = told(httpd, 2)[1]
    assert events(second)[-1] == "backoff_closed"


def test_many_apps(httpd: Httpd) -> None:
    """A few commands at once, and in the end all"""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    httpd.directives.append("MaxPoolSize 30")
    for n in range(12):
        httpd.app(f"shop{n}", witness(httpd), command="/bin/false")
    httpd.start()
    pending = [httpd.get_async("/", f"shop{n}") for n in range(12)]
    assert [one.result().status for one in pending] == [502] * 12
    notes = told(httpd, 12, 30)
    assert len({note["object"]["app"] for note in notes}) == 12


ODD = r"""sh -c 'printf "\\033[1m\"\\ \\377 end\n"; exit 1'"""


def test_odd_text(httpd: Httpd) -> None:
    """Whatever an app prints arrives as JSON"""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    httpd.app("shop", witness(httpd), command=ODD)
    httpd.start()
    assert httpd.get("/", "shop").status == 502
    note, = told(httpd)
    text = note["object"]["text"]
    assert "\\x1b[1m" in text and text.endswith("end")
    assert text.isprintable()


@pytest.mark.parametrize("value", ['"|"', '"| "', "x" * 4097])
def test_bad_value(httpd: Httpd, value: str) -> None:
    httpd.app("shop", f"AppNotify {value}")
    done = httpd.test()
    assert done.returncode != 0
    assert "AppNotify: " in done.stdout and "is no command" in done.stdout


def test_as_another_user(httpd: Httpd) -> None:
    """AppUser's, not httpd's"""
    start(httpd, witness(httpd), "AppUser nobody")
    break_it(httpd)
    note, = told(httpd)
    assert note["uid"] == [pwd.getpwnam("nobody").pw_uid] * 3
    assert "witness" not in command(httpd.helper("spawner"))
