# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd stops before a helper program has begun to handle signals."""
import re
import signal
from pathlib import Path

import pytest

from harness import procs
from harness.httpd import Httpd
from harness.places import BUILD
from harness.procs import alive
from harness.upgrade import install, this_build
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


# A shell would unblock signals.
SLOW = """#!/usr/bin/python3 -IS
import os, sys, time
if sys.argv[1] != "--version":
    with open("{dir}/waits.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("{dir}/waits.new", "{dir}/waits")
    while not os.path.exists("{dir}/go"):
        time.sleep(0.05)
os.execv("{program}", ["{program}", *sys.argv[1:]])
"""


def slow(httpd: Httpd, program: str) -> Path:
    """Install a program that reports its start, and continues when the file
    `go` exists. @return the file in which it reports"""
    waits = httpd.dir / "waits"
    httpd.libexec = httpd.dir / "lib"
    install(httpd.libexec, this_build())
    path = httpd.libexec / program
    path.unlink()
    path.write_text(SLOW.format(program=BUILD / program, dir=httpd.dir))
    path.chmod(0o755)
    return waits


def has_sigterm(pid: int) -> bool:
    """SIGTERM is pending."""
    found = re.findall(r"^(?:Sig|Shd)Pnd:\s*(\w+)$",
                       procs.read(pid, "status").decode(), re.M)
    return any(int(one, 16) >> (signal.SIGTERM - 1) & 1 for one in found)


@pytest.mark.parametrize("program", ["apppool-watchdog", "apppool-spawner"])
def test_stop(httpd: Httpd, program: str) -> None:
    """The helper is not killed but ends in order. Nothing is left, and no line
    of the log says that it died."""
    waits = slow(httpd, program)
    httpd.app("shop", "AppPreStart On", "MinInstances 1")
    httpd.start()
    wait_until(waits.exists, "it has started")
    pid = int(waits.read_text())
    procs.send(httpd.pid, signal.SIGTERM)
    wait_until(lambda: not alive(pid) or has_sigterm(pid), "it has SIGTERM")
    survives = alive(pid)
    (httpd.dir / "go").touch()
    assert httpd.process is not None
    httpd.process.wait(40)
    assert survives
    assert not httpd.log.matching("ended|died|did not")
    assert httpd.remains() == []
