# Licensed under the Apache License, Version 2.0; see LICENSE.
"""FastCGI: what apps may do, and what they may do wrong."""
import http.client
import os
import socket
import struct
import subprocess
from contextlib import contextmanager
from typing import Any, Iterator

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.client import Raw
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.recorder import add, app_of, seen
from harness.wait import wait_until
from test_nonsense import (END, HEAD, STDERR, STDOUT, is_free, raw, raws,
                           record, two_requests)

pytestmark = pytest.mark.mpms("event")

MEGABYTE = 1 << 20
WHOLE = HEAD + b"\r\nwhole"
OVER = record(END, bytes(8))


def padded(kind: int, content: bytes, padding: int, number: int = 1) -> bytes:
    return struct.pack(">BBHHBB", 1, kind, number, len(content), padding,
                       0) + content + b"p" * padding


# ---- a response, however it is sent

GOOD = {
    "no end of the output": record(STDOUT, WHOLE) + OVER,
    "no end of the request": record(STDOUT, WHOLE) + record(STDOUT, b""),
    "padding": padded(STDOUT, WHOLE, 255) + padded(STDOUT, b"", 255)
    + padded(END, bytes(8), 255),
    "a byte in each record": b"".join(record(STDOUT, bytes([byte]))
                                      for byte in WHOLE) + OVER,
    "more after the end": record(STDOUT, WHOLE) + OVER
    + record(STDOUT, b"HTTP/1.1 200 OK\r\n\r\npoison") + b"poison" * 20000,
    "two ends": record(STDOUT, WHOLE) + OVER + OVER,
    "an exit status": record(STDOUT, WHOLE)
    + record(END, b"\0\0\0\1" + bytes(4)),
}


def test_whole(httpd: Httpd) -> None:
    """All on one connection of the client, so nothing else is in between."""
    apps = raws(httpd, {what: ("fcgi", response)
                        for what, response in GOOD.items()})
    for what, case in cases(apps):
        with case:
            received = two_requests(httpd, apps[what].name)
            assert received.count(b"HTTP/1.1 200 OK") == 2
            assert received.count(b"whole") == 2 and b"poison" not in received
            assert b"pppp" not in received
            is_free(httpd, apps[what])


# ---- no response

def refusal(status: int) -> bytes:
    return record(END, bytes(4) + bytes([status]) + bytes(3))


WRONG = {
    "for another request": (padded(STDOUT, WHOLE, 0, 2) + OVER,
                            "a record for request 2"),
    "for no request": (padded(10, WHOLE, 0, 0) + OVER,
                       "a record for request 0"),
    "another version": (record(STDOUT, WHOLE, version=2) + OVER,
                        "a record of version 2"),
    "of the server": (record(5, b"") + OVER, "a record of type 5"),
    "a short end": (record(END, bytes(7)), "END_REQUEST of another length: 7"),
    "long-header": (record(STDOUT, b"X-Long: " + b"x" * 60000 + b"\r\n") * 3
                      + OVER, "more than 65536 bytes; its longest field is X-Long"),
    "one session": (refusal(1), "it takes one request at a time"),
    "another role": (refusal(3), "it is not a responder"),
    "for a reason": (refusal(77), "the reason is unknown .FastCGI's status 77"),
    "no output": (record(STDOUT, b"") + OVER, "without a header"),
    "an empty header": (record(STDOUT, b"\r\nbody") + OVER, "has no header"),
}


def test_wrong(httpd: Httpd) -> None:
    """502, and a line with the reason and the process."""
    httpd.log.expect(sentences.LONG_HEADER, sentences.FCGI_REFUSED)
    apps = raws(httpd, {what: ("fcgi", response)
                        for what, (response, _) in WRONG.items()})
    for what, case in cases(apps):
        app = apps[what]
        with case:
            assert httpd.get("/", app.name).status == 502
            (pid,) = httpd.pids(app)
            httpd.log.wait_for(rf"{app.name}\[{pid}\].*{WRONG[what][1]}")
            is_free(httpd, app)


