# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which script of PHP gets a path that is no file, and which one a directory
(AppFrontController)."""
import re
import subprocess
from pathlib import Path

import pytest

from harness.cases import cases
from harness.httpd import USER, Httpd
from harness.places import TOP

pytestmark = pytest.mark.mpms("event")

SHOW = "<?php echo basename(__DIR__), '/', basename(__FILE__), ' '," \
    " $_SERVER['PATH_INFO'] ?? '-', ' ', $_SERVER['REQUEST_METHOD'];"
FILES = ("index.php", "contact.php", "app.php", "admin/index.php")
HOME = "public/index.php"
# Directives, a file beside them, and for each path what responds: a script, or
# a status.
SITES = {
    "pages": ([], None, {
        "/": HOME + " -", "/contact.php": "public/contact.php -",
        "/contact.php/x": "public/contact.php /x", "/pretty/path":
        HOME + " /pretty/path", "/favicon.ico": HOME + " /favicon.ico",
        "/none.php": 404, "/x/none.phtml": 404, "/admin/none.php": 404,
        "/none.php/x": HOME + " /none.php/x"}),
    "htaccess": ([], ".htaccess", {"/none.php": HOME + " /none.php"}),
    "framework": ([], "artisan", {"/none.php": HOME + " /none.php"}),
    "off": (["AppFrontController Off"], "composer.json", {
        "/": HOME + " -", "/contact.php/x": "public/contact.php /x",
        "/none.php": 404, "/favicon.ico": 404, "/pretty/path": 404,
        "/admin/": "admin/index.php -", "/empty/": 404, "/plain.txt": "a file"}),
    "another": (["AppFrontController /app.php"], None, {
        "/": HOME + " -", "/pretty/path": "public/app.php /pretty/path",
        "/none.php": "public/app.php /none.php"}),
    "missing": (["AppFrontController gone.php"], None, {
        "/contact.php": "public/contact.php -", "/pretty": 404}),
    "section": (["<Location /admin>", "AppFrontController Off",
                 "</Location>"], None, {
        "/admin/x": 404, "/x": HOME + " /x"}),
    "directories": (["DirectoryIndex start.html"], None, {
        "/": HOME + " -", "/admin/": "admin/index.php -", "/admin": 301,
        "/empty/": HOME + " /empty/", "/both/": "the index"}),
}


def test_sites(httpd: Httpd) -> None:
    httpd.directives += ["MaxPoolSize 20", "PoolIdleTime 1s"]
    for name, (directives, file, _) in SITES.items():
        app = httpd.app(name, "AppProtocol fcgi", *directives,
                        command="php-cgi")
        for directory in ("admin", "empty", "both"):
            (app.public / directory).mkdir()
        for script in FILES:
            (app.public / script).write_text(SHOW)
        (app.public / "both/index.php").write_text(SHOW)
        (app.public / "both/start.html").write_text("the index")
        (app.public / "plain.txt").write_text("a file")
        if file:
            (app.public / file).touch()
        subprocess.run(["chown", "-R", USER, app.root], check=True)
    httpd.start()
    for name, case in cases(SITES):
        with case:
            for path, right in SITES[name][2].items():
                response = httpd.get(path, name)
                got = response.status if response.status != 200 \
                    else response.text.removesuffix(" GET")
                assert (path, got) == (path, right)


def test_form_for_a_directory(httpd: Httpd) -> None:
    """The index.php of a directory gets all methods, and the query."""
    app = httpd.app("shop", "AppProtocol fcgi", "DirectoryIndex disabled",
                    command="php-cgi")
    (app.public / "admin").mkdir()
    for script in ("index.php", "admin/index.php"):
        (app.public / script).write_text(
            SHOW + " echo ' ', $_SERVER['QUERY_STRING'], ' ',"
            " file_get_contents('php://input');")
    httpd.start()
    for method, body in (("POST", "a=b"), ("PUT", "a=b"), ("GET", "")):
        assert httpd.request(method, "/admin/?x=1", "shop", body).text \
            == f"admin/index.php - {method} x=1 {body}"


def test_index_of_another_application(httpd: Httpd) -> None:
    """Beside an Alias, another handler runs scripts. The index of such a
    directory is that handler's."""
    httpd.modules += ["alias", "status"]
    tools = httpd.dir / "tools"
    tools.mkdir()
    (tools / "index.php").write_text(SHOW)
    httpd.app("shop", "AppProtocol fcgi", f'Alias /tools "{tools}"',
              "DirectoryIndex start.html", f'<Directory "{tools}">',
              "Require all granted", '<Files "*.php">',
              "SetHandler server-status", "</Files>", "</Directory>",
              command="php-cgi")
    httpd.start()
    for path in ("/tools/index.php", "/tools/"):
        assert "Apache Server Status" in httpd.get(path, "shop").text


def recipe(root: str, place: Path) -> list[str]:
    """The directives of doc/apps.md that begin with AppRoot /srv/ROOT."""
    text = (TOP / "doc" / "apps.md").read_text()
    found = re.search(rf"^    AppRoot +/srv/{root}$.*?(?=^\S|\Z)", text,
                      re.M | re.S)
    assert found
    return [line.strip().replace(f"/srv/{root}", str(place))
            for line in found[0].splitlines() if "AppRoot " not in line]


def test_recipes_keep_php_out_of_uploads(httpd: Httpd) -> None:
    """Those for WordPress and for Drupal."""
    httpd.log.expect("AH01630: client denied by server configuration")
    uploads = {"blog": ("", "wp-content/uploads/2026"),
               "site": ("web", "sites/default/files/styles")}
    for name, (documents, directory) in uploads.items():
        app = httpd.app(name, "AppProtocol fcgi", command="php-cgi")
        app.public = app.root / documents if documents else app.root
        app.directives += recipe(name, app.root)
        place = app.public / directory
        place.mkdir(parents=True)
        for file in ("evil.php", "evil.PHP.jpg", "evil.phtml"):
            (place / file).write_text(SHOW)
        (place / "plain.txt").write_text("a file")
        (app.public / "index.php").write_text(SHOW)
        subprocess.run(["chown", "-R", USER, app.root], check=True)
    httpd.start()
    for name, (_, directory) in uploads.items():
        assert httpd.get("/", name).text.endswith("/index.php - GET")
        assert httpd.get(f"/{directory}/plain.txt", name).text == "a file"
        for file in ("evil.php", "evil.php/x", "evil.phtml"):
            assert httpd.get(f"/{directory}/{file}", name).status == 403
