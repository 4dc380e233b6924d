# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications in PHP, as Debian packages them and configures httpd for them,
with AppRoot and AppUser alone. Somebody installs each of them, logs in and
writes."""
import html
import json
import re
import secrets
import urllib.parse
from pathlib import Path

import pytest

from harness import machine
from harness.config import App
from harness.deploy import restart_under_load
from harness.httpd import Httpd
from harness.mariadb import mariadb
from harness.php import OWNER
from harness.visitor import Page, Visitor
from harness.wait import wait_until

pytestmark = [pytest.mark.mpms("event"), pytest.mark.usefixtures("debian")]

SITE = "www.example"
PASSWORD = "a secret of ada"
MODULES = ("alias", "env", "mime", "rewrite", "setenvif")
# As in Debian's apache2.conf
PLACES = ("TypesConfig /etc/mime.types", "<Directory />", "AllowOverride None",
          "Options FollowSymLinks", "</Directory>")


def installed(httpd: Httpd, root: str, path: str, *configuration: str,
              writes: tuple[str, ...] = ()) -> App:
    """The application of a package, at a path of the site, or as the site if
    the path is empty.
    @param configuration of the package
    @param writes the directories to which it writes"""
    httpd.modules += [name for name in MODULES if name not in httpd.modules]
    httpd.directives += PLACES
    app = App(SITE, Path(root), [f"AppUser {OWNER}"], None, path or None)
    app.public = app.root
    (httpd.directives if path else app.directives).extend(configuration)
    httpd.apps.append(app)
    for place in writes:
        machine.run("install", "-d", "-o", OWNER, place)
    return app


def visitor(httpd: Httpd, path: str = "", named: bool = False) -> Visitor:
    return Visitor(httpd.port, SITE, path, named=named)


def configured(httpd: Httpd, app: App, ada: Visitor) -> None:
    """Processes that have cached no script serve from now on."""
    old = set(httpd.pids(app))
    app.touch()
    wait_until(lambda: ada.open("/index.php").status == 200 and
               not old & set(httpd.pids(app)), "new processes serve")


# ---- WordPress

WORDPRESS = Path("/etc/wordpress/config-default.php")
SETTINGS = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', 'a secret');
"""


def wordpress(httpd: Httpd) -> App:
    """As in the package's example"""
    WORDPRESS.write_text(SETTINGS)
    httpd.log.expect(  # before there are tables; and it finds no wordpress.org
        r"> WordPress database error Table 'wordpress\.wp_options' doesn't exist",
        r"Undefined variable \$upload_(url_)?path in \S+/wp-admin/install\.php",
        "> PHP Warning: +An unexpected error occurred. Something may be wrong "
        "with WordPress.org")
    return installed(httpd, "/usr/share/wordpress", "",
                     "Alias /wp-content /var/lib/wordpress/wp-content",
                     "<Directory /usr/share/wordpress>", "AllowOverride All",
                     "</Directory>",
                     writes=("/var/lib/wordpress/wp-content/uploads",))


def five_minutes(ada: Visitor) -> Page:
    """Install it, and log in."""
    done = ada.submit(ada.get("/"), weblog_title="Bridges", user_name="ada",
                      admin_password=PASSWORD, admin_password2=PASSWORD,
                      admin_email="ada@www.example")
    assert "Success!" in done.text
    ada.load(done)
    return enter(ada)


def enter(ada: Visitor) -> Page:
    board = ada.submit(ada.get("/wp-login.php"), log="ada", pwd=PASSWORD)
    assert "Dashboard" in board.text and board.url.endswith("/wp-admin/")
    return board


def put(ada: Visitor, kind: str, body: bytes, **headers: str
        ) -> dict[str, str]:
    """What the editor does with a script."""
    nonce = re.search(r'createNonceMiddleware\( "(\w+)"',
                      ada.get("/wp-admin/post-new.php").text)
    assert nonce
    return json.loads(ada.post(f"/wp-json/wp/v2/{kind}", body,
                               X_WP_Nonce=nonce[1], **headers).text)


def test_wordpress(httpd: Httpd) -> None:
    """Names in place of numbers (permalinks) work without rewrite rules."""
    app = wordpress(httpd)
    with mariadb("wordpress"):
        httpd.start()
        ada = visitor(httpd)
        ada.load(five_minutes(ada))
        ada.submit(ada.get("/wp-admin/options-permalink.php"),
                   permalink_structure="/%year%/%postname%/",
                   selection="custom", submit="Save")
        data = secrets.token_bytes(1 << 20)
        file = put(ada, "media", data, Content_Type="application/zip",
                   Content_Disposition="attachment; filename=plan.zip")
        post = put(ada, "posts", json.dumps(
            {"title": "Br\u00fccke", "slug": "bridge", "content": "of steel",
             "status": "publish"}).encode(), Content_Type="application/json")
        reader = visitor(httpd)
        link = post["link"]
        assert re.fullmatch(rf"http://{SITE}/\d+/bridge/", link)
        assert "of steel" in reader.request(link).text
        assert reader.open("/2020/nothing/").status == 404
        download = reader.request(file["source_url"])
        assert download.body == data and download.headers["ETag"]
        restart_under_load(httpd, app, lambda: reader.load(
            reader.request(link)))


