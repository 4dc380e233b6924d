# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The headers for an app's monitoring: X-Request-Start and traceparent."""
import re
import time

import pytest

from harness.httpd import Httpd
from harness.web import SERVERS, Server, mount

pytestmark = pytest.mark.mpms("event")

START = re.compile(r"t=(\d{10}\.\d{6})")
VALID = re.compile("00-[0-9a-f]{32}-[0-9a-f]{16}-01")
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def headers(httpd: Httpd, host: str = "shop",
            **sent: str) -> dict[str, str]:
    response = httpd.get("/echo", host, headers=sent)
    assert response.status == 200
    return {name.lower(): value for name, value in response.json()["headers"]}


@pytest.mark.parametrize("name", ["gunicorn", "uwsgi", "uwsgi-scgi",
                                  "uwsgi-fcgi"])
def test_by_any_protocol(httpd: Httpd, name: str) -> None:
    server = SERVERS[name]
    command = server.command.replace("wsgi.py", "environ.py")
    place, _ = mount(httpd, Server("environ.py",
                                   command.replace(" wsgi", " environ"),
                                   server.protocol))
    httpd.start()
    before = time.time()
    seen = place.get("/").json()
    start = START.fullmatch(seen["HTTP_X_REQUEST_START"])
    assert start and before <= float(start[1]) <= time.time()
    assert VALID.fullmatch(seen["HTTP_TRACEPARENT"])


def test_wait_for_a_process_counts(httpd: Httpd) -> None:
    """The time is earlier than the moment when the process became free."""
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "one")
    waiting = httpd.get_async("/echo", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    waits = time.time()
    held.release()
    seen = dict(waiting.result().json()["headers"])
    start = START.fullmatch(seen["X-Request-Start"])
    assert start and float(start[1]) < waits


def test_body_does_not_count(httpd: Httpd) -> None:
    """The body is read before that time."""
    httpd.app("shop")
    httpd.start()
    begun = 0.0

    def body():  # type: ignore[no-untyped-def]
        nonlocal begun
        yield b"one"
        begun = time.time()
        yield b"two"

    response = httpd.post("/echo", "shop", body(), chunked=True,
                          headers={"Transfer-Encoding": "chunked"})
    seen = dict(response.json()["headers"])
    start = START.fullmatch(seen["X-Request-Start"])
    assert start and float(start[1]) >= begun > 0


def test_trusted_request_start(httpd: Httpd) -> None:
    """A trusted proxy and the configuration may set it, and a client may
    not."""
    httpd.modules += ["remoteip", "headers"]
    httpd.directives += ["RemoteIPHeader X-Forwarded-For",
                         "RemoteIPInternalProxy 127.0.0.1"]
    httpd.app("shop")
    httpd.app("set", "RequestHeader set X-Request-Start %t")
    httpd.start()
    sent = {"X-Request-Start": "t=1.5"}
    assert headers(httpd, **sent)["x-request-start"] != "t=1.5"
    sent["X-Forwarded-For"] = "192.0.2.7"
    assert headers(httpd, **sent)["x-request-start"] == "t=1.5"
    sent = {"X-Forwarded-For": "192.0.2.7", "X-Queue-Start": "t=2.5"}
    assert "x-request-start" not in headers(httpd, **sent)
    assert re.fullmatch(r"t=\d{16}", headers(httpd, "set")["x-request-start"])


GOOD = [f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-01",
        f"01-{TRACE}-{SPAN}-03", f"cc-{TRACE}-{SPAN}-01-more"]
BAD = ["", "00", f"00-{TRACE}-{SPAN}", f"00-{TRACE}-{SPAN}-0",
       f"00-{TRACE}-{SPAN}-01-more", f"00-{TRACE}-{SPAN}-01 ,x",
       f"ff-{TRACE}-{SPAN}-01", f"0-{TRACE}-{SPAN}-01",
       f"00-{TRACE.upper()}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01",
       f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE[1:]}-{SPAN}-01",
       f"00-{TRACE}x-{SPAN}-01", f"00-{TRACE}-{SPAN}x-01",
       f"cc-{TRACE}-{SPAN}-01.more", f"00-{TRACE}-{SPAN}-0g"]


def test_trace_of_the_client(httpd: Httpd) -> None:
    """It is passed on unchanged, with its state."""
    httpd.app("shop")
    httpd.start()
    for sent in GOOD:
        seen = headers(httpd, traceparent=sent, tracestate="a=1")
        assert (seen["traceparent"], seen["tracestate"]) == (sent, "a=1")


def test_invalid_trace(httpd: Httpd) -> None:
    """It is replaced by a new one each time, and its state is removed. A
    thread makes several at a time."""
    httpd.directives += ["StartServers 1", "ThreadsPerChild 2",
                         "MinSpareThreads 1", "MaxSpareThreads 2",
                         "MaxRequestWorkers 2"]
    httpd.app("shop")
    httpd.start()
    made = set()
    for sent in BAD:
        seen = headers(httpd, traceparent=sent, tracestate="a=1")
        assert VALID.fullmatch(seen["traceparent"]), sent
        assert "tracestate" not in seen
        made |= {seen["traceparent"][3:35], seen["traceparent"][36:52]}
    assert len(made) == 2 * len(BAD)


def test_off(httpd: Httpd) -> None:
    httpd.app("shop", "AppTraceparent Off")
    httpd.start()
    assert "traceparent" not in headers(httpd)
    for sent in (GOOD[0], BAD[2]):
        assert headers(httpd, traceparent=sent)["traceparent"] == sent


def test_in_the_access_log(httpd: Httpd) -> None:
    """The log has the value that the app got."""
    httpd.app("shop", 'CustomLog access.log "%{traceparent}i"')
    httpd.start()
    expected = ""
    for method, body in (("GET", None), ("POST", b"x"), ("POST", b"")):
        seen = dict(httpd.request(method, "/echo", "shop",
                                  body).json()["headers"])
        expected += seen["traceparent"] + "\n"
    httpd.stop()
    assert (httpd.dir / "access.log").read_text() == expected
