# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A connection to a process cannot be made: how often it is tried, and what it
costs the process, which is not always to blame."""
import os
import resource
import signal
import time
from pathlib import Path

import pytest

from harness import procs
from harness.client import Connection
from harness.config import App
from harness.httpd import Httpd
from harness.wait import wait_until

LIMIT = 100  # descriptors

# It accepts a connection, so it is ready; and once that is seen, it closes its
# socket.
DEAF = """
import os, socket, sys, time
time.sleep(float(sys.argv[1]))
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["APPPOOL_SOCKET"])
server.listen()
server.accept()[0].recv(1)
server.close()
time.sleep(1000)
"""


def deaf(httpd: Httpd, boot: float, *directives: str) -> App:
    httpd.log.expect("shop")
    app = httpd.app("shop", "AppListen unix", *directives,
                    command=f"/usr/bin/python3 -IS deaf.py {boot}")
    (app.root / "deaf.py").write_text(DEAF)
    httpd.start()
    return app


def refused(httpd: Httpd) -> int:
    return int(httpd.status()["counters"]["refused"])


def test_ten_attempts(httpd: Httpd) -> None:
    """One process after the other refuses: ten, then that is the answer"""
    app = deaf(httpd, 0)
    answer = httpd.get("/", "shop")
    assert answer.status == 503
    assert refused(httpd) == 10
    assert httpd.log.matching("one process after the other refused")
    httpd.settles(active=0, count=0)
    assert not httpd.group(app)["last_error"], "each of them had started"


def test_attempts_have_a_deadline(httpd: Httpd) -> None:
    """AppQueueTimeout is for all of them together"""
    deaf(httpd, 1, "AppQueueTimeout 3")
    began = time.monotonic()
    assert httpd.get("/", "shop").status == 503
    assert 3.0 <= time.monotonic() - began < 8.0
    assert 1 <= refused(httpd) <= 3


def test_full_backlog(httpd: Httpd) -> None:
    """It takes no more connections for a while: it keeps its requests"""
    app = httpd.app("shop", "AppListen unix", "AppConcurrency 3",
                    "AppSetEnv APP_THREADS 1", "AppSetEnv APP_BACKLOG 0")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    procs.freeze(pid)
    requests = [httpd.get_async("/pid", "shop") for _ in range(3)]
    wait_until(lambda: len(httpd.group(app)["requests"]) == 3,
               "all have the process")
    assert httpd.counts() == (1, 1, 0)
    os.kill(pid, signal.SIGCONT)
    assert [one.result().text for one in requests] == [str(pid)] * 3
    assert httpd.pids(app) == [pid]


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.mpms("event")
def test_out_of_descriptors(httpd: Httpd) -> None:
    """httpd's child has none left: 503, and the process stays"""
    httpd.log.expect("shop.* cannot be connected to")
    httpd.directives += ["ServerLimit 1", "StartServers 1",
                         "ThreadsPerChild 64", "MaxRequestWorkers 64",
                         "KeepAliveTimeout 60",
                         # httpd's own .htaccess would need one, too.
                         "<Directory />", "AllowOverride None", "</Directory>"]
    app = httpd.app("shop")
    own = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, own[1]))
    try:
        httpd.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, own)
    pid = int(httpd.get("/pid", "shop").text)
    child, = httpd.children()
    clients = []
    # One is left for the next client's connection, and none for the app's.
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