def test_wordpress_network(httpd: Httpd) -> None:
    """Several sites in directories, with the rules that WordPress itself writes
    for .htaccess"""
    app = wordpress(httpd)
    with mariadb("wordpress"):
        httpd.start()
        ada = visitor(httpd)
        five_minutes(ada)
        done = ada.submit(ada.get("/wp-admin/network.php"), sitename="Bridges",
                          email="ada@www.example", subdomain_install="0",
                          submit="Install")
        *settings, rules = map(html.unescape, re.findall(
            "<textarea[^>]*>(.*?)</textarea>", done.text, re.S))
        WORDPRESS.write_text(SETTINGS + "".join(settings))
        Path("/etc/wordpress/htaccess").write_text(rules)
        configured(httpd, app, ada)
        enter(ada)
        ada.submit(ada.get("/wp-admin/network/site-new.php"), **{
            "blog[domain]": "steel", "blog[title]": "Of Steel",
            "blog[email]": "ada@www.example"})
        assert "<title>Of Steel</title>" in visitor(httpd).get("/steel/").text
        board = ada.get("/steel/wp-admin")
        assert "Of Steel" in board.text
        assert board.url.endswith("/steel/wp-admin/")
        assert [path for path in ada.load(board)
                if path.startswith("/steel/wp-includes/")]


# ---- MediaWiki

ANSWERS: tuple[dict[str, str], ...] = (  # of the installer, page by page
    {"uselang": "en"}, {}, {
        "DBType": "sqlite", "sqlite_wgDBname": "wiki",
        "sqlite_wgSQLiteDataDir": "/var/lib/mediawiki/data"},
    {"config_wgSitename": "Bridges", "config__AdminName": "Ada",
     "config__AdminPassword": PASSWORD,
     "config__AdminPasswordConfirm": PASSWORD, "config__SkipOptional": "skip"},
    {}, {})


def test_mediawiki(httpd: Httpd) -> None:
    """In its directory, each script is a link that leads out of it."""
    app = installed(httpd, "/var/lib/mediawiki", "/mediawiki",
                    "Include /etc/apache2/conf-available/mediawiki.conf",
                    writes=("/var/lib/mediawiki/cache",
                            "/var/lib/mediawiki/images",
                            "/var/lib/mediawiki/data", "/var/log/mediawiki",
                            "/var/cache/mediawiki"))
    httpd.start()
    ada = visitor(httpd, "/mediawiki", named=True)  # it would add port 80
    assert "LocalSettings.php not found" in ada.get("/").text
    page = ada.get("/mw-config/")
    for answer in ANSWERS:
        page = ada.submit(page, **answer, **{"submit-continue": "Continue"})
    settings = ada.get("/mw-config/index.php?localsettings=1").text
    Path("/etc/mediawiki/LocalSettings.php").write_text(settings)
    configured(httpd, app, ada)
    home = ada.submit(ada.get("/index.php?title=Special:UserLogin"),
                      wpName="Ada", wpPassword=PASSWORD)
    assert "Log out" in home.text
    ada.load(home)
    page = ada.submit(ada.get("/index.php?title=Br%C3%BCcke&action=edit"),
                      wpTextbox1="of ''steel''", wpSave="Save")
    assert "of <i>steel</i>" in page.text
    reader = visitor(httpd, "/mediawiki", named=True)
    for path in ("/index.php/Br%C3%BCcke", "/rest.php/v1/page/Br%C3%BCcke/html"):
        assert ">steel</i>" in reader.get(path).text

    def read() -> None:
        assert "of <i>steel</i>" in reader.get("/index.php/Br%C3%BCcke").text

    restart_under_load(httpd, app, read)


# ---- tools for databases

