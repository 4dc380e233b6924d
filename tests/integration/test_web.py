# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The features of a web app, with each server and each protocol, in a virtual
host of its own and below a path of another.

The apps are in apps/web, one for each kind of server, and do the same:

    /big            3 MB of x
    /status?CODE    that status; "a body" where it may have one; an ETag
    /stream?FILE    an event, then another one when HOLD_DIR/FILE is there
    /crash kill -9 in the middle of the request /half the same after 100000 of
    200000 bytes of the response else the request's body, two cookies, and what
    was seen of the
                    request in X-Method, -Path, -Query and so on
"""
import http.client
import json
import signal
import socket
from typing import Callable

import pytest

from harness import procs
from harness.client import Connection
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.wait import wait_until
from harness.web import BROKEN, SERVERS, UWSGI, Place, Server, mount

pytestmark = pytest.mark.one_mpm("the protocols are those of mod_proxy")

MEGABYTE = 1 << 20
SMALL = 65536  # buffers of the kernel


# ---- features that must work

def request_arrives(place: Place) -> None:
    seen = place.get("/a%20b/c?x=1&y=%2F", Cookie="k=v", **{
        "X-Mine": "yes", "Authorization": "Bearer token"}).headers
    assert seen["X-Method"] == "GET"
    assert seen["X-Mount"] == place.mount
    assert seen["X-Path"] == "/a b/c"
    assert seen["X-Query"] == "x=1&y=%2F"
    assert seen["X-Host"] == place.host
    assert seen["X-Mine"] == "yes"
    assert seen["X-Cookies"] == "k=v"
    assert seen["X-Secret"] == "Bearer token"
    assert seen["X-Greeting"] == "hello"


def headers_twice(place: Place) -> None:
    """Two headers become one."""
    client = http.client.HTTPConnection("127.0.0.1", place.httpd.port,
                                        timeout=40)
    client.putrequest("GET", f"{place.mount}/", skip_host=True)
    for header in (("Host", place.host), ("X-Mine", "one"), ("X-Mine", "two"),
                   ("Cookie", "a=1"), ("Cookie", "b=2")):
        client.putheader(*header)
    client.endheaders()
    seen = client.getresponse().headers
    client.close()
    assert seen["X-Mine"] == "one, two"
    assert seen["X-Cookies"] in ("a=1; b=2", "a=1, b=2")


def paths(place: Place) -> None:
    """The path below the mount. A path without a slash also belongs to the
    app."""
    assert place.get("/").headers["X-Path"] == "/"
    assert place.get("/one/").headers["X-Path"] == "/one/"
    if place.mount:
        seen = place.get("").headers
        assert (seen["X-Mount"], seen["X-Path"]) == (place.mount, "/")


def methods(place: Place) -> None:
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert place.request(method, "/").headers["X-Method"] == method


def response_arrives(place: Place) -> None:
    response = place.get("/")
    assert response.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.body == b""


def uploads(place: Place) -> None:
    for size in (0, 1, 16384, 3 * MEGABYTE):
        body = bytes(range(256)) * (size // 256) + b"y" * (size % 256)
        assert place.post(body).body == body


def chunked_uploads(place: Place) -> None:
    for size in (0, 10, 300000):
        parts = [b"z" * min(size - at, 5000) for at in range(0, size, 5000)]
        response = place.post(iter(parts), chunked=True,
                              headers={"Transfer-Encoding": "chunked"})
        assert (response.status, len(response.body)) == (200, size)


def downloads(place: Place) -> None:
    assert place.get("/big").body == b"x" * 3 * MEGABYTE


def statuses(place: Place) -> None:
    """There is no byte too many and no byte too few: the connection still
    works."""
    client = Connection(place.httpd.port)
    for code in (200, 204, 304, 404, 500, 503):
        response = client.request("GET", f"{place.mount}/status?{code}",
                                  place.host)
        assert response.status == code
        assert response.headers["ETag"] == '"tag"'
        assert response.body == (b"" if code in (204, 304) else b"a body")
    response = client.request("HEAD", f"{place.mount}/status?200", place.host)
    assert (response.status, response.body) == (200, b"")
    assert response.headers["ETag"] == '"tag"'
    assert client.request("POST", f"{place.mount}/", place.host,
                          b"end").body == b"end"
    client.close()


def streams(place: Place) -> None:
    """The first event arrives before there is a second one."""
    gate = place.httpd.dir / "hold" / f"gate{len(place.mount)}"
    client = http.client.HTTPConnection("127.0.0.1", place.httpd.port,
                                        timeout=40)
    client.request("GET", f"{place.mount}/stream?{gate.name}",
                   headers={"Host": place.host})
    response = client.getresponse()
    assert response.headers["Content-Type"].startswith("text/event-stream")
    assert response.readline() == b"data: first\n"
    gate.touch()
    assert response.read() == b"\ndata: second\n\n"
    client.close()


def slow_client(place: Place) -> None:
    """A client that does not read its response delays no other one."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        client.settimeout(40)
        client.connect(("127.0.0.1", place.httpd.port))
        client.sendall(f"GET {place.mount}/big HTTP/1.0\r\n"
                       f"Host: {place.host}\r\n\r\n".encode())
        assert client.recv(4) == b"HTTP"
        assert place.get("/").status == 200
        rest = client.makefile("rb").read()
    assert rest.endswith(b"\r\n\r\n" + b"x" * 3 * MEGABYTE)


