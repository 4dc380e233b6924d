# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The worker MPM, from whose code event was made: the main features once."""
import pytest

from harness.client import Connection
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import alive, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("worker")


def test_one_request(httpd: Httpd) -> None:
    httpd.log.expect(*KILLED)
    app = httpd.app("shop", "MaxInstances 2")
    httpd.start()
    client = Connection(httpd.port)
    pid = client.request("GET", "/pid", "shop").text
    assert client.request("POST", "/echo", "shop",
                          b"x" * 100000).json()["length"] == 100000
    assert client.request("GET", "/crash", "shop").status == 502
    assert client.request("GET", "/pid", "shop").text != pid
    client.close()
    held = [httpd.hold("shop", str(n)) for n in range(2)]
    third = httpd.get_async("/pid", "shop")
    httpd.settles(active=2, count=2, waiting=1)
    for one in held:
        one.release()
    assert third.result().status == 200
    kill9(httpd.helper("spawner"))
    app.touch()
    old = httpd.pids(app)
    assert httpd.get("/pid", "shop").status == 200
    wait_until(lambda: not any(alive(pid) for pid in old), "deployed")
    httpd.graceful()
    httpd.settles(active=0, count=2)
    httpd.check()
