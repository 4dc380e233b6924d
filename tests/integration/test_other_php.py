# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Scripts of an application where httpd has a PHP of its own: mod_php, or
php-fpm. Which one runs them, and that no recipe against PHP makes a script run
or sends its source."""
import re
import shutil
from pathlib import Path
from typing import Optional

import pytest

from harness import config, sentences
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd
from harness.php import (BY_FPM, BY_MOD_PHP, BY_POOL, OWNER, fpm, load_mod_php,
                         put)
from harness.places import apxs

pytestmark = pytest.mark.mpms("event")

MODULES = ["access_compat", "alias", "mime", "negotiation", "rewrite"]

# A directory below DocumentRoot has a script. Each row has what the configuration
# of httpd, the virtual host or .htaccess says about that directory, which is @,
# and who runs the script.
RUN = {
    "nothing": ("", BY_POOL),
    "another suffix": ("Files plain.txt: SetHandler none", BY_POOL),
    "the type of RHEL": ("server: AddType text/html .php", BY_POOL),
    "a type by AddType": ("server: AddType application/x-httpd-php .php",
                          BY_POOL),
    "AddHandler": ("pattern: AddHandler application/x-httpd-php .php", BY_POOL),
    "a charset": ("htaccess: ForceType text/html", BY_POOL),
    "a pattern": ("pattern: SetHandler application/x-httpd-php", BY_POOL),
    "SetHandler of a user": ("htaccess: SetHandler application/x-httpd-php",
                             BY_POOL),
    "AddHandler of a user": (
        "htaccess: AddHandler application/x-httpd-php .php", BY_POOL),
    "a panel's handler": (
        "htaccess: AddHandler application/x-httpd-ea-php81 .php\n<Files *.php>\n"
        "SetHandler application/x-httpd-ea-php81\n</Files>", BY_POOL),
    "own Directory": ("server: SetHandler application/x-httpd-php",
                      BY_MOD_PHP),
    "own Directory of the virtual host": (
        "host: SetHandler application/x-httpd-php", BY_MOD_PHP),
    "own AddHandler": ("host: SetHandler none\n"
                       "AddHandler application/x-httpd-php .php",
                       BY_MOD_PHP),
    "AppRoot Off": ("host: AppRoot Off", BY_MOD_PHP),
    "RewriteRule with a handler": (
        "server: RewriteEngine On\nRewriteRule \\.php$ - "
        "[H=application/x-httpd-php]", BY_MOD_PHP),
    "RewriteRule of a user with a handler": (
        "htaccess: RewriteEngine On\nRewriteRule \\.php$ - "
        "[H=application/x-httpd-php]", BY_MOD_PHP),
    "Action": ("server: <Files x.php>\nSetHandler acted\n</Files>\n"
               "Action acted /index.php", f"{BY_POOL} index.php"),
    "engine on again": ("server: php_admin_flag engine off\n"
                        "php_admin_flag engine on", BY_POOL),
    # ---- recipes against PHP: nobody runs it
    "SetHandler none": ("server: SetHandler none", ""),
    "SetHandler none of a user": ("htaccess: SetHandler none", ""),
    "SetHandler of an expression": (
        "server: SetHandler \"%{env:NO_SUCH_VARIABLE}none\"", ""),
    "default-handler": ("server: SetHandler default-handler", ""),
    "Drupal": ("htaccess: SetHandler Drupal_Security_Do_Not_Remove_See_SA\n"
               "<Files *>\nSetHandler Drupal_Security_2013_003\n</Files>\n"
               "<IfModule mod_php.c>\nphp_flag engine off\n</IfModule>", ""),
    "Magento": ("htaccess: php_flag engine 0\n"
                "AddHandler cgi-script .php .pl .py\nOptions -ExecCGI", ""),
    "cgi-script": ("htaccess: AddHandler cgi-script .php\nOptions -ExecCGI",
                   ""),
    "RemoveHandler": ("server: RemoveHandler .php .phtml", ""),
    "RemoveHandler of a user": ("htaccess: RemoveHandler php", ""),
    "RemoveType": ("htaccess: RemoveType .php .phtml", ""),
    "AddType": ("htaccess: AddType text/plain .html .php .phtml", ""),
    "ForceType": ("server: ForceType text/plain", ""),
    "ForceType of a user": ("htaccess: ForceType application/octet-stream", ""),
    "php_admin_flag": ("server: php_admin_flag engine off", ""),
    "php_admin_flag of the virtual host": ("host: php_admin_flag engine off",
                                           ""),
    "php_admin_flag of a pattern": ("pattern: php_admin_flag engine off", ""),
    "php_admin_flag, against a user": (
        "server: php_admin_flag engine off\n"
        "<Files *>\nphp_flag engine on\n</Files>", ""),
    "php_admin_flag of a match": ("match: php_admin_flag engine off", ""),
    "php_flag": ("htaccess: php_flag engine off", ""),
    "php_value": ("htaccess: php_value engine 0", ""),
    "engine of one file": (
        "htaccess: <Files x.php>\nphp_flag engine off\n</Files>", ""),
    "own handler, engine off": (
        "host: SetHandler application/x-httpd-php\nphp_flag engine off", ""),
    "Require": ("server: Require all denied", ""),
    "Require for scripts": ("htaccess: <FilesMatch \"\\.ph(p|tml)$\">\n"
                            "Require all denied\n</FilesMatch>", ""),
    "Deny": ("htaccess: <Files *.php>\nOrder Deny,Allow\nDeny from all\n"
             "</Files>", ""),
    "RewriteRule": ("htaccess: RewriteEngine On\nRewriteRule \\.php$ - [F]",
                    ""),
    "an unknown handler": ("htaccess: SetHandler application/x-lsphp", ""),
}

SECTIONS = {"server": '<Directory "@">', "host": '<Directory "@">',
            "pattern": '<Directory "*@">', "match": '<DirectoryMatch "^@">'}


def named(row: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in row)


def expect(httpd: Httpd) -> None:
    httpd.log.expect(sentences.SCRIPT_OFF, sentences.SCRIPT_NOT_SENT,
                     "AH01630: client denied", "AH01797: client denied",
                     "AH02809", "AH01276", "AH01262", "AH01265")


def sections(httpd: Httpd, public: Path) -> list[str]:
    """Write the files of the rows, and the sections of the configuration.
    @return those of the virtual host"""
    own = []
    for row, (text, _) in RUN.items():
        place = public / named(row)
        where, _, rule = text.partition(": ")
        put(place, htaccess=rule if where == "htaccess" else "")
        if where in SECTIONS:
            begin = SECTIONS[where].replace("@", str(place))
            if where == "pattern":
                begin = begin.replace(f"*{httpd.dir}", str(httpd.dir)[:-1] + "*")
            end = "</DirectoryMatch>" if where == "match" else "</Directory>"
            lines = [begin, *rule.splitlines(), end]
            if where == "host":
                own += lines
            else:
                httpd.directives += lines
    return own


def start(httpd: Httpd, rows: bool = True) -> None:
    """A PHP site with its own user, and scripts of another package behind an
    Alias, as phpMyAdmin's."""
    expect(httpd)
    httpd.modules += MODULES
    httpd.directives += ["TypesConfig /dev/null", "AddType text/html .html",
                         f'<Directory "{httpd.dir}">', "AllowOverride All",
                         "Options FollowSymLinks", "</Directory>",
                         f'Alias "/phpmyadmin" "{httpd.dir}/tools"',
                         f'<Directory "{httpd.dir}/tools">',
                         "DirectoryIndex index.php", "</Directory>"]
    for place in ("tools", "shop/public"):
        put(put(httpd.dir / place), "index.php")
    site(httpd, "shop", *(sections(httpd, httpd.dir / "shop/public")
                          if rows else ()))
    httpd.start()


