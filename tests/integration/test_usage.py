# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl with wrong arguments."""
import os
import re
import subprocess

import pytest

from harness.httpd import Httpd
from harness.places import BUILD
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# The argument of each command, and options that only some commands have.
COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "status": (["shop"], {"--problems"}),
    "why": (["shop"], set()),
    "doctor": (["true"], set()),
    "top": ([], {"--seconds", "--times"}),
    "events": ([], {"--follow"}),
    "check": ([], set()),
    "detach": (["0123"], set()),
    "kill": (["0123"], set()),
    "drain": (["shop"], {"--wait", "--timeout"}),
    "restart": (["shop"], {"--rolling", "--blocking", "--wait", "--timeout"}),
    "start": (["shop"], {"--wait", "--timeout"}),
    "show": (["shop"], set()),
    "logs": (["shop"], {"--follow"}),
    "report": (["0123"], set()),
    "store": (["top"], {"--seconds", "--times"}),
    "out": ([], set()),
    "in": ([], set()),
    "detect": (["/nonexistent"], set())}
OPTIONS = {"--seconds": ["1"], "--times": ["1"], "--follow": [], "--wait": [],
           "--rolling": [], "--blocking": [], "--timeout": ["1", "--wait"],
           "--problems": []}


def test_options_of_others(httpd: Httpd) -> None:
    """A command refuses the options of other commands, and does nothing. With
    its own options it tries to reach the server, and no server runs here."""
    helped = httpd.ctl("--help").stdout
    assert set(re.findall(r"^  ([a-z]+)", helped, re.M)) == set(COMMANDS)
    assert set(re.findall(r"--[a-z-]+", helped)) == set(OPTIONS) | {
        "--dir", "--runtime-dir", "--json", "--version", "--help", "--all"}
    for command, (argument, own) in COMMANDS.items():
        there = {"detect": 1, "doctor": 4}.get(command, 3)
        assert httpd.ctl(command, *argument).returncode == there, command
        for option, value in OPTIONS.items():
            for words in ([command, *argument, option, *value],
                          [option, *value, command, *argument]):
                done = httpd.ctl(*words)
                assert done.stdout == ""
                if option in own:
                    assert done.returncode == there, words
                else:
                    assert (done.returncode, done.stderr) == (
                        2, f"apppoolctl: {command} does not take {option}\n"
                    ), words
        assert httpd.ctl(command, *argument, "more").returncode == 2, command
        assert not argument or command in ("status", "store", "doctor") \
            or httpd.ctl(command).returncode == 2, command


def test_either_or(httpd: Httpd) -> None:
    """Two ways to restart are refused, instead of using the last one."""
    done = httpd.ctl("restart", "shop", "--rolling", "--blocking")
    assert (done.returncode, done.stderr) == (
        2, "apppoolctl: use either --rolling or --blocking\n")
    assert httpd.ctl("restart", "shop", "--rolling",
                     "--rolling").returncode == 3


def test_exit_status(httpd: Httpd) -> None:
    """2: wrong usage. 3: nothing runs there."""
    httpd.app("shop")
    httpd.start()
    for words in ((), ("detach",), ("detach", "0123", "4567"),
                  ("status", "a", "b"), ("no-such",), ("--no-such",),
                  ("detach", "a\nb"), ("detach", "0" * 2000), ("restart",),
                  ("detach", "0123", "--rolling"), ("status", "--blocking")):
        assert httpd.ctl(*words).returncode == 2, words
    httpd.stop()
    done = httpd.ctl("detach", "0123")
    assert done.returncode == 3 and "no httpd with mod_apppool runs" in done.stderr


# A directory in place of the built-in one, with $1 instances.
PLACES = r"""
    where=$(apppoolctl --help | sed -n 's/^ *\(.*\)\/apppool-\*$/\1/p')
    mkdir -p "$where" && mount -t tmpfs none "$where" || exit 9
    for i in $(seq "$1"); do mkdir "$where/apppool-$i"; done
    shift
    exec apppoolctl "$@"
"""


def found(instances: int, *words: str, **environment: str
          ) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "bash", "-c",
         PLACES, "bash", str(instances), *words], text=True,
        capture_output=True, timeout=20,
        env={"PATH": f"{BUILD}:{os.environ['PATH']}", **environment})


def test_which_runtime_directory(httpd: Httpd) -> None:
    """The option, the environment, the built-in one. Errors name the
    directory."""
    httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("check").returncode == 0, "the spawner is up")
    here = str(httpd.runtime)
    for option in ("--runtime-dir", "--dir", "-d"):
        done = found(1, option, here, "check", APPPOOL_RUNTIME_DIR="/nowhere")
        assert (done.returncode, done.stderr) == (0, ""), option
    assert found(1, "check", APPPOOL_RUNTIME_DIR=here).returncode == 0
    done = found(1, "check", APPPOOL_RUNTIME_DIR="/nowhere")
    assert done.returncode == 3
    assert "no httpd with mod_apppool runs in /nowhere:" in done.stderr
    done = found(1, "check")
    assert done.returncode == 3
    assert re.search(r"no httpd with mod_apppool runs in /.*/apppool-1:", done.stderr)
    done = found(2, "check")
    assert done.returncode == 2 and "several" in done.stderr
    assert re.search(r"^  /.*/apppool-2$", done.stderr, re.M)
    done = found(2, "doctor")
    assert done.returncode == 2 and done.stderr.count("/apppool-") == 2
    done = found(0, "doctor")
    assert done.returncode == 4 and done.stderr == ""
    assert "no httpd with mod_apppool runs: there is no /" in done.stdout
    done = found(0, "check")
    assert done.returncode == 3
    assert "no httpd with mod_apppool runs: there is no /" in done.stderr
    for word in ("$APPPOOL_RUNTIME_DIR is not set", "/apppool-*",
                 "--runtime-dir"):
        assert word in done.stderr
