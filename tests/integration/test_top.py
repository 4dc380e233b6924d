# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl top: the state of the pool, again and again."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from typing import Iterator

import pytest

from harness.httpd import Httpd
from harness.places import CTL
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

ENTER, LEAVE = b"\033[?1049h", b"\033[?1049l"


class Terminal:
    """apppoolctl top on a terminal with this number of rows and columns."""

    def __init__(self, httpd: Httpd, rows: int, columns: int,
                 *words: str) -> None:
        self.seen = b""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        self.process = subprocess.Popen(
            [str(CTL), "--dir", str(httpd.runtime), "top", "-s", "0.1",
             *words], stdin=theirs, stdout=theirs, stderr=theirs)

    def read(self) -> bytes:
        while select.select([self.ours], [], [], 0.05)[0]:
            self.seen += os.read(self.ours, 65536)
        return self.seen

    def shows(self, what: bytes) -> None:
        wait_until(lambda: what in self.read(), repr(what))

    def ends(self) -> int:
        status = self.process.wait(40)
        self.shows(LEAVE)
        assert termios.tcgetattr(self.theirs) == self.before
        return status

    def close(self) -> None:
        self.process.kill()
        self.process.wait(40)
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def top(httpd: Httpd) -> Iterator[Terminal]:
    httpd.app("shop", "AppGroupName shop")
    httpd.app("blog", "AppGroupName blog")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    one = Terminal(httpd, 12, 60)
    yield one
    one.close()


def test_open_requests_and_rates(httpd: Httpd, top: Terminal) -> None:
    held = httpd.hold("shop", "one")
    top.shows(b"/hold")
    assert re.search(rb"\d\.\d s busy +\d+ +127\.0\.0\.1 +GET /hold",
                     top.seen)
    held.release()
    assert top.seen.startswith(ENTER)
    assert b"shop" in top.seen and b"running" in top.seen
    for _ in range(20):
        httpd.get("/pid", "shop")
    wait_until(lambda: re.search(rb"[1-9]\d*\.\d requests/s, [\d.]+ ms each",
                                 top.read()), "a rate")
    os.write(top.ours, b"q")
    assert top.ends() == 0


def test_path_does_not_command_the_terminal(httpd: Httpd,
                                            top: Terminal) -> None:
    """Neither by ESC nor by U+0080 to U+009F, in any command."""
    held = httpd.hold("shop", "one", "/%C2%9B31m%1Bc%C3%BC/hold")
    top.shows("GET /??31m?c\u00fc".encode())
    assert b"\x9b" not in top.seen and b"\033c" not in top.seen
    assert "GET /??31m?c\u00fc/hold" in httpd.ctl("status").stdout
    held.release()


def test_it_fits(httpd: Httpd, top: Terminal) -> None:
    """No line is longer than the terminal, and there are no more lines than it
    has."""
    top.shows(b"\033[J")
    for screen in top.read().split(b"\033[H")[1:]:
        lines = screen.split(b"\033[J")[0].split(b"\r\n")
        assert len(lines) <= 12
        assert all(len(line.replace(b"\033[K", b"")) <= 60 for line in lines)


def test_narrow(httpd: Httpd) -> None:
    """On 40 columns, the state, the requests a second and the name are left. The
    numbers are those of the status page."""
    httpd.app("shop", "AppGroupName shop")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    heads = {}
    for columns in (40, 80, 200):
        top = Terminal(httpd, 12, columns, "-n", "1")
        top.shows(b"  APP")
        assert top.ends() == 0
        line, = [line for line in top.seen.split(b"\r\n")
                 if line.startswith(b"running")]
        assert line.split(b"\33")[0].split()[-1] == b"shop"
        head, = [line for line in top.seen.split(b"\r\n")
                 if line.startswith(b"STATE")]
        heads[columns] = head.split(b"\33")[0].decode().split()
        top.close()
    assert heads[40] == ["STATE", "REQ/S", "5XX", "APP"]
    assert set(heads[40]) < set(heads[80]) < set(heads[200])
    assert {"P50", "P95", "P99", "CPU", "MEMORY", "SUSP"} < set(heads[200])
    recent = json.loads(httpd.ctl("--json", "top", "-n", "1").stdout)[
        "groups"][0]["recent"]["1m"]
    line, = [line for line in httpd.ctl("top", "-n", "1").stdout.splitlines()
             if line.startswith("running")]
    cells = dict(zip(heads[200], line.replace(" ms", "").split()))
    assert cells["5XX"] == "0" and recent["errors"] == 0
    assert float(cells["P99"]) == pytest.approx(recent["p99"] * 1000, abs=0.6)


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGHUP", "^C", "^D"])
def test_terminal_is_put_right(httpd: Httpd, top: Terminal, how: str) -> None:
    top.shows(b"requests/s")
    if how[0] == "^":
        os.write(top.ours, bytes([ord(how[1]) & 0x1f]))
    else:
        top.process.send_signal(signal.Signals[how])
    assert top.ends() == 0


