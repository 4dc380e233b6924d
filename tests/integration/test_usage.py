# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl, asked for what it does not have."""
import re

import pytest

from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

# What each command takes: an argument, and options that not all have.
COMMANDS: dict[str, tuple[list[str], set[str]]] = {
    "status": ([], set()),
    "top": ([], {"--seconds", "--times"}),
    "events": ([], {"--follow"}),
    "check": ([], set()),
    "detach": (["0123"], set()),
    "kill": (["0123"], set()),
    "drain": (["shop"], {"--wait"}),
    "restart": (["shop"], {"--rolling", "--blocking"}),
    "detect": (["/nonexistent"], set())}
OPTIONS = {"--seconds": ["1"], "--times": ["1"], "--follow": [], "--wait": [],
           "--rolling": [], "--blocking": []}


def test_options_of_others(httpd: Httpd) -> None:
    """A command refuses what is not its own, and does nothing; what is its
    own gets as far as the server, and none runs here"""
    helped = httpd.ctl("--help").stdout
    assert set(re.findall(r"^  ([a-z]+)", helped, re.M)) == set(COMMANDS)
    assert set(re.findall(r"--[a-z]+", helped)) == set(OPTIONS) | {
        "--dir", "--json", "--version", "--help"}
    for command, (argument, own) in COMMANDS.items():
        there = 1 if command == "detect" else 3
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
                        2, f"apppoolctl: {option} is too much for {command}\n"
                    ), words
        assert httpd.ctl(command, *argument, "more").returncode == 2, command
        assert not argument or httpd.ctl(command).returncode == 2, command


def test_either_or(httpd: Httpd) -> None:
    """Of two ways to restart it takes none, rather than the last one"""
    done = httpd.ctl("restart", "shop", "--rolling", "--blocking")
    assert (done.returncode, done.stderr) == (
        2, "apppoolctl: it is either --rolling or --blocking\n")
    assert httpd.ctl("restart", "shop", "--rolling",
                     "--rolling").returncode == 3


def test_exit_status(httpd: Httpd) -> None:
    """2: wrong usage; 3: nothing runs there"""
    httpd.app("shop")
    httpd.start()
    for words in ((), ("detach",), ("detach", "0123", "4567"),
                  ("status", "now"), ("no-such",), ("--no-such",),
                  ("detach", "a\nb"), ("detach", "0" * 2000), ("restart",),
                  ("detach", "0123", "--rolling"), ("status", "--blocking")):
        assert httpd.ctl(*words).returncode == 2, words
    httpd.stop()
    done = httpd.ctl("detach", "0123")
    assert done.returncode == 3 and "no pool is running" in done.stderr
