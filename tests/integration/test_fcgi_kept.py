# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A connection over FastCGI that is kept (FCGI_KEEP_CONN): cases that HTTP,
and so test_shared_connection.py, does not have."""
import os
import subprocess
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.client import Connection
from harness.httpd import Httpd
from harness.wait import wait_until
from test_shared_connection import cut_after, fetch, good, number, shared
from test_shared_connection import start as start_any

pytestmark = pytest.mark.one_mpm("both read in the same way")


def start(httpd: Httpd, *directives: str) -> None:
    httpd.log.expect(sentences.FCGI, sentences.FCGI_PRINTED,
                     sentences.FCGI_REFUSED, sentences.FCGI_OVERLOADED)
    start_any(httpd, *directives, protocol="fcgi")


def flags(httpd: Httpd) -> list[int]:
    """Was the app asked to keep its connection, for each request?"""
    return [int(line.split()[4]) for line in httpd.requests_seen()
            if line.startswith("shop ")]


def pass_gate(httpd: Httpd) -> None:
    fifo = httpd.dir / "shop" / "tmp" / "late"
    wait_until(fifo.exists, "the response was sent")
    os.close(os.open(fifo, os.O_WRONLY))
    wait_until(lambda: not fifo.exists(), "the app goes on")


# ---- it is used again

def test_clean_end(httpd: Httpd) -> None:
    """Records say where a response ends, also if it has no body. php-cgi reads
    the end of a request with the next one."""
    start(httpd)

    def again() -> bool:
        response = fetch(httpd, path, method)
        assert response.status == status
        return number(response) == good(fetch(httpd))

    for (method, path, status), case in cases([
            ("GET", "/padded", 200), ("GET", "/no-end-of-output", 200),
            ("GET", "/stderr", 200), ("GET", "/unread", 200),
            ("HEAD", "/ok", 200), ("GET", "/204", 204), ("GET", "/304", 304),
            ("OPTIONS", "/ok", 200)]):
        with case:
            wait_until(again, "it is used again")


@pytest.mark.mpms("event")
def test_asked_to_keep(httpd: Httpd) -> None:
    """Only if the connection can be shared: otherwise it would block others"""
    start(httpd)
    good(fetch(httpd))
    good(httpd.post("/ok", "shop", b"body"))
    assert flags(httpd) == [1, 0]


@pytest.mark.mpms("prefork", "event")
def test_ids(httpd: Httpd) -> None:
    """Each request has another id than all before it, whichever child of httpd
    sends it."""
    start(httpd)
    ids = [int(fetch(httpd).headers["X-Id"]) for _ in range(12)]
    assert ids[0] == 1
    assert ids[1:] == list(range(ids[1], ids[1] + 11))


# ---- no byte of a response becomes part of another one

def test_cut_after(httpd: Httpd) -> None:
    start(httpd)
    for path, case in cases(("/more", "/bytes", "/ends", "/half", "/second")):
        with case:
            cut_after(httpd, path)


def test_cut_after_an_error(httpd: Httpd) -> None:
    start(httpd)
    for (path, status), case in cases([
            ("/overloaded", 503), ("/refused", 502), ("/no-header", 502),
            ("/wrong", 502)]):
        with case:
            before = shared(httpd)
            assert fetch(httpd, path).status == status
            assert good(fetch(httpd)) > before


def test_cut_without_end(httpd: Httpd) -> None:
    """The response is complete, and the app still works on the request"""
    start(httpd, "AppTimeout 8")
    before = shared(httpd)
    used = good(fetch(httpd, "/silent-end"))
    assert used in (before, before + 1)
    assert good(fetch(httpd)) > used


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_bytes_between_two_requests(httpd: Httpd) -> None:
    """They are found before the next request is sent, so that is sent once"""
    start(httpd)
    good(fetch(httpd, "/late"))
    pass_gate(httpd)
    wait_until(lambda: "sent" in httpd.requests_seen(), "what is too much")
    for _ in range(3):
        good(fetch(httpd))
    assert len([line for line in httpd.requests_seen() if "/ok" in line]) == 3


# ---- apps that do not keep it

def test_closes_all_the_same(httpd: Httpd) -> None:
    """It costs no request"""
    start(httpd, "AppSetEnv CLOSES 1")
    seen = [good(fetch(httpd)) for _ in range(30)]
    assert len(set(seen)) == 30


@pytest.mark.mpms("prefork")
def test_asked_no_more(httpd: Httpd) -> None:
    """The app closes connections that it should keep. The child learns that"""
    start(httpd)
    client = Connection(httpd.port)

    def closes() -> bool:
        good(client.request("GET", "/closes", "shop"))
        pass_gate(httpd)
        return flags(httpd)[-1] == 0
    try:
        wait_until(closes, "it is not asked any more")
    finally:
        client.close()


@pytest.mark.mpms("prefork")
def test_one_id(httpd: Httpd) -> None:
    """An app that knows only the id 1 loses no request"""
    start(httpd, "AppSetEnv ONE 1")
    client = Connection(httpd.port)
    try:
        for _ in range(20):
            good(client.request("GET", "/ok", "shop"))
        assert flags(httpd)[-1] == 0
    finally:
        client.close()


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_closed_after_the_request_was_read(httpd: Httpd) -> None:
    """It is unknown if the app has served it. It is sent again, because it may
    be"""
    start(httpd)

    def on_a_shared_one() -> bool:
        used = good(fetch(httpd, "/reads-and-hangs-up"))
        assert good(fetch(httpd)) > used
        return httpd.requests_seen()[-2] == "read"
    wait_until(on_a_shared_one, "the request is sent again")


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_twice_at_most(httpd: Httpd) -> None:
    """It is sent once over a new connection: then the app has closed it on
    purpose"""
    start(httpd)

    def on_a_shared_one() -> bool:
        used = shared(httpd)
        before = len(httpd.requests_seen())
        assert fetch(httpd, "/nothing").status == 502
        asked = [int(line.split()[-1])
                 for line in httpd.requests_seen()[before:]]
        assert asked in ([used, used + 1], [used + 1])
        return len(asked) == 2
    wait_until(on_a_shared_one, "it is sent over the shared one")


# ---- real servers

SOCKETS = """<?php header('Content-Type: text/plain');
foreach (glob('/proc/self/fd/*') as $fd) echo @readlink($fd), "\\n";
"""


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_php(httpd: Httpd) -> None:
    """It reads from its connection, and does not notice SIGTERM meanwhile"""
    app = httpd.app("shop", "AppConcurrency 1", "MaxInstances 1",
                    "AppStopTimeout 60", command=None)
    (app.root / "public" / "index.php").write_text(SOCKETS)
    httpd.start()

    def sockets() -> set[str]:
        response = fetch(httpd, "/")
        assert response.status == 200
        return {line for line in response.text.splitlines()
                if line.startswith("socket:")}
    wait_until(lambda: sockets() == sockets(), "a connection is used again")
    pid, = httpd.pids(app)
    assert httpd.post("/", "shop", b"x" * 100000).status == 200
    assert httpd.ctl("restart", "shop").returncode == 0
    wait_until(lambda: sockets() and httpd.pids(app) != [pid], "a new process")
    wait_until(lambda: not procs.alive(pid), "the old one has ended", 40)


LIBFCGI = """#include <fcgi_stdio.h>

int main(void)
{
    int n = 0;

    while (FCGI_Accept() >= 0)
        printf("Content-Type: text/plain\\r\\n\\r\\n%d\\n", ++n);
    return 0;
}
"""


@pytest.mark.one_mpm("one function connects, sends and reads")
def test_libfcgi(httpd: Httpd) -> None:
    """It reads 8 KB at once, and loses its connection if more bytes of the
    request are left"""
    app = httpd.app("shop", "MaxInstances 1", command=None)
    source = Path(httpd.dir / "shop.c")
    source.write_text(LIBFCGI)
    subprocess.run(["cc", "-o", app.root / "shop.fcgi", source, "-lfcgi"],
                   check=True)
    httpd.start()
    served = 0
    for size in [0, 7000, 7500, 8000, 0, 0] * 8:
        headers = {"X-Pad-1": "x" * (size // 2), "X-Pad-2": "x" * (size // 2)}
        response = httpd.get("/", "shop", headers=headers)
        assert response.status == 200
        served += 1
        assert int(response.text) == served
    pid, = httpd.pids(app)
    assert httpd.post("/", "shop", b"x" * 100000).text == f"{served + 1}\n"
    httpd.stop()
    assert not procs.alive(pid)