def test_wrong_within_a_response(httpd: Httpd) -> None:
    """The client sees that the response is not complete."""
    httpd.log.expect(sentences.FCGI_REFUSED)
    long = record(STDOUT, HEAD + b"\r\n") + record(STDOUT, b"x" * 60000) * 9
    apps = raws(httpd, {rest: ("fcgi", long + rest, "AppBufferResponse Off")
                        for rest in (
        record(STDOUT, b"x", version=2), padded(STDOUT, b"x", 0, 2),
        record(77, b""), record(STDOUT, b"") + record(STDOUT, b"x"), b"\1",
        record(STDOUT, b"", 9), refusal(2))})
    for rest, case in cases(apps):
        with case:
            with pytest.raises(http.client.IncompleteRead):
                httpd.get("/", apps[rest].name)
            is_free(httpd, apps[rest])


def test_overloaded(httpd: Httpd) -> None:
    """503, and when to try again"""
    httpd.log.expect(sentences.FCGI_REFUSED, sentences.FCGI_OVERLOADED)
    raw(httpd, "fcgi", refusal(2))
    response = httpd.get("/", "shop")
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    httpd.log.wait_for(r"shop\[\d+\] is overloaded: GET / is refused")
    httpd.settles(active=0, count=1)


# ---- its STDERR

def test_errors_are_logged(httpd: Httpd) -> None:
    """Line by line, with the process. A flood is cut."""
    httpd.log.expect(sentences.FCGI_PRINTED, r"apppool: shop\[\d+\]> (x+|\d+)$",
                     r"shop\[\d+\]: \d+ more lines of this request are not ")
    text = "it is broken\r\n\n" + "x" * 4500 + "\n" \
        + "".join(f"{n}\n" for n in range(1000)) + "the last"
    cut = [text[at:at + 777].encode() for at in range(0, len(text), 777)]
    raw(httpd, "fcgi", b"".join(padded(STDERR, part, 3) for part in cut)
        + record(STDOUT, WHOLE) + OVER)
    assert httpd.get("/", "shop").text == "whole"
    httpd.log.wait_for("more lines of this request are not logged")
    lines = [line.partition("]> ")[2] for line in httpd.log.matching(
        r"apppool:error.*shop\[\d+\]> ")]
    assert lines[:5] == ["it is broken", "x" * 2000, "x" * 2000, "x" * 500,
                         "0"]
    assert len(lines) == 200
    httpd.log.wait_for(": 805 more lines of this request")


# ---- requests

def test_client_leaves_within_its_body(httpd: Httpd) -> None:
    """Its process is free again"""
    app_of(httpd, "fcgi", "AppBufferRequest Off")
    with Raw(httpd.port, b"POST /?echo HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 6\r\n\r\none"):
        wait_until(lambda: httpd.counts()[1] == 1, "the app has it")
    httpd.settles(active=0, count=1)
    assert httpd.get("/?echo", "shop").status == 200


# ---- as mod_proxy_fcgi

# This module decides which part of the path is the script (cgi_variables.h).
OF_THE_SCRIPT = {"SCRIPT_NAME", "SCRIPT_FILENAME", "PATH_INFO",
                 "PATH_TRANSLATED"}
# Variables that app_headers.c and session.c add, notes of mod_proxy, and
# variables that differ between two clients.
OURS = {"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST",
        "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_SERVER",
        "HTTP_X_REQUEST_START", "HTTP_TRACEPARENT", "APPPOOL_PID",
        "APPPOOL_QUEUE_MS", "proxy-nokeepalive", "REMOTE_PORT"}