def test_another_size(httpd: Httpd, top: Terminal) -> None:
    """The new size is used from then on."""
    top.shows(b"requests/s")
    fcntl.ioctl(top.theirs, termios.TIOCSWINSZ,
                struct.pack("HHHH", 3, 10, 0, 0))
    top.process.send_signal(signal.SIGWINCH)

    def fits() -> bool:
        screens = top.read().split(b"\033[H")[1:]
        whole = [screen.split(b"\033[J")[0] for screen in screens
                 if b"\033[J" in screen]
        lines = whole[-1].split(b"\r\n") if whole else []
        return len(lines) == 3 and all(
            len(line.replace(b"\033[K", b"")) <= 10 for line in lines)

    wait_until(fits, "it fits")


def test_spawner_is_started_again(httpd: Httpd, top: Terminal) -> None:
    """It waits, and continues."""
    httpd.log.expect("spawner .* ended: signal 9")
    top.shows(b"requests/s")
    first = httpd.spawner_now()
    kill9(first)
    wait_until(lambda: httpd.spawner_now() != first, "another")
    assert httpd.get("/pid", "blog").status == 200
    wait_until(lambda: re.search(rb"running .* blog", top.read()), "blog")
    assert top.process.poll() is None


def test_without_a_terminal(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    httpd.get("/pid", "shop")
    done = httpd.ctl("top", "-n", "2", "--seconds", "0.1")
    assert done.returncode == 0 and "\033" not in done.stdout
    assert done.stdout.count("requests/s") == 2
    done = httpd.ctl("--json", "top", "--times", "3", "-s", "0.1")
    views = [json.loads(line) for line in done.stdout.splitlines()]
    assert [view["pool"]["count"] for view in views] == [1, 1, 1]


@pytest.mark.parametrize("words, reason", [
    (["-s", "0"], '--seconds: "0" is not a number from 0.1 to 3600'),
    (["-s", "x"], '--seconds: "x" is not a number'),
    (["-n", "1.5"], '--times: "1.5" is not a whole number'),
    (["-n", "-1"], '--times: "-1" is not a whole number'),
    (["shop"], "top does not take shop"),
    (["-f"], "top does not take --follow")])
def test_wrong_words(httpd: Httpd, words: list[str], reason: str) -> None:
    done = subprocess.run([str(CTL), "top", *words], capture_output=True,
                          text=True, timeout=40)
    assert done.returncode == 2
    assert reason in done.stderr


def test_no_server(httpd: Httpd) -> None:
    done = subprocess.run([str(CTL), "--dir", str(httpd.dir), "top"],
                          capture_output=True, text=True, timeout=40)
    assert done.returncode == 3
    assert "\033" not in done.stdout


def test_long_names_break_no_columns(httpd: Httpd) -> None:
    """The name of an app is in the last column."""
    names = "shop", "/srv/" + 20 * "long/" + "shop (production)"
    for n, name in enumerate(names):
        httpd.app(f"shop{n}", f'AppGroupName "{name}"')
    httpd.start()
    for n, _ in enumerate(names):
        assert httpd.get("/pid", f"shop{n}").status == 200
    lines = httpd.ctl("top", "-n", "1").stdout.splitlines()
    head, = [line for line in lines if line.endswith("  APP")]
    rows = {line[len(head) - 3:]: line for line in lines
            if line.startswith("running ")}
    assert set(rows) == set(names)
    for row in rows.values():
        assert len(row.split()) >= 7 and row[:len(head) - 3].endswith("  ")
