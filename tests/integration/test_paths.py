# Licensed under the Apache License, Version 2.0; see LICENSE.
"""URLs on their way to the app: at the root, below a path, rewritten."""
from itertools import product

import pytest

from harness.cases import cases
from harness.client import Raw, Response
from harness.httpd import Httpd
from harness.web import SERVERS, mount

pytestmark = pytest.mark.one_mpm(
    "a URL is taken apart before the app is chosen")

WRITTEN = ["/a%20b/echo", "/a%3Bb/echo", "/a;b=1,2/echo", "/a%3b/echo",
           "/a%25b/echo", "/a%252Fb/echo", "/%C3%BC/echo", "/a+b/echo",
           "/a%2Bb/echo", "/a%26b=%3D/echo", "/a:b@c!$'()*/echo",
           "/%E2%82%AC/echo", "/a%5Bb%5D/echo", "/%7B%7D%7C%22/echo",
           "/a%3Fb/echo", "/a%23b/echo"]


def fetch(httpd: Httpd, path: str, host: str = "shop") -> Response:
    with Raw(httpd.port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"
             .encode("latin-1")) as client:
        return client.response()


def target(httpd: Httpd, path: str, host: str = "shop") -> str:
    response = fetch(httpd, path, host)
    assert response.status == 200
    return response.json()["target"]


# ---- escaped and unescaped

def test_path_arrives_as_it_was_written(httpd: Httpd) -> None:
    """With and without a DocumentRoot, and under a path"""
    bare = httpd.app("no-files")
    httpd.apps.clear()
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName no-files",
                         *bare.lines(), "</VirtualHost>"]
    httpd.app("files")
    for n, place in enumerate(("/sub", "/a/b c")):
        httpd.app(f"sub{n}", location=place)
    httpd.start()
    places = [("files", ""), ("no-files", ""), ("status", "/sub"),
              ("status", "/a/b%20c")]
    for ((host, prefix), path), case in cases(product(places, WRITTEN)):
        with case:
            for query in ("", "?", "?x=%2F&y=a%20b&z=;"):
                assert target(httpd, prefix + path + query, host) == path + query


@pytest.mark.parametrize("where", [None, "/sub"])
def test_path_is_canonical(httpd: Httpd, where: str) -> None:
    """As httpd's access control has seen it."""
    httpd.app("shop", location=where)
    httpd.start()
    for path, want in (("/a//b///echo", "/a/b/echo"), ("/a/./echo", "/a/echo"),
                       ("/a/../b/echo", "/b/echo"), ("/%61%2Db/echo",
                                                     "/a-b/echo"),
                       ("/a/%2e%2e/b/echo", "/b/echo"),
                       ("/\xc3\xbc/echo", "/%C3%BC/echo"),
                       ("/%20//./\xfc/echo", "/%20/%FC/echo")):
        assert target(httpd, (where or "") + path) == want
    if where:
        assert target(httpd, "/x/..//%73ub/a%20b/echo") == "/a%20b/echo"


def test_merge_slashes_off(httpd: Httpd) -> None:
    httpd.app("shop", "MergeSlashes Off")
    httpd.start()
    assert target(httpd, "/a//b%20/echo") == "/a//b%20/echo"
    assert target(httpd, "/a//b/echo") == "/a//b/echo"


def test_encoded_slashes(httpd: Httpd) -> None:
    """The client gets 404, or they arrive encoded. They have no other meaning
    then."""
    for setting in ("Off", "On", "NoDecode"):
        httpd.app(setting, f"AllowEncodedSlashes {setting}")
    httpd.app("sub", location="/sub")
    httpd.start()
    for prefix, case in cases(("", "/sub")):
        with case:
            assert fetch(httpd, f"{prefix}/a%2Fb/echo", "Off").status == 404
            assert httpd.requests_seen() == []
    for (setting, prefix, path), case in cases(product(
            ("On", "NoDecode"), ("", "/sub"),
            ("/a%2Fb/echo", "/a%2fb%20c/echo", "/%2Fa%2Fb;c=%3B/echo"))):
        want = path if setting == "NoDecode" or "/%2F" not in path \
            else "/a/b;c=;/echo"  # slashes were merged
        with case:
            assert target(httpd, prefix + path, setting) == want


def test_encoded_slash_hides_no_path(httpd: Httpd) -> None:
    """Where httpd decodes them, the app gets the path that httpd has
    allowed."""
    httpd.log.expect("AH01630")
    httpd.app("shop", "AllowEncodedSlashes On", '<Location "/closed">',
              "Require all denied", "</Location>")
    httpd.app("sub", location="/sub")
    httpd.start()
    assert fetch(httpd, "/x/..%2Fclosed/echo").status == 403
    assert fetch(httpd, "/sub/..%2Fclosed/echo").status == 403
    assert target(httpd, "/closed/..%2Fopen/echo") == "/open/echo"
    assert target(httpd, "/x/..%2Fsub/echo") == "/echo"


# ---- rewritten

