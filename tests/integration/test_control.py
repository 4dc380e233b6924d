# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl changes something: who may do it, the result, and what is
refused. Also, what the control socket does with garbage."""
import json
import os
import random
import signal
import socket
import subprocess
import time
from typing import Any

import pytest

from harness.config import App
from harness.httpd import Httpd
from harness.procs import alive, threads
from harness.threads import Threads
from harness.users import as_user
from harness.wait import wait_until


def ids(httpd: Httpd, app: App) -> dict[int, str]:
    """Processes that take requests: id by pid."""
    return {process["pid"]: process["id"]
            for process in httpd.group(app)["processes"]
            if process["state"] in ("idle", "busy")}


@pytest.mark.mpms("event")
def test_detach_an_idle_process(httpd: Httpd) -> None:
    app = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    done = httpd.ctl("detach", ids(httpd, app)[pid])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"shop[{pid}] gets no more requests")
    wait_until(lambda: not alive(pid), "it ends")
    assert [event["pid"] for event in httpd.events("detached")] == [pid]
    assert httpd.get("/pid", "shop").text != str(pid)
    httpd.settles(active=0, count=1)


@pytest.mark.mpms("event")
def test_detach_a_stopped_process(httpd: Httpd) -> None:
    """A process that SIGSTOP has stopped is continued, and gets TERM."""
    app = httpd.app("shop", "AppStopTimeout 1h")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: threads(pid) == {"T"}, "it has stopped")
    assert httpd.ctl("detach", ids(httpd, app)[pid]).returncode == 0
    wait_until(lambda: not alive(pid), "it ends")
    httpd.log.wait_for(rf"shop\[{pid}\] ended: signal 15")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("verb", ["restart", "drain", "detach", "kill"])
def test_name_that_is_not_utf8(httpd: Httpd, verb: str) -> None:
    """A name that is not UTF-8 is refused. The error cannot repeat the
    name."""
    httpd.app("shop")
    httpd.start()
    spawner = httpd.helper("spawner")
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it responds")
    done = httpd.ctl(verb, "\udcdc\udcdcshop")
    assert done.returncode == 1
    assert done.stdout == "" and done.stderr.startswith("apppoolctl: ")
    assert httpd.helper("spawner") == spawner


@pytest.mark.mpms("event")
def test_detach_a_busy_process(httpd: Httpd) -> None:
    """The process finishes its request. A second detach is refused."""
    app = httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    known = ids(httpd, app)[held.pid]
    done = httpd.ctl("--json", "detach", known)
    assert done.returncode == 0
    response = json.loads(done.stdout)
    assert response["ok"] is True
    assert (response["pid"], response["id"]) == (held.pid, known)
    again = httpd.ctl("detach", known)
    assert again.returncode == 1
    assert again.stderr == (f"apppoolctl: shop[{held.pid}] is already "
                            "leaving\n")
    assert httpd.pids(app, "leaving") == [held.pid]
    assert httpd.get("/pid", "shop").text != str(held.pid)
    assert held.release().status == 200
    wait_until(lambda: not alive(held.pid), "it ends")


@pytest.mark.mpms("event")
def test_detach_a_starting_process(httpd: Httpd) -> None:
    """A request that waits for the process gets another one."""
    gate = httpd.dir / "boot"
    app = httpd.app("shop", f"AppSetEnv BOOT_IF {gate}")
    httpd.start()
    first = httpd.get_async("/pid", "shop")
    process = wait_until(
        lambda: [p for p in httpd.group(app)["processes"] if p["pid"]],
        "it starts")[0]
    assert httpd.ctl("detach", process["id"]).returncode == 0
    gate.touch()
    response = first.result()
    assert response.status == 200 and response.text != str(process["pid"])
    wait_until(lambda: not alive(process["pid"]), "it ends")


@pytest.mark.mpms("event")
def test_which_process(httpd: Httpd) -> None:
    """The beginning of an id is enough. If several ids begin so, they are
    listed."""
    app = httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    nothing = httpd.ctl("detach", "0123")
    assert nothing.returncode == 1
    assert "no process has the id 0123: none runs" in nothing.stderr
    pid = int(httpd.get("/pid", "shop").text)
    known = ids(httpd, app)[pid]
    other = f"{int(known, 16) ^ 1 << 60:016x}"
    for word, says in ((other, f"there is shop[{pid}] {known}"),
                       *((word, "is not a process id") for word in
                         ("123", known + "0", "xyz12", "shop"))):
        done = httpd.ctl("detach", word)
        assert done.returncode == 1 and says in done.stderr, done
    assert alive(pid)
    assert httpd.ctl("detach", known[:8]).returncode == 0
    wait_until(lambda: not alive(pid), "it ends")


@pytest.mark.mpms("event")
def test_only_root_may_change_the_pool(httpd: Httpd) -> None:
    """httpd's user may read the status; only root may change something. For
    users of apps see test_control_users.py."""
    app = httpd.app("shop", "AppUser games")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    assert as_user(httpd, "www-data", "status").returncode == 0
    for words in (("detach", ids(httpd, app)[pid]), ("check",)):
        done = as_user(httpd, "www-data", *words)
        assert done.returncode == 1
        assert f"only root may use {words[0]}" in done.stderr
    assert httpd.get("/pid", "shop").text == str(pid)


def three_idle(httpd: Httpd) -> App:
    """An app with three processes, whose requests may wait for long."""
    app = httpd.app("shop", "MinInstances 3", "MaxInstances 3",
                    "AppQueueTimeout 60s")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=3)
    return app


@pytest.mark.one_mpm("the spawner does it")
def test_detach_under_load(httpd: Httpd) -> None:
    """One process after the other is detached, and no request is lost."""
    app = three_idle(httpd)
    seen = set()
    with Threads(httpd, "shop", 6) as clients:
        for _ in range(12):
            pid, known = next(iter(wait_until(
                lambda: ids(httpd, app), "one serves").items()))
            seen.add(pid)
            assert httpd.ctl("detach", known).returncode == 0
            clients.more(10)
    assert clients.failed == []
    assert len(seen) == 12
    httpd.settles(active=0, count=3)
    wait_until(lambda: not any(alive(pid) for pid in seen), "all have ended")
    httpd.check()


# ---- an app

@pytest.mark.mpms("event")
@pytest.mark.parametrize("how,rolling", [
    ((), True), (("--rolling",), True), (("--blocking",), False)])
def test_restart(httpd: Httpd, how: tuple[str, ...], rolling: bool) -> None:
    """All processes are new afterwards. In a rolling restart, the old ones
    serve until the new ones do."""
    gate = httpd.dir / "boot"
    gate.touch()
    app = httpd.app("shop", "MinInstances 2", f"AppSetEnv BOOT_IF {gate}")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    old = httpd.pids(app)
    gate.unlink()
    done = httpd.ctl("restart", "shop", *how)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("shop is restarted")
    first = httpd.get_async("/pid", "shop")
    if rolling:
        first.result()  # while none of the new ones can serve
    gate.touch()
    assert (int(first.result().text) in old) == rolling
    wait_until(lambda: not any(alive(pid) for pid in old), "the old ones end",
               15)
    httpd.settles(active=0, count=2)
    assert not set(httpd.pids(app)) & set(old)


@pytest.mark.mpms("event")
def test_which_app(httpd: Httpd) -> None:
    """By its name, its short name or its AppRoot. Otherwise the existing apps
    are listed."""
    (httpd.dir / "other").mkdir()
    app = httpd.app("shop")
    httpd.app("blog", "AppGroupName weblog")
    httpd.start()
    name = f"{app.root} (production)"
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    for word in ("shop", name, str(app.root)):
        unused = httpd.ctl("restart", word)
        assert unused.returncode == 0
        assert "shop has had no request yet" in unused.stdout
    pids = {httpd.get("/pid", "shop").text}
    for word in ("shop", name, str(app.root)):
        done = httpd.ctl("--json", "restart", "--blocking", word)
        response = json.loads(done.stdout)
        assert done.returncode == 0
        assert (response["app"], response["rolling"]) == (name, False)
        pids.add(httpd.get("/pid", "shop").text)
    assert len(pids) == 4
    wrong = httpd.ctl("restart", "shoq")
    assert wrong.returncode == 1
    assert f'no app has the name shoq: there is "{name}", "weblog"' \
        in wrong.stderr
    httpd.app("shop.other", root=httpd.dir / "other" / "shop")
    httpd.graceful()
    both = httpd.ctl("restart", "shop")
    assert both.returncode == 1
    assert "more than one app has the name shop" in both.stderr
    done = httpd.ctl("--json", "restart", "other/shop")
    assert json.loads(done.stdout)["app"].startswith(f"{httpd.dir}/other/shop")


@pytest.mark.one_mpm("the spawner does it")
def test_restart_under_load(httpd: Httpd) -> None:
    """In both ways, again and again: no request is lost."""
    app = three_idle(httpd)
    with Threads(httpd, "shop", 6) as clients:
        for how in ("--rolling", "--blocking") * 3:
            old = set(httpd.pids(app))
            assert httpd.ctl("restart", "shop", how).returncode == 0
            wait_until(lambda: not old & set(httpd.pids(app)),
                       f"all are new ({how})")
            clients.more(10)
    assert clients.failed == []
    httpd.settles(active=0, count=3)
    httpd.check()


# ---- garbage

GARBAGE: list[bytes] = [
    b"\n", b"\0\n", b"status\0\n", b"status\0more\n", b" status\n",
    b"STATUS\n", b"status\t\n", b"status\tx\n", b"detach\n", b"detach\t\n",
    b"detach\t\t\t\t\t\n", b"detach\t%s%n%n%n\n", b"detach\t\xff\xfe\n",
    b"kill\n", b"kill\t\xff\n", b"kill\t0123\n", b"detach \t0000\n",
    b"detach\t0123\0\n", b"\xff" * 200 + b"\n",
    b"detach\t../../x\n", b"\t\t\n", b"no-such\tcommand\n", b"{}\n",
    b"drain\n", b"drain\t\n", b"drain\t\xff\n", b"drain\tshop\tdefault\n",
    b"restart\t\t\n", b"restart\tshop\n", b"restart\tshop\tnow\n",
    b"restart\t\xc3\tdefault\n", b"restart\t%s%n\tdefault\n",
    b"start\n", b"start\t\xff\n", b"start\tnothing\n", b"start\ta\tb\n",
    b"x" * 1023 + b"\n", b"x" * 1024, b"x" * 100000, b"\t" * 1000 + b"\n",
]


def query(httpd: Httpd, question: bytes) -> Any:
    """The response, or None if there was none."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(40)
        client.connect(str(httpd.runtime / "control.sock"))
        try:
            client.sendall(question)
        except OSError:
            pass  # it has been closed; the response may be there
        response = b""
        try:
            while more := client.recv(65536):
                response += more
        except ConnectionResetError:
            pass  # it did not read all of it
    return json.loads(response) if response else None