@contextmanager
def stock(httpd: Httpd) -> Iterator[None]:
    """The same program behind mod_proxy_fcgi, in a virtual host"""
    place = f"{httpd.dir}/hold/stock"
    httpd.modules.append("proxy_fcgi")
    httpd.directives += [
        f"<VirtualHost *:{httpd.port}>", "ServerName stok",
        f'DocumentRoot "{httpd.dir}/shop/public"', "<Location />",
        f'SetHandler "proxy:unix:{place}|fcgi://localhost"',
        "CGIPassAuth On", "</Location>",
        "</VirtualHost>"]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        os.chmod(place, 0o777)
        server.listen()
        app = subprocess.Popen(
            httpd.command_of("fcgi.py").split(), stdin=server,
            env={"STDIN": "1", "SEEN": f"{httpd.dir}/hold/stock.seen"})
        try:
            yield
        finally:
            app.kill()
            app.wait()
            os.unlink(place)


def parameters(httpd: Httpd, host: str, *request: Any,
               **more: Any) -> dict[str, str]:
    text = httpd.request(*request[:1], request[1], host, **more).text
    assert text, request
    found = dict(line.split("=", 1) for line in text.splitlines())
    assert len(found) == len(text.splitlines())
    return {name: value for name, value in found.items()
            if name not in OF_THE_SCRIPT | OURS}


def test_same_variables_as_mod_proxy_fcgi(httpd: Httpd) -> None:
    """The names and values are the same byte by byte, except those above."""
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/?names", {}),
        ("GET", "/a/b%20c%2e?names", {}),
        ("POST", "/a?names", {"body": b"12345"}),
        ("GET", "/%c3%a9?names", {"headers": {
            "X-Empty": "", "X-One": "1", "X-Two": "a, b", "x-three_3": "t",
            "Accept": "*/*", "Authorization": "Basic dTpw",
            "Cookie": "a=b; c=d", "Proxy": "bad", "Content-Type": "text/x"}})]
    with stock(httpd):
        app_of(httpd, "fcgi")
        for method, path, more in requests:
            ours = parameters(httpd, "shop", method, path, **more)
            theirs = parameters(httpd, "stok", method, path, **more)
            assert ours == {name: value.replace("stok", "shop")
                            for name, value in theirs.items()}, path
        # Chunks are stored, so the app gets their length.
        ours = parameters(httpd, "shop", "POST", "/a?names", body=[b"12345"],
                          headers={"Transfer-Encoding": "chunked"},
                          chunked=True)
    assert ours["CONTENT_LENGTH"] == "5:1"
    assert "HTTP_TRANSFER_ENCODING" not in ours


@pytest.mark.parametrize("twice", [False, True])
def test_variables_of_the_configuration(httpd: Httpd, twice: bool) -> None:
    """httpd's own come first, except two of them. Each is sent once. Of a header
    that comes twice, it is the last one"""
    httpd.modules += ["env", "headers", "setenvif"]
    httpd.directives += [
        "SetEnvIf Host . BOTH=if", "SetEnv BOTH env", "SetEnv OWN 1",
        "SetEnv SERVER_NAME own", "SetEnv HTTP_X_ONE own",
        "SetEnv REQUEST_METHOD OWN", "SetEnv PATH /own",
        "SetEnv LD_LIBRARY_PATH /own",
        *(["RequestHeader add X-One ours"] if twice else [])]
    with stock(httpd):
        app_of(httpd, "fcgi")
        ours, theirs = [parameters(httpd, host, "GET", "/?names",
                                   headers={"X-One": "client's"})
                        for host in ("shop", "stok")]
    assert ours == {name: value.replace("stok", "shop")
                    for name, value in theirs.items()}
    assert ours["BOTH"] == "env:3"
    assert ours["OWN"] == "1:1" and ours["PATH"] == "/own:4"
    assert ours["HTTP_X_ONE"] == ("ours:4" if twice else "client's:8")


def test_large_parameters(httpd: Httpd) -> None:
    """They do not fit into one record. No variable is lost."""
    httpd.directives += ["LimitRequestFieldSize 100000",
                         "LimitRequestFields 50"]
    app_of(httpd, "fcgi")
    headers = {f"X-H{n}": "v" * 8000 for n in range(20)}
    headers["X-Large"] = "l" * 70000
    names = httpd.get("/?names", "shop", headers=headers).text.splitlines()
    for n in range(20):
        assert f"HTTP_X_H{n}={'v' * 80}:8000" in names
    assert f"HTTP_X_LARGE={'l' * 80}:70000" in names


