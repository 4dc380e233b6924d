# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Methods that do not reach an app."""
import pytest

from harness.client import Raw
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def start(httpd: Httpd, files: bool, *directives: str) -> None:
    """With a DocumentRoot, or without."""
    app = httpd.app("shop", *directives)
    if not files:
        httpd.apps.clear()
        httpd.directives += [f"<VirtualHost *:{httpd.port}>",
                             "ServerName shop", *app.lines(), "</VirtualHost>"]
    httpd.start()
    wait_until(httpd.spawner_now, "the spawner runs")


def fetch(httpd: Httpd, line: str) -> tuple[int, str, str]:
    """Status, Allow and text."""
    with Raw(httpd.port, f"{line} HTTP/1.1\r\nHost: shop\r\n"
             "X-Mine: 1\r\nConnection: close\r\n\r\n".encode()) as client:
        response = client.response()
    return response.status, response.headers.get("Allow", ""), response.text


FILES = pytest.mark.parametrize("files", [True, False])


@FILES
def test_trace_off(httpd: Httpd, files: bool) -> None:
    start(httpd, files, "TraceEnable Off")
    for path in ("/", "/echo"):
        assert fetch(httpd, f"TRACE {path}")[0] == 405
    assert httpd.requests_seen() == []
    assert httpd.get("/who", "shop").status == 200


@FILES
def test_trace_on(httpd: Httpd, files: bool) -> None:
    """Then httpd itself responds."""
    start(httpd, files)
    status, _, text = fetch(httpd, "TRACE /echo")
    assert (status, "X-Mine: 1" in text) == (200, True)
    assert httpd.requests_seen() == []


@FILES
def test_connect(httpd: Httpd, files: bool) -> None:
    """No app is a way to another server."""
    start(httpd, files)
    status, allow, _ = fetch(httpd, "CONNECT shop:443")
    assert status == 405
    assert {"GET", "POST", "PATCH"} <= set(allow.split(","))
    assert "CONNECT" not in allow
    assert httpd.requests_seen() == []


def test_connect_below_a_path(httpd: Httpd) -> None:
    httpd.app("shop", location="/")
    httpd.start()
    assert fetch(httpd, "CONNECT shop:443")[0] == 405
    assert httpd.requests_seen() == []
