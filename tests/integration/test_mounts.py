# Licensed under the Apache License, Version 2.0; see LICENSE.
"""All forms of a mount, over all protocols. The two parts of a URL's path,
where the app is mounted and what is below, have to be what CGI/1.1 (RFC 3875),
PEP 3333, ASGI and Rack demand: together they are the path of the URL. In
SCRIPT_NAME and PATH_INFO it is decoded, but not for Rack, which puts URLs
together from them. The mount itself has the path /, also without a slash.
REQUEST_URI is what the client has sent."""
from typing import Iterator, Optional
from urllib.parse import unquote_to_bytes

import pytest

from harness.cases import cases
from harness.httpd import Httpd
from harness.web import LOADER, UWSGI

pytestmark = pytest.mark.one_mpm("a URL is taken apart before the app is asked")

WSGI = """\
import json
NAMES = "SCRIPT_NAME", "PATH_INFO", "REQUEST_URI"
def application(environ, start):
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([environ[name] for name in NAMES]).encode()]
"""

ASGI = """\
import json
async def application(scope, receive, send):
    if scope["type"] == "http":
        parts = scope["root_path"], scope["path"], scope["raw_path"].decode()
        await send({"type": "http.response.start", "status": 200,
                    "headers": []})
        await send({"type": "http.response.body",
                    "body": json.dumps(parts).encode()})
"""

RACK = """\
require "json"
run ->(env) {
  parts = [env["SCRIPT_NAME"], env["PATH_INFO"],
           Rack::Request.new(env).fullpath, ENV["RAILS_RELATIVE_URL_ROOT"]]
  [200, { "content-type" => "application/json" }, [JSON.generate(parts)]]
}
"""

# A server, and its AppProtocol.
SERVERS = {"loader": (f"{LOADER} wsgi", "http"),
           "fcgi": (f"{UWSGI} --protocol fastcgi", "fcgi"),
           "scgi": (f"{UWSGI} --protocol scgi", "scgi"),
           "uwsgi": (f"{UWSGI} --protocol uwsgi", "uwsgi")}

# A form of a mount, how a client writes its path, and whether the app is told
# of the path. None: the app is a virtual host.
FORMS: list[tuple[Optional[str], str, bool]] = [
    (None, "", True),
    ('<Location "/shop">', "/shop", True),
    ("<Location /slash/>", "/slash/", True),
    ('<Location "/my app">', "/my%20app", True),
    ('<Location "/a/b;c=1">', "/a/b;c=1", True),
    ('<Location "/50%25">', "/50%2525", True),
    ('<Location "/\N{LATIN SMALL LETTER U WITH DIAERESIS}">', "/%C3%BC", True),
    ('<Location "/one*">', "/one-two", False),
    ("<Location ~ ^/tilde(/|$)>", "/tilde", False),
    ('<LocationMatch "^/(shops|blog)(/|$)">', "/blog", False),
]
BELOW = ["", "/", "/a%20b", "/a/b/", "/%C3%BC%25?q=a%20b&c", "?", "?q=%2F"]


def decoded(path: str) -> str:
    """As CGI's variables are seen by WSGI."""
    return unquote_to_bytes(path).decode("latin-1")


def rows() -> Iterator[tuple[str, str, str, str]]:
    """The form, the target of a request, and SCRIPT_NAME and PATH_INFO as a
    client writes them."""
    for form, prefix, told in FORMS:
        base = prefix.rstrip("/") if told else ""
        for below in BELOW:
            whole = prefix + (below[1:] if prefix[-1:] == below[:1] == "/"
                              else below)
            if whole[:1] == "/":
                yield (form or "a virtual host", whole, base,
                       whole.partition("?")[0][len(base):] or "/")


def add(httpd: Httpd, name: str, server: str) -> None:
    """An app of one process, with all these mounts in one virtual host."""
    command, protocol = SERVERS[server]
    app = httpd.app(name, f"AppProtocol {protocol}", "MaxInstances 1",
                    f"AppGroupName {name}", command=command)
    (app.root / "wsgi.py").write_text(WSGI)
    lines = app.lines()
    for form, _, _ in FORMS:
        if form:
            app.directives += [form, *lines,
                               f"</{form.partition(' ')[0][1:]}>"]


def test_each_form_over_each_protocol(httpd: Httpd) -> None:
    httpd.modules.append("proxy_scgi")
    for server in SERVERS:
        add(httpd, server, server)
    httpd.start()
    for (server, row), case in cases([(server, row) for server in SERVERS
                                      for row in rows()]):
        _, target, name, info = row
        with case:
            response = httpd.get(target, server)
            assert response.status == 200
            assert response.json() == [decoded(name), decoded(info), target]