@pytest.mark.mpms("event")
def test_garbage(httpd: Httpd) -> None:
    """Each of them gets a sentence, and the spawner continues."""
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    spawner = httpd.helper("spawner")
    for question in GARBAGE:
        response = query(httpd, question)
        if len(question) <= 1024:
            assert set(response) == {"error"}, question
    seed = int(time.time())
    print(f"seed {seed}")
    dice = random.Random(seed)
    for _ in range(300):
        words = [dice.choice([b"detach", b"kill", b"status", b"check", b"\t",
                              b"\0", b"\n", bytes([dice.randrange(256)]), b"0123",
                              dice.randbytes(dice.randrange(40))])
                 for _ in range(dice.randrange(1, 12))]
        query(httpd, b"".join(words) + b"\n")
    assert httpd.helper("spawner") == spawner
    assert httpd.get("/pid", "shop").text == pid
    httpd.check()


@pytest.mark.mpms("event")
def test_many_clients(httpd: Httpd) -> None:
    """Many clients send half a line, or read no response. root gets its
    response, and clients of httpd's user are closed first."""
    httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("check").returncode == 0, "it responds")
    spawner = httpd.helper("spawner")
    flood = subprocess.Popen(
        ["setpriv", "--reuid=www-data", "--regid=nogroup", "--clear-groups",
         "/usr/bin/python3", "-IS", "-c", FLOOD,
         str(httpd.runtime / "control.sock")], stdout=subprocess.PIPE)
    try:
        assert flood.stdout is not None
        flood.stdout.readline()
        for _ in range(20):
            assert httpd.ctl("status").returncode == 0
            httpd.check()
        assert flood.poll() is None
    finally:
        flood.kill()
        flood.wait()
    assert httpd.helper("spawner") == spawner


# Keeps 40 clients connected to the socket of argv, and prints a line once they
# are connected.
FLOOD = """
import socket, sys, time
held = []
while True:
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    held.append(client)
    try:
        client.send([b"stat", b"status\\n"][len(held) % 2])
    except OSError:
        pass
    if len(held) == 40:
        print("there", flush=True)
    if len(held) >= 40:
        held.pop(0).close()
        time.sleep(0.001)
"""