def test_rewritten_in_a_virtual_host(httpd: Httpd) -> None:
    httpd.modules.append("rewrite")
    app = httpd.app(
        "shop", "RewriteEngine On",
        "RewriteRule ^/old/(.*)$ /new/$1 [PT]",
        "RewriteRule ^/query/(.*)$ /echo?from=$1 [PT,QSA]",
        "RewriteRule ^/gone - [G]",
        "RewriteRule ^/moved/(.*)$ /new/$1 [R=302]",
        "RewriteCond %{DOCUMENT_ROOT}/cache%{REQUEST_URI}.html -f",
        "RewriteRule ^ /cache%{REQUEST_URI}.html [PT]")
    (app.public / "cache").mkdir()
    (app.public / "cache" / "page.html").write_text("cached page")
    httpd.start()
    assert target(httpd, "/old/a%20b/echo?q=1") == "/new/a%20b/echo?q=1"
    assert target(httpd, "/query/x?y=2") == "/echo?from=x&y=2"
    assert fetch(httpd, "/gone").status == 410
    moved = fetch(httpd, "/moved/x")
    assert (moved.status, moved.headers["Location"].rpartition("/new")[2]) == \
        (302, "/x")
    assert fetch(httpd, "/page").text == "cached page"
    assert len(httpd.requests_seen()) == 2


def test_rewritten_without_a_document_root(httpd: Httpd) -> None:
    httpd.modules.append("rewrite")
    app = httpd.app("shop", "RewriteEngine On",
                    "RewriteRule ^/old/(.*)$ /new/$1 [PT]")
    httpd.apps.clear()
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName shop",
                         *app.lines(), "</VirtualHost>"]
    httpd.start()
    assert target(httpd, "/old/a%20b/echo") == "/new/a%20b/echo"


def test_rewritten_in_htaccess(httpd: Httpd) -> None:
    httpd.modules.append("rewrite")
    app = httpd.app("shop")
    app.directives += [f'<Directory "{app.public}">', "AllowOverride FileInfo",
                       "</Directory>"]
    (app.public / ".htaccess").write_text(
        "RewriteEngine On\n"
        "RewriteRule ^old/(.*)$ /new/$1 [L]\n"
        "RewriteRule ^no - [F]\n"
        "RewriteRule ^static/(.*)$ /$1 [L]\n")
    (app.public / "style.css").write_text("static")
    httpd.log.expect("AH01630|AH01797")
    httpd.start()
    assert target(httpd, "/old/ab/echo?q=1") == "/new/ab/echo?q=1"
    assert target(httpd, "/a%20b/echo") == "/a%20b/echo"
    assert fetch(httpd, "/no").status == 403
    assert fetch(httpd, "/static/style.css").text == "static"
    assert len(httpd.requests_seen()) == 2


# ---- under a path

def test_files_under_a_path_come_first(httpd: Httpd) -> None:
    """Alias leads to the app's files, and DirectoryIndex works. The app gets
    everything else."""
    httpd.modules.append("alias")
    app = httpd.app("shop", location="/shop")
    httpd.directives += [f'Alias "/shop" "{app.public}"']
    (app.public / "style.css").write_text("static")
    (app.public / "docs").mkdir()
    (app.public / "docs" / "index.html").write_text("front page")
    httpd.start()
    assert fetch(httpd, "/shop/style.css").text == "static"
    assert fetch(httpd, "/shop/docs/").text == "front page"
    assert httpd.requests_seen() == []
    assert target(httpd, "/shop/echo") == "/echo"
    assert fetch(httpd, "/shop/style.css/more").text.startswith("shop ")
    assert fetch(httpd, "/shop/").text.startswith("shop ")


def test_redirect_of_an_app_under_a_path(httpd: Httpd) -> None:
    """The app knows its path. Its redirects are not changed, unless the
    configuration says so."""
    httpd.modules.append("headers")
    httpd.app("shop", location="/shop")
    httpd.app("plain", 'Header edit Location "^/" "/plain/"',
              location="/plain")
    httpd.start()
    response = fetch(httpd, "/shop/redirect?to=/login%20here")
    assert response.status == 302
    assert response.headers["Location"] == "/shop/login here"
    assert fetch(httpd, "/plain/redirect?to=/login&bare=1").headers[
        "Location"] == "/plain/login"


# ---- error pages

def test_error_document_below_a_path(httpd: Httpd) -> None:
    """For a request that belonged to no app, with an encoded path."""
    place = list(mount(httpd, SERVERS["libfcgi"]))[1]
    httpd.modules.append("alias")
    httpd.directives += ["Redirect gone /old",
                         f"ErrorDocument 410 {place.mount}/sorry"]
    httpd.start()
    for _ in range(3):
        response = httpd.get("/old/a%20b%2541" + "x" * 900, place.host)
        assert response.status == 410
        assert response.headers["X-Path"] == "/sorry"
    httpd.settles(active=0, count=1)


def test_error_documents(httpd: Httpd) -> None:
    """httpd's own for a failure of the app. The app's own error pages stay,
    unless ProxyErrorOverride is On."""
    httpd.log.expect("AH01102|AH00898", "gave no response")
    app = httpd.app("shop", "ErrorDocument 502 /sorry.html",
                    "ErrorDocument 404 /sorry.html",
                    '<Location "/override">', "ProxyErrorOverride On",
                    "</Location>")
    (app.public / "sorry.html").write_text("sorry")
    httpd.start()
    response = fetch(httpd, "/nothing")
    assert (response.status, response.text) == (502, "sorry")
    response = fetch(httpd, "/status?code=404")
    assert (response.status, response.text) == (404, "a body")
    response = fetch(httpd, "/override/status?code=404")
    assert (response.status, response.text) == (404, "sorry")
    httpd.settles(active=0, count=1)