def test_index_that_is_made_later(httpd: Httpd) -> None:
    """It is found within a second or two, by the same process and by the child
    of httpd that did not find it before."""
    httpd.directives += ["ServerLimit 1", "StartServers 1",
                         "MinSpareThreads 1", "MaxSpareThreads 16",
                         "MaxRequestWorkers 16"]
    app = app_of(httpd, "fcgi")
    name = "SCRIPT_FILENAME="

    def script() -> str:
        # The path / has another way to index.php: DirectoryIndex.
        names = httpd.get("/page?names", "shop").text.splitlines()
        return next(line for line in names if line.startswith(name))
    assert f"{app.root}:" in script()
    index = app.root / "public" / "index.php"
    index.touch()
    wait_until(lambda: f"{index}:" in script(), "it is found")
    index.unlink()
    assert f"{app.root}:" in script()


def test_not_given_back_before_the_end(httpd: Httpd) -> None:
    """An app that still works after the end of its output gets no other
    request."""
    app_of(httpd, "fcgi")
    first = httpd.get_async("/?slow", "shop", 60)
    wait_until(lambda: seen(httpd), "the app has it")
    other = httpd.get_async("/?echo", "shop", 60)
    httpd.settles(active=1, count=1, waiting=1)
    assert seen(httpd) == ["GET slow"]
    (httpd.dir / "hold" / "gate").touch()
    assert first.result().text == "whole"
    assert other.result().status == 200
    httpd.settles(active=0, count=1)


def test_silence_after_the_output(httpd: Httpd) -> None:
    """The response is complete, and the process keeps the request."""
    raw(httpd, "fcgi", GOOD["no end of the request"], "AppTimeout 8",
        "AppSetEnv HANG 1")
    assert httpd.get("/", "shop").text == "whole"
    httpd.settles(active=1, count=1)


@pytest.mark.mpms("prefork")
def test_slow_client(httpd: Httpd) -> None:
    """httpd closes the connection to the app before the client has read the
    response, because php-cgi waits for that."""
    app_of(httpd, "fcgi")
    with Raw(httpd.port, b"GET /?patient HTTP/1.1\r\nHost: shop\r\n\r\n",
             receive_buffer=4096) as client:
        assert client.stream.file.read(8) == b"HTTP/1.1"
        assert httpd.get("/?echo", "shop").status == 200
        httpd.settles(active=0, count=1)


# ---- sent again

def test_how_often(httpd: Httpd) -> None:
    """It is unknown whether the process had read the request before it was
    killed. A request that may be sent twice is sent at most twice. Others are
    sent once."""
    httpd.log.expect(*KILLED)
    times = {"GET": 2, "HEAD": 2, "OPTIONS": 2, "DELETE": 1, "POST": 1}
    for method in times:
        add(httpd, "fcgi", f"shop-{method}")
    httpd.start()
    for method, case in cases(times):
        before = len(seen(httpd))
        with case:
            body = b"x" if method == "POST" else None
            response = httpd.request(method, "/?die", f"shop-{method}", body)
            assert response.status == 502
            assert seen(httpd)[before:] == [f"{method} die"] * times[method]


def test_head_with_a_body_is_sent_once(httpd: Httpd) -> None:
    httpd.log.expect(*KILLED)
    app_of(httpd, "fcgi", "MaxInstances 1")
    assert httpd.request("HEAD", "/?die", "shop", b"x").status == 502
    assert seen(httpd) == ["HEAD die"]


def test_killed_while_idle(httpd: Httpd) -> None:
    """The process got no request, or did not read it. Another one serves
    it."""
    httpd.log.expect(*KILLED)
    app = app_of(httpd, "fcgi")
    for _ in range(20):
        assert httpd.get("/?echo", "shop").status == 200
        pid, = httpd.pids(app)
        procs.kill9(pid)
        assert httpd.get("/?echo", "shop").status == 200