def site(httpd: Httpd, name: str, *directives: str, root: str = "",
         public: str = "", location: Optional[str] = None) -> App:
    """An application of PHP that has these scripts."""
    place = httpd.dir / (root or name)
    for script in ("index.php", "x.php"):
        put(place / (public or "public"), script)
    put(place, "index.php")
    app = httpd.app(name, f"AppUser {OWNER}", "DirectoryIndex index.php",
                    *directives, command=None, root=place, location=location)
    app.public = place / (public or "public")
    shutil.chown(place, OWNER, OWNER)
    return app


def load_late(httpd: Httpd, *modules: str) -> None:
    """Load these modules of httpd after mod_apppool."""
    httpd.directives += [
        f"LoadModule {name}_module {apxs('LIBEXECDIR')}/mod_{name}.so"
        for name in modules]


def test_recipes(httpd: Httpd, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order in which modules are loaded is not the usual one: httpd's hooks
    have another order then."""
    monkeypatch.setattr("harness.config.MODULES",
                        [name for name in config.MODULES if name != "dir"])
    load_late(httpd, "actions", "dir")
    load_mod_php(httpd)
    start(httpd)
    for row, case in cases(RUN):
        rule, runs = RUN[row]
        with case:
            for response in (httpd.get(f"/{named(row)}/x.php", "shop"),
                             httpd.post(f"/{named(row)}/x.php", "shop", "x=1")):
                assert "<?php" not in response.text
                if runs:
                    assert response.text.startswith(runs), response.text[:200]
                else:
                    assert (response.status, "run by" in response.text) \
                        == (403, False), response.text[:200]
            if "SetHandler app" not in rule and row != "Require":
                assert httpd.get(f"/{named(row)}/plain.txt",
                                 "shop").text == "a file"
    httpd.log.wait_for(r"SetHandler application/x-httpd-ea-php81 \(line 3 of .*"
                       "/.htaccess\\) does not count for the scripts of shop")


def of_the_pool(httpd: Httpd, theirs: str) -> None:
    """What the pool runs, and what the other PHP runs."""
    for path, method in (("/", "GET"), ("/x.php", "GET"), ("/x.php", "POST"),
                         ("/", "POST"), ("/users/7", "GET"),
                         ("/x.php/a/b?c", "GET")):
        response = httpd.request(method, path, "shop",
                                 "x=1" if method == "POST" else None)
        assert response.text.startswith(BY_POOL), (method, path, response.text)
    for path in ("/phpmyadmin/x.php", "/phpmyadmin/"):
        response = httpd.get(path, "shop")
        assert response.text.startswith(theirs), (path, response.text)


def test_mod_php(httpd: Httpd) -> None:
    """Other sites, mounts and protocols."""
    load_mod_php(httpd)
    httpd.directives += [
        f'Alias "/mnt" "{httpd.dir}/mnt/files"',
        f'Alias "/own" "{httpd.dir}/own/files"',
        '<Location "/own">', "SetHandler application/x-httpd-php",
        "</Location>"]
    site(httpd, "fcgi", "AppProtocol fcgi")
    # Debian turns the engine off there, which is about UserDir.
    site(httpd, "home", root="home/alice/public_html", public=".")
    site(httpd, "mnt", location="/mnt", public="files")
    site(httpd, "own", location="/own", public="files")
    put(httpd.app("http").public)
    kept = site(httpd, "kept", '<FilesMatch "\\.php$">',
                "SetHandler application/x-httpd-php", "</FilesMatch>")
    place = put(httpd.dir / "fcgi/public/forbidden",
                htaccess="php_flag engine off")
    httpd.directives += [f'<Directory "{place}">',
                         "AllowOverride FileInfo Nonfatal=Override",
                         "</Directory>"]
    httpd.log.expect("AH02295: php_flag in .htaccess forbidden")
    (httpd.app("wsgi", command=None).root / "wsgi.py").touch()
    put(httpd.dir / "wsgi/public")
    start(httpd, rows=False)
    of_the_pool(httpd, BY_MOD_PHP)
    for host, path, runs in (
            ("fcgi", "/x.php", BY_POOL), ("home", "/x.php", BY_POOL),
            ("fcgi", "/forbidden/x.php", BY_POOL),
            ("status", "/mnt/x.php", BY_POOL), ("status", "/mnt/", BY_POOL),
            ("status", "/own/x.php", BY_MOD_PHP), ("kept", "/x.php", BY_MOD_PHP),
            ("http", "/x.php", BY_MOD_PHP), ("wsgi", "/x.php", BY_MOD_PHP)):
        assert httpd.get(path, host).text.startswith(runs), (host, path)
    said = httpd.test().stdout
    assert len(re.findall(
        r"apppool: SetHandler application/x-httpd-php \(line \d+ of \S+\) "
        r"does not count for the scripts of AppRoot \S+/fcgi \(line .*\) and "
        r"of 5 more AppRoots: the application runs them", said)) == 1, said
    assert re.search(rf"runs the scripts of AppRoot {kept.root} \(line", said)
    assert said.count("apppool: SetHandler ") == 2, said


def test_fpm(httpd: Httpd) -> None:
    """php_flag is left over in .htaccess from the time of mod_php."""
    httpd.log.expect("Unknown directive php_(admin_)?flag perhaps misspelled")
    for name, override, directive in (
            ("fatal", "All", "php_flag"),
            ("left", "All Nonfatal=Unknown", "php_flag"),
            ("files", "FileInfo Nonfatal=Unknown", "php_flag"),
            ("admin", "All Nonfatal=Unknown", "php_admin_flag")):
        place = put(httpd.dir / "shop/public" / name,
                    htaccess=f"{directive} engine off")
        httpd.directives += [f'<Directory "{place}">',
                             f"AllowOverride {override}", "</Directory>"]
    off = f"{httpd.dir}/shop/public/off"
    put(httpd.dir / "shop/public/off")
    httpd.directives += [f'<Directory "{off}">', "AppRoot Off", "</Directory>"]
    with fpm(httpd):
        start(httpd, rows=False)
        of_the_pool(httpd, BY_FPM)
        assert httpd.get("/off/x.php", "shop").text.startswith(BY_FPM)
        for name in ("left", "files", "admin"):
            assert httpd.get(f"/{name}/x.php", "shop").text.startswith(BY_POOL)
        assert httpd.get("/fatal/x.php", "shop").status == 500
        httpd.log.expect(r"\[core:alert\] .*/fatal/.htaccess: Invalid command")
        assert re.search(r'SetHandler "proxy:unix:\S+\|fcgi://localhost" \(line '
                         r"\d+ of \S+\) does not count", httpd.test().stdout)


def test_proxied(httpd: Httpd) -> None:
    """httpd -t names a rule of mod_proxy that takes the scripts."""
    httpd.modules += ["proxy_fcgi"]
    to = f'"unix:/run/fpm.sock|fcgi://localhost{httpd.dir}"'
    rule = 'ProxyPassMatch "^(/.*\\.php(/.*)?)$" '
    place = httpd.dir / "shop" / "public"
    put(place, "index.php")
    put(httpd.dir / "wsgi")
    (httpd.app("wsgi", command=None).root / "wsgi.py").touch()
    before = len(httpd.directives)
    for where, line, names in (
            ("host", rule + to, True), ("server", rule + to, True),
            ("other", rule + to, False),
            ("host", rule + '"http://127.0.0.1:1"', False),
            ("host", f'ProxyPassMatch "^/old/.*\\.php$" {to}', False)):
        site(httpd, "shop", *[line] * (where == "host"))
        httpd.directives += {
            "server": [line], "host": [], "other": [
                f"<VirtualHost *:{httpd.port}>", "ServerName other", line,
                "</VirtualHost>"]}[where]
        said = httpd.test().stdout
        assert said.count("runs the scripts of AppRoot") == names, (line, said)
        if names:
            assert re.search(r"apppool: ProxyPassMatch .* \(line \d+ of \S+\) "
                             rf"runs the scripts of AppRoot {place.parent} ",
                             said)
        httpd.directives[before:] = httpd.apps[1:] = []


@pytest.mark.parametrize("directive", ["php_flag engine off",
                                       "php_admin_value engine off",
                                       "AddHandler x .php", "RemoveType .php"])
def test_directive_of_no_module(httpd: Httpd, directive: str) -> None:
    """It is as wrong as without this module."""
    done = httpd.test(httpd.configure().read_text() + directive)
    assert done.returncode != 0
    assert f"Invalid command '{directive.split()[0]}', perhaps mis" in done.stdout
