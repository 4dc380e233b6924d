# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The ways of a request to an application: directly, or by any module of httpd
that gives a request to another URL or to another handler (harness/ways.py). On
each of them, the application gets no header that its client made up. It gets
the headers that the configuration or a module has set, also if the client has
sent the same name and the same value.

The application has one path of a virtual host, so the headers of the request
are not removed before the way leads there."""
import json
import subprocess

import pytest

from harness.cases import cases
from harness.client import Response
from harness.forged import CLAIMS, TRUST
from harness.httpd import Httpd
from harness.ways import (BY_MODULE, LATE, LUA, SENT, SET, WAYS, check, follow,
                          in_directory, in_location, lines, raw, start,
                          variables)

pytestmark = pytest.mark.mpms("event")


def test_no_false_header(httpd: Httpd) -> None:
    """Whatever way a request takes."""
    httpd.log.expect("AH01599: Cannot get media type from 'apppool-app",
                     "AH01630: client denied")
    start(httpd)
    for name, case in cases(WAYS):
        with case:
            response = follow(httpd, WAYS[name])
            try:
                seen = variables(response)
            except ValueError:
                assert False, (response.status, response.text[:200])
            # What was added to the client's header is removed with it.
            check(seen, "" if name == LATE else "mine")


def test_header_of_another_place(httpd: Httpd) -> None:
    """RequestHeader has set it before an internal redirect."""
    start(httpd, in_location("/rwl", "RequestHeader set X-Scheme theirs"),
          in_location("/ssi", "RequestHeader set X-Scheme theirs"))
    for name, case in cases(("rewrite rule of a location", "SSI, virtual")):
        with case:
            seen = variables(follow(httpd, WAYS[name]))
            assert seen["HTTP_X_SCHEME"] == "theirs"
            check(seen)


def test_trusted_proxy(httpd: Httpd) -> None:
    """What it says stays, by any way. What it does not say, but passes on, is
    removed."""
    httpd.modules.append("remoteip")
    httpd.directives += [*TRUST, "RemoteIPProxiesHeader X-Forwarded-By",
                         "RemoteIPTrustedProxy 192.0.2.7"]
    start(httpd)
    sent = {**CLAIMS, "X-Forwarded-For": "192.0.2.66, 198.51.100.1, 192.0.2.7",
            "X-Forwarded-Prefix": "/evil", "X-Forwarded-By": "evil"}
    for name, case in cases(
            ("directly", "DirectoryIndex", "rewrite rule of .htaccess",
             "Action", "ErrorDocument", "SSI, virtual")):
        with case:
            seen = variables(httpd.get(WAYS[name].path, "shop", headers=sent))
            assert seen["REMOTE_ADDR"] == "198.51.100.1"
            assert seen["HTTP_X_FORWARDED_BY"] == "192.0.2.7"
            assert seen["HTTP_X_FORWARDED_PROTO"] == "https"
            assert seen["HTTPS"] == "on"
            assert seen["HTTP_FORWARDED"] == CLAIMS["Forwarded"]
            assert "192.0.2.66" not in str(seen) and "evil" not in str(seen)


def test_request_that_httpd_refuses(httpd: Httpd) -> None:
    """Its ErrorDocument is the app's. None of httpd's hooks have seen it
    before."""
    httpd.directives.append("ErrorDocument 400 /app/refused")
    start(httpd)
    response = raw(httpd, b"GET / HTTP/1.1\r\nHost: shop\r\nHost: shop\r\n"
                   + lines(SENT))
    assert response.status == 400
    check(variables(response))


def test_trailers_that_a_module_reads(httpd: Httpd) -> None:
    """MergeTrailers makes headers of them, before the app is known."""
    httpd.directives.append("MergeTrailers On")
    start(httpd)
    path = WAYS["a hook that reads the body"].path.encode()
    seen = variables(raw(
        httpd, b"POST " + path + b" HTTP/1.1\r\nHost: shop\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nx=1\r\n0\r\n" + lines(SENT)))
    check(seen)


def test_http2(httpd: Httpd) -> None:
    """mod_http2 makes its own copy of the headers."""
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    start(httpd)
    words = [word for name, value in SENT.items()
             for word in ("-H", f"{name}: {value}")]
    for name in ("directly", "DirectoryIndex", "rewrite rule of .htaccess"):
        check(json.loads(subprocess.run(
            ["curl", "-s", "--http2-prior-knowledge", "--max-time", "40",
             "--connect-to", f"::127.0.0.1:{httpd.port}", *words,
             f"http://shop{WAYS[name].path}"], capture_output=True,
            check=True).stdout))


# ---- over http

def echo(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.json()["headers"]}


def test_http(httpd: Httpd) -> None:
    """The app gets what httpd knows. A name that is no variable of CGI gets
    there only over http."""
    httpd.modules += ["actions", "headers", "include", "lua", "mime",
                      "rewrite"]
    httpd.app("shop", location="/app")
    public = httpd.dir / "htdocs"
    files = {"app/echo": "", "plain/echo": "", "plain/page.shtml":
             '<!--#include virtual="/app/echo" -->',
             "hooks.lua": LUA.replace("X-Real-IP", "OIDC_CLAIM_sub")}
    for name, content in files.items():
        (public / name).parent.mkdir(exist_ok=True)
        (public / name).write_text(content)
    httpd.directives += [
        "TypesConfig /dev/null",
        "RequestHeader set X-Cluster-Client-IP " + SET,
        "RequestHeader append X-Url-Scheme mine",
        f"LuaHookAccessChecker {public}/hooks.lua set_header",
        f'<Directory "{public}/app">', 'SetHandler apppool-app',
        "</Directory>", f'<Directory "{public}/plain">', "Options +Includes",
        "Action x-demo /app/echo",
        "AddOutputFilter INCLUDES .shtml", "DirectoryIndex /app/echo",
        '<Files "echo">', "SetHandler x-demo", "</Files>",
        "</Directory>", "<Location /moved>", "RewriteEngine On",
        'RewriteRule ".*" "/app/echo"', "</Location>"]
    httpd.start()
    sent = {**SENT, "OIDC_CLAIM_sub": BY_MODULE, "OIDC_CLAIM_name": "evil"}
    for path, case in cases(("/app/echo", "/app/x/echo", "/plain/",
                             "/plain/echo", "/plain/page.shtml", "/moved")):
        with case:
            seen = echo(httpd.get(path, headers=sent))
            assert "evil" not in str(seen) and "192.0.2.66" not in str(seen)
            assert seen["x-forwarded-for"] == "127.0.0.1"
            assert seen["x-forwarded-proto"] == "http"
            assert seen["x-cluster-client-ip"] == SET
            assert seen["x-url-scheme"] == "mine"
            assert seen["oidc_claim_sub"] == BY_MODULE


# ---- what else is looked at in the last place

def test_rule_of_access(httpd: Httpd) -> None:
    """A rule in the place of the app does not believe the client, by any
    way."""
    httpd.log.expect("AH01630: client denied")
    public = start(
        httpd, in_location("/app/secret", "Require expr \"%{HTTP:"
                           "X-Forwarded-Proto} == 'https'\""),
        in_directory("/secret", "DirectoryIndex /app/secret/index.php"),
        in_location("/moved", 'RewriteEngine On',
                    'RewriteRule ".*" "/app/secret/x"'))
    (public / "secret").mkdir()
    for path, case in cases(("/app/secret/x", "/secret/", "/moved")):
        with case:
            assert httpd.get(path, "shop", headers={
                **SENT, "X-Forwarded-Proto": "https"}).status == 403


def test_script_and_method(httpd: Httpd) -> None:
    """SetHandler does not leave out what is checked there."""
    httpd.log.expect("apppool: .* is not run by ")
    httpd.app("app", "SetHandler apppool-app")
    other = httpd.dir / "other"
    other.mkdir()
    (other / "x.php").write_text("")
    app, = httpd.apps
    start(httpd, f'Alias "/app/other" "{other}"', f'<Directory "{other}">',
          "SetHandler apppool-app", "</Directory>", "</VirtualHost>",
          *app.section(httpd.port)[:-1])
    assert httpd.get("/app/other/x.php", "shop").status == 403
    assert httpd.get("/x", "app").text.startswith("app ")
    response = raw(httpd, b"CONNECT app:443 HTTP/1.1\r\nHost: app\r\n\r\n")
    assert response.status == 405
    assert "GET" in response.headers["Allow"]
