# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Apps that send something wrong: the client gets 502 or 504, a line in the
log names the process, and nothing else is harmed."""
import http.client
import struct
from typing import Any, TypeVar

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import UPGRADE, Raw
from harness.config import App
from harness.httpd import Httpd
from harness.wait import wait_until

PROTOCOLS = ["http", "fcgi", "scgi", "uwsgi"]


def record(kind: int, body: bytes, claim: int = -1, version: int = 1) -> bytes:
    """A record of FastCGI. It may claim another length."""
    return struct.pack(">BBHHBB", version, kind, 1,
                       len(body) if claim < 0 else claim, 0, 0) + body


STDOUT, STDERR, END = 6, 7, 3
HEAD = b"Content-Type: text/plain\r\n"

RESPONSES = {
    "nothing": {protocol: b"" for protocol in PROTOCOLS},
    "garbage": {protocol: b"\1\2 this is not it \xff\r\n\r\n"
                for protocol in PROTOCOLS},
    "half a header": {
        "http": b"HTTP/1.1 200 OK\r\nX-Half: ",
        "uwsgi": b"HTTP/1.1 200 OK\r\nX-Half: ",
        "scgi": HEAD + b"X-Half: ",
        "fcgi": record(STDOUT, HEAD + b"X-Half: "),
    },
    "no header": {
        "fcgi": record(STDOUT, b"just a text") + record(STDOUT, b"")
        + record(END, b"\0" * 8),
        "scgi": b"just a text",
        "uwsgi": b"just a text",
    },
    "no header, no end": {
        "fcgi": record(STDOUT, b"just a text") + record(END, b"\0" * 8),
    },
    "a header that is none": {
        "fcgi": record(STDOUT, HEAD + b"no field\r\n\r\na body")
        + record(STDOUT, b"") + record(END, b"\0" * 8),
        "scgi": HEAD + b"no field\r\n\r\na body",
        "uwsgi": b"HTTP/1.1 200 OK\r\n" + HEAD + b"no field\r\n\r\na body",
    },
    "an interim response and no other": {
        "uwsgi": b"HTTP/1.1 100 Continue\r\n\r\n",
    },
    "only an end": {"fcgi": record(END, b"\0" * 8)},
    "another version": {"fcgi": record(STDOUT, HEAD, version=9)},
    "less than it says": {"fcgi": record(STDOUT, HEAD, claim=1000)},
    "an unknown record": {"fcgi": record(77, b"what?")},
    "errors only": {"fcgi": record(STDERR, b"it is broken\n")
                    + record(END, b"\0" * 8)},
}

def expect(httpd: Httpd) -> None:
    httpd.log.expect("apppool: .*shop.*(gave no response|was silent)", "Script",
                     sentences.ODD_RESPONSE, sentences.TIMED_OUT,
                     sentences.NO_BACKEND, sentences.SLOW,
                     sentences.REPORT_LATE, sentences.TOO_LONG, sentences.FCGI,
                     sentences.FCGI_PRINTED, sentences.UWSGI)


def add(httpd: Httpd, name: str, protocol: str, response: bytes,
        *directives: str) -> App:
    """An app that sends these bytes."""
    file = httpd.dir / f"{name}.bytes"
    file.write_bytes(response)
    return httpd.app(name, f"AppProtocol {protocol}",
                     f"AppSetEnv RESPONSE {file}",
                     f"AppSetEnv PROTOCOL {protocol}", "MaxInstances 1",
                     *directives, command=httpd.command_of("raw.py"))


def raw(httpd: Httpd, protocol: str, response: bytes,
        *directives: str) -> None:
    """An app that sends these bytes, and a good app beside it."""
    expect(httpd)
    add(httpd, "shop", protocol, response, *directives)
    httpd.app("blog")
    httpd.start()


Row = TypeVar("Row")


def raws(httpd: Httpd, table: dict[Row, tuple[Any, ...]]) -> dict[Row, App]:
    """An app for each row, and a good app beside them. A row is the protocol,
    the bytes, and directives."""
    expect(httpd)
    httpd.directives.append(f"MaxPoolSize {len(table) + 1}")
    apps = {row: add(httpd, f"shop{number}", *what)
            for number, (row, what) in enumerate(table.items())}
    httpd.app("blog")
    httpd.start()
    return apps


def is_free(httpd: Httpd, app: App) -> None:
    """Wait until its process has no request."""
    wait_until(lambda: [process["state"] for process in
                        httpd.group(app)["processes"]] == ["idle"],
               "its process has no request")


@pytest.mark.mpms("prefork", "event")
def test_nonsense(httpd: Httpd) -> None:
    """In prefork, mod_proxy sends an upgrade; the rest is as in event."""
    apps = raws(httpd, {(what, protocol): (protocol, response)
                        for what, by in RESPONSES.items()
                        for protocol, response in by.items()
                        if httpd.mpm == "event" or protocol == "http"})
    for (what, protocol), case in cases(apps):
        app = apps[what, protocol]
        with case:
            assert httpd.get("/", app.name).status == 502
            again = httpd.get("/", app.name, headers=UPGRADE
                              if protocol == "http" else {})
            assert again.status == 502
            (pid,) = httpd.pids(app)
            assert len(httpd.log.wait_for(
                rf"{app.name}\[{pid}\] gave no response", 2)) == 2
            assert httpd.get("/pid", "blog").status == 200
            is_free(httpd, app)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.mpms("event")
def test_silence(httpd: Httpd, protocol: str) -> None:
    raw(httpd, protocol, b"", "AppTimeout 1", "AppSetEnv HANG 1")
    assert httpd.get("/", "shop").status == 504
    httpd.log.wait_for(r"shop\[\d+\] was silent for too long")
    httpd.settles(active=1, count=1)  # it keeps the connection


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.mpms("event")
def test_killed_within_its_response(httpd: Httpd, protocol: str) -> None:
    """A response without a length does not end by that."""
    body = STATUS[protocol] + HEAD + b"\r\nthe first half"
    if protocol == "fcgi":
        body = record(STDOUT, body)
    httpd.log.expect(sentences.SLOW, sentences.REPORT_LATE)
    raw(httpd, protocol, body, "AppSetEnv HANG 1", "AppHungAfter 1",
        "AppKillAfter 8")
    with pytest.raises(http.client.IncompleteRead):
        httpd.get("/", "shop", timeout=60)
    httpd.log.wait_for("is hung and is killed: GET / ")
    httpd.settles(active=0, count=0)


# ---- the length of a response

STATUS = {"http": b"HTTP/1.1 200 OK\r\n", "uwsgi": b"HTTP/1.1 200 OK\r\n",
          "scgi": b"", "fcgi": b""}


def response_of(protocol: str, headers: bytes, body: bytes = b"") -> bytes:
    text = STATUS[protocol] + headers + b"\r\n" + body
    if protocol != "fcgi":
        return text
    return record(STDOUT, text) + record(STDOUT, b"") + record(END, b"\0" * 8)


def two_requests(httpd: Httpd, host: str = "shop") -> bytes:
    """On one connection. @return all bytes until it is closed"""
    with Raw(httpd.port, f"GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n"
             f"GET /b HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
             .encode()) as client:
        return client.rest()


@pytest.mark.mpms("event")
def test_more_than_it_says(httpd: Httpd) -> None:
    """The surplus is not the next response."""
    httpd.log.expect("longer than its Content-Length")
    poison = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison" + b"x" * 9000
    apps = raws(httpd, {
        (protocol, buffer): (
            protocol, response_of(protocol, b"Content-Length: 2\r\n",
                                  b"ok" + poison),
            f"AppBufferResponse {buffer}")
        for protocol in PROTOCOLS for buffer in ("On", "Off")})
    for (protocol, buffer), case in cases(apps):
        app = apps[protocol, buffer]
        with case:
            got = two_requests(httpd, app.name)
            if protocol == "fcgi":  # Content-Length does not count there
                assert got.count(b"HTTP/1.1 200 OK") == 4
                assert b"Content-Length: 2\r\n" not in got
            else:
                assert got.count(b"HTTP/1.1 200 OK") == 2
                assert got.count(b"\r\n\r\nok") == 2 and b"poison" not in got
            if protocol in ("scgi", "uwsgi"):
                assert len(httpd.log.wait_for(
                    f"{app.name}: the response is longer", 2)) == 2
            is_free(httpd, app)


@pytest.mark.mpms("event")
def test_no_interim_response(httpd: Httpd) -> None:
    """A client, or a proxy between it and httpd, would take the body for two
    responses, and give the second one to another client."""
    httpd.log.expect(sentences.NOT_FINAL)
    body = b"".join(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
                    for _ in range(2))

    def interim(protocol: str, status: str) -> bytes:
        begin = "HTTP/1.1 " if protocol == "uwsgi" else "Status: "
        text = f"{begin}{status}\r\n".encode() + HEAD + b"\r\n" + body
        return text if protocol != "fcgi" else record(STDOUT, text) \
            + record(STDOUT, b"") + record(END, b"\0" * 8)

    apps = raws(httpd, {(protocol, status): (protocol, interim(protocol, status))
                        for protocol in ("fcgi", "scgi", "uwsgi")
                        for status in ("100 Continue", "101 Switching Protocols",
                                       "103 Early Hints", "199 Unknown")})
    for row, case in cases(apps):
        with case:
            received = two_requests(httpd, apps[row].name)
            assert received.count(b"HTTP/1.1 502 Bad Gateway\r\n") == 2
            assert received.count(b"HTTP/1.1 ") == 2 and b"poison" not in received
            is_free(httpd, apps[row])


@pytest.mark.parametrize("length, status", [("2", 200), ("2, 2", 502)])
@pytest.mark.mpms("event")
def test_length_that_httpd_must_trust(httpd: Httpd, length: str,
                                      status: int) -> None:
    """It comes from a variable of the administrator. Then it also counts over
    fcgi."""
    httpd.log.expect("longer than its Content-Length", "is not a number")
    httpd.modules.append("env")
    raw(httpd, "fcgi", response_of(
        "fcgi", f"Content-Length: {length}\r\n".encode(),
        b"ok" + b"HTTP/1.1 200 OK\r\n\r\npoison"),
        "SetEnv ap_trust_cgilike_cl 1")
    received = two_requests(httpd)
    assert received.count(b"HTTP/1.1 %d" % status) == 2 and b"poison" not in received


@pytest.mark.mpms("event")
def test_url_does_not_decide_the_type(httpd: Httpd) -> None:
    """The app decides type, encoding and language."""
    httpd.modules.append("mime")
    httpd.directives += ["TypesConfig /dev/null", "AddType text/css .css",
                         "AddEncoding x-gzip .gz", "AddLanguage de .de"]
    apps = raws(httpd, {protocol: (protocol, response_of(
        protocol, b"X-Mine: 1\r\n", b"ok")) for protocol in PROTOCOLS})
    for protocol, case in cases(apps):
        with case:
            response = httpd.get("/a.css.de.gz", apps[protocol].name)
            assert (response.status, response.text) == (200, "ok")
            for name in ("Content-Type", "Content-Encoding",
                         "Content-Language"):
                assert name not in response.headers


@pytest.mark.mpms("event")
def test_less_than_it_says(httpd: Httpd) -> None:
    """The client neither takes it for the whole response nor waits for the
    rest."""
    apps = raws(httpd, {
        (protocol, buffer): (
            protocol, response_of(protocol, b"Content-Length: 9\r\n", b"only"),
            f"AppBufferResponse {buffer}")
        for protocol in ("http", "scgi", "uwsgi") for buffer in ("On", "Off")})
    for (protocol, buffer), case in cases(apps):
        app = apps[protocol, buffer]
        with case:
            got = two_requests(httpd, app.name)
            if protocol != "http":  # all of it has come before it is passed on
                assert got.count(b"HTTP/1.1 502 Bad Gateway") == 2
            else:
                assert got.count(b"HTTP/1.1 200 OK") == 1
                assert got.endswith(b"only")
            is_free(httpd, app)


NO_LENGTHS = ["2x", "-1", "+2", "2, 2", "", "99999999999999999999"]


@pytest.mark.mpms("event")
def test_length_that_is_not_a_number(httpd: Httpd) -> None:
    httpd.log.expect("Content-Length of the response is not a number")
    rows = [(protocol, length) for protocol in ("scgi", "uwsgi")
            for length in NO_LENGTHS] + [("uwsgi", "2\r\nContent-Length: 3")]
    apps = raws(httpd, {(protocol, length): (protocol, response_of(
        protocol, f"Content-Length: {length}\r\n".encode(), b"ok"))
        for protocol, length in rows})
    for row, case in cases(apps):
        with case:
            assert httpd.get("/", apps[row].name).status == 502
            is_free(httpd, apps[row])


@pytest.mark.mpms("event")
def test_empty_response_has_the_type_it_says(httpd: Httpd) -> None:
    """Also where mod_mime would derive another type from the URL."""
    httpd.directives += ["TypesConfig /dev/null", "AddType text/css .css"]
    httpd.modules.append("mime")
    apps = raws(httpd, {protocol: (protocol, response_of(
        protocol, b"Content-Type: text/x-mine\r\n"))
        for protocol in ("fcgi", "scgi", "uwsgi")})
    for protocol, case in cases(apps):
        with case:
            for url in ("/", "/a.css"):
                response = httpd.get(url, apps[protocol].name)
                assert (response.status, response.body) == (200, b"")
                assert response.headers["Content-Type"] == "text/x-mine"
