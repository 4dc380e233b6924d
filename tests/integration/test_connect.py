# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What keeps httpd from connecting is not always a fault of the process."""
import os
import resource
import signal
from pathlib import Path

import pytest

from harness.client import Connection
from harness.httpd import Httpd
from harness.wait import wait_until

LIMIT = 100  # descriptors


def test_full_backlog(httpd: Httpd) -> None:
    """It takes no more connections for a while: it keeps its requests"""
    app = httpd.app("shop", "AppListen unix", "AppConcurrency 3",
                    "AppSetEnv APP_THREADS 1", "AppSetEnv APP_BACKLOG 0")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    os.kill(pid, signal.SIGSTOP)
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
