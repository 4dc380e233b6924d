# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Starting an app, and failing to (acceptance A15, B5, B6)."""
import os
import shutil
import subprocess

import pytest

from harness import procs, sentences
from harness.errorlog import KILLED
from harness.httpd import Httpd, USER
from harness.late import Late
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm(
    "the spawner starts it, and the pool knows that")

FAILURES = {
    "exits": "/bin/false",
    "prints and exits": "/bin/sh -c 'echo last words; exit 3'",
    "missing": "/nonexistent/command",
    "not executable": "{root}/plain",
    "no program": "{root}/garbage",
    "hangs": "/bin/sleep 1000",
}


@pytest.mark.parametrize("way", list(FAILURES))
def test_failing_start(httpd: Httpd, way: str) -> None:
    """B6: a response, log lines, no storm of starts, and other apps are not
    affected."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    command = FAILURES[way].format(root=httpd.dir / "shop")
    app = httpd.app("shop", "AppStopTimeout 1",
                    *["AppStartTimeout 1"] * (way == "hangs"),
                    command=command)
    httpd.app("blog")
    (app.root / "plain").write_text("#!/bin/sh\n")
    (app.root / "garbage").write_bytes(b"\0\1\2\3")
    (app.root / "garbage").chmod(0o755)
    httpd.start()
    assert httpd.get("/pid", "blog").status == 200
    response = httpd.get("/pid", "shop")
    assert response.status in (502, 503)
    began = len(httpd.log.lines())
    responses = [httpd.get("/pid", "shop") for _ in range(5)]
    for response in responses:
        assert response.status in (502, 503)
        if response.status == 503:
            assert int(response.headers["Retry-After"]) >= 1
    assert 503 in [response.status for response in responses], "it backs off"
    assert httpd.get("/pid", "blog").status == 200
    assert began and httpd.log.matching("shop")
    if way == "prints and exits":
        httpd.log.wait_for("shop.*last words")
    httpd.settles(active=0, count=1)
    assert httpd.group(app)["last_error"]
    wait_until(lambda: httpd.pool("spawning") == 0, "nothing is starting")
    httpd.check()


STRANGER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    print(server.accept()[0].recv(100), flush=True)
"""


@pytest.mark.mpms("event")
def test_stranger_on_the_port(httpd: Httpd) -> None:
    """AppListen tcp: a process of another user that listens there gets no
    request."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     "a shell runs the whole command")
    note = httpd.dir / "hold" / "port"
    httpd.app("shop", "AppListen tcp", "AppQueueTimeout 100", command="sh -c "
              f'"echo $PORT >{note}; while test -e {note}; do sleep .1; done"')
    httpd.start()
    pending = httpd.get_async("/secret", "shop", 100)
    port = wait_until(lambda: note.exists() and note.read_text().strip(),
                      "the app has a port")
    stranger = subprocess.Popen(["/usr/bin/python3", "-c", STRANGER, port],
                                stdout=subprocess.PIPE, user="nobody")
    try:
        assert stranger.stdout is not None
        received = [stranger.stdout.readline() for _ in range(2)]
        note.unlink()  # which ends the app
        assert pending.result().status == 502
    finally:
        stranger.kill()
        received.append(stranger.communicate()[0])
    assert b"secret" not in b"".join(received)


def test_no_entry(httpd: Httpd) -> None:
    """B6: a directory that AppUser may not enter."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "AppUser www-data")
    app.public = httpd.dir / "htdocs"  # httpd itself must not refuse this
    httpd.start()
    shutil.chown(app.root, "root", "root")
    app.root.chmod(0)
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for(str(app.root))


def test_recovers_by_itself(httpd: Httpd) -> None:
    """B6, A15: as soon as the cause is removed."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken = httpd.dir / "broken"
    broken.touch()
    httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {broken}")
    httpd.start()
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for("this app cannot start")
    broken.unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it is back")
    httpd.settles(active=0, count=1)


def test_failed_spawn_leaves_the_healthy_alone(httpd: Httpd) -> None:
    """A15: a start in the background fails, and the other processes still
    serve."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken = httpd.dir / "broken"
    app = httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {broken}")
    httpd.start()
    held = httpd.hold("shop", "a")
    broken.touch()
    second = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.group(app)["last_error"], "the failure shows")
    held.release()
    assert second.result().text == str(held.pid)
    httpd.settles(active=0, count=1)
    wait_until(lambda: httpd.pool("spawning") == 0, "no start is tried")
    assert httpd.get("/pid", "shop").text == str(held.pid)


