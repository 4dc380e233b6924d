# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Other modules of httpd, before the app and behind it."""
import base64
import hashlib
import shutil
import zlib

import pytest

from harness.client import Raw, Response
from harness.httpd import USER, Httpd
from harness.tls import TlsHost
from harness.wait import wait_until
from harness.web import SERVERS, mount

pytestmark = pytest.mark.one_mpm("the other modules are the same in both")

MEGABYTE = 1 << 20


def flood(size: int) -> bytes:
    """The response of /flood and of /cached."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def names(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.json()["headers"]}


# ---- before the app

def protect(httpd: Httpd) -> list[str]:
    """Directives that let in only the user anna."""
    httpd.modules += ["auth_basic", "authn_core", "authn_file", "authz_user"]
    digest = base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
    (httpd.dir / "users").write_text(f"anna:{{SHA}}{digest}\n")
    return ['<Location "/">', "AuthType Basic", 'AuthName "Who?"',
            f"AuthUserFile {httpd.dir}/users", "Require valid-user",
            "</Location>"]


def credentials(word: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(
        f"anna:{word}".encode()).decode()}


def test_basic_authentication(httpd: Httpd) -> None:
    """A user without access does not reach the app. The app gets the name of a
    user with access, and a client cannot forge it."""
    httpd.log.expect("AH01617")  # a wrong password
    httpd.modules.append("headers")
    httpd.app("shop", "RequestHeader set X-Remote-User expr=%{REMOTE_USER}",
              *protect(httpd))
    httpd.start()
    for headers in ({}, credentials("wrong")):
        response = httpd.get("/echo", "shop", headers=headers)
        assert response.status == 401
        assert response.headers["WWW-Authenticate"] == 'Basic realm="Who?"'
    assert httpd.requests_seen() == []
    response = httpd.get("/echo", "shop", headers={
        **credentials("secret"), "X-Remote-User": "root"})
    assert names(response)["x-remote-user"] == "anna"


def test_refused_before_the_body_is_read(httpd: Httpd) -> None:
    """The body is neither stored nor requested."""
    httpd.app("shop", *protect(httpd))
    httpd.start()
    with Raw(httpd.port, b"POST /sum HTTP/1.1\r\nHost: shop\r\n"
             b"Content-Length: 10000000\r\nExpect: 100-continue\r\n\r\n"
             ) as client:
        assert client.head()[0] == 401
    assert httpd.requests_seen() == []


def test_variables_as_headers(httpd: Httpd) -> None:
    """Variables of SetEnv and the like reach an app over http by
    RequestHeader."""
    httpd.modules += ["headers", "env", "setenvif"]
    httpd.app("shop", "SetEnv PLAN gold",
              'SetEnvIf Request_URI "^/(..)/" LANGUAGE=$1',
              "RequestHeader set X-Plan %{PLAN}e",
              "RequestHeader set X-Language %{LANGUAGE}e env=LANGUAGE",
              'RequestHeader set Client_Port "expr=%{REMOTE_PORT}"')
    httpd.start()
    response = httpd.get("/de/echo", "shop", headers={"X-Plan": "free",
                                                      "Client-Port": "1"})
    assert names(response)["x-plan"] == "gold"
    assert names(response)["x-language"] == "de"
    assert int(names(response)["client_port"]) > 1
    response = httpd.get("/echo", "shop", headers={"X-Plan": "free"})
    assert names(response)["x-plan"] == "gold"
    assert "x-language" not in names(response)


def show_variables(httpd: Httpd, name: str) -> None:
    """Make the apps respond with what they know about a request."""
    for app in httpd.apps:
        if name == "php":
            (app.root / "index.php").write_text(
                "<?php echo json_encode($_SERVER);")
        else:
            (app.root / "wsgi.py").write_text(
                "import json\n"
                "def application(environ, start_response):\n"
                "    start_response('200 OK', [])\n"
                "    return [json.dumps({name: value for name, value in\n"
                "        environ.items() if isinstance(value, str)})"
                ".encode()]\n")


CGI = pytest.mark.parametrize("name", ["php", "uwsgi", "uwsgi-scgi"])


@CGI
def test_variables_of_cgi(httpd: Httpd, name: str) -> None:
    """The variables of SetEnv, and the user who has logged in. The client
    cannot change them."""
    httpd.modules.append("env")
    places = list(mount(httpd, SERVERS[name], "SetEnv PLAN gold"))
    show_variables(httpd, name)
    httpd.directives += [line.replace('"/"', '"/mnt/web/in"')
                         for line in protect(httpd)]
    httpd.start()
    for place in places:
        seen = place.get("/in", **credentials("secret"), PLAN="free",
                         X_Forwarded_For="1.2.3.4").json()
        assert seen["PLAN"] == "gold"
        assert "1.2.3.4" not in str(seen)
    assert seen["REMOTE_USER"] == "anna"
    assert seen["SCRIPT_NAME"].startswith("/mnt/web")


@CGI
def test_variables_of_tls(httpd: Httpd, name: str) -> None:
    place, _ = mount(httpd, SERVERS[name])
    show_variables(httpd, name)
    host = TlsHost(httpd, httpd.apps[0], "SSLOptions +StdEnvVars")
    httpd.start()
    with host.connect() as client:
        client.send(b"GET /x HTTP/1.1\r\nHost: shop\r\n\r\n")
        seen = client.response().json()
    assert seen["HTTPS"] == "on"
    assert seen["SSL_PROTOCOL"].startswith("TLS")
    assert seen["SSL_SERVER_S_DN_CN"] == "shop"
    host.close()


# ---- behind the app

@pytest.mark.parametrize("size", [1000, 300000, 3 * MEGABYTE])
def test_compression(httpd: Httpd, size: int) -> None:
    """For a client that accepts it."""
    httpd.modules += ["filter", "deflate"]
    httpd.app("shop", "SetOutputFilter DEFLATE")
    httpd.start()
    for more in ("", "&chunked=1"):
        plain = httpd.get(f"/flood?n={size}{more}", "shop")
        assert plain.body == flood(size)
        packed = httpd.get(f"/flood?n={size}{more}", "shop",
                           headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip"
        assert zlib.decompress(packed.body, 31) == flood(size)


@pytest.mark.parametrize("size", [10, 3 * MEGABYTE])
def test_cache(httpd: Httpd, size: int) -> None:
    """The second request does not reach the app."""
    place = httpd.dir / "cache"
    place.mkdir()
    shutil.chown(place, USER, USER)
    httpd.modules += ["cache", "cache_disk"]
    httpd.app("shop", 'CacheEnable disk "/"', f'CacheRoot "{place}"',
              "CacheMaxFileSize 100000000")
    httpd.start()
    for _ in range(3):
        assert httpd.get(f"/cached?n={size}", "shop").body == flood(size)
        wait_until(lambda: {".data", ".header"} <= {
            file.suffix for file in place.rglob("*")}, "it is stored")
        assert httpd.get("/flood?n=5", "shop").body == flood(5)
    seen = [line.split()[3] for line in httpd.requests_seen()]
    assert seen.count(f"/cached?n={size}") == 1
    assert seen.count("/flood?n=5") == 3


def test_changed_on_its_way(httpd: Httpd) -> None:
    """A filter that makes the response longer or shorter."""
    httpd.modules += ["filter", "substitute"]
    httpd.app("shop", "SetOutputFilter SUBSTITUTE",
              'Substitute "s/part/PORTION/"', 'Substitute "s/a body/it/"')
    httpd.start()
    assert httpd.get("/status?code=200", "shop").text == "it"
    assert httpd.get("/chunked?n=50", "shop").text == \
        "".join(f"PORTION {n}\n" for n in range(50))