def expect_continue(place: Place) -> None:
    with socket.create_connection(("127.0.0.1", place.httpd.port),
                                  40) as client:
        client.sendall(f"POST {place.mount}/ HTTP/1.1\r\n"
                       f"Host: {place.host}\r\nContent-Length: 5\r\n"
                       "Expect: 100-continue\r\n"
                       "Connection: close\r\n\r\n".encode())
        stream = client.makefile("rb")
        assert stream.readline().startswith(b"HTTP/1.1 100")
        client.sendall(b"12345")
        rest = stream.read()
    assert b"HTTP/1.1 200" in rest
    assert b"12345" in rest.partition(b"\r\n\r\n")[2]


def nothing_is_held(place: Place) -> None:
    """There is at most one process, and it serves one request after the
    other."""
    assert len({place.get("/").headers["X-Pid"] for _ in range(10)}) == 1


def killed_in_a_request(place: Place) -> None:
    assert place.get("/crash").status == 502
    assert place.get("/").status == 200


def killed_within_a_response(place: Place) -> None:
    """The client sees that it is not complete: it has a Content-Length, or an
    end of its own."""
    try:
        whole = place.get("/half").status == 200
    except (http.client.IncompleteRead, ConnectionError):
        whole = False
    assert not whole
    assert place.get("/").status == 200


Behaviour = Callable[[Place], None]

ANYWHERE: list[Behaviour] = [
    request_arrives, headers_twice, paths, methods, response_arrives, uploads,
    chunked_uploads, downloads, slow_client, statuses, streams,
    expect_continue, nothing_is_held]

# Each of them needs a start of the app.
ONCE: list[Behaviour] = [killed_in_a_request, killed_within_a_response]


# ---- the tests

@pytest.mark.parametrize("name", list(SERVERS))
def test_web(httpd: Httpd, name: str) -> None:
    httpd.log.expect(*KILLED, *BROKEN)
    httpd.directives.append(f"SendBufferSize {SMALL}")
    places = list(mount(httpd, SERVERS[name]))
    httpd.start()
    wrong = {}
    for place in places:
        for behaves in ANYWHERE + ONCE * (not place.mount):
            try:
                behaves(place)
            except (AssertionError, OSError,
                    http.client.HTTPException) as error:
                wrong[f"{behaves.__name__} at {place.host}{place.mount}"] = \
                    repr(error)
    assert not wrong, json.dumps(wrong, indent=1)
    httpd.settles(active=0, count=2)
    httpd.check()


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", ["uwsgi", "uwsgi-scgi", "uwsgi-fcgi"])
def test_body_that_is_not_stored(httpd: Httpd, name: str) -> None:
    """The protocols of CGI need its length: it is stored until that is known."""
    place, _ = mount(httpd, SERVERS[name], "AppBufferRequest Off")
    httpd.start()
    response = place.post(iter([b"z" * 50000] * 3), chunked=True,
                          headers={"Transfer-Encoding": "chunked"})
    assert (response.status, response.body) == (200, b"z" * 150000)
    assert place.post(b"z" * 50000).body == b"z" * 50000


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", ["gunicorn", "libfcgi", "uwsgi",
                                  "uwsgi-scgi"])
def test_error_document_of_the_app(httpd: Httpd, name: str) -> None:
    """It is requested when the only process is free again."""
    place, _ = mount(httpd, SERVERS[name])
    httpd.apps[0].directives += ["ProxyErrorOverride On",
                                 "ErrorDocument 404 /sorry"]
    httpd.start()
    response = place.get("/status?404")
    assert (response.status, response.headers["X-Path"]) == (404, "/sorry")
    assert place.get("/").status == 200


@pytest.mark.parametrize("name", ["uwsgi", "uwsgi-scgi", "libfcgi"])
def test_killed_while_idle(httpd: Httpd, name: str) -> None:
    """Another process gets the next request, also if it is unknown whether the
    first process has read it."""
    httpd.log.expect(*KILLED)
    place, _ = mount(httpd, SERVERS[name])
    httpd.start()
    for _ in range(8):
        procs.send(int(place.get("/").headers["X-Pid"]), signal.SIGKILL)
        assert place.get("/").status == 200


@pytest.mark.mpms("event")
def test_protocol_changes(httpd: Httpd) -> None:
    """A graceful restart: for each process, httpd uses the protocol with which
    it was started."""
    old = Server("wsgi.py", f"{UWSGI} --protocol uwsgi", "uwsgi")
    place, _ = mount(httpd, old)
    app = httpd.apps[0]
    httpd.start()
    first = place.get("/").headers["X-Pid"]
    app.directives[0] = "AppProtocol scgi"
    app.command = f"{UWSGI} --protocol scgi"
    httpd.graceful()

    def replaced() -> bool:
        response = place.get("/")
        assert response.status == 200
        return response.headers["X-Pid"] != first

    wait_until(replaced, "the new process serves")


@pytest.mark.mpms("event")
def test_protocol_changes_below_a_path(httpd: Httpd) -> None:
    """The path is passed on as the old process expects it."""
    app = httpd.app("shop", location="/shop")
    httpd.start()
    assert httpd.get("/shop/pid").status == 200
    app.directives.append("AppProtocol fcgi")
    app.command = "sleep 1000"
    httpd.graceful()
    response = httpd.get("/shop/echo")
    assert ["X-Forwarded-Prefix", "/shop"] in response.json()["headers"]
