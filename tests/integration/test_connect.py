# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A connection to a process cannot be made. How often is it tried, and what
happens to the process, which is not always to blame?"""
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.client import Connection
from harness.config import App
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("one function connects, sends and reads")

LIMIT = 100  # descriptors
SLICE = 4.5  # s: less than SLICE of connect.c

# It accepts a connection, so it is ready. When the file `deaf` exists, it closes
# its socket, and says so.
DEAF = """
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["APPPOOL_SOCKET"])
server.listen()
server.accept()[0].recv(1)
while not os.path.exists("deaf"):
    time.sleep(0.01)
server.close()
open(f"closed-{os.getpid()}", "x").close()
time.sleep(1000)
"""


def deaf(httpd: Httpd, *directives: str) -> App:
    httpd.log.expect(sentences.REFUSED_ALL, sentences.QUEUE_LATE,
                     sentences.STILL_STARTING, sentences.UNREACHABLE)
    app = httpd.app("shop", "AppListen unix", *directives,
                    command="/usr/bin/python3 -IS deaf.py")
    (app.root / "deaf.py").write_text(DEAF)
    httpd.start()
    return app


def refused(httpd: Httpd) -> int:
    return int(httpd.status()["counters"]["refused"])


def test_ten_attempts(httpd: Httpd) -> None:
    """One process after the other refuses. After ten, the client gets an
    error. They are old: if new ones refuse, the app backs off earlier."""
    httpd.directives.append("MaxPoolSize 20")
    app = deaf(httpd, "MinInstances 10", "AppPreStart On")
    httpd.settles(active=0, count=10)
    old = time.monotonic() + 1
    wait_until(lambda: time.monotonic() > old, "no start can fail any more")
    (app.root / "deaf").touch()
    wait_until(lambda: len(list(app.root.glob("closed-*"))) >= 10,
               "all are deaf")
    response = httpd.get("/", "shop", timeout=60)
    assert response.status == 503
    assert refused(httpd) == 10
    httpd.log.wait_for("ten processes in a row refused")


def full(httpd: Httpd, listen: str, *directives: str,
         program: str = "") -> tuple[App, int]:
    """A stopped process whose backlog is full."""
    app = httpd.app("shop", f"AppListen {listen}", "AppGlobalQueue Off",
                    "MaxInstances 1", "MinInstances 1", "AppPreStart On",
                    "AppSetEnv APP_BACKLOG 0", *directives, program=program)
    httpd.start()
    pid, = wait_until(lambda: httpd.pids(app), "it is ready", 40)
    fill(pid, listen)
    return app, pid


def fill(pid: int, listen: str) -> None:
    procs.freeze(pid)
    own = procs.environment(pid)
    if listen == "unix":
        with socket.socket(socket.AF_UNIX) as taken:
            taken.connect(own["APPPOOL_SOCKET"])
    else:
        socket.create_connection(("127.0.0.1", int(own["PORT"])), 10).close()


def in_line(httpd: Httpd, pid: int) -> int:
    """How many requests wait for a place in the backlog."""
    port = procs.environment(pid).get("PORT")
    if port:
        sockets = subprocess.run(["ss", "-Htn", "state", "syn-sent", "dport", "=",
                                  f":{port}"], check=True, stdout=subprocess.PIPE)
        return len(sockets.stdout.splitlines())
    return sum(name in ("unix_wait_for_peer", "unix_stream_connect")
               for child in httpd.children() for name in procs.waits(child))


@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_full_backlog(httpd: Httpd, listen: str) -> None:
    """The process takes no more connections for a while. It keeps its
    requests."""
    app, pid = full(httpd, listen)
    requests = [httpd.get_async("/pid", "shop") for _ in range(3)]
    wait_until(lambda: in_line(httpd, pid) == 3, "all wait")
    assert len(httpd.group(app)["requests"]) == 3
    assert httpd.counts() == (1, 1, 0)
    os.kill(pid, signal.SIGCONT)
    assert [one.result(20).text for one in requests] == [str(pid)] * 3
    assert httpd.pids(app) == [pid]


@pytest.mark.one_mpm("both connect in the same way")
def test_full_backlog_over_uwsgi(httpd: Httpd) -> None:
    """A request first tries to connect without waiting"""
    _, pid = full(httpd, "unix", "AppProtocol uwsgi",
                  f"AppSetEnv SEEN {httpd.dir}/hold/seen",
                  program="uwsgi.py")
    requests = [httpd.get_async("/", "shop") for _ in range(3)]
    wait_until(lambda: in_line(httpd, pid) == 3, "all wait")
    os.kill(pid, signal.SIGCONT)
    assert [one.result(20).text for one in requests] == ["ok"] * 3


@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_backlog_is_full_for_too_long(httpd: Httpd, listen: str) -> None:
    """AppQueueTimeout also limits this wait."""
    httpd.log.expect("shop.* cannot be connected to")
    app, pid = full(httpd, listen, "AppQueueTimeout 3")
    began = time.monotonic()
    assert httpd.get("/pid", "shop").status == 503
    assert time.monotonic() - began >= 3.0
    os.kill(pid, signal.SIGCONT)
    assert httpd.pids(app) == [pid]


def served_in_turn(httpd: Httpd, pid: int, attempt: int) -> bool:
    """Let five requests wait for a place, and admit them one by one. False:
    they were not served in turn, but a wait may have started again."""
    began = time.monotonic()
    waiting = []
    for i in range(5):
        waiting.append(httpd.hold_async("shop", f"{attempt}.{i}"))
        wait_until(lambda: in_line(httpd, pid) == len(waiting), "it waits")
    os.kill(pid, signal.SIGCONT)
    in_turn = True
    while waiting:
        served = wait_until(lambda: [one for one in waiting
                                     if one.held.exists()], "one is served")
        late = time.monotonic() - began > SLICE
        in_turn = in_turn and served == waiting[:1]
        assert in_turn or late, "one that came later is served first"
        waiting.remove(served[0])
        # The app has one request and the backlog another one. One request at a
        # time is admitted, because of two the kernel may run the second one
        # first.
        wait_until(lambda: in_line(httpd, pid) == max(0, len(waiting) - 1),
                   "one got in")
        assert served[0].release().text == str(pid)
    return in_turn


def test_backlog_in_turn(httpd: Httpd) -> None:
    """A request that waits for a place is not overtaken by a later one, unless
    it has waited for a whole slice (connect.c). Then it goes to the end of the
    line. On a slow machine the test takes several attempts."""
    _, pid = full(httpd, "unix")
    attempt = 1
    while not served_in_turn(httpd, pid, attempt):
        assert attempt < 10, "each attempt took longer than a slice"
        attempt += 1
        fill(pid, "unix")


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.mpms("event")
def test_out_of_descriptors(httpd: Httpd) -> None:
    """A child of httpd has no descriptors left: the client gets 503, and the
    process stays."""
    httpd.log.expect("shop.* cannot be connected to")
    httpd.directives += ["ServerLimit 1", "StartServers 1",
                         "ThreadsPerChild 64", "MaxRequestWorkers 64",
                         "KeepAliveTimeout 60",
                         # httpd would need one for .htaccess, too.
                         "<Directory />", "AllowOverride None", "</Directory>"]
    # A process with a Unix socket keeps its connection.
    app = httpd.app("shop", "AppListen tcp")
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, own[1]))
    try:
        httpd.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, own)
    pid = int(httpd.get("/pid", "shop").text)
    child, = httpd.children()
    clients = []
    # One is left for the connection of the next client, and none for the
    # connection to the app.
    while descriptors(child) < LIMIT - 1:
        clients.append(Connection(httpd.port, 20))
        clients[-1].request("GET", "/", "status")
    assert httpd.get("/pid", "shop").status == 503
    clients.pop().close()
    wait_until(lambda: descriptors(child) < LIMIT - 1, "it is closed")
    assert httpd.get("/pid", "shop").text == str(pid)
    assert httpd.pids(app) == [pid]
    for client in clients:
        client.close()
    httpd.check()
