# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which configuration may give a URL the status, or the health of the pool: that
of the server, by any directive. .htaccess may not, because it belongs to one
tenant."""
import subprocess
from typing import NamedTuple

import pytest

from harness.cases import cases
from harness.httpd import STATUS, USER, Httpd

pytestmark = pytest.mark.mpms("event")

MODULES = ("actions", "alias", "asis", "headers", "include", "mime",
           "negotiation", "rewrite", "status")
REFUSED = "apppool: .* does not get the handler "
# Words of the responses, which nobody else sends.
PAGE, SECTION, OK = "Application pool", "<h1>Application pool", "ok\n"
WORDS = {"apppool-status": PAGE, "apppool-health": OK, "server-status": SECTION}


class Way(NamedTuple):
    path: str
    files: dict[str, str]  # @H@ is the handler


RULE = "RewriteEngine On\nRewriteRule {} {}"

HTACCESS = {
    "SetHandler": Way("/a/x", {"a/.htaccess": "SetHandler @H@", "a/x": ""}),
    "SetHandler, no file": Way("/a/none", {}),
    "SetHandler, of a directory": Way("/a/", {}),
    "SetHandler, with a query": Way("/a/x?json", {}),
    "AddHandler": Way("/b/x.st", {"b/.htaccess": "AddHandler @H@ .st",
                                  "b/x.st": ""}),
    "Files": Way("/c/x", {"c/.htaccess":
                          "<Files x>\nSetHandler @H@\n</Files>", "c/x": ""}),
    "FilesMatch": Way("/d/x", {"d/.htaccess": "<FilesMatch x>\nSetHandler @H@\n"
                               "</FilesMatch>", "d/x": ""}),
    "If": Way("/e/x", {"e/.htaccess": '<If "true">\nSetHandler @H@\n</If>',
                       "e/x": ""}),
    "an expression": Way("/ee/x", {
        "ee/.htaccess": 'SetHandler "expr=@H@"', "ee/x": ""}),
    "RewriteRule [H=]": Way("/f/x", {"f/.htaccess": RULE.format(
        "^x$", "- [H=@H@]"), "f/x": ""}),
    "RewriteRule [T=]": Way("/g/x", {"g/.htaccess": RULE.format(
        "^x$", "- [T=@H@]"), "g/x": ""}),
    "ForceType": Way("/h/x", {"h/.htaccess": "ForceType @H@", "h/x": ""}),
    "AddType": Way("/i/x.st", {"i/.htaccess": "AddType @H@ .st", "i/x.st": ""}),
    "AddType, with a parameter": Way("/j/x.st", {
        "j/.htaccess": 'AddType "@H@; a=b" .st', "j/x.st": ""}),
    "DefaultType of a map": Way("/k/x.var", {
        "k/.htaccess": "AddHandler type-map .var", "k/y": "",
        "k/x.var": "URI: y\nContent-Type: @H@\n"}),
    "a parent": Way("/l/m/x", {"l/.htaccess": "SetHandler @H@", "l/m/x": ""}),
    "index of another directory": Way("/n/", {
        "n/.htaccess": "DirectoryIndex /a/x", "n/x": ""}),
    "FallbackResource": Way("/o/none", {
        "o/.htaccess": "FallbackResource /a/x", "o/x": ""}),
    "ErrorDocument": Way("/p/x", {"p/.htaccess": "ErrorDocument 403 /a/x\n"
                                  "Require all denied", "p/x": ""}),
    "Action": Way("/q/x.demo", {"q/.htaccess": "AddHandler x-demo .demo\n"
                                "Action x-demo /a/x", "q/x.demo": ""}),
    "a rewritten URL": Way("/r/x", {"r/.htaccess": RULE.format("^x$", "/a/x"),
                                    "r/x": ""}),
    "MultiViews": Way("/s/x", {"s/.htaccess": "Options +MultiViews\n"
                               "SetHandler @H@\nAddType text/html .html", "s/x.html": ""}),
    "MultiViews, type": Way("/t/x", {"t/.htaccess": "Options +MultiViews\n"
                                     "AddType @H@ .st", "t/x.st": ""}),
    "SSI, virtual": Way("/u/x.shtml", {
        "u/.htaccess": "Options +Includes\nAddOutputFilter INCLUDES .shtml",
        "u/x.shtml": '<!--#include virtual="/a/x" -->'}),
    "SSI, file": Way("/v/x.shtml", {
        "v/.htaccess": "Options +Includes\nAddOutputFilter INCLUDES .shtml\n"
        "<Files y>\nSetHandler @H@\n</Files>", "v/y": "",
        "v/x.shtml": '<!--#include file="y" -->'}),
    "a rule that is not for subrequests": Way("/w/x", {
        "w/.htaccess": RULE.format("^x$", "- [H=@H@,NS]"), "w/x": ""}),
    "rules of access": Way("/x/y", {
        "x/.htaccess": "SetHandler @H@\nRequire all granted", "x/y": ""}),
    "rules of access of the server": Way("/xa/y", {
        "xa/.htaccess": "Require all granted", "xa/y": ""}),
    # The page itself, from there.
    "page, by its URL": Way("/y/", {"y/.htaccess":
                                    "DirectoryIndex /page", "y/x": ""}),
    "page, rewritten": Way("/z/x", {"z/.htaccess": RULE.format("^x$", "/page"),
                                    "z/x": ""}),
    "page, Action": Way("/za/x.demo", {
        "za/.htaccess": "AddHandler x-demo .demo\nAction x-demo /page",
        "za/x.demo": ""}),
    "page, FallbackResource": Way("/zb/none", {
        "zb/.htaccess": "FallbackResource /page", "zb/x": ""}),
    "page, SSI": Way("/zc/x.shtml", {
        "zc/.htaccess": "Options +Includes\nAddOutputFilter INCLUDES .shtml",
        "zc/x.shtml": '<!--#include virtual="/page" -->'}),
}


def make(httpd: Httpd, handler: str, files: dict[str, str]) -> None:
    public = httpd.dir / "shop/public"
    for name, text in files.items():
        file = public / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("@H@", handler))
    subprocess.run(["chown", "-R", f"{USER}:", str(public)], check=True)


def shop(httpd: Httpd, *more: str) -> None:
    httpd.modules += [name for name in MODULES if name not in httpd.modules]
    httpd.directives += ["TypesConfig /dev/null", "ExtendedStatus Off"]
    app = httpd.app("shop")
    app.directives += [f'<Directory "{app.public}">', "AllowOverride All",
                       "Options FollowSymLinks", "</Directory>", *more]


@pytest.mark.parametrize("handler", WORDS)
def test_not_by_htaccess(httpd: Httpd, handler: str) -> None:
    """In no way, also not for a URL that only some clients may read."""
    httpd.log.expect(REFUSED, "AH01630: client denied", "AH01599: Cannot get",
                     "AH00687: Negotiation", "unable to include")
    shop(httpd, '<Location "/page">', f"SetHandler {handler}",
         "Require ip 192.0.2.1", "</Location>",
         f'<Directory "{httpd.dir}/shop/public/xa">', f"SetHandler {handler}",
         "Require ip 192.0.2.1", "</Directory>")
    for way in HTACCESS.values():
        make(httpd, handler, way.files)
    httpd.start()
    for name, case in cases(HTACCESS):
        with case:
            for method in ("GET", "POST", "HEAD", "OPTIONS"):
                response = httpd.request(method, HTACCESS[name].path, "shop")
                assert WORDS[handler] not in response.text, response.status
                assert "pool" not in response.text, response.text
    assert httpd.log.matching(REFUSED)


SERVER = {
    "SetHandler of a location": '<Location "/1">\nSetHandler @H@\n</Location>',
    "AddHandler of a location": '<Location "/2">\nAddHandler @H@ .st\n'
    "</Location>",
    "SetHandler of a directory": '<Directory "@D@/3">\nSetHandler @H@\n'
    "</Directory>",
    "SetHandler of a file": '<Directory "@D@/4">\n<Files "x.st">\n'
    "SetHandler @H@\n</Files>\n</Directory>",
    "AddHandler of a directory": '<Directory "@D@/5">\nAddHandler @H@ .st\n'
    "</Directory>",
    "SetHandler of a condition": '<Location "/6">\n<If "true">\nSetHandler @H@\n'
    "</If>\n</Location>",
    "RewriteRule [H=]": 'RewriteEngine On\nRewriteRule "^/7/" - [H=@H@]',
    "RewriteRule [H=] of a directory": '<Directory "@D@/8">\n'
    "RewriteEngine On\nRewriteRule x - [H=@H@]\n</Directory>",
    "ForceType": '<Directory "@D@/9">\nForceType @H@\n</Directory>',
    "AddType": '<Directory "@D@/10">\nAddType @H@ .st\n</Directory>',
    "Alias": 'Alias "/11" "@D@/1"\n<Location "/11">\nSetHandler @H@\n'
    "</Location>",
    "a rewritten URL": 'RewriteRule "^/12/" "/1/x.st" [PT]',
    "a rule with a query": "RewriteCond %{QUERY_STRING} .\n"
    'RewriteRule "^/13/" - [H=@H@]',
}


@pytest.mark.parametrize("handler", WORDS)
def test_by_the_server(httpd: Httpd, handler: str) -> None:
    """By any directive, also if there is a .htaccess."""
    httpd.log.expect("AH01599: Cannot get")
    shop(httpd)
    app, = httpd.apps
    for number, text in enumerate(SERVER.values(), 1):
        app.directives += text.replace("@D@", str(app.public)).replace(
            "@H@", handler).splitlines()
        make(httpd, handler, {f"{number}/x.st": "",
                              f"{number}/.htaccess": "DirectoryIndex a b"})
    make(httpd, handler, {".htaccess": "Options FollowSymLinks\n"
                          "DirectoryIndex x.html"})
    httpd.start()
    for number, case in cases(range(1, len(SERVER) + 1)):
        with case:
            query = "" if handler == "apppool-health" and number != 13 else "?x"
            response = httpd.get(f"/{number}/x.st{query}", "shop")
            if handler == "apppool-health" and query:
                assert response.text == "unknown\n"  # no such app
                continue
            assert response.status == 200
            assert WORDS[handler] in response.text, response.text
    assert not httpd.log.matching(REFUSED)
