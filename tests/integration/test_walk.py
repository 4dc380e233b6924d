# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A request for a path without a file does not walk through DocumentRoot, and
gets the same response as with the walk. Each configuration has two virtual
hosts: a short one, and a long one, where an empty <DirectoryMatch> that matches
everything makes httpd walk. Both give the same responses."""
import re
from pathlib import Path
from typing import Callable, NamedTuple, Union

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Connection
from harness.config import App
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("it is the same in both")

SHORT = "only for files below it"
WALK = ['<DirectoryMatch ".">', "</DirectoryMatch>"]
USUAL = ["<Directory />", "AllowOverride None", "</Directory>"]
DENIED = "Require all denied"

PATHS = ("/", "/x", "/x/", "/x/y", "/x/y?q=1", "/file", "/file/x", "/dir",
         "/dir/", "/dir/none", "/dir/index.html", "/index.html/x", "/link",
         "/link/x", "/gone", "/gone/x", "/.hidden/x", "/.htaccess",
         "/x/.htaccess", "/.../x", "/x//y", "//x/y", "/x/../y", "/x/./y",
         "/%2e%2e/x", "/x%20y/z", "/x%25/z", "/a%2fb", "/%ff/x", "/x;y=1/z",
         "/x.php", "/x.php/y", f"/{'n' * 300}/x", f"/x/{'n' * 300}",
         "/alias/x", "/alias/dir/none", "/outside/x", "/outside/file", "/neg",
         "/odd", "/rewrite/x", "/secret/x", "/secretx/y")


class Case(NamedTuple):
    short: bool  # is the walk really saved?
    directives: list[str]
    prepare: Callable[[Path], object] = lambda public: None
    usual: bool = True


def section(kind: str, *lines: str) -> list[str]:
    return [f"<{kind}>", *lines, f"</{kind.split()[0]}>"]


def root(*lines: str) -> list[str]:
    """The path of DocumentRoot."""
    return section('Directory "{public}"', *lines)


def everywhere(*lines: str) -> list[str]:
    return section("Directory /", *lines)


def linked(public: Path) -> None:
    """DocumentRoot is a link, as in deployments with `current`."""
    public.rename(public.parent / "release")
    public.symlink_to("release")


def put(name: str, text: str) -> Callable[[Path], object]:
    return lambda public: (public / name).write_text(text)


BASIC = ["AuthType Basic", "AuthName x", "AuthBasicProvider file",
         "AuthUserFile /dev/null", "Require valid-user"]

CASES = {
    "plain": Case(True, []),
    "no AllowOverride": Case(False, [], usual=False),
    "what .htaccess may not say": Case(
        False, [], put(".htaccess", DENIED), usual=False),
    "AllowOverride All": Case(
        False, root("AllowOverride All"), put(".htaccess", DENIED)),
    "AllowOverride for a part": Case(
        False, root("AllowOverride AuthConfig"),
        put(".htaccess", 'Require expr "%{REQUEST_URI} !~ /x/"')),
    "AllowOverrideList": Case(
        False, root("AllowOverrideList Require"), put(".htaccess", DENIED)),
    "AllowOverride above": Case(
        False, section('Directory "{app}"', "AllowOverride All")
        + root("AllowOverride None"),
        lambda public: (public.parent / ".htaccess").write_text(DENIED)),
    "AllowOverride elsewhere": Case(
        True, section('Directory "/usr/share"', "AllowOverride All")),
    "AllowOverride below": Case(
        True, section('Directory "{public}/dir"', "AllowOverride All"),
        put("dir/.htaccess", DENIED)),
    "AllowOverride by a pattern": Case(
        False, section('Directory "{app}/*"', "AllowOverride All"),
        put(".htaccess", DENIED)),
    "denied": Case(True, root(DENIED)),
    "denied above": Case(True, section('Directory "{app}"', DENIED)),
    "denied above, granted": Case(
        True, section('Directory "{app}"', DENIED)
        + root("Require all granted")),
    "denied by a pattern": Case(
        True, section('Directory "{app}/p*"', DENIED)),
    "denied where nothing is": Case(
        True, section('Directory "{public}/x"', DENIED)),
    "denied where something is": Case(
        True, section('Directory "{public}/dir"', DENIED)),
    "a pattern below": Case(
        True, section('Directory "{public}/*"', DENIED)),
    "a password": Case(True, root(*BASIC)),
    "DirectoryMatch": Case(
        True, section('DirectoryMatch "/x$"', DENIED)),
    "Directory ~": Case(
        True, section('Directory ~ "/\\."', DENIED)),
    "DirectoryMatch of DocumentRoot": Case(
        False, section('DirectoryMatch "/public$"', DENIED)),
    "DirectoryMatch of all": Case(
        False, section('DirectoryMatch "/public"', "Header set X-Said yes")),
    "Files": Case(True, section('Files "x"', DENIED)),
    "Files in Directory": Case(True, root(*section('Files "x*"', DENIED))),
    "FilesMatch": Case(True, section('FilesMatch "^\\."', DENIED)),
    "If": Case(True, root(*section(
        'If "%{{REQUEST_URI}} =~ m#/x/#"', DENIED))),
    "headers": Case(True, root(
        "Header set X-Said directory", "SetEnvIf Request_URI x x=1",
        "Header set X-Env yes env=x")),
    "Location": Case(True, section('Location "/x"', DENIED)),
    "a handler": Case(True, root("SetHandler default-handler")),
    "ErrorDocument": Case(True, root("ErrorDocument 403 said", DENIED)),
    "FallbackResource": Case(True, root("FallbackResource /file")),
    "DirectoryIndex": Case(True, ["DirectoryIndex none file"]),
    "DirectorySlash": Case(True, root("DirectorySlash Off")),
    "MultiViews": Case(True, root("Options +MultiViews"),
                       put("neg.html", "negotiated")),
    "no links": Case(False, everywhere("Options -FollowSymLinks")),
    "no links, a link": Case(
        False, everywhere("Options -FollowSymLinks"), linked),
    "no links below": Case(
        False, root("Options None"), linked),
    "links of the owner": Case(
        False, everywhere("Options SymLinksIfOwnerMatch"), linked),
    "links of the owner as well": Case(
        False, everywhere("Options +SymLinksIfOwnerMatch")),
    "a link": Case(True, everywhere("Options FollowSymLinks"), linked),
    "Alias": Case(True, [
        'Alias /alias "{public}"', 'Alias /outside "{app}/tmp"',
        *section('Directory "{app}/tmp"', DENIED)]),
    "server rewrites": Case(True, [
        "RewriteEngine On",
        'RewriteRule ^/odd "{public}/none/../secret/file"',
        'RewriteRule ^/rewrite/(.*) "{public}//none/$1"',
        *section('Directory "{public}/secret"', DENIED)]),
    "rewrites of a directory": Case(True, root(
        "RewriteEngine On", "RewriteRule ^rewrite/(.*) /x/$1 [L]",
        "RewriteRule ^odd /dir/index.html [L]", "RewriteRule ^x/y - [F]")),
    "AppRoot Off": Case(True, section('Location "/x"', "AppRoot Off")),
    "MergeSlashes": Case(True, ["MergeSlashes Off"]),
    "AllowEncodedSlashes": Case(True, ["AllowEncodedSlashes On"]),
}


def fill(app: App) -> None:
    """Files below DocumentRoot."""
    for name in ("dir", "secret"):
        (app.public / name).mkdir()
    for name in ("file", "secret/file", "dir/index.html", "dir/file",
                 "../tmp/file"):
        (app.public / name).write_text(f"file {name}")
    (app.public / "link").symlink_to("dir")
    (app.public / "gone").symlink_to("nowhere")


def add(httpd: Httpd, name: str, one: Case, *more: str) -> App:
    """A virtual host of this configuration."""
    app = httpd.app(name, location=None)
    fill(app)
    one.prepare(app.public)
    lines = [*(USUAL if one.usual else []), *one.directives]
    app.directives += [line.format(public=app.public, app=app.root)
                       for line in lines] + list(more)
    return app


def begin(httpd: Httpd, *directives: str) -> None:
    httpd.modules += ["headers", "setenvif", "rewrite", "alias", "mime",
                      "negotiation", "auth_basic", "authn_core", "authn_file",
                      "authz_user"]
    httpd.directives += ["LogLevel crit apppool:debug",
                         "TypesConfig /dev/null", "AddType text/html .html",
                         "MaxInstances 1", *directives]
    httpd.log.expect(sentences.ALL_DENIED, sentences.BAD_HTACCESS)


Outcome = tuple[int, dict[str, str], str]


def fetch(client: Union[Httpd, Connection], app: App, path: str,
          method: str = "GET") -> Outcome:
    """The parts of a response that are the same for both hosts, and for two
    times."""
    response = client.request(method, path, app.name)
    text = response.body.decode("latin-1").replace(app.name, "NAME")
    headers = {name: response.headers[name].replace(app.name, "NAME")
               for name in ("Content-Type", "Location", "WWW-Authenticate",
                            "X-Said", "X-Env", "Allow", "Vary")
               if name in response.headers}
    return response.status, headers, re.sub(r"\d+", "N", text)


def saved(httpd: Httpd, app: App) -> bool:
    return bool(httpd.log.matching(rf"{re.escape(str(app.public))} {SHORT}"))


def differences(client: Connection, short: App, long: App) -> list[str]:
    """The requests to which the two hosts respond in different ways."""
    requests = [*(("GET", path) for path in PATHS),
                *(("POST", path) for path in PATHS[:5])]
    return [f"{method} {path}: {one}, by httpd {other}"
            for method, path in requests
            if (one := fetch(client, short, path, method))
            != (other := fetch(client, long, path, method))]


@pytest.mark.mpms("event")
def test_same_as_httpd(httpd: Httpd) -> None:
    begin(httpd, f"MaxPoolSize {2 * len(CASES)}")
    hosts = {name: (add(httpd, f"short{number}", one),
                    add(httpd, f"long{number}", one, *WALK))
             for number, (name, one) in enumerate(CASES.items())}
    httpd.start()
    client = Connection(httpd.port)
    for name, case in cases(CASES):
        with case:
            short, long = hosts[name]
            assert differences(client, short, long) == []
            assert saved(httpd, short) == CASES[name].short
            assert not saved(httpd, long)
    client.close()


def both(httpd: Httpd, *directives: str) -> tuple[App, App]:
    begin(httpd)
    one = Case(True, list(directives))
    return add(httpd, "short", one), add(httpd, "long", one, *WALK)


def by_app(outcome: Outcome) -> bool:
    return outcome[0] == 200 and outcome[2] == "NAME N"


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_files_come_and_go(httpd: Httpd) -> None:
    """The next request sees it."""
    app, _ = both(httpd)
    httpd.start()
    new = app.public / "new"

    def gets(path: str = "/new") -> Outcome:
        return fetch(httpd, app, path)

    assert by_app(gets())
    new.write_text("a file")
    assert gets()[2] == "a file"
    new.unlink()
    assert by_app(gets())
    new.mkdir()
    (new / "index.html").write_text("an index")
    assert gets("/new/")[2] == "an index"
    assert by_app(gets("/new/x"))
    new.rename(app.public / "old")
    assert by_app(gets("/new/"))
    new.symlink_to("nowhere")
    assert gets()[0] == 403
    new.unlink()
    assert by_app(gets())
    index = app.public / "index.html"
    assert by_app(gets("/"))
    index.write_text("the front page")
    assert gets("/")[2] == "the front page"
    index.unlink()
    assert by_app(gets("/"))


@pytest.mark.mpms("prefork", "event")
def test_document_root_goes(httpd: Httpd) -> None:
    """Its settings apply while it exists, and for one second longer."""
    short, long = both(httpd, *everywhere(DENIED),
                       *root("Require all granted"))
    httpd.directives.append("MaxKeepAliveRequests 0")
    httpd.start()
    child = Connection(httpd.port)

    def status(app: App) -> int:
        return child.request("GET", "/x/y", app.name).status

    for app in (short, long):
        assert status(app) == 200
        app.public.rename(app.root / "away")
        wait_until(lambda: status(app) == 403, "it is denied")
        (app.root / "away").rename(app.public)
        assert status(app) == 200
    child.close()
    assert saved(httpd, short)


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_document_root_comes(httpd: Httpd) -> None:
    """It did not exist when httpd started."""
    short, long = both(httpd, *everywhere(DENIED),
                       *root("Require all granted"))
    for app in (short, long):
        app.public.rename(app.root / "away")
    httpd.start()
    for app in (short, long):
        assert fetch(httpd, app, "/x/y")[0] == 403
    assert not saved(httpd, short)
    for app in (short, long):
        (app.root / "away").rename(app.public)
        assert by_app(fetch(httpd, app, "/x/y"))
    assert saved(httpd, short)


def test_deployment_by_a_link(httpd: Httpd) -> None:
    """The next request sees the files of the new release."""
    app, _ = both(httpd)
    linked(app.public)
    httpd.start()
    assert by_app(fetch(httpd, app, "/new"))
    (app.root / "next").mkdir()
    (app.root / "next" / "new").write_text("a file")
    (app.root / "link").symlink_to("next")
    (app.root / "link").rename(app.public)
    assert fetch(httpd, app, "/new")[2] == "a file"
    assert by_app(fetch(httpd, app, "/dir/index.html"))


@pytest.mark.parametrize("denied", [False, True])
def test_location(httpd: Httpd, denied: bool) -> None:
    """An app below a path of the main server is protected as well."""
    begin(httpd, *USUAL, *section(f'Directory "{httpd.dir}/htdocs"',
                                  *[DENIED] * denied))
    httpd.app("shop", location="/shop")
    httpd.start()
    for path in ("/shop", "/shop/x/y"):
        assert httpd.get(path, "127.0.0.1").status == (403 if denied else 200)
    assert httpd.get("/other/x", "127.0.0.1").status == \
        (403 if denied else 404)
    assert len(httpd.log.matching(f"/htdocs {SHORT}")) > 0
