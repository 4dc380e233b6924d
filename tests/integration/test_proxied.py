# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What proxies before httpd say about a request, and what clients that are no
proxies claim."""
import json
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Iterator

import pytest

from harness.client import Raw
from harness.forged import CLAIMS, LIES, PROTOCOLS, TRUST
from harness.httpd import Httpd
from harness.tls import TlsHost
from harness.web import Place, mount

pytestmark = pytest.mark.mpms("event")

BY_ANY = pytest.mark.parametrize("protocol", PROTOCOLS)


def variables(place: Place, headers: dict[str, str]) -> dict[str, str]:
    """The CGI variables that the app gets."""
    return place.get("/", **headers).json()


@BY_ANY
def test_client_is_no_proxy(httpd: Httpd, protocol: str) -> None:
    """No false header of the client reaches the app. The app gets the true
    values."""
    places = list(mount(httpd, PROTOCOLS[protocol]))
    httpd.start()
    for place in places:
        seen = variables(place, LIES)
        assert "evil" not in str(seen) and "192.0.2.66" not in str(seen)
        assert seen["wsgi.url_scheme"] == "http"
        if protocol == "http":
            assert seen["HTTP_X_FORWARDED_FOR"] == "127.0.0.1"
            assert seen["HTTP_X_FORWARDED_HOST"] == place.host
            assert seen["HTTP_X_FORWARDED_PROTO"] == "http"
        else:
            assert seen["REMOTE_ADDR"] == "127.0.0.1"
            assert seen.get("HTTPS", "off") == "off"


@BY_ANY
def test_trusted_proxy(httpd: Httpd, protocol: str) -> None:
    """The app gets the values of the proxy, each once."""
    httpd.modules.append("remoteip")
    httpd.directives += TRUST
    places = list(mount(httpd, PROTOCOLS[protocol]))
    httpd.start()
    for place in places:
        seen = variables(place, CLAIMS)
        assert seen["HTTP_X_FORWARDED_HOST"] == "shop.example"
        assert seen["HTTP_X_FORWARDED_PROTO"] == "https"
        assert seen["HTTP_X_FORWARDED_PORT"] == "443"
        assert seen["HTTP_FORWARDED"] == CLAIMS["Forwarded"]
        assert seen["wsgi.url_scheme"] == "https"
        if protocol == "http":
            assert seen["HTTP_X_FORWARDED_FOR"] == "192.0.2.7"
        else:
            assert seen["REMOTE_ADDR"] == "192.0.2.7"
            assert seen["HTTPS"] == "on"


def test_proxy_without_forwarded_headers(httpd: Httpd) -> None:
    """The app gets what httpd knows."""
    httpd.modules.append("remoteip")
    httpd.directives += TRUST
    httpd.app("shop")
    httpd.start()
    seen = headers(httpd, {"X-Forwarded-For": "192.0.2.7"})
    assert seen["x-forwarded-for"] == "192.0.2.7"
    assert seen["x-forwarded-host"] == "shop"
    assert seen["x-forwarded-proto"] == "http"


def headers(httpd: Httpd, sent: dict[str, str]) -> dict[str, str]:
    response = httpd.get("/echo", "shop", headers=sent)
    return {name.lower(): value for name, value in response.json()["headers"]}


def test_proxy_that_is_not_trusted(httpd: Httpd) -> None:
    """mod_remoteip trusts another proxy."""
    httpd.modules.append("remoteip")
    httpd.directives += [TRUST[0], "RemoteIPInternalProxy 192.0.2.1"]
    httpd.app("shop")
    httpd.start()
    seen = headers(httpd, {**LIES, **CLAIMS})
    assert seen["x-forwarded-for"] == "127.0.0.1"
    assert seen["x-forwarded-host"] == "shop"
    assert seen["x-forwarded-proto"] == "http"
    assert "evil" not in str(seen) and "192.0.2" not in str(seen)


def test_headers_without_a_trusted_proxy(httpd: Httpd) -> None:
    """A client behind a proxy invents another proxy in front of that."""
    httpd.modules.append("remoteip")
    httpd.directives += TRUST
    httpd.app("shop")
    httpd.start()
    sent = {**CLAIMS, "X-Forwarded-For": "192.0.2.66, 192.0.2.7",
            "X-Forwarded-Prefix": "/evil"}
    seen = headers(httpd, sent)
    assert seen["x-forwarded-for"] == "192.0.2.7"
    assert "/evil" not in str(seen)


def test_proxy_protocol_vouches_for_no_header(httpd: Httpd) -> None:
    """A proxy that uses it may pass on bytes that it has not checked."""
    httpd.modules.append("remoteip")
    httpd.directives.append("RemoteIPProxyProtocol On")
    httpd.app("shop", *TRUST)
    httpd.launch()
    httpd.log.wait_for("resuming normal operations")
    with Raw(httpd.port, b"PROXY TCP4 192.0.2.7 127.0.0.1 4711 80\r\n"
             b"GET /echo HTTP/1.1\r\nHost: shop\r\n" + b"".join(
                 f"{name}: {value}\r\n".encode()
                 for name, value in {**LIES, **CLAIMS}.items()) + b"\r\n"
             ) as client:
        response = client.response()
    seen = {name.lower(): value for name, value in response.json()["headers"]}
    assert seen["x-forwarded-for"] == "192.0.2.7"
    assert seen["x-forwarded-proto"] == "http"
    assert "evil" not in str(seen)


def test_tls(httpd: Httpd) -> None:
    """http would be false there, unless a trusted proxy says so."""
    host = TlsHost(httpd, httpd.app("shop"))
    httpd.start()
    with host.connect() as client:
        client.send(b"GET /echo HTTP/1.1\r\nHost: shop\r\n"
                    b"X-Forwarded-Proto: http\r\n\r\n")
        response = client.response()
    assert ["X-Forwarded-Proto", "https"] in response.json()["headers"]
    host.close()


def test_headers_of_the_administrator_stay(httpd: Httpd) -> None:
    """As where a balancer uses the PROXY protocol, and adds headers."""
    httpd.modules += ["headers", "setenvif"]
    httpd.app("shop", 'SetEnvIf X-Forwarded-Proto "^https$" BY_TLS',
              "RequestHeader set X-Forwarded-Proto https env=BY_TLS",
              "RequestHeader set X-Forwarded-Host shop.example",
              "RequestHeader set X-Real-IP expr=%{REMOTE_ADDR}")
    httpd.start()
    seen = headers(httpd, CLAIMS)
    assert seen["x-forwarded-proto"] == "https"
    assert seen["x-forwarded-host"] == "shop.example"
    assert seen["x-real-ip"] == "127.0.0.1"
    assert "forwarded" not in seen


# ---- requests for other backends

class Backend(BaseHTTPRequestHandler):
    """Another server, which records what it gets."""
    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))  # type: ignore
        self.send_response(204)
        self.end_headers()

    def log_message(self, *what: object) -> None:
        pass


@contextmanager
def backend() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Its port, and what it has recorded."""
    with HTTPServer(("127.0.0.1", 0), Backend) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, server.seen  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()


