# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Paths of an app that also exist as directories or files."""
import pytest

from harness.config import App
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

OTHERS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def shop(httpd: Httpd, *directives: str) -> App:
    """An app with two directories: posts has no index file, docs has one."""
    httpd.modules.append("mime")
    httpd.directives += ["TypesConfig /dev/null",
                         f'<Directory "{httpd.dir}">\nOptions FollowSymLinks\n'
                         "</Directory>"]
    app = httpd.app("shop", "DirectoryIndex start.html index.html index.htm",
                    *directives)
    for name in ("posts", "docs"):
        (app.public / name).mkdir()
    (app.public / "posts" / "one.html").write_text("a file")
    (app.public / "docs" / "index.html").write_text("the index")
    return app


def by_app(httpd: Httpd, method: str, path: str) -> bool:
    """Did the app send this response?"""
    response = httpd.request(method, path, "shop",
                             "x=1" if method in ("POST", "PUT") else None)
    return response.status == 200 and response.body.startswith(b"shop ")


def test_directory_without_an_index(httpd: Httpd) -> None:
    """It is the app's, with a slash and without one."""
    shop(httpd)
    httpd.start()
    for path in ("/posts", "/posts/", "/posts?x=1", "/posts/1", "/"):
        for method in ("GET", *OTHERS):
            assert by_app(httpd, method, path), (method, path)
    response = httpd.post("/posts", "shop", "x=1")
    assert response.status == 200
    assert httpd.get("/posts/one.html", "shop").text == "a file"


def test_directory_with_an_index(httpd: Httpd) -> None:
    """httpd serves GET, and the app everything else."""
    app = shop(httpd)
    (app.public / "index.htm").write_text("the front page")
    httpd.start()
    assert httpd.get("/", "shop").text == "the front page"
    assert httpd.get("/docs/", "shop").text == "the index"
    response = httpd.get("/docs?x=1", "shop")
    assert response.status == 301
    assert response.headers["Location"].endswith("/docs/?x=1")
    assert httpd.request("HEAD", "/docs/", "shop").status == 200
    assert httpd.requests_seen() == []
    for path in ("/", "/docs", "/docs/"):
        for method in OTHERS:
            assert by_app(httpd, method, path), (method, path)


def test_form_is_not_lost(httpd: Httpd) -> None:
    shop(httpd)
    httpd.start()
    response = httpd.post("/posts/echo", "shop", b"title=one")
    assert response.json()["length"] == 9
    (httpd.dir / "shop/public/posts/echo").mkdir()
    response = httpd.post("/posts/echo", "shop", b"title=one")
    assert (response.status, response.json()["length"]) == (200, 9)


def test_index_by_negotiation(httpd: Httpd) -> None:
    """MultiViews finds a file of another name."""
    httpd.modules.append("negotiation")
    app = shop(httpd, "AddLanguage de .de", "AddType text/html .html",
               f'<Directory "{httpd.dir}">', "Options +MultiViews",
               "</Directory>")
    (app.public / "posts" / "index.html.de").write_text("die Seite")
    httpd.start()
    assert httpd.get("/posts/", "shop").text == "die Seite"
    assert httpd.get("/posts", "shop").status == 301
    assert by_app(httpd, "GET", "/")


def test_index_that_is_elsewhere(httpd: Httpd) -> None:
    """By a full path, by Alias, by a rewrite rule."""
    httpd.modules += ["alias", "rewrite"]
    app = shop(httpd, f'Alias "/posts/start.html" "{httpd.dir}/page.html"',
               "RewriteEngine On",
               f'RewriteRule "^/new/index.html$" "{httpd.dir}/page.html"',
               f'<Directory "{httpd.dir}/shop/public/by">',
               "DirectoryIndex none.html /docs/index.html", "</Directory>")
    (httpd.dir / "page.html").write_text("a page")
    for name in ("new", "by"):
        (app.public / name).mkdir()
    httpd.start()
    assert httpd.get("/posts/", "shop").text == "a page"
    assert httpd.get("/new/", "shop").text == "a page"
    assert httpd.get("/by/", "shop").text == "the index"


