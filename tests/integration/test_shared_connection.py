# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A process that takes one request at a time keeps one connection, which all
children of httpd share. No byte of one response may become part of another
one."""
import ctypes
import fcntl
import os
import signal
import socket
import stat
import sys
import termios
import time
from contextlib import ExitStack
from itertools import product
from typing import Iterator

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.client import Connection, Raw, Response
from harness.httpd import Httpd
from harness.late import Late
from harness.segment import RECORDS, Segment
from harness.wait import wait_until

LOGGED = (r"gave no response: GET /", sentences.CUT_OFF,
          "was silent for too long: GET /hang")

CONNECTION = 192  # where a process has it (shm/format/format.h)
GET_FD = 438  # pidfd_getfd(2)


PROGRAMS = {"http": "keeper.py", "fcgi": "fcgi_keeper.py"}
BOTH = pytest.mark.parametrize("protocol", list(PROGRAMS))


def start(httpd: Httpd, *directives: str, protocol: str = "http") -> None:
    httpd.log.expect(*LOGGED)
    httpd.modules.append("env")
    httpd.app("shop", "AppConcurrency 1", "MaxInstances 1",
              f"AppProtocol {protocol}", *directives,
              program=PROGRAMS[protocol])
    httpd.start()


def number(response: Response) -> int:
    """The number of the connection to the app."""
    return int(response.headers["X-Connection"])


def good(response: Response) -> int:
    assert (response.status, response.body) == (200, b"ok")
    return number(response)


def fetch(httpd: Httpd, path: str = "/ok", method: str = "GET") -> Response:
    client = Connection(httpd.port)
    try:
        return client.request(method, path, "shop")
    finally:
        client.close()


def shared(httpd: Httpd) -> int:
    """Wait until two requests have used one connection of the app, the second
    of them just now. @return its number. An idle connection is not used after
    a second, so this may take several attempts."""
    def twice() -> int:
        first = good(fetch(httpd))
        return first if good(fetch(httpd)) == first else 0
    return wait_until(twice, "a connection is used again")


def cut_after(httpd: Httpd, path: str) -> None:
    """After this response no request uses its connection."""
    before = shared(httpd)
    used = good(fetch(httpd, path))
    assert used in (before, before + 1)
    for _ in range(3):
        assert good(fetch(httpd)) > used


# ---- the connection is used again

@BOTH
def test_all_children_share(httpd: Httpd, protocol: str) -> None:
    """In prefork, a connection of a client has a child of its own."""
    start(httpd, protocol=protocol)
    with ExitStack() as stack:
        clients = [Connection(httpd.port) for _ in range(3)]
        for client in clients:
            stack.callback(client.close)

        def all_same() -> bool:
            seen = {good(client.request("GET", "/ok", "shop"))
                    for client in clients * 3}
            return len(seen) == 1
        wait_until(all_same, "all use the same one")
    httpd.check()


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_clean_end(httpd: Httpd) -> None:
    start(httpd)
    for path, case in cases(("/ok", "/chunked", "/trailer")):
        with case:
            wait_until(lambda: good(fetch(httpd, path)) == good(fetch(httpd)),
                       "it is used again")


@BOTH
def test_not_after_a_second(httpd: Httpd, protocol: str) -> None:
    """The server still reads from the old connection, so that one is cut."""
    start(httpd, protocol=protocol)
    before = shared(httpd)
    # The connection is put back a moment after the client has the response.
    wait_until(lambda: httpd.pool("active") == 0, "it is put back")
    time.sleep(1.1)
    assert good(fetch(httpd)) > before


@pytest.mark.one_mpm("both read in the same way")
@BOTH
def test_fresh_for_what_is_not_repeated(httpd: Httpd, protocol: str) -> None:
    start(httpd, protocol=protocol)
    for (method, body), case in cases([
            ("POST", b"a body"), ("DELETE", None), ("PUT", b"a body")]):
        with case:
            before = shared(httpd)
            response = httpd.request(method, "/ok", "shop", body=body)
            assert good(response) > before


@BOTH
@pytest.mark.parametrize("directive", ["AppGlobalQueue Off",
                                       "AppListen tcp"])
def test_not_shared(httpd: Httpd, directive: str, protocol: str) -> None:
    start(httpd, directive, protocol=protocol)
    seen = [good(fetch(httpd)) for _ in range(5)]
    assert len(set(seen)) == 5
    httpd.check()


# ---- no byte of a response becomes part of another one

@pytest.mark.one_mpm("both read in the same way")
def test_cut_after(httpd: Httpd) -> None:
    """The client gets the right response, and the connection is not used
    again."""
    start(httpd, "SetEnv proxy-interim-response Suppress")
    for path, case in cases((
            "/more", "/more-chunked", "/second", "/blank", "/interim", "/many",
            "/both", "/old", "/close", "/end")):
        with case:
            cut_after(httpd, path)


@pytest.mark.one_mpm("both read in the same way")
def test_cut_after_no_body(httpd: Httpd) -> None:
    """An app may send a body nevertheless."""
    start(httpd)
    for (method, path, status), case in cases([
            ("HEAD", "/head", 200), ("HEAD", "/none", 200),
            ("GET", "/304", 304), ("GET", "/204", 204)]):
        with case:
            shared(httpd)
            response = fetch(httpd, path, method)
            assert (response.status, response.body) == (status, b"")
            for _ in range(3):
                assert good(fetch(httpd)) > number(response)


@pytest.mark.one_mpm("both read in the same way")
@BOTH
def test_body_that_is_not_read(httpd: Httpd, protocol: str) -> None:
    """The app takes the body for a request, and responds when the next request
    comes."""
    start(httpd, protocol=protocol)
    for (method, size), case in cases(product(("POST", "GET"), (0, 100000))):
        request = (b"GET /pid HTTP/1.1\r\nHost: shop\r\nX-Pad: "
                   + bytes(size) + b"\r\n\r\n")
        with case:
            used = good(httpd.request(method, "/unread-body", "shop",
                                      body=request))
            for _ in range(3):
                assert good(fetch(httpd)) > used


@pytest.mark.one_mpm("one function connects, sends and reads")
@BOTH
def test_byte_between_two_requests(httpd: Httpd, protocol: str) -> None:
    start(httpd, protocol=protocol)
    used = number(fetch(httpd, "/late"))
    fifo = httpd.dir / "shop" / "tmp" / "late"
    wait_until(fifo.exists, "the response was sent")
    os.close(os.open(fifo, os.O_WRONLY))
    wait_until(lambda: "sent" in httpd.requests_seen(), "and what is too much")
    for _ in range(3):
        assert good(fetch(httpd)) > used


@pytest.mark.one_mpm("one function connects, sends and reads")
@BOTH
def test_response_to_an_unread_request(httpd: Httpd, protocol: str) -> None:
    """It belongs to the request before it."""
    start(httpd, protocol=protocol)

    def on_a_shared_one() -> bool:
        used = good(fetch(httpd, "/answers-unread"))
        assert good(fetch(httpd)) > used
        return httpd.requests_seen()[-1].endswith(str(used + 1))
    wait_until(on_a_shared_one, "the request is sent again")


@pytest.mark.one_mpm("one function connects, sends and reads")
@BOTH
def test_hangs_up_when_it_is_used(httpd: Httpd, protocol: str) -> None:
    """The app has not read the request, so it is sent again."""
    start(httpd, protocol=protocol)
    for _ in range(3):
        used = good(fetch(httpd, "/hangs-up"))
        assert good(fetch(httpd)) > used


@BOTH
def test_client_leaves(httpd: Httpd, protocol: str) -> None:
    """In the middle of a response."""
    start(httpd, protocol=protocol)
    before = shared(httpd)
    with Raw(httpd.port, b"GET /endless HTTP/1.1\r\nHost: shop\r\n\r\n") as raw:
        assert raw.head()[0] == 200
    assert good(fetch(httpd)) > before


@pytest.mark.one_mpm("one function connects, sends and reads")
@BOTH
def test_timeout(httpd: Httpd, protocol: str) -> None:
    start(httpd, "AppTimeout 8", protocol=protocol)
    before = shared(httpd)
    assert fetch(httpd, "/hang").status == 504
    assert good(fetch(httpd)) > before


def copies(child: int) -> Iterator[socket.socket]:
    """Copies of the connections that a child of httpd has to apps."""
    libc = ctypes.CDLL(None, use_errno=True)
    for fd in os.listdir(f"/proc/{child}/fd"):
        pidfd = os.pidfd_open(child)
        copy = libc.syscall(GET_FD, pidfd, int(fd), 0)
        os.close(pidfd)
        if copy >= 0 and stat.S_ISSOCK(os.fstat(copy).st_mode):
            with socket.socket(fileno=copy) as sock:
                try:
                    peer = sock.getpeername()
                except OSError:
                    continue
                if sock.family == socket.AF_UNIX and "/s/" in str(peer):
                    yield sock
        elif copy >= 0:
            os.close(copy)


def cut(child: int) -> None:
    done = 0
    for sock in copies(child):
        sock.shutdown(socket.SHUT_RDWR)
        done += 1
    assert done > 0


def unread(child: int) -> bool:
    """Is there a part of a request that the app has not read?"""
    return any(int.from_bytes(fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)),
                              sys.byteorder) for sock in copies(child))


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_cut_after_damage(httpd: Httpd) -> None:
    """A response without a length is not complete if the app did not end it:
    the slot says that the connection belongs to another request"""
    start(httpd)
    before = shared(httpd)
    request = b"GET /half HTTP/1.1\r\nHost: shop\r\n\r\n"
    with Raw(httpd.port, request) as raw, Segment(httpd) as segment:
        assert f"X-Connection: {before}" in raw.head()[1]
        segment.write_word(segment.tables["processes"]
                           + RECORDS["processes"][0] + CONNECTION, 0)
        cut(procs.socket_owner(httpd.children(), httpd.port,
                               raw.sock.getsockname()[1]))
        received = raw.rest()
    assert received.endswith(b"half\r\n")  # and no last chunk
    wait_until(lambda: "closed" in str(httpd.requests_seen()), "the app ends")
    assert good(fetch(httpd)) > before
    httpd.settles(active=0, count=1)


# ---- when something is killed

@BOTH
def test_killed_between_two_requests(httpd: Httpd, protocol: str) -> None:
    httpd.log.expect("died: signal 9")
    start(httpd, protocol=protocol)
    shared(httpd)
    for _ in range(3):
        pid = int(fetch(httpd, "/pid").text)
        procs.send(pid, signal.SIGKILL)
        assert int(fetch(httpd, "/pid").text) != pid


@pytest.mark.mpms("event")
def test_killed_before_it_reads(httpd: Httpd) -> None:
    """httpd looks only when the next process already has the slot. The request
    was not read, so it is sent again"""
    httpd.log.expect("died: signal 9")
    start(httpd, "MinInstances 1")
    pid = int(fetch(httpd, "/pid").text)
    with Segment(httpd) as segment:
        at = segment.tables["processes"] + RECORDS["processes"][0] + CONNECTION
        shared(httpd)
        procs.freeze(pid)
        pending = httpd.get_async("/ok", "shop")
        wait_until(lambda: any(map(unread, httpd.children())), "it is sent")
        child = httpd.child_of(pending)
        procs.freeze(child)
        procs.kill9(pid)
        wait_until(lambda: segment.word(at) == 0, "there is a new process")
        os.kill(child, signal.SIGCONT)
        good(pending.result(20))


@BOTH
def test_child_killed_inside(httpd: Httpd, protocol: str) -> None:
    """The process has no other client, and continues."""
    httpd.log.expect("AH00052: child pid .* exit signal Killed")
    start(httpd, protocol=protocol)
    before = shared(httpd)
    pending = httpd.get_async("/hang", "shop")
    wait_until(lambda: "/hang" in str(httpd.requests_seen()), "it is asked")
    procs.send(httpd.child_of(pending), signal.SIGKILL)
    assert good(fetch(httpd)) > before
    httpd.check()


@pytest.mark.parametrize("path", ["/stream", "/endless"])
def test_child_killed_within_a_response(httpd: Httpd, path: str) -> None:
    """The app notices without another request that its client is gone. A
    parked connection would stay open. The process continues."""
    httpd.log.expect("AH00052: child pid .* exit signal Killed")
    start(httpd)
    (pid,) = {int(fetch(httpd, "/pid").text) for _ in range(3)}
    before = shared(httpd)
    request = f"GET {path} HTTP/1.1\r\nHost: shop\r\n\r\n".encode()
    with Raw(httpd.port, request) as raw:
        assert f"X-Connection: {before}" in raw.head()[1]
        procs.kill9(procs.socket_owner(httpd.children(), httpd.port,
                                       raw.sock.getsockname()[1]))
        wait_until(lambda: "nobody listens" in str(httpd.requests_seen()),
                   "the app hears of it")
    assert good(fetch(httpd)) > before
    assert int(fetch(httpd, "/pid").text) == pid
    httpd.settles(active=0, count=1)
    httpd.check()


@BOTH
def test_stop_does_not_wait(httpd: Httpd, protocol: str) -> None:
    """A server that reads from its connection sees SIGTERM only afterwards."""
    start(httpd, "AppStopTimeout 60", protocol=protocol)
    shared(httpd)
    pid = int(fetch(httpd, "/pid").text)
    with Late(*procs.marked(str(httpd.dir))) as late:
        assert httpd.ctl("restart", "shop").returncode == 0
        wait_until(lambda: int(fetch(httpd, "/pid").text) != pid,
                   "another process")
        wait_until(lambda: not procs.alive(pid), "it has ended")
    late.within(50, "the restart")
    with Late(*procs.marked(str(httpd.dir))) as late:
        httpd.stop()
    late.within(50, "the stop")


@BOTH
def test_after_graceful_and_a_new_spawner(httpd: Httpd, protocol: str) -> None:
    httpd.log.expect("spawner .* ended: signal 9")
    start(httpd, protocol=protocol)
    shared(httpd)
    httpd.graceful()
    shared(httpd)
    procs.send(httpd.spawner_now(), signal.SIGKILL)
    shared(httpd)
    pid = int(fetch(httpd, "/pid").text)
    wait_until(lambda: httpd.ctl("restart", "shop").returncode == 0,
               "there is a new spawner")
    wait_until(lambda: not procs.alive(pid), "the process has ended")
    shared(httpd)
    httpd.check()
