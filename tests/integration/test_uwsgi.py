# Licensed under the Apache License, Version 2.0; see LICENSE.
"""uwsgi: what this module does itself."""
from pathlib import Path

import pytest

from harness import procs, sentences
from harness.client import Raw
from harness.config import App
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

AGAIN = 4  # connections that one process may reset
MEGABYTE = 1 << 20


def app_of(httpd: Httpd, *directives: str) -> App:
    app = httpd.app("shop", "AppProtocol uwsgi", "MaxInstances 1",
                    f"AppSetEnv SEEN {httpd.dir}/hold/seen", *directives,
                    program="uwsgi.py")
    httpd.start()
    return app


def seen(httpd: Httpd) -> list[str]:
    file = Path(httpd.dir / "hold" / "seen")
    return file.read_text().splitlines() if file.exists() else []


def test_it_needs_no_other_module(httpd: Httpd) -> None:
    """Neither mod_proxy_uwsgi nor mod_proxy_http"""
    httpd.app("shop", "AppProtocol uwsgi")
    lines = httpd.configure().read_text().splitlines()
    done = httpd.test("\n".join(line for line in lines
                                if "mod_proxy_" not in line))
    assert done.returncode == 0, done.stdout


def test_a_byte_at_a_time(httpd: Httpd) -> None:
    app_of(httpd)
    assert httpd.get("/?bytes", "shop").text == "whole"


@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_both_ways_at_once(httpd: Httpd, buffer: str) -> None:
    """An app that writes before it has read the body; each of both is more
    than the kernel keeps"""
    app_of(httpd, f"AppBufferRequest {buffer}")
    body = b"x" * (20 * MEGABYTE)
    assert httpd.post("/?echo", "shop", body, timeout=60).body == body
    peak = max(map(procs.peak_memory, httpd.children()))
    assert peak < 120 * MEGABYTE
    httpd.settles(active=0, count=1)


def test_while_the_client_sends(httpd: Httpd) -> None:
    """With AppBufferRequest Off each part reaches the app, and what it says to
    that reaches the client"""
    app_of(httpd, "AppBufferRequest Off", "AppBufferResponse Off")
    with Raw(httpd.port, b"POST /?echo HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 6\r\n\r\none") as client:
        heard = b""
        while not heard.endswith(b"one\r\n"):
            heard += client.stream.file.read(1)
        client.send(b"two")
        while not heard.endswith(b"0\r\n\r\n"):
            heard += client.stream.file.read(1)
        assert b"3\r\ntwo\r\n" in heard
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_response_before_the_body(httpd: Httpd, buffer: str) -> None:
    """The app hangs up on the body, which resets the connection: the client
    gets what it has said"""
    app_of(httpd, f"AppBufferRequest {buffer}")
    for size in (0, 10, 100000, 16 * MEGABYTE):
        response = httpd.post("/?early", "shop", b"x" * size)
        assert (response.status, response.text) == (413, "no")
    assert len(seen(httpd)) == 4


def test_more_variables_than_a_packet_holds(httpd: Httpd) -> None:
    """They are 64 KB. The process is not asked"""
    httpd.log.expect(sentences.UWSGI_LARGE)
    httpd.directives += ["LimitRequestFieldSize 100000"]
    app_of(httpd)
    names = httpd.get("/?names", "shop", headers={"X-Large": "l" * 60000})
    assert f"HTTP_X_LARGE={'l' * 80}:60000" in names.text.splitlines()
    response = httpd.get("/?names", "shop", headers={"X-Large": "l" * 66000})
    assert response.status == 431
    httpd.log.wait_for("the request has more than 65535 bytes of variables")
    assert len(seen(httpd)) == 1
    assert httpd.get("/", "shop").text == "ok"
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("method, times", [
    ("GET", AGAIN), ("DELETE", AGAIN), ("POST", 1)])
def test_how_often(httpd: Httpd, method: str, times: int) -> None:
    """A request without a body may be sent again if nobody has read it"""
    httpd.log.expect(rf"shop\[\d+\] gave no response: {method} /$")
    app_of(httpd)
    body = b"x" if method == "POST" else None
    assert httpd.request(method, "/?unread", "shop", body).status == 502
    assert seen(httpd) == [f"{method} unread"] * times
    assert httpd.get("/", "shop").text == "ok"