def test_servers_that_are_told_at_their_start(httpd: Httpd) -> None:
    """By the environment: puma and uvicorn. Over HTTP they cannot tell a mount
    from the same path with a slash."""
    for n, (file, text) in enumerate((("config.ru", RACK), ("asgi.py", ASGI))):
        app = httpd.app(f"app{n}", location=f"/my {file}", command=None)
        (app.root / file).write_text(text)
    httpd.start()
    for below, case in cases(("", "/", "/a%20b", "/%C3%BC%25?q=a%20b")):
        path = (below or "/").partition("?")[0]
        with case:
            response = httpd.get(f"/my%20config.ru{below}")
            assert response.json() == [
                "/my%20config.ru", path, "/my%20config.ru" + (below or "/"),
                "/my%20config.ru"]
            mount, *paths = httpd.get(f"/my%20asgi.py{below}").json()
            assert mount == "/my asgi.py"
            # From uvicorn 0.26 on, the mount is the beginning of the path.
            assert [one.removeprefix(mount) for one in paths] == [
                unquote_to_bytes(path).decode(), path]


def test_headers(httpd: Httpd) -> None:
    """What any server of HTTP is told. A client cannot send these headers."""
    app = httpd.app("shop", location="/my app", command=SERVERS["loader"][0])
    (app.root / "wsgi.py").write_text(WSGI.replace(
        "environ[name] for name in NAMES",
        "environ.get('HTTP_X_FORWARDED_' + name) for name in ('PREFIX', 'URI')"))
    httpd.start()
    forged = {"X-Forwarded-Prefix": "/evil", "X-Forwarded-Uri": "/evil"}
    for below, case in cases(("", "?q", "/", "/a%20b", "")):
        with case:
            assert httpd.get(f"/my%20app{below}", headers=forged).json() == [
                "/my%20app", None if "/" in below else "/my%20app"]


# ---- AppBasePath keep

def test_whole_path(httpd: Httpd) -> None:
    """The app gets what the client has sent, and is told of no mount: neither
    by its environment nor by a header of the client."""
    keep = "AppBasePath keep"
    for server, (command, protocol) in SERVERS.items():
        app = httpd.app(server, keep, f"AppProtocol {protocol}",
                        location=f"/my {server}", command=command)
        (app.root / "wsgi.py").write_text(WSGI)
    httpd.modules.append("proxy_scgi")
    for file, text in ("config.ru", RACK), ("asgi.py", ASGI):
        app = httpd.app(file, keep, location=f"/my {file}", command=None)
        (app.root / file).write_text(text)
    app = httpd.app("told", keep, location="/told",
                    command=SERVERS["loader"][0])
    (app.root / "wsgi.py").write_text(WSGI.replace(
        "environ[name] for name in NAMES",
        "environ.get('HTTP_X_FORWARDED_PREFIX'), environ.get("
        "'HTTP_X_FORWARDED_URI'), os.environ['APP_BASE_URI'], os.environ.get("
        "'RAILS_RELATIVE_URL_ROOT')").replace("import json",
                                              "import json, os"))
    httpd.start()
    for below, case in cases(("", "/", "/a%20b", "/%C3%BC%25?q=a%20b")):
        with case:
            for server in SERVERS:
                target = f"/my%20{server}{below}"
                assert httpd.get(target).json() == [
                    "", decoded(target.partition("?")[0]), target]
            target = f"/my%20config.ru{below}"
            assert httpd.get(target).json() == [
                "", target.partition("?")[0], target, None]
            target = f"/my%20asgi.py{below}"
            path = target.partition("?")[0]
            assert httpd.get(target).json() == [
                "", unquote_to_bytes(path).decode(), path]
            assert httpd.get(f"/told{below}", headers={
                "X-Forwarded-Prefix": "/evil"}).json() == [None, None, "",
                                                           None]
    assert httpd.get("/mything").status == 404


def test_whole_path_is_not_for_php(httpd: Httpd) -> None:
    """A command of PHP is refused. Files of PHP are a warning, and the
    directive has no effect on them."""
    app = httpd.app("shop", "AppBasePath keep", "AppProtocol fcgi",
                    location="/shop", command="php-cgi")
    (app.root / "index.php").write_text(
        "<?php echo $_SERVER['SCRIPT_NAME'], ' ', $_SERVER['PATH_INFO'];")
    done = httpd.test()
    assert done.returncode != 0
    assert "AppBasePath keep is not for PHP" in done.stdout
    app.command = None
    httpd.log.expect("AppBasePath keep is not for PHP.*it has no effect")
    httpd.start()
    assert httpd.get("/shop/a").text == "/shop/index.php /a"
