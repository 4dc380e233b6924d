# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The command of AppNotify: nothing waits for it, and what it leaves is
ended."""
import json
import os
import pwd
import re

import pytest

from harness import cgroups, sentences
from harness.config import App
from harness.httpd import USER, Httpd
from harness.notify import (break_it, events, notifications, place, start,
                            witness)
from harness.procs import alive, command, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def test_runs_as_the_user_of_the_app(httpd: Httpd) -> None:
    """As AppUser, without anything else of the application."""
    start(httpd, witness(httpd), "AppSetEnv SECRET yes")
    break_it(httpd)
    note, = notifications(httpd)
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


def test_shell(httpd: Httpd) -> None:
    """A pipeline, as in the manual."""
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
    ("loud", r"shop: AppNotify printed: one\\x1b\[31m"),
])
def test_command_fails(httpd: Httpd, way: str, line: str) -> None:
    """A line says so. The useful part of its output is in the log, and the app
    still serves."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.NOTIFY_FAILED)
    start(httpd, f"AppNotify {way}" if way[0] == "/" else witness(httpd, way))
    break_it(httpd)
    httpd.log.wait_for(line)
    printed = httpd.log.wait_for("AppNotify printed: ", 3 if way == "loud" else 1)
    if way == "fail":
        assert printed[0].endswith("printed: no mail today")
    elif way == "loud":
        assert printed[1].endswith("printed: two")
        assert len(printed) <= 10 and sum(map(len, printed)) < 3000
        assert not httpd.log.matching("AppNotify failed")
    else:
        assert "not found" in printed[0]
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")


def test_command_hangs(httpd: Httpd) -> None:
    """It is killed after 30 s. Nothing waits for it, and it does not count as
    a process."""
    httpd.log.expect("AppNotify took more than 30 s")
    app = start(httpd, witness(httpd, "hang child"))
    break_it(httpd)
    note, = notifications(httpd)
    assert alive(note["pid"])
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    assert alive(note["pid"]) and note["pid"] not in httpd.pids(app)
    httpd.settles(active=0, count=1)
    line = wait_until(lambda: httpd.log.matching("took more than 30 s"),
                      "it took too long", 120)[0]
    assert re.search(r"shop: AppNotify took more than 30 s and was killed: "
                     r"/usr/bin/python3 .*", line)
    for pid in (note["pid"], *note["left"]):
        wait_until(lambda: not alive(pid), "it is killed")


def test_command_does_not_read(httpd: Httpd) -> None:
    start(httpd, witness(httpd, "deaf"))
    break_it(httpd)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    assert not httpd.log.matching("AppNotify")


def test_limits(httpd: Httpd) -> None:
    """The limits of the application."""
    httpd.wrapper = ["prlimit", "--nofile=512:2048"]
    app = start(httpd, witness(httpd), "RLimitCPU 1000 2000",
                "RLimitMEM 800000000 900000000", "RLimitNPROC 3000 4000")
    limits = httpd.get("/process", "shop").json()["limits"]
    (httpd.dir / "broken").touch()
    app.touch()
    assert httpd.get("/pid", "shop").status == 200
    note, = notifications(httpd, bound=40)
    assert note["limits"] == limits
    for part in ("1000 2000", "800000000 900000000", "3000 4000", "512 2048"):
        assert part in " ".join(limits.split())


# ---- processes that it leaves

def only_apps_have_cgroups(httpd: Httpd, app: App) -> bool:
    return cgroups.names(httpd.runtime) == {
        one["id"] for one in httpd.group(app)["processes"]}


needs_cgroups = pytest.mark.skipif(not cgroups.usable(),
                                   reason="no cgroup v2 may be written to")


@needs_cgroups
def test_it_leaves_nothing(httpd: Httpd) -> None:
    """Neither in the background, nor in a session of its own without a
    mark."""
    app = start(httpd, witness(httpd, "child orphan hidden"))
    break_it(httpd)
    note, = notifications(httpd)
    assert len(note["left"]) == 3
    for pid in note["left"]:
        wait_until(lambda: not alive(pid), f"{pid} ends with the command")
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    wait_until(lambda: only_apps_have_cgroups(httpd, app),
               "its cgroup is removed")


def test_it_leaves_no_child(httpd: Httpd) -> None:
    """Without cgroups, its background processes end with it. Processes in a
    session of their own end with httpd."""
    httpd.wrapper = cgroups.READ_ONLY
    httpd.log.expect("was left over: SIGKILL")
    start(httpd, witness(httpd, "child orphan"))
    break_it(httpd)
    child, orphan = notifications(httpd)[0]["left"]
    wait_until(lambda: not alive(child), "the child ends with the command")
    httpd.stop()
    assert not alive(orphan)


@needs_cgroups
def test_it_is_in_a_cgroup_of_its_own(httpd: Httpd) -> None:
    """With the processes that it starts, and with none of the application."""
    app = start(httpd, witness(httpd, "hang hidden"))
    pid = int(httpd.get("/pid", "shop").text)
    (httpd.dir / "broken").touch()
    app.touch()
    httpd.get("/pid", "shop")
    note, = notifications(httpd, bound=40)
    own = note["environment"]["APPPOOL_ID"].rpartition("-")[2]
    assert own not in {one["id"] for one in httpd.group(app)["processes"]}
    place = cgroups.of_instance((httpd.runtime / "instance").read_text())
    assert place is not None
    procs = set(map(int, (place / own / "cgroup.procs").read_text().split()))
    assert {note["pid"], *note["left"]} <= procs
    assert pid not in procs


@pytest.mark.parametrize("way", ["hang", "hang orphan"])
def test_stop(httpd: Httpd, way: str) -> None:
    """Commands, and the processes that they leave, end with httpd."""
    httpd.log.expect("was left over: SIGKILL")
    start(httpd, witness(httpd, way))
    break_it(httpd)
    notifications(httpd)
    httpd.stop()
    assert httpd.remains() == []


def test_spawner_dies(httpd: Httpd) -> None:
    """The next spawner reports what it sees. A command that ran is ended."""
    httpd.log.expect(r"spawner \d+ ended", "but has no record")
    app = start(httpd, witness(httpd, "hang orphan"))
    break_it(httpd)
    note, = notifications(httpd)
    kill9(httpd.helper("spawner"))
    for pid in (note["pid"], *note["left"]):
        # Sooner than after the 30 s that it may run.
        wait_until(lambda: not alive(pid), "the command is ended", 20)
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    if cgroups.usable():
        known = {one["id"] for one in httpd.group(app)["processes"]}
        wait_until(lambda: note["environment"]["APPPOOL_ID"][-16:]
                   not in cgroups.names(httpd.runtime), "so is its cgroup")
        assert known <= cgroups.names(httpd.runtime)
    second = notifications(httpd, 2)[1]
    assert events(second)[-1] == "backoff_closed"


@pytest.mark.parametrize("value", ['"|"', '"| "', "x" * 4097])
def test_bad_value(httpd: Httpd, value: str) -> None:
    httpd.app("shop", f"AppNotify {value}")
    done = httpd.test()
    assert done.returncode != 0
    assert "AppNotify: " in done.stdout and "is not a command" in done.stdout


def test_as_another_user(httpd: Httpd) -> None:
    """As AppUser, not as httpd's user."""
    start(httpd, witness(httpd), "AppUser nobody")
    break_it(httpd)
    note, = notifications(httpd)
    assert note["uid"] == [pwd.getpwnam("nobody").pw_uid] * 3
    assert "witness" not in command(httpd.helper("spawner"))