def test_phpmyadmin(httpd: Httpd) -> None:
    httpd.log.expect("AH01630: client denied .*/header.twig")
    app = installed(httpd, "/usr/share/phpmyadmin", "/phpmyadmin",
                    "Include /etc/phpmyadmin/apache.conf",
                    writes=("/var/lib/phpmyadmin/tmp",))
    Path("/var/lib/phpmyadmin/blowfish_secret.inc.php").write_text(
        f"<?php $cfg['blowfish_secret'] = '{secrets.token_hex(16)}';")
    with mariadb("bridges"):
        httpd.start()
        ada = visitor(httpd, "/phpmyadmin")
        wrong = ada.submit(ada.get("/"), pma_username="bridges",
                           pma_password="a guess")
        assert "Access denied" in wrong.text
        home = ada.submit(wrong, pma_username="bridges",
                          pma_password="a secret")
        assert "Log out" in home.text
        ada.load(home)
        done = ada.submit(ada.get("/index.php?route=/server/sql"),
                          sql_query="CREATE TABLE bridges.spans (m INT)")
        assert "MySQL returned an empty result set" in done.text

        def look() -> None:
            assert "spans" in ada.get(
                "/index.php?route=/database/structure&db=bridges").text

        look()
        restart_under_load(httpd, app, look)
        assert ada.open("/templates/header.twig").status == 403


def test_adminer(httpd: Httpd) -> None:
    """Its only script is the index of its directory, and not index.php."""
    installed(httpd, "/etc/adminer", "/adminer",
              "Include /etc/apache2/conf-available/adminer.conf")
    with mariadb("bridges"):
        httpd.start()
        ada = visitor(httpd, "/adminer")
        home = ada.submit(ada.get(""), **{
            "auth[username]": "bridges", "auth[password]": "a secret",
            "auth[server]": "localhost", "auth[db]": "bridges"})
        assert "Database: bridges" in home.text
        ada.load(home)


# ---- others

def test_roundcube(httpd: Httpd) -> None:
    """Its DocumentRoot is below AppRoot, as links. No server for mail runs."""
    config = Path("/etc/roundcube")
    installed(httpd, "/var/lib/roundcube", "/roundcube",
              "Alias /roundcube /var/lib/roundcube/public_html",
              "Include /etc/roundcube/apache.conf",
              writes=("/var/lib/roundcube/temp", "/var/log/roundcube",
                      "/var/lib/dbconfig-common/sqlite3/roundcube"))
    (config / "config.inc.php").write_text(
        Path("/usr/share/roundcube/config.inc.php.sample").read_text())
    (config / "debian-db.php").write_text(
        "<?php $dbtype = 'sqlite3'; $dbname = 'roundcube';"
        "$basepath = '/var/lib/dbconfig-common/sqlite3/roundcube';")
    httpd.start()
    ada = visitor(httpd, "/roundcube")
    login = ada.get("/")
    ada.load(login)
    form = login.form("_user")
    refused = ada.open("/?_task=login", urllib.parse.urlencode(
        form.filled_in({"_user": "ada", "_pass": PASSWORD})).encode())
    assert "Connection to storage server failed" in refused.text
    for path in ("/config/config.inc.php", "/temp/", "/.htaccess"):
        assert ada.open(path).status in (403, 404)


def test_shaarli(httpd: Httpd) -> None:
    app = installed(httpd, "/usr/share/shaarli", "/shaarli",
                    "Include /etc/apache2/conf-available/shaarli.conf",
                    writes=("/var/lib/shaarli/data",
                            *(f"/var/cache/shaarli/{name}"
                              for name in ("cache", "pagecache", "tmp"))))
    httpd.log.expect("> PHP Deprecated: ",
                     "> Failed to retrieve https://raw.githubusercontent.com")
    httpd.start()
    ada = visitor(httpd, "/shaarli")
    login = ada.submit(ada.get("/"), setlogin="ada", setpassword=PASSWORD)
    ada.submit(ada.get("/login"), login="ada", password=PASSWORD)
    ada.submit(ada.get("/admin/shaare?post=Bridges"),
               lf_title="Br\u00fccke", lf_description="of steel")
    link = re.search(r'"/shaarli(/shaare/[\w-]+)"', ada.get("/").text)
    assert link
    reader = visitor(httpd, "/shaarli")

    def read() -> None:
        assert "of steel" in reader.get(link[1]).text

    restart_under_load(httpd, app, read)


def test_icingaweb2(httpd: Httpd) -> None:
    """A front controller with rewrite rules for the directory below AppRoot"""
    installed(httpd, "/usr/share/icingaweb2", "/icingaweb2",
              "Include /etc/apache2/conf-available/icingaweb2.conf")
    httpd.start()
    ada = visitor(httpd, "/icingaweb2")
    login = ada.get("")
    assert login.url.endswith("/icingaweb2/authentication/login")
    ada.load(login)
    config = Path("/etc/icingaweb2")
    machine.run("chown", OWNER, config)
    (config / "setup.token").write_text("a token")
    setup = ada.get("/setup")
    ada.load(setup)
    modules = ada.submit(setup, token="a token", btn_next=setup.form(
        "btn_next").buttons["btn_next"])
    assert "Requirements" in modules.text
    ada.load(modules)
