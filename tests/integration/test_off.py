# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppRoot Off: places below an app that do not belong to the app."""
import pytest

from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")


def is_app(httpd: Httpd, path: str, host: str = "shop") -> bool:
    return httpd.get(path, host).body.startswith(b"shop ")


def test_list_of_files(httpd: Httpd) -> None:
    """mod_autoindex serves the directories there, and the app gets no
    request."""
    httpd.modules += ["autoindex", "mime"]
    httpd.directives.append("TypesConfig /dev/null")
    app = httpd.app("shop", '<Location "/files">', "AppRoot Off",
                    "Options +Indexes", "</Location>")
    (app.public / "files/sub").mkdir(parents=True)
    (app.public / "files/report.txt").write_text("a report")
    httpd.start()
    assert "report.txt" in httpd.get("/files/", "shop").text
    assert httpd.get("/files", "shop").status == 301
    assert httpd.get("/files/report.txt", "shop").text == "a report"
    assert httpd.get("/files/none", "shop").status == 404
    assert httpd.post("/files/report.txt", "shop", "x=1").text == "a report"
    assert httpd.requests_seen() == []
    assert is_app(httpd, "/filesystem")


def test_directory(httpd: Httpd) -> None:
    """The place of the files decides."""
    httpd.modules.append("alias")
    httpd.app("shop", f'Alias "/docs" "{httpd.dir}/manual"',
              f'<Directory "{httpd.dir}/manual">', "AppRoot Off",
              "</Directory>")
    httpd.app("live", location="/docs/live")
    (httpd.dir / "manual").mkdir()
    (httpd.dir / "manual/page.html").write_text("a page")
    httpd.start()
    assert httpd.get("/docs/page.html", "shop").text == "a page"
    assert httpd.get("/docs/none", "shop").status == 404
    assert httpd.requests_seen() == []
    assert is_app(httpd, "/other")
    # A place below it belongs to an app again.
    assert httpd.get("/docs/live/who", "shop").text.startswith("live ")


def test_host_without_files(httpd: Httpd) -> None:
    """The files are then those of the main server, or of an Alias."""
    httpd.modules.append("alias")
    (httpd.dir / "htdocs/static").mkdir()
    (httpd.dir / "htdocs/static/x.css").write_text("main server's")
    app = httpd.app("shop", '<Location "/static">', "AppRoot Off",
                    "</Location>")
    httpd.apps.clear()
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName shop",
                         *app.lines(), "</VirtualHost>"]
    httpd.start()
    assert httpd.get("/static/x.css", "shop").text == "main server's"
    assert httpd.get("/static/none", "shop").status == 404
    assert is_app(httpd, "/x.css")


def test_virtual_host(httpd: Httpd) -> None:
    """A host without an app, on a server with an app for all other hosts."""
    app = httpd.app("shop")
    httpd.apps.clear()
    (httpd.dir / "htdocs/page.html").write_text("a page")
    httpd.directives += [*app.lines(), f"<VirtualHost *:{httpd.port}>",
                         "ServerName plain", "AppRoot off", "</VirtualHost>"]
    httpd.start()
    assert httpd.get("/page.html", "plain").text == "a page"
    assert httpd.get("/none", "plain").status == 404
    assert is_app(httpd, "/none", "status")


def test_headers_are_kept(httpd: Httpd) -> None:
    """Another handler gets all headers of the client."""
    httpd.modules += ["cgi", "alias"]
    script = httpd.dir / "env.cgi"
    script.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n"
                      "echo $HTTP_X_FORWARDED_PREFIX $HTTP_FORWARDED\n")
    script.chmod(0o755)
    httpd.app("shop", f'ScriptAlias "/env" "{script}"', '<Location "/env">',
              "AppRoot Off", "</Location>")
    httpd.start()
    assert httpd.get("/env", "shop", headers={
        "X-Forwarded-Prefix": "/x", "Forwarded": "for=y"}).text == "/x for=y\n"


@pytest.mark.parametrize("words, wrong", [
    (("AppRoot Off", "AppRoot /srv/shop"), "the same section has a directory and Off"),
    (("AppRoot /srv/shop", "AppRoot Off"), "the same section has a directory and Off"),
    (("</Location>", "<Files x>", "AppRoot Off", "</Files>", "<Location /y>"),
     "cannot occur within <Files>"),
])
def test_wrong(httpd: Httpd, words: tuple[str, ...], wrong: str) -> None:
    httpd.app("shop", '<Location "/files">', *words, "</Location>")
    done = httpd.test()
    assert done.returncode != 0
    assert wrong in done.stdout
