# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's DokuWiki: an author logs in, writes a page, uploads a file and
downloads it, and the processes are replaced under load."""
import hashlib
import secrets
from typing import Callable, Optional

import pytest

from harness import packaged
from harness.config import App
from harness.deploy import restart_under_load
from harness.httpd import Httpd, USER
from harness.tls import TlsHost
from harness.visitor import Visitor

PASSWORD = "a secret"


def dokuwiki(httpd: Httpd, location: Optional[str] = None) -> App:
    """Do what the package does when it is installed, and what its
    administrator does."""
    place = httpd.dir / "debian"
    packaged.unpacked("dokuwiki", place)
    root, config = place / "usr/share/dokuwiki", place / "etc/dokuwiki"
    # Debian 13's package lacks a file that it reads for each page.
    versions = root / "lib/scripts/jquery/versions"
    versions.parent.mkdir(exist_ok=True)
    versions.touch()
    acl = place / "var/lib/dokuwiki/acl"
    packaged.relocate(place)
    for file in (root / "inc/preload.php", config / "dokuwiki.php"):
        file.write_text(file.read_text()
                        .replace("'/etc/dokuwiki", f"'{config}")
                        .replace("'/var/lib", f"'{place}/var/lib"))
    (config / "local.php").write_text(
        "<?php $conf['useacl'] = 1; $conf['superuser'] = '@admin';")
    (acl / "acl.auth.php").write_text("* @ALL 0\n* @user 8\n")
    (acl / "users.auth.php").write_text(
        f"ada:{hashlib.md5(PASSWORD.encode()).hexdigest()}:Ada:"
        "ada@wiki.example:admin,user\n")
    packaged.run(place, "chown", "-R", USER, "var/lib/dokuwiki")
    app = App("wiki", root, [f"AppUser {USER}"], None, location)
    app.public = root
    httpd.apps.append(app)
    return app


def a_day_of_writing(httpd: Httpd, app: App, enter: Callable[[], Visitor]
                     ) -> None:
    httpd.log.expect(r"PHP Warning: +Undefined variable \$fullscreen")
    ada = enter()
    assert ada.get("/lib/tpl/dokuwiki/images/logo.png").headers["ETag"]
    assert "dokuwiki__header" in ada.get("/lib/exe/css.php?t=dokuwiki").text
    front = ada.submit(ada.get("/doku.php?id=start&do=login"),
                       u="ada", p=PASSWORD)
    assert "Logged in as" in front.text
    front = ada.get("/")
    assert "Logged in as" in front.text and "/doku.php" in front.url, front.url
    text = "====== Br\u00fccke ======\nof steel"
    page = ada.submit(ada.get("/doku.php?id=bridge&do=edit"), wikitext=text,
                      **{"do[save]": "Save"})
    assert "of steel" in page.text and "Br\u00fccke" in page.text

    data = secrets.token_bytes(3 << 19)  # PHP takes 2 MB
    ada.submit(ada.get("/lib/exe/mediamanager.php?ns="),
               upload=("plan.zip", data))
    assert ada.get("/lib/exe/fetch.php?media=plan.zip").body == data
    assert enter().open("/lib/exe/fetch.php?media=plan.zip").status == 403

    def work() -> None:
        # The HTML comes from DokuWiki's cache, which is empty for the moment
        # in which another process writes it.
        assert ada.get("/doku.php?id=bridge&do=export_raw").text == text
        assert ada.get("/lib/exe/fetch.php?media=plan.zip").body == data

    restart_under_load(httpd, app, work)


@pytest.mark.mpms("event")
@pytest.mark.in_long("the same below a path is here")
def test_site(httpd: Httpd) -> None:
    """Over TLS"""
    app = dokuwiki(httpd)
    host = TlsHost(httpd, app, f'DocumentRoot "{app.public}"')
    httpd.start()
    a_day_of_writing(httpd, app, lambda: Visitor(host.port, "wiki",
                                                 scheme="https"))
    host.close()


@pytest.mark.mpms("event")
def test_below_a_path(httpd: Httpd) -> None:
    """As the package's own Alias does it."""
    app = dokuwiki(httpd, "/dokuwiki")
    httpd.modules.append("alias")
    httpd.directives += [f'Alias "/dokuwiki" "{app.root}"']
    httpd.start()
    a_day_of_writing(httpd, app,
                     lambda: Visitor(httpd.port, "wiki", "/dokuwiki"))
