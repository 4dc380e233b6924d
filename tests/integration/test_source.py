# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which files of an AppRoot httpd sends, by all ways that lead there. Source
and secrets get 404, and nothing is taken away from what the configuration
names."""
import shutil
from pathlib import Path

import pytest

from harness.cases import cases
from harness.client import Connection
from harness.config import App
from harness.httpd import USER, Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("a file is chosen before the MPM sends it")

SECRET = "s3cr3t"
SOURCE = ("wsgi.py", "shop/views.py", "README.md", "data/export.csv", ".env",
          ".git/config", "config/database.yml", "config/master.key",
          "composer.json", "static/.git/config", "index.php~", "media.py",
          "staticky/x")
STATIC = ("static/style.css", "public/logo.png", "media/photo.jpg",
          "assets/app.js", "robots.txt", ".well-known/acme-challenge/token",
          ".well-known/security.txt")
PHP_ONLY = ("wp-content/uploads/photo.jpg", "style.css", "js/site.js",
            "themes/config/readme.html",
            "docs/php.txt", "js/jquery.log.min.js",
            "js/mode.sql.js", "wp-content/uploads/a.php.jpg")
PHP_SECRET = (".env", ".user.ini", ".git/config", "index.php~", "index.php.bak",
              "config/database.yml", "config/master.key", "composer.json",
              "wp-content/debug.log", "backup.sql", "static/.git/config",
              "lib/db.inc", "backup.sql.gz", "wp-content/debug.log.1",
              "old/a.log.xz",
              "var/data.sqlite-wal", "var/data.sqlite3-journal",
              "wp-config.php.txt", "config.php.dist", "config.php.2",
              "config.php_old", "config.php-2024", "old.php5", "old.pht")

# A request, and whether httpd sends the file, sends 404, or leaves the request
# to the application.
SENT, NOT_FOUND, APP = "sent", 404, "app"
Row = tuple[str, str, object]


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(SECRET)


def site(httpd: Httpd, name: str, *directives: str,
         php: bool = False) -> App:
    """An app with files of all kinds; DocumentRoot is AppRoot."""
    app = httpd.app(name, *directives, command=None)
    app.public = app.root
    put(app.root, *SOURCE, *STATIC, *PHP_ONLY, *PHP_SECRET)
    (app.root / "wsgi.py").write_text(
        f"# {SECRET}\ndef application(environ, start):\n"
        "    start('200 OK', [])\n    return [b'the app']\n")
    if php:
        (app.root / "wsgi.py").unlink()
        (app.root / "index.php").write_text(f"<?php # {SECRET}\n"
                                            "echo 'the app';")
    return app


def check(httpd: Httpd, rows: list[Row]) -> None:
    for (host, path, want), case in cases(rows):
        with case:
            response = httpd.get(path, host)
            got: object = response.status
            if response.status == 200:
                got = APP if response.text == "the app" else \
                    SENT if response.text == SECRET else response.text
            assert got == want


def rows(host: str, prefix: str = "", named: str = "") -> list[Row]:
    """Of a site that is not PHP."""
    return [
        *((host, f"{prefix}/{name}", NOT_FOUND) for name in SOURCE),
        *((host, f"{prefix}/{name}", NOT_FOUND) for name in PHP_ONLY),
        *((host, f"{prefix}/{name}", SENT) for name in STATIC),
        (host, f"{prefix}/", APP), (host, f"{prefix}/config/", APP),
        (host, f"{prefix}/nothing.py", APP)]


def test_all_ways(httpd: Httpd) -> None:
    httpd.modules += ["alias", "userdir", "vhost_alias", "rewrite"]
    httpd.directives += ["MaxPoolSize 20", "DirectoryIndex index.html"]
    table: list[Row] = []

    # DocumentRoot is AppRoot
    app = site(httpd, "same")
    put(app.root, "index.html")  # is no page of the application
    table += rows("same")
    # an Alias, as it may be written
    for name, slash in (("alias", ""), ("slash", "/")):
        app = site(httpd, name)
        app.public = httpd.dir / "htdocs"
        app.directives += [f'Alias /shop{slash} "{app.root}{slash}"']
        table += rows(name, "/shop")
    app = site(httpd, "match")
    app.public = httpd.dir / "htdocs"
    app.directives += [f'AliasMatch ^/shop/(.*)$ "{app.root}/$1"']
    table += [("match", "/shop/wsgi.py", NOT_FOUND),
              ("match", "/shop/static/style.css", SENT)]
    # DocumentRoot contains AppRoot, which is a link; and it has other files
    app = site(httpd, "link")
    release = app.root / "www" / "releases" / "1"
    shutil.copytree(app.root, release, ignore=lambda *_: ["www"])
    shutil.chown(release, USER, USER)
    put(app.root / "www", "other.html")
    app.public = app.root / "www"
    (app.root / "current").symlink_to(release)
    app.root = app.root / "current"
    table += rows("link", "/releases/1") + [("link", "/other.html", SENT)]
    # a link in DocumentRoot leads to AppRoot, and one to its files
    app = site(httpd, "into")
    app.public = httpd.dir / "into-docs"
    app.public.mkdir()
    (app.public / "all").symlink_to(app.root)
    (app.public / "some").symlink_to(app.root / "data")
    table += rows("into", "/all") + [("into", "/some/export.csv", SENT)]
    # the application is elsewhere in the virtual host
    app = site(httpd, "beside")
    httpd.apps.remove(app)
    httpd.directives += [
        f"<VirtualHost *:{httpd.port}>", "ServerName beside",
        f'DocumentRoot "{app.root}"', "<Location /app>", *app.lines(),
        "</Location>", "</VirtualHost>"]
    table += [("beside", "/wsgi.py", NOT_FOUND), ("beside", "/app/x", APP),
              ("beside", "/static/style.css", SENT)]
    # a virtual host of mod_vhost_alias
    app = site(httpd, "massive")
    app.public = httpd.dir / "htdocs"
    app.directives += [f'VirtualDocumentRoot "{httpd.dir}/%0"']
    table += rows("massive")
    # UserDir
    app = site(httpd, "user")
    app.public = httpd.dir / "htdocs"
    app.directives += [f'UserDir "{httpd.dir}/*/pages"']
    app.root.rename(httpd.dir / USER)
    app.root = httpd.dir / USER / "pages"
    shutil.copytree(httpd.dir / USER, app.root, ignore=lambda *_: ["pages"])
    shutil.chown(app.root, USER, USER)
    table += [("user", f"/~{USER}/wsgi.py", NOT_FOUND),
              ("user", f"/~{USER}/.env", NOT_FOUND),
              ("user", f"/~{USER}/static/style.css", SENT)]
    # what the configuration names
    app = site(httpd, "named")
    put(app.root, "htdocs/page.html", "htdocs/config/database.yml",
        "files/list.txt", "files/composer.json")
    app.public = app.root / "htdocs"
    app.directives += [
        f'Alias /media "{app.root}/files"', "RewriteEngine On",
        f"RewriteRule ^/data/(.*)$ {app.root}/data/$1"]
    table += [("named", "/page.html", SENT),
              ("named", "/config/database.yml", SENT),
              ("named", "/media/list.txt", SENT),
              ("named", "/media/composer.json", SENT),
              ("named", "/data/export.csv", SENT), ("named", "/wsgi.py", APP)]
    # beside an AppRoot that is DocumentRoot
    app = site(httpd, "media")
    put(app.root, "files/list.txt")
    app.directives += [
        f'Alias /media "{app.root}/files"',
        f'Alias /.well-known/acme-challenge "{app.root}/data"',
        "RewriteEngine On", "RewriteRule ^/inside$ /wsgi.py [PT]",
        f"RewriteRule ^/outside$ {app.root}/wsgi.py"]
    table += [("media", "/media/list.txt", SENT), ("media", "/.env", NOT_FOUND),
              ("media", "/.well-known/acme-challenge/export.csv", SENT),
              ("media", "/files/list.txt", NOT_FOUND),
              ("media", "/inside", NOT_FOUND), ("media", "/outside", NOT_FOUND)]
    # an AppRoot in another one; the inner one decides
    app = site(httpd, "outer")
    inner = site(httpd, "inner")
    httpd.apps.remove(inner)
    inner.root.rename(app.root / "inner")
    app.directives += ["<Location /inner>", f'AppRoot "{app.root}/inner"',
                       "</Location>"]
    table += rows("outer") + rows("outer", "/inner")
    # another handler leaves the file to httpd, or the directive allows it
    app = site(httpd, "handler")
    app.directives += ["<Location /wsgi.py>", "SetHandler default-handler",
                       "</Location>", "<Location /shop>", "SetHandler unknown",
                       "</Location>", "<Location /data>", "AppServeSource On",
                       "</Location>"]
    table += [("handler", "/wsgi.py", NOT_FOUND),
              ("handler", "/shop/views.py", NOT_FOUND),
              ("handler", "/data/export.csv", SENT)]
    # a place that is not the application's any more
    app = site(httpd, "taken")
    app.directives += ["<Location /data>", "AppRoot Off", "</Location>",
                       "<Location /shop>", "AppRoot Off", "AppServeSource On",
                       "</Location>"]
    table += [("taken", "/data/export.csv", NOT_FOUND),
              ("taken", "/shop/views.py", SENT),
              ("taken", "/shop/x", NOT_FOUND)]
    site(httpd, "on", "AppServeSource On")
    table += [("on", f"/{name}", SENT) for name in SOURCE if name != "wsgi.py"]
    # PHP
    site(httpd, "php", php=True)
    table += [*(("php", f"/{name}", SENT) for name in PHP_ONLY),
              *(("php", f"/{name}", SENT) for name in STATIC),
              *(("php", f"/{name}", NOT_FOUND) for name in PHP_SECRET),
              ("php", "/index.php", APP), ("php", "/x", APP)]
    # not PHP, whatever its directory is called
    site(httpd, "perl", "AppProtocol fcgi",
         'AppCommand "/srv/php-tools/run.fcgi"')
    table += [("perl", f"/{name}", NOT_FOUND) for name in SOURCE
              if name != "wsgi.py"]
    # no application at all
    put(httpd.dir / "plain", ".env", "composer.json", "wsgi.py")
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName plain",
                         f'DocumentRoot "{httpd.dir}/plain"', "</VirtualHost>"]
    table += [("plain", "/.env", SENT), ("plain", "/wsgi.py", SENT)]

    httpd.log.expect("contains AppRoot", "the same is so for")
    httpd.start()
    check(httpd, table)


@pytest.mark.mpms("prefork")  # where one thread serves a connection
def test_next_release(httpd: Httpd) -> None:
    """AppRoot becomes a link to another directory. Its files are guarded at
    once, or within a second if httpd has sent files of it before."""
    httpd.directives += ["KeepAliveTimeout 300", "MaxKeepAliveRequests 0"]
    app = site(httpd, "shop")
    www = app.root / "www"
    for n in "123":
        shutil.copytree(app.root, www / n, ignore=lambda *_: ["www"])
        shutil.chown(www / n, USER, USER)
    current, app.public = app.root / "current", www
    app.root = current
    (www / "link").symlink_to(current)

    def release(n: str) -> None:
        (www / "next").symlink_to(www / n)
        (www / "next").rename(current)

    def status(path: str) -> int:
        return client.request("GET", path, "shop").status

    release("1")
    httpd.log.expect("contains AppRoot")
    httpd.start()
    client = Connection(httpd.port)
    assert [status("/link/wsgi.py"), status("/1/wsgi.py"), status("/3/wsgi.py"),
            status("/link/static/style.css")] == [404, 404, 200, 200]
    release("2")
    assert [status("/link/wsgi.py"), status("/2/wsgi.py")] == [404, 404]
    wait_until(lambda: status("/1/wsgi.py") == 200, "it is no release any more")
    assert status("/3/wsgi.py") == 200
    release("3")
    wait_until(lambda: status("/3/wsgi.py") == 404, "it is a release")
    client.close()


# ---- what httpd says at the start

LINE = "contains AppRoot"


def said(httpd: Httpd) -> list[str]:
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if LINE in line]


def test_report(httpd: Httpd) -> None:
    """Once for each application, with what contains it."""
    httpd.modules.append("alias")
    app = site(httpd, "shop")
    lines = app.lines()
    app.directives += ["<Location /again>", *lines, "</Location>"]
    for directives, public, want in (
            ((), "", f"DocumentRoot {app.root} "),
            ((), "..", f"DocumentRoot {httpd.dir} "),
            ((), "public", None),
            (("Alias /a", ), "public", f'Alias /a "{app.root}" '),
            (("Alias /a", ), "public/x", f'Alias /a "{app.root}" ')):
        app.public = (app.root / public).resolve()
        app.public.mkdir(exist_ok=True)
        app.directives[3:] = [f'{one} "{app.root}"' for one in directives] \
            + [f'Alias /b "{app.root}/static"']
        found = said(httpd)
        assert len(found) == (want is not None), found
        if want:
            assert want in found[0] and f"{app.root} (line " in found[0]
            assert "httpd sends only public, static" in found[0]
    app.public = app.root
    app.directives[3:] = ["AppServeSource On"]
    found, = said(httpd)
    assert "httpd sends them, because AppServeSource is On" in found
    # a link, and PHP
    httpd.apps.clear()
    app = site(httpd, "blog", php=True)
    (httpd.dir / "current").symlink_to(app.root)
    app.root = httpd.dir / "current"
    found, = said(httpd)
    assert "names that begin with a dot" in found


def test_report_of_many(httpd: Httpd) -> None:
    for n in range(13):
        app = httpd.app(f"shop{n}")
        app.public = app.root
    assert len(said(httpd)) == 10
    assert "the same is so for 3 more applications" in httpd.test().stdout