WAYS = {
    "ProxyPass": 'ProxyPass "/other" "{url}"',
    "rewritten": 'RewriteEngine On\nRewriteRule "^/other" "{url}" [P]',
    "handler": '<Location "/other">\nSetHandler "proxy:{url}"\n</Location>',
    "htaccess": "RewriteEngine On\nRewriteRule ^other {url} [P]",
    "index": '<Directory "{public}/other">\nDirectoryIndex index.other\n'
             '<Files "index.other">\n'
             'SetHandler "proxy:{url}"\n</Files>\n</Directory>',
}


@pytest.mark.parametrize("way", WAYS)
def test_another_backend_gets_all(httpd: Httpd, way: str) -> None:
    """It is in the virtual host of an app, whose own requests are cleaned."""
    httpd.modules += ["headers", "rewrite"]
    app = httpd.app("shop", "RequestHeader unset X-Real-IP",
                    "RequestHeader set X-Scheme mine")
    with backend() as (port, seen):
        rule = WAYS[way].format(url=f"http://127.0.0.1:{port}/",
                                public=app.public)
        if way == "htaccess":
            app.directives += [f'<Directory "{app.public}">',
                               "AllowOverride All", "</Directory>"]
            (app.public / ".htaccess").write_text(rule)
        else:
            app.directives += rule.splitlines()
        if way == "index":
            (app.public / "other").mkdir()
            (app.public / "other/index.other").write_text("")
        httpd.start()
        assert httpd.get("/other/", "shop", headers={
            **LIES, "Connection": "close, X-Mine", "X-Mine": "1"}).status \
            == 204
        assert "evil" not in str(headers(httpd, LIES))
    for name, value in LIES.items():
        if name == "X-Real-IP":  # as it is said for all of the host
            assert name not in seen[0]
        elif name == "X-Scheme":
            assert seen[0][name] == "mine"
        else:  # mod_proxy adds to some
            assert seen[0][name].split(",")[0] == value
    assert "X-Mine" not in seen[0]


# ---- other ways in

@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_trailers(httpd: Httpd, buffer: str) -> None:
    """They come after the headers were cleaned."""
    httpd.app("shop", "MergeTrailers On", f"AppBufferRequest {buffer}")
    httpd.start()
    lines = b"".join(f"{name}: {value}\r\n".encode()
                     for name, value in LIES.items())
    with Raw(httpd.port, b"POST /echo HTTP/1.1\r\nHost: shop\r\n"
             b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + lines
             + b"\r\n") as client:
        response = client.response()
    assert response.status == 200
    assert "evil" not in response.text and "192.0.2.66" not in response.text


@pytest.mark.parametrize("trusted", [False, True])
def test_http2(httpd: Httpd, trusted: bool) -> None:
    httpd.modules += ["http2", "remoteip"]
    httpd.directives += ["Protocols h2c http/1.1", *TRUST[:1],
                         TRUST[1] if trusted else
                         "RemoteIPInternalProxy 192.0.2.1"]
    httpd.app("shop")
    httpd.start()
    words = [word for name, value in CLAIMS.items()
             for word in ("-H", f"{name}: {value}")]
    response = subprocess.run(
        ["curl", "-s", "--http2-prior-knowledge", "--max-time", "40",
         "--connect-to", f"::127.0.0.1:{httpd.port}", *words,
         "http://shop/echo"], capture_output=True, check=True).stdout
    seen = {name.lower(): value
            for name, value in json.loads(response)["headers"]}
    if trusted:
        assert seen["x-forwarded-for"] == "192.0.2.7"
        assert seen["x-forwarded-proto"] == "https"
        assert seen["x-forwarded-host"] == "shop.example"
    else:
        assert seen["x-forwarded-for"] == "127.0.0.1"
        assert seen["x-forwarded-proto"] == "http"
        assert "forwarded" not in seen
