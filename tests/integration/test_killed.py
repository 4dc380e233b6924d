# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Processes that are ended because of a request, and processes that survive it
(Paste's thread pool: P5, P6, P14 to P19, P26)."""
import http.client
import json
import re
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import Iterator

import pytest

from harness import sentences
from harness.client import UPGRADE, Connection, Pending, Raw
from harness.config import App
from harness.httpd import STATUS, Httpd
from harness.late import Late
from harness.procs import alive, kill9
from harness.wait import wait_until
from harness.web import BROKEN

pytestmark = pytest.mark.one_mpm("the spawner ends it or starts it")

KILL = ("AppHungAfter 1", "AppKillAfter 2", "AppHungStopTimeout 1")
# For requests that have to get somewhere, or other requests that have to be
# served, before they are killed.
LATE_KILL = ("AppHungAfter 1", "AppKillAfter 8", "AppHungStopTimeout 1")
# Its pid is then known before the request, which ends it in a moment.
EARLY = ("AppPreStart On", "MinInstances 1")


@pytest.fixture(autouse=True)
def expected_lines(httpd: Httpd) -> None:
    httpd.log.expect(sentences.SLOW, sentences.KILLED_NO_RESPONSE,
                     sentences.NO_TERM, sentences.IS_UNKILLABLE,
                     sentences.NO_BACKEND, sentences.TIMED_OUT,
                     sentences.ODD_RESPONSE, sentences.REPORT_LATE,
                     sentences.UNKILLABLES, sentences.TOO_MANY_UNKILLABLE,
                     sentences.NOT_STARTED, sentences.START_ERROR)


def pid_of(httpd: Httpd, app: App) -> int:
    return wait_until(lambda: httpd.pids(app, "idle"), "it is started")[0]


def serves(httpd: Httpd) -> None:
    """Wait until even a slow machine does not cause a kill of this process,
    too."""
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it serves")


def id_of(httpd: Httpd, app: App, pid: int) -> str:
    found, = [one["id"] for one in httpd.group(app)["processes"]
              if one["pid"] == pid]
    return found


@pytest.mark.mpms("prefork", "worker", "event")
@pytest.mark.parametrize("how", ["nap", "loop", "stop"])
def test_the_client_gets_504(httpd: Httpd, how: str) -> None:
    """P14, P16: in every case, with a line that names the request."""
    app = httpd.app("shop", *KILL, *EARLY, "AppStopTimeout 60")
    httpd.start()
    pid = pid_of(httpd, app)
    with Late(httpd.pid, *httpd.children(), httpd.helper("watchdog"),
              httpd.helper("spawner")) as late:
        bad = httpd.get_async(f"/{how}?s=600", "shop", 60)
        assert bad.result(60).status == 504
    line, = httpd.log.wait_for("is hung and is killed")
    lasted, = re.findall(r" has lasted ([0-9.]+) s,", line)
    assert 2 <= float(lasted) < 3.2 + late.seconds  # there is one check a second
    assert f"shop[{pid}]" in line and "127.0.0.1" in line
    assert f"GET /{how}" in line
    assert "s=600" not in line
    wait_until(lambda: not alive(pid), "it ends")
    assert [one["pid"] for one in httpd.events("killed")] == [pid]
    assert httpd.events("died") == []
    serves(httpd)
    httpd.check()


def test_replacement_starts_before_the_end(httpd: Httpd) -> None:
    """P5, P15: the process is replaced when it is killed, not when it is
    gone."""
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 8",
                    "AppHungStopTimeout 60", "MaxInstances 1", *EARLY,
                    "AppSetEnv IGNORE_TERM 1", "AppStopTimeout 1")
    httpd.start()
    pid = pid_of(httpd, app)
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    wait_until(lambda: httpd.counts()[0] == 1 or httpd.pids(app, "dying"),
               "it has the request")
    response = httpd.get("/pid", "shop")
    assert response.status == 200 and int(response.text) != pid
    assert alive(pid), "the old one is not gone yet"
    assert httpd.pids(app, "dying") == [pid]
    assert httpd.pids(app) == [int(response.text)]
    httpd.settles(active=0, count=1)
    kill9(pid)
    assert bad.result().status == 504


