# Licensed under the Apache License, Version 2.0; see LICENSE.
"""FastCGI and uwsgi, which this module speaks without another module: the body
of a request is sent while the response is read."""
import pytest

from harness import procs
from harness.client import Raw
from harness.httpd import Httpd
from harness.recorder import app_of, seen

pytestmark = pytest.mark.mpms("event")

MEGABYTE = 1 << 20
both_protocols = pytest.mark.parametrize("protocol", ["fcgi", "uwsgi"])
both_buffers = pytest.mark.parametrize("buffer", ["On", "Off"])


@both_protocols
def test_it_needs_no_other_module(httpd: Httpd, protocol: str) -> None:
    """Neither mod_proxy_fcgi, mod_proxy_uwsgi nor mod_proxy_http is needed."""
    httpd.app("shop", f"AppProtocol {protocol}")
    lines = httpd.configure().read_text().splitlines()
    done = httpd.test("\n".join(line for line in lines
                                if "mod_proxy_" not in line))
    assert done.returncode == 0, done.stdout


@both_buffers
@pytest.mark.parametrize("protocol, what", [
    ("fcgi", "echo"), ("fcgi", "talk"), ("uwsgi", "echo")])
def test_both_ways_at_once(httpd: Httpd, protocol: str, what: str,
                           buffer: str) -> None:
    """An app that writes before it has read the body. Both are larger than the
    buffers of the kernel."""
    app_of(httpd, protocol, f"AppBufferRequest {buffer}")
    size = 20 * MEGABYTE
    response = httpd.post(f"/?{what}", "shop", b"x" * size, timeout=60)
    assert response.body == (b"x" * size if what == "echo" else b"y" * 4000000)
    peak = max(map(procs.peak_memory, httpd.children()))
    assert peak < 60 * MEGABYTE + (what == "echo") * 60 * MEGABYTE
    httpd.settles(active=0, count=1)


@both_protocols
def test_while_the_client_sends(httpd: Httpd, protocol: str) -> None:
    """With AppBufferRequest Off, each part of the body reaches the app, and
    what the app sends meanwhile reaches the client."""
    app_of(httpd, protocol, "AppBufferRequest Off", "AppBufferResponse Off")
    with Raw(httpd.port, b"POST /?echo HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 6\r\n\r\none") as client:
        received = b""
        while not received.endswith(b"one\r\n"):
            received += client.stream.file.read(1)
        client.send(b"two")
        while not received.endswith(b"0\r\n\r\n"):
            received += client.stream.file.read(1)
        assert b"3\r\ntwo\r\n" in received
    httpd.settles(active=0, count=1)


@both_buffers
@both_protocols
def test_response_before_the_body(httpd: Httpd, protocol: str,
                                  buffer: str) -> None:
    """The app closes the connection before it has read the body. Over uwsgi
    this resets the connection. The client gets the response."""
    app_of(httpd, protocol, f"AppBufferRequest {buffer}")
    for size in (0, 10, 100000, 16 * MEGABYTE):
        response = httpd.post("/?early", "shop", b"x" * size)
        assert (response.status, response.text) == (413, "no")
    assert len(seen(httpd)) == 4