def test_slash_off(httpd: Httpd) -> None:
    shop(httpd, "DirectorySlash Off")
    httpd.start()
    assert by_app(httpd, "GET", "/docs")
    assert httpd.get("/docs/", "shop").text == "the index"


def test_index_by_redirect(httpd: Httpd) -> None:
    shop(httpd, "DirectoryIndexRedirect On")
    httpd.start()
    for path, status, to in (("/docs", 301, "/docs/"),
                             ("/docs/", 302, "/docs/index.html")):
        response = httpd.get(path, "shop")
        assert response.status == status
        assert response.headers["Location"].endswith(to)
        assert by_app(httpd, "POST", path)
    assert by_app(httpd, "GET", "/posts")


def test_error_page_of_a_form(httpd: Httpd) -> None:
    """httpd also reads a file as the error page of a POST."""
    httpd.log.expect("gave no response", "AH01102|AH00898")
    app = shop(httpd, "ErrorDocument 502 /sorry.html")
    (app.public / "sorry.html").write_text("sorry")
    httpd.start()
    response = httpd.post("/nothing", "shop", "x=1")
    assert (response.status, response.text) == (502, "sorry")


def test_fallback_resource(httpd: Httpd) -> None:
    """FallbackResource does not take over a directory of the app."""
    app = shop(httpd, "FallbackResource /sorry.html")
    (app.public / "sorry.html").write_text("sorry")
    httpd.start()
    assert httpd.get("/nothing", "shop").text == "sorry"
    assert by_app(httpd, "GET", "/posts")
    assert by_app(httpd, "POST", "/posts")


def test_index_that_is_a_script(httpd: Httpd) -> None:
    app = shop(httpd, "AppProtocol fcgi", "DirectoryIndex index.php")
    app.command = None
    (app.public / "docs" / "index.html").unlink()
    (app.public / "docs" / "index.php").write_text(
        "<?php echo 'docs by ', $_SERVER['REQUEST_METHOD'];")
    (app.public / "index.php").write_text(
        "<?php echo 'front by ', $_SERVER['REQUEST_METHOD'];")
    httpd.start()
    assert httpd.get("/docs/", "shop").text == "docs by GET"
    assert httpd.get("/docs", "shop").status == 301
    assert httpd.post("/docs/", "shop", "x=1").text == "docs by POST"
    assert httpd.post("/docs", "shop", "x=1").text == "front by POST"
    assert httpd.post("/", "shop", "x=1").text == "front by POST"
    assert httpd.get("/posts", "shop").text == "front by GET"
    assert httpd.post("/posts", "shop", "x=1").text == "front by POST"


# ---- files

def test_file_is_only_read(httpd: Httpd) -> None:
    """The app gets all other methods, for example a form of a cached page."""
    app = shop(httpd)
    (app.public / "page.html").write_text("a page")
    httpd.start()
    assert httpd.get("/page.html", "shop").text == "a page"
    assert httpd.request("HEAD", "/page.html", "shop").status == 200
    assert httpd.requests_seen() == []
    for method in OTHERS:
        assert by_app(httpd, method, "/page.html"), method


@pytest.mark.parametrize("how", ["SetHandler cgi-script",
                                 "AddHandler cgi-script .cgi",
                                 "AddType application/x-httpd-cgi .cgi"])
def test_file_that_is_a_script(httpd: Httpd, how: str) -> None:
    """httpd runs it, for all methods."""
    httpd.modules.append("cgi")
    app = shop(httpd, f'<Directory "{httpd.dir}/shop/public">',
               "Options +ExecCGI", "<Files *.cgi>", how, "</Files>",
               "</Directory>")
    script = app.public / "form.cgi"
    script.write_text("#!/bin/sh\n"
                      "printf 'Content-Type: text/plain\\n\\n'; echo cgi\n")
    script.chmod(0o755)
    httpd.start()
    for method in ("GET", "POST"):
        assert httpd.request(method, "/form.cgi", "shop").text == "cgi\n"
