# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A client sends a descriptor over a Unix socket of root's. This blocks no
process, although a close() of that descriptor takes an hour
(apps/lingerer.py)."""
import subprocess
import sys

import pytest

from harness import oldkernel
from harness.httpd import USER, Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

SAYS = {"new": "it was refused", "old": "it was sent"}


def run_on(httpd: Httpd, kernel: str) -> None:
    """A kernel that knows SO_PASSRIGHTS, and one that does not."""
    if kernel == "old":
        httpd.wrapper = oldkernel.WRAPPER
        httpd.log.expect("sent a descriptor to")
    httpd.start()


@pytest.mark.parametrize("kernel", SAYS)
@pytest.mark.parametrize("where, ready", [("notify", "notify"),
                                          ("ready", "/up")])
def test_the_spawner_goes_on(httpd: Httpd, where: str, ready: str,
                             kernel: str) -> None:
    """It reads what the app says, and starts another app."""
    httpd.app("bad", f"AppReady {ready}", f"AppSetEnv WHERE {where}",
              program="lingerer.py")
    httpd.app("shop")
    run_on(httpd, kernel)
    assert httpd.get("/", "bad").text == "ok"
    httpd.log.wait_for(rf"bad\[\d+\].* {SAYS[kernel]}")
    spawner = httpd.helper("spawner")
    assert httpd.get("/who", "shop").status == 200
    assert httpd.ctl("status").returncode == 0
    assert httpd.ctl("check").returncode == 0
    assert httpd.helper("spawner") == spawner


def test_a_thread_of_httpd_goes_on(httpd: Httpd) -> None:
    """Only the kernel can ensure this."""
    httpd.app("bad", "AppSetEnv WHERE request", program="lingerer.py")
    httpd.start()
    assert httpd.get("/", "bad").text == "ok"
    httpd.log.wait_for(rf"bad\[\d+\].* {SAYS['new']}")


@pytest.mark.parametrize("kernel", SAYS)
@pytest.mark.parametrize("question", ["status\n", "half a question"])
def test_the_control_socket_responds(httpd: Httpd, question: str,
                                    kernel: str) -> None:
    """root gets a response, whatever httpd's user sends along with a
    command."""
    httpd.app("shop")
    run_on(httpd, kernel)
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it responds")
    spawner = httpd.helper("spawner")
    with subprocess.Popen(
            ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups",
             sys.executable, str(httpd.program("lingerer.py")),
             str(httpd.runtime / "control.sock"), question],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout and caller.stdout.readline() \
            == SAYS[kernel] + "\n"
        assert httpd.ctl("status").returncode == 0
        assert httpd.get("/who", "shop").status == 200
    assert httpd.helper("spawner") == spawner
