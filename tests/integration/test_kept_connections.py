# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Each child of httpd may keep connections to a process that takes any number
of requests at a time. No byte of one response may become part of another, and
no idle connection may block a request."""
import os
import signal
import threading
from contextlib import closing
from itertools import product
from typing import Callable

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.client import UPGRADE, Connection, Response
from harness.httpd import Httpd
from harness.wait import wait_until

LOGGED = (r"gave no response: GET /", sentences.CUT_OFF)

OURS = ("AppConcurrency 0", "SetEnv proxy-interim-response Suppress")


class Client:
    """One child of httpd serves all its requests: those of a connection."""

    def __init__(self, httpd: Httpd, *directives: str) -> None:
        httpd.log.expect(*LOGGED)
        httpd.modules.append("env")
        httpd.app("shop", "MaxInstances 1", *(directives or OURS),
                  program="keeper.py")
        httpd.start()
        self.connection = Connection(httpd.port)

    def ask(self, path: str = "/ok", method: str = "GET",
            body: bytes | None = None) -> Response:
        return self.connection.request(method, path, "shop", body)

    def good(self, path: str = "/ok", method: str = "GET",
             body: bytes | None = None) -> int:
        """The number of the connection to the app."""
        response = self.ask(path, method, body)
        assert (response.status, response.body) == (200, b"ok")
        return number(response)

    def kept(self) -> int:
        """One that was used by two requests, the second of them just now. An
        idle one is not used after a second, so it may take more attempts."""
        def twice() -> int:
            first = self.good()
            return first if self.good() == first else 0
        return wait_until(twice, "a connection is used again")


def number(response: Response) -> int:
    return int(response.headers["X-Connection"])


@pytest.fixture
def client(httpd: Httpd) -> Client:
    return Client(httpd)


@pytest.mark.one_mpm("both read in the same way")
def test_clean_end(client: Client) -> None:
    for path, case in cases(("/ok", "/chunked", "/trailer")):
        with case:
            wait_until(lambda: client.good(path) == client.good(),
                       "it is used again")


# ---- nothing of a response is part of another one

def with_kept_ones(client: Client, scene: Callable[[int], None]) -> None:
    """Play the scene, which gets the number of a kept connection, until
    connections were kept during all of it: after a process was slow to read,
    none is kept for ten seconds."""
    def played() -> bool:
        scene(client.kept())
        return client.good() == client.good()

    wait_until(played, "connections were kept")


@pytest.mark.one_mpm("both read in the same way")
def test_closed_after(client: Client) -> None:
    """The client gets the right response, and the connection is not used
    again"""
    def scene(before: int) -> None:
        used = client.good(path)
        assert used in (before, before + 1)
        for _ in range(3):
            assert client.good() > used

    for path, case in cases((
            "/more", "/more-chunked", "/second", "/blank", "/interim", "/many",
            "/both", "/old", "/close", "/end")):
        with case:
            with_kept_ones(client, scene)


@pytest.mark.one_mpm("both read in the same way")
def test_closed_after_no_body(client: Client) -> None:
    """An app may still send a body"""
    def scene(_: int) -> None:
        response = client.ask(path, method)
        assert (response.status, response.body) == (status, b"")
        for _ in range(3):
            assert client.good() > number(response)

    for (method, path, status), case in cases([
            ("HEAD", "/head", 200), ("HEAD", "/none", 200),
            ("GET", "/304", 304), ("GET", "/204", 204)]):
        with case:
            with_kept_ones(client, scene)


@pytest.mark.one_mpm("both read in the same way")
def test_body_that_is_not_read(client: Client) -> None:
    """The app takes it for a request, and responds when the next one comes"""
    for (method, size), case in cases(product(("POST", "GET"), (0, 100000))):
        request = (b"GET /pid HTTP/1.1\r\nHost: shop\r\nX-Pad: "
                   + bytes(size) + b"\r\n\r\n")
        with case:
            used = client.good("/unread-body", method, request)
            for _ in range(3):
                assert client.good() > used


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_byte_between_two_requests(client: Client, httpd: Httpd) -> None:
    used = number(client.ask("/late"))
    fifo = httpd.dir / "shop" / "tmp" / "late"
    wait_until(fifo.exists, "the response was sent")
    os.close(os.open(fifo, os.O_WRONLY))
    wait_until(lambda: "sent" in httpd.requests_seen(), "and what is too much")
    for _ in range(3):
        assert client.good() > used


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_response_to_an_unread_request(client: Client, httpd: Httpd) -> None:
    """It belongs to the request before it"""
    def on_a_kept_one() -> bool:
        used = client.good("/answers-unread")
        assert client.good() > used
        return httpd.requests_seen()[-1].endswith(str(used + 1))
    wait_until(on_a_kept_one, "the request is sent again")


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_hangs_up_when_it_is_used(client: Client) -> None:
    """It was not read, so it is sent again"""
    for _ in range(3):
        used = client.good("/hangs-up")
        assert client.good() > used


@pytest.mark.one_mpm("both read in the same way")
@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_fresh_for_what_is_not_repeated(client: Client, method: str) -> None:
    """Each with a process of its own: this one keeps no connection for the next
    ten seconds."""
    before = client.kept()
    body = b"a body" if method != "DELETE" else None
    assert client.good("/ok", method, body) > before


@pytest.mark.mpms("prefork")  # mod_proxy sends upgrades there
@pytest.mark.parametrize("name", [
    "proxy-nokeepalive", "force-proxy-request-1.0",
    "proxy-initial-not-pooled"])
def test_variables_of_mod_proxy(httpd: Httpd, name: str) -> None:
    """They say that a connection is not to be used again, or not for this
    request. The request is sent all the same"""
    client = Client(httpd, *OURS, "<Location /once>", f"SetEnv {name} 1",
                    "</Location>")
    used = client.kept()
    once = client.good("/once")
    assert once in (used, used + 1)
    assert client.good("/once", "POST", b"a body") > once
    asked = client.connection.request("GET", "/once", "shop", headers=UPGRADE)
    assert (asked.status, asked.body) == (200, b"ok")
    once = client.good("/once")
    if name != "proxy-initial-not-pooled":
        assert client.good() > once
        assert client.good("/once") > once


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_tcp(httpd: Httpd) -> None:
    """TCP does not say whether the app reads what was sent. The one thread of
    this server would read from the connection of another client. And a
    response to an unread request would be taken for the response to the next
    one."""
    client = Client(httpd, *OURS, "AppListen tcp")
    used = client.good()
    for path in ("/ok", "/ok", "/answers-unread", "/ok"):
        assert client.good(path) == (used := used + 1)


@pytest.mark.mpms("prefork")
def test_prefork_and_a_number(httpd: Httpd) -> None:
    """All children together would have more idle connections than that"""
    client = Client(httpd, "AppConcurrency 2")
    used = client.good()
    for _ in range(5):
        assert client.good() == (used := used + 1)


# ---- no request waits for an idle connection

def test_idle_ones_make_room(client: Client, httpd: Httpd) -> None:
    """The one thread of this server reads from a connection that is kept, and
    accepts no other. Its client asks again and again, so it is never idle for a
    second"""
    before = client.kept()
    served = threading.Event()
    seen: list[int] = []

    def go_on() -> None:
        while not served.is_set():
            seen.append(client.good())

    busy = threading.Thread(target=go_on)
    busy.start()
    try:
        wait_until(lambda: seen, "it is asked")
        with closing(Connection(httpd.port)) as other:
            for _ in range(3):
                used = number(other.request("POST", "/ok", "shop", b"a body"))
                assert used > before
    finally:
        served.set()
        busy.join()


def test_room_for_a_large_body(httpd: Httpd) -> None:
    """Its request is not sent to its end, so no response is waited for"""
    httpd.directives.append("MaxKeepAliveRequests 0")
    client = Client(httpd, *OURS, "AppTimeout 12")
    client.kept()
    served = threading.Event()

    def go_on() -> None:
        while not served.is_set():
            client.good()

    busy = threading.Thread(target=go_on)
    busy.start()
    try:
        assert httpd.post("/ok", "shop", bytes(3000000)).body == b"ok"
    finally:
        served.set()
        busy.join()


def test_room_is_kept_for_a_while(client: Client, httpd: Httpd) -> None:
    """No connection is kept to a process that had no room"""
    def no_connection_is_kept() -> bool:
        """Unless the other client has found a moment without a connection."""
        client.kept()
        pending = httpd.get_async("/ok", "shop")
        while not pending.done():
            client.good()
        return client.good() < client.good() < client.good()
    wait_until(no_connection_is_kept, "the process has no room")


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_end_without_a_request(client: Client, httpd: Httpd) -> None:
    """It ends when it does not read from a connection"""
    client.kept()
    pid = int(client.ask("/pid").text)
    os.kill(pid, signal.SIGTERM)
    httpd.log.expect("ended by itself")
    wait_until(lambda: not procs.alive(pid), "it has ended")


@pytest.mark.one_mpm("the process of the app dies, and no MPM sees it")
def test_killed_between_two_requests(client: Client, httpd: Httpd) -> None:
    httpd.log.expect("died: signal 9")
    client.kept()
    for _ in range(3):
        pid = int(client.ask("/pid").text)
        procs.kill9(pid)
        assert int(client.ask("/pid").text) != pid