@pytest.mark.parametrize("listen", ["fd", "tcp"])
def test_the_client_does_not_wait_for_its_end(httpd: Httpd,
                                              listen: str) -> None:
    """P16: the client gets 504 when the process gets TERM, not when it is
    dead."""
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 600", "MaxInstances 1", *EARLY,
                    "AppConcurrency 2", "AppSetEnv APP_THREADS 1",
                    "AppSetEnv IGNORE_TERM 1", "AppListen " + listen)
    httpd.start()
    pid = pid_of(httpd, app)
    bad = [httpd.get_async("/sleep?s=600", "shop", 60),
           Pending(Connection(httpd.port), "GET", "/sleep?s=600", "shop",
                   headers=UPGRADE)]
    assert [one.result().status for one in bad] == [504, 504]
    assert alive(pid) and httpd.pids(app, "dying") == [pid]
    httpd.log.wait_for("is hung and is killed: GET /sleep")
    kill9(pid)
    wait_until(lambda: not httpd.pids(app, "dying"), "it is gone")
    httpd.check()


@pytest.mark.parametrize("protocol", ["fcgi", "scgi", "uwsgi"])
def test_half_a_response_over_another_protocol(
        httpd: Httpd, protocol: str) -> None:
    """The program does not know the protocol, and waits for the end of a
    line."""
    httpd.log.expect(*BROKEN, "Script timed out", "AH01110")
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 600", "MaxInstances 1", *EARLY,
                    "AppSetEnv IGNORE_TERM 1", "AppStopTimeout 1",
                    "AppProtocol " + protocol)
    httpd.start()
    pid = pid_of(httpd, app)
    bad = httpd.get_async("/", "shop", 60)
    assert bad.result().status == 504
    assert bad.took >= 2
    httpd.log.wait_for("is hung and is killed: GET /")
    assert alive(pid)
    wait_until(lambda: httpd.pids(app, "dying") == [pid], "it is dying")
    kill9(pid)
    wait_until(lambda: not httpd.pids(app, "dying"), "it is gone")
    httpd.check()


def test_it_ignores_term(httpd: Httpd) -> None:
    """P16: it gets KILL after AppHungStopTimeout, not after AppStopTimeout."""
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 3", *EARLY, "AppSetEnv IGNORE_TERM 1",
                    "AppStopTimeout 1")
    httpd.start()
    pid = pid_of(httpd, app)
    began = time.monotonic()
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    wait_until(lambda: not alive(pid), "it is killed")
    assert time.monotonic() - began >= 2 + 3
    assert bad.result().status == 504
    httpd.log.wait_for(rf"{pid}\] did not end in time: SIGKILL")


@pytest.mark.mpms("event")
def test_error_document_of_the_504(httpd: Httpd) -> None:
    """P16: an ErrorDocument."""
    httpd.app("shop", *KILL, "ErrorDocument 504 /late.html")
    (httpd.dir / "shop" / "public" / "late.html").write_text("come again")
    httpd.start()
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    response = bad.result(30)
    assert (response.status, response.text) == (504, "come again")


@pytest.mark.mpms("event")
def test_no_request_writes_lines(httpd: Httpd) -> None:
    """A URL takes one line of the log and of the status, without control
    characters, whatever ends the process."""
    httpd.directives.append(f'<Location "{STATUS}">\n'
                            "AppStatusAllowActions On\n</Location>")
    httpd.app("shop", *LATE_KILL)
    app = httpd.app("blog")
    httpd.start()
    path = "/%1b%5b2J%0a[forged]%0d%07/hold"
    one = httpd.hold("shop", "a", path)
    assert one.pending.result(30).status == 504
    line, = httpd.log.wait_for("is hung and is killed")
    assert r"GET /\x1b[2J\x0a[forged]\x0d\x07/hold has lasted" in line
    two = httpd.hold("blog", "b", path)
    assert "forged" in (table := httpd.ctl("status").stdout)
    assert set(filter(str.isprintable, table)) | {"\n"} == set(table)
    group = httpd.group(app)
    name = f"{id_of(httpd, app, two.pid)}-{group['requests'][0]['id']}"
    token = httpd.get(f"{STATUS}?list").json()["token"]
    form = urllib.parse.urlencode({"token": token, "do": "kill",
                                   "name": name})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert httpd.post(STATUS, "status", form, headers=kind).status == 303
    assert two.pending.result(30).status == 504
    line, = httpd.log.wait_for("asked for that on the status page")
    assert f"apppool: blog[{two.pid}] is killed because of GET" in line
    assert r"is killed because of GET /\x1b[2J\n[forged]\r\x07/hold: " in line
    text = httpd.log.path.read_bytes()
    assert b"[forged]" in text and b"\n[forged]" not in text
    assert not set(text) & (set(range(32)) - {9, 10})