def test_slow_start_delays_no_other_app(httpd: Httpd) -> None:
    """B5: five waiters, one start. Another app responds as fast as before."""
    gate = httpd.dir / "slow" / "gate"
    slow = httpd.app("slow", f"AppSetEnv GATE {gate}", "MaxInstances 1",
                     "AppQueueTimeout 100")
    httpd.app("quick")
    httpd.start()
    assert httpd.get("/pid", "quick").status == 200
    waiting = [httpd.get_async("/pid", "slow", 100) for _ in range(5)]
    wait_until(lambda: httpd.counts()[2] == 5, "five wait")
    waits = httpd.status()["counters"]["waits"]
    with Late(*procs.marked(str(httpd.dir))) as late:
        for _ in range(50):
            assert httpd.get("/pid", "quick").status == 200
    assert httpd.status()["counters"]["waits"] == waits
    late.within(50 * 0.02)
    assert not any(one.done() for one in waiting)
    gate.touch()
    assert {one.result().status for one in waiting} == {200}
    assert len({one.result().text for one in waiting}) == 1
    assert len(httpd.pids(slow)) == 1


def test_one_of_five_waits_for_one_spawn(httpd: Httpd) -> None:
    """B5, without a limit: one start at a time serves all of them."""
    gate = httpd.dir / "slow" / "gate"
    httpd.app("slow", f"AppSetEnv GATE {gate}")
    httpd.start()
    waiting = [httpd.get_async("/pid", "slow") for _ in range(5)]
    httpd.settles(active=0, count=0, waiting=5)
    # Wait until the spawner has written the limit.
    wait_until(lambda: httpd.pool("spawning") == 1, "one starts")
    gate.touch()  # for the first request; another start may be under way then
    assert {one.result().status for one in waiting} == {200}
    assert len({one.result().text for one in waiting}) == 1


@pytest.mark.parametrize("listen", ["fd", "unix", "tcp"])
def test_ways_to_listen(httpd: Httpd, listen: str) -> None:
    httpd.app("shop", f"AppListen {listen}")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    held = httpd.hold("shop", "a")
    assert httpd.get("/pid", "shop").text != pid
    assert held.release().text == pid
    env = httpd.get("/process", "shop").json()["environment"]
    has = {name for name in ("LISTEN_FDS", "APPPOOL_SOCKET", "PORT")
           if name in env}
    assert {"fd": "LISTEN_FDS", "unix": "APPPOOL_SOCKET",
            "tcp": "PORT"}[listen] in has
    assert listen == "fd" or "LISTEN_FDS" not in has


@pytest.mark.parametrize("listen", ["fd", "unix", "tcp"])
def test_killed_whatever_it_listens_on(httpd: Httpd, listen: str) -> None:
    """After a refused connection, another process gets the request."""
    httpd.log.expect(*KILLED)
    httpd.app("shop", f"AppListen {listen}")
    httpd.start()
    for _ in range(3):
        pid = int(httpd.get("/pid", "shop").text)
        procs.kill9(pid)
        assert httpd.get("/pid", "shop").status == 200


def test_app_exits_in_good_order(httpd: Httpd) -> None:
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    pids = {httpd.get("/exit", "shop").text for _ in range(5)}
    assert len(pids) == 5
    assert os.path.isdir(f"/proc/{httpd.helper('spawner')}")


def test_owner_of_the_root_runs_it(httpd: Httpd) -> None:
    """The default of AppUser."""
    httpd.app("shop")
    httpd.app("blog")
    shutil.chown(httpd.dir / "blog", "nobody", "nogroup")
    httpd.trace.chmod(0o666)
    httpd.start()
    shop = int(httpd.get("/pid", "shop").text)
    blog = int(httpd.get("/pid", "blog").text)
    shutil.chown(httpd.dir / "blog", USER, USER)
    assert procs.uids(shop) == {33}
    assert procs.uids(blog) == {65534}
