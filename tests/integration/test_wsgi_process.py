# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The process of the loader for WSGI applications (helpers/python): connections,
threads, memory, signals, and applications that do not load."""
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable, Iterator

import pytest

from harness import procs
from harness.wait import wait_until
from harness.wsgi import (GET, MEGABYTE, WSGI, Response, Loader, ask, client,
                          is_closed, is_open, shared)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Loader]]:
    """A loader of its own for tests that end it."""
    loaders: list[Loader] = []

    def begin(*words: str, **more: Path) -> Loader:
        loaders.append(Loader(tmp_path, *words, **more))
        return loaders[-1]

    yield begin
    for loader in loaders:
        loader.destroy()


def test_two_connections(shared: Loader) -> None:
    """The connection that sends a request is served, and the other one stays
    open"""
    with shared.connect() as one, shared.connect() as two:
        for client in (one, two, two, one, one, two):
            assert is_open(client)
        one.sendall((GET % b"/shape?one")[:20])
        assert is_open(two)
        one.sendall((GET % b"/shape?one")[20:])
        assert Response(one).body == b"hello"


def test_threads_run(client: socket.socket) -> None:
    """While the loader waits"""
    ask(client, "/tick?go")
    first = int(ask(client, "/tick").body)
    wait_until(lambda: int(ask(client, "/tick").body) > first + 20, "ticks")

    def ticks_while_it_waits() -> bool:
        """On a slow machine, not at once."""
        before = int(ask(client, "/tick").body)
        time.sleep(0.3)  # nothing else lets the thread run
        return int(ask(client, "/tick").body) > before + 5

    wait_until(ticks_while_it_waits)


def test_forked_child_is_ended(client: socket.socket) -> None:
    assert ask(client, "/fork").body == b"{-15}"
    assert is_open(client)


def test_output(shared: Loader, client: socket.socket) -> None:
    before = len(shared.log())
    ask(client, "/printed")
    assert shared.log()[before:] == "a line for the log\nand one more\n"


def peak(pid: int) -> int:
    """Bytes"""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise AssertionError


def test_memory(start: Callable[..., Loader], tmp_path: Path) -> None:
    """Thirty megabytes in and out"""
    loader = start()
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(30 * MEGABYTE)
    with loader.connect() as client:
        assert ask(client, "/count", "POST", b"1").body == b"1"
        ask(client, "/down?3")
        before = peak(loader.process.pid)
        part = b"x" * MEGABYTE
        client.sendall(b"POST /count HTTP/1.1\r\nHost: a\r\n"
                       b"Content-Length: %d\r\n\r\n" % (30 * MEGABYTE))
        for _ in range(30):
            client.sendall(part)
        assert Response(client).body == b"%d" % (30 * MEGABYTE)
        for request in ("/down?300", f"/file?plain&{path}"):
            assert len(ask(client, request).body) > 28 * MEGABYTE
        assert peak(loader.process.pid) < before + 4 * MEGABYTE
        assert is_open(client)


@pytest.mark.parametrize("when", ["before the first", "on a connection",
                                  "long idle", "a closed one"])
def test_term_while_idle(start: Callable[..., Loader], when: str) -> None:
    loader = start()
    with loader.connect() as client:
        assert is_open(client)
        if when == "a closed one":
            client.close()
        if when == "long idle":
            time.sleep(0.2)
        if when == "before the first":
            loader.destroy()
            loader.path.unlink()
            loader = start()
            wait_until(lambda: b"wsgi" in Path(
                f"/proc/{loader.process.pid}/cmdline").read_bytes(), "it runs")
            with loader.connect() as probe:
                assert is_open(probe)
        assert loader.end() == 0


def test_term_in_a_request(start: Callable[..., Loader],
                           tmp_path: Path) -> None:
    """The request is finished"""
    loader = start()
    with loader.connect() as client:
        client.sendall(GET % f"/stream?{tmp_path}/go".encode())
        got = client.recv(65536)
        procs.send(loader.process.pid, signal.SIGTERM)
        time.sleep(0.05)
        (tmp_path / "go").touch()
        got += client.makefile("rb").read()
    assert got.endswith(b"6\r\nsecond\r\n0\r\n\r\n")
    assert loader.process.wait(20) == 0


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_multiprocessing(start: Callable[..., Loader], way: str) -> None:
    """Its processes are made in three ways, the last of which is that of Python
    3.14."""
    loader = start("spawns")
    with loader.connect() as client:
        response = ask(client, f"/{way}")
        assert response.body == b"[0, 1, 4]", loader.log()


def test_another_python(start: Callable[..., Loader], tmp_path: Path) -> None:
    """As DreamHost and other hosters have it in passenger_wsgi.py."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nOTHER=yes exec /usr/bin/python3 -B "$@"\n')
    python.chmod(0o755)
    (tmp_path / "passenger_wsgi.py").write_text(f"""import os, sys
INTERP = "{python}"
if "OTHER" not in os.environ:
    os.execl(INTERP, INTERP, *sys.argv)
def application(environ, start_response):
    start_response("200 OK", [])
    return [os.environ["OTHER"].encode()]
""")
    loader = start("passenger_wsgi", root=tmp_path)
    with loader.connect() as client:
        assert ask(client, "/").body == b"yes", loader.log()


def test_exit_of_the_app(start: Callable[..., Loader]) -> None:
    loader = start()
    with loader.connect() as client:
        client.sendall(GET % b"/leave")
        assert is_closed(client)
    assert loader.process.wait(20) == 7


@pytest.mark.parametrize("text, logged", [
    ("import nothing_like_this", "No module named 'nothing_like_this'"),
    ("def application(:", "SyntaxError"),
    ("app = 5", "shop has no application that can be called"),
    ("application = 5", "shop has no application that can be called"),
    ("raise SystemExit('not today')", "not today")])
def test_app_does_not_load(start: Callable[..., Loader], tmp_path: Path,
                           text: str, logged: str) -> None:
    """The log says why, and the exit code is 1"""
    (tmp_path / "shop.py").write_text(text)
    loader = start("shop", root=tmp_path)
    assert loader.process.wait(20) == 1
    assert logged in loader.log()


def test_no_socket() -> None:
    for words in (["shop"], [], ["--listen"], ["a", "b"]):
        done = subprocess.run(["/usr/bin/python3", "-B", WSGI, *words],
                              capture_output=True, text=True, cwd="/")
        assert done.returncode == 1
        assert ("no socket to listen on" if words == ["shop"]
                else "usage: wsgi.py") in done.stderr