def test_half_a_response_is_broken_off(httpd: Httpd) -> None:
    """The client gets 504 only if nothing was sent."""
    app = httpd.app("shop", *LATE_KILL, *EARLY, f"AppSetEnv GO {httpd.dir}/go",
                    program="long_lived.py")
    httpd.start()
    pid = pid_of(httpd, app)
    with Raw(httpd.port, b"GET /text HTTP/1.1\r\nHost: shop\r\n\r\n") as line:
        assert line.head()[0] == 200
        rest = line.rest()
    assert rest == b"data: first\n\n"
    wait_until(lambda: not alive(pid), "it is killed")
    httpd.log.wait_for("is hung and is killed")


@pytest.mark.parametrize("path", ["/text", "/chunks", "/open"])
def test_half_a_response_is_not_a_whole_one(httpd: Httpd, path: str) -> None:
    """The client does not see an end of the response, whichever end it would
    have had. A response that ended before the kill is complete."""
    go = httpd.dir / "go"
    app = httpd.app("shop", *LATE_KILL, *EARLY, f"AppSetEnv GO {go}",
                    "AppConcurrency 2", program="long_lived.py")
    httpd.start()
    pid = pid_of(httpd, app)
    bad = httpd.get_async(path, "shop", 60)
    with pytest.raises(http.client.IncompleteRead):
        bad.result(30)
    wait_until(lambda: not alive(pid), "it is killed")
    go.touch()
    assert httpd.get(path, "shop").text == "data: first\n\ndata: last\n\n"
    httpd.check()


def test_the_spawner_dies_meanwhile(httpd: Httpd) -> None:
    """TERM was sent. The next spawner goes on, and sends KILL."""
    app = httpd.app("shop", "AppHungAfter 1", "AppKillAfter 2",
                    "AppHungStopTimeout 2", *EARLY, "AppSetEnv IGNORE_TERM 1")
    httpd.log.expect(sentences.SLOW, sentences.KILLED_NO_RESPONSE,
                     sentences.NO_TERM, sentences.NO_BACKEND)
    httpd.start()
    pid, spawner = pid_of(httpd, app), httpd.helper("spawner")
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    httpd.log.wait_for(rf"shop\[{pid}\] is stopped: with its requests")
    kill9(spawner)
    assert bad.result().status == 504
    # Sooner than after AppStopTimeout, which is 30 s.
    wait_until(lambda: not alive(pid), "it is killed", 25)
    wait_until(lambda: httpd.ctl("status").returncode == 0,
               "the next one responds")
    httpd.check()


@pytest.mark.mpms("event")
def test_administrator_is_notified(httpd: Httpd) -> None:
    """P20: AppNotify"""
    note_file = httpd.dir / "notification"
    app = httpd.app("shop", *KILL, *EARLY, f'AppNotify "|cat > {note_file}.new && '
                    f'mv {note_file}.new {note_file}"')
    httpd.dir.chmod(0o777)
    httpd.start()
    pid = pid_of(httpd, app)
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    assert bad.result().status == 504
    wait_until(note_file.exists, "the notification")
    note = json.loads(note_file.read_text())
    assert (note["event"], note["pid"]) == ("killed", pid)
    assert "GET /sleep" in note["text"]


@pytest.mark.mpms("event")
def test_apppoolctl_kill(httpd: Httpd) -> None:
    """P26: apppoolctl kill. A process without a request is refused."""
    app = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    known = id_of(httpd, app, pid)
    done = httpd.ctl("kill", known)
    assert done.returncode == 1
    assert done.stderr == (f"apppoolctl: shop[{pid}] has no request: use "
                           "apppoolctl detach\n")
    bad = httpd.get_async("/sleep?s=600", "shop", 60)
    httpd.settles(active=1, count=1)
    done = httpd.ctl("--json", "kill", known)
    assert done.returncode == 0
    assert json.loads(done.stdout)["pid"] == pid
    assert bad.result().status == 504
    wait_until(lambda: not alive(pid), "it ends")
    done = httpd.ctl("kill", known)
    assert done.returncode == 1 and "no process has the id" in done.stderr
    assert "killed by apppoolctl" in "\n".join(httpd.log.lines())
    assert httpd.ctl("kill", "xyz").returncode == 1
    assert httpd.ctl("kill").returncode == 2


# ---- unkillable processes

@pytest.fixture
def freezer() -> Iterator[Path]:
    """A cgroup in which SIGKILL has no effect until it is thawed, as with a
    process that waits for a disk."""
    place = Path("/sys/fs/cgroup/freezer")
    if not (place / "tasks").exists():
        pytest.skip("no cgroup v1 freezer: nothing here survives SIGKILL")
    made = Path(tempfile.mkdtemp(prefix="apppool-test-", dir=place))
    made.chmod(0o755)
    yield made
    (made / "freezer.state").write_text("THAWED")
    wait_until(lambda: (made / "tasks").read_text() == "", "nobody is in it")
    made.rmdir()


def freeze(freezer: Path, *pids: int) -> None:
    for pid in pids:
        (freezer / "tasks").write_text(str(pid))
    (freezer / "freezer.state").write_text("FROZEN")
    wait_until(lambda: "FROZEN" in (freezer / "freezer.state").read_text(),
               "they are frozen")


def limit(httpd: Httpd, app: App) -> None:
    """The limit applies only when the processes that it kills are frozen."""
    app.directives += KILL
    httpd.graceful()


@pytest.mark.mpms("event")
def test_unkillable(httpd: Httpd, freezer: Path) -> None:
    """P6, P18: a process that survives KILL is shown. More than
    AppMaxUnkillable of them (strictly) end all starts, until there are
    fewer."""
    app = httpd.app("shop", "AppMaxUnkillable 1")
    httpd.app("blog")
    httpd.start()
    bad = [httpd.hold("shop", f"key{n}") for n in range(2)]
    pids = sorted(one.pid for one in bad)
    freeze(freezer, *pids)
    limit(httpd, app)
    wait_until(lambda: httpd.pids(app, "unkillable") == pids, "both are so")
    wait_until(lambda: httpd.group(app)["state"] == "unkillable", "it says so")
    line, = httpd.log.wait_for("more than AppMaxUnkillable 1")
    assert len(httpd.log.wait_for("is unkillable: it survives SIGKILL", 2)) == 2
    assert "shop has unkillable processes: 2" in line
    assert len(httpd.events("unkillable")) == 2
    done = httpd.ctl("restart", "shop", "--wait", "--timeout", "20")
    assert done.returncode == 1
    assert "is not started: its processes survive SIGKILL" in done.stderr
    response = httpd.get("/pid", "shop")
    assert response.status == 503 and int(response.headers["Retry-After"]) >= 1
    assert httpd.get("/pid", "blog").status == 200
    httpd.check()
    (freezer / "freezer.state").write_text("THAWED")
    wait_until(lambda: httpd.pids(app, "unkillable") == [], "they are gone")
    assert {one.pending.result().status for one in bad} == {504}
    serves(httpd)
    httpd.check()


@pytest.mark.mpms("event")
def test_unkillable_and_never_ready(httpd: Httpd, freezer: Path) -> None:
    """They count as well. Otherwise each try would leave one more."""
    (freezer / "tasks").chmod(0o666)
    (freezer / "freezer.state").write_text("FROZEN")
    httpd.app("shop", "AppMaxUnkillable 0", "AppStartTimeout 10",
              command=f"/bin/sh -c 'echo 0 > {freezer}/tasks; sleep 600'")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 502
    line, = httpd.log.wait_for("starts as www-data")
    pid = int(re.findall(r"shop\[(\d+)\]", line)[0])
    httpd.log.wait_for(rf"shop\[{pid}\] is unkillable")
    wait_until(lambda: httpd.get("/pid", "shop").status == 503 and
               httpd.log.matching("1 of its processes survive SIGKILL"),
               "it is tried again")
    assert len(httpd.log.wait_for("starts as www-data")) == 1
    (freezer / "freezer.state").write_text("THAWED")
    wait_until(lambda: not alive(pid), "it is gone")
    wait_until(lambda: httpd.get("/pid", "shop") and
               len(httpd.log.matching("starts as www-data")) >= 2,
               "it is started again")


@pytest.mark.mpms("event")
def test_one_unkillable_is_allowed(httpd: Httpd, freezer: Path) -> None:
    """P18: strictly more"""
    app = httpd.app("shop", "AppMaxUnkillable 1")
    httpd.start()
    bad = httpd.hold("shop", "a")
    freeze(freezer, bad.pid)
    limit(httpd, app)
    wait_until(lambda: httpd.pids(app, "unkillable") == [bad.pid], "it is one")
    serves(httpd)
    (freezer / "freezer.state").write_text("THAWED")
    assert bad.pending.result().status == 504
