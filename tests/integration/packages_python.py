# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications in Python, with AppRoot alone: as Debian packages them, as the
documentation of their frameworks writes them, and as Django makes them."""
import os
import re
import secrets
import subprocess
import textwrap
from pathlib import Path

import pytest

from harness import machine, packaged
from harness.cases import cases
from harness.config import App, SLOW_START
from harness.deploy import broken_under_load, restart_under_load
from harness.httpd import Httpd, USER
from harness.listing import listing
from harness.php import OWNER
from harness.visitor import PATIENCE, Visitor
from test_examples import blocks, sections

pytestmark = [pytest.mark.mpms("event"), pytest.mark.usefixtures("debian")]

DISTS = "/usr/lib/python3/dist-packages"
DOCS = Path("/usr/share/doc")
BOTTLE = f"{DOCS}/python-bottle-doc/html/_sources/tutorial.rst.txt"


# ---- programs of a page

# Where documentation has a program, its first line, the file as which it is
# saved, what is requested, and a part of the page
PROGRAMS = {
    "flask": (f"{DISTS}/Flask-*/PKG-INFO", "from flask import Flask", "app.py",
              "/", "Hello, World!"),
    "fastapi": (f"{DISTS}/fastapi-*/METADATA", "from typing import Union",
                "main.py", "/items/5?q=bridge", '{"item_id":5,"q":"bridge"}'),
    "starlette": (f"{DISTS}/starlette-*/METADATA",
                  "from starlette.applications import Starlette", "example.py",
                  "/", '{"hello":"world"}'),
    "quart": (f"{DISTS}/quart-*/METADATA",
              "from quart import Quart, render_template, websocket", "app.py",
              "/api", '{"hello":"world"}'),
    "falcon": (f"{DISTS}/falcon-*/PKG-INFO", "# examples/things.py",
               "things.py", "/things", "moral law"),
    "falcon-asgi": (f"{DISTS}/falcon-*/PKG-INFO", "# examples/things_asgi.py",
                    "things_asgi.py", "/things", "moral law"),
    "bottle": (BOTTLE, "from bottle import Bottle, run", "hello.py", "/hello",
               "Hello World!"),
    "bottle-default": (BOTTLE, "from bottle import route, run", "hello.py",
                       "/hello", "Hello World!"),
}
# Frameworks whose documentation Debian does not have: the file, and its text
OTHERS = {
    "webpy": ("code.py", """import web

app = web.application(("/(.*)", "Hello"), globals())


class Hello:
    def GET(self, name):
        return "Hello, " + name


application = app.wsgifunc()
if __name__ == "__main__":
    app.run()
"""),
    "pyramid": ("app.py", """from pyramid.config import Configurator
from pyramid.response import Response

with Configurator() as config:
    config.add_route("hello", "/{name}")
    config.add_view(lambda request: Response(
        "Hello, " + request.matchdict["name"]), route_name="hello")

app = config.make_wsgi_app()
"""),
}


def test_programs(httpd: Httpd) -> None:
    httpd.directives += ["MaxPoolSize 20", *SLOW_START]
    wanted = {}
    for name, (where, begin, file, path, text) in PROGRAMS.items():
        root = httpd.app(name, command=None).root
        (root / file).write_text(listing(where, begin))
        wanted[name] = path, text
    for name, (file, text) in OTHERS.items():
        (httpd.app(name, command=None).root / file).write_text(text)
        wanted[name] = "/Ada", "Hello, Ada"
    httpd.start()
    for name, case in cases(wanted):
        path, text = wanted[name]
        with case:
            response = httpd.get(path, name, timeout=PATIENCE)
            assert response.status == 200 and text in response.text, \
                response.text


# ---- applications of several files

def write_flaskr(root: Path) -> None:
    """Flask's tutorial. Each listing says to which file it adds; one that leaves
    out what is there adds to the end of the function."""
    pages = DOCS / "python-flask-doc/html/_sources/tutorial"
    code = re.compile(r"^\.\. code-block:: \S+\n    :caption: ``(flaskr/[^`]*)"
                      r"``\n\n((?:    .*\n|\n)+)", re.M)
    end = "\n    return app\n"
    files: dict[str, str] = {}
    for page in re.findall(r"^    (\w+)$", (pages / "index.rst.txt")
                           .read_text(), re.M):
        for name, block in code.findall((pages / f"{page}.rst.txt")
                                        .read_text()):
            text = textwrap.dedent(block)
            _, omitted, added = text.partition("# existing code omitted\n")
            if omitted:
                files[name] = files[name].replace(end, added)
            else:
                files[name] = files.get(name, "") + text
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def own(app: App) -> None:
    subprocess.run(["chown", "-R", USER, app.root], check=True)


def test_flaskr(httpd: Httpd) -> None:
    app = httpd.app("flaskr", *SLOW_START, command=None)
    write_flaskr(app.root)
    packaged.run(app.root, "flask", "--app", "flaskr", "init-db",
                 PATH=os.defpath)
    own(app)
    httpd.start()
    ada = Visitor(httpd.port, "flaskr", named=False)
    who = {"username": "ada", "password": "a secret"}
    ada.submit(ada.get("/auth/register"), **who)
    ada.submit(ada.get("/auth/login"), **who)
    page = ada.submit(ada.get("/create"), title="Br\u00fccke", body="of steel")
    assert "Br\u00fccke" in page.text
    assert "/static/style.css" in ada.load(page)

    def edit() -> None:
        assert "of steel" in ada.get("/1/update").text

    restart_under_load(httpd, app, edit)
    broken_under_load(httpd, app, app.root / "flaskr/blog.py",
                      "import nothing\n", edit)


def test_django(httpd: Httpd) -> None:
    """The manual's example, word for word, and its administrator"""
    machine.run("mount", "-t", "tmpfs", "none", "/srv")
    (_, made_by), = blocks(sections()["Django"], "(Made by)")
    (_, configuration), = blocks(sections()["Django"], "(Configuration)")
    packaged.run(Path("/srv"), "sh", "-ec", f"mkdir shop\n{made_by}",
                 PATH=os.defpath)
    app = App("shop.example", Path("/srv/shop"), (), None, None)
    app.lines = configuration.splitlines  # type: ignore[method-assign]
    packaged.run(app.root, "python3", "manage.py", "createsuperuser",
                 "--noinput", "--username=ada", "--email=ada@shop.example",
                 PATH=os.defpath, DJANGO_SUPERUSER_PASSWORD="a secret")
    own(app)
    httpd.apps.append(app)
    httpd.directives += SLOW_START
    httpd.start()
    ada = Visitor(httpd.port, "shop.example", named=False)
    home = ada.submit(ada.get("/admin/"), username="ada", password="a secret")
    assert "Site administration" in home.text
    assert "/static/admin/css/base.css" in ada.load(home)
    page = ada.submit(ada.get("/admin/auth/group/add/"), name="Builders",
                      _save="Save")
    assert "was added successfully" in page.text

    def edit() -> None:
        assert "Builders" in ada.get("/admin/auth/group/1/change/").text

    restart_under_load(httpd, app, edit)
    broken_under_load(httpd, app, app.root / "shop/settings.py", "DEBUG =\n",
                      edit)


# ---- packages of Debian

def installed(httpd: Httpd, name: str, root: str, *directives: str) -> App:
    app = App(name, Path(root), [f"AppUser {OWNER}", *SLOW_START, *directives],
              None, None)
    app.public = app.root
    httpd.apps.append(app)
    return app


def test_graphite(httpd: Httpd) -> None:
    """Django, in graphite.wsgi. Without the variable, that file names a module of
    settings that the package does not have."""
    for place in ("/var/lib/graphite", "/var/log/graphite"):
        machine.run("chown", OWNER, place)
    for words in (["migrate", "--run-syncdb"],
                  ["createsuperuser", "--noinput", "--username=ada",
                   "--email=ada@graphite.example"]):
        machine.run("setpriv", f"--reuid={OWNER}", "--clear-groups", "env",
                    "DJANGO_SUPERUSER_PASSWORD=a secret", "graphite-manage",
                    *words)
    app = installed(httpd, "graphite", "/usr/share/graphite-web",
                    "AppSetEnv GRAPHITE_SETTINGS_MODULE local_settings")
    httpd.start()
    ada = Visitor(httpd.port, "graphite", named=False)
    ada.load(ada.get("/composer"))
    home = ada.submit(ada.get("/account/login"), username="ada",
                      password="a secret")
    assert home.status == 200

    def draw() -> None:
        picture = ada.get("/render?target=randomWalk('x')&format=png")
        assert picture.body.startswith(b"\x89PNG")

    draw()
    restart_under_load(httpd, app, draw)


CALENDAR = """[auth]
type = htpasswd
htpasswd_filename = /etc/radicale/users
htpasswd_encryption = plain
[rights]
type = owner_only
"""
EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:1
DTSTAMP:20240101T100000Z
DTSTART:20240101T100000Z
SUMMARY:of steel
END:VEVENT
END:VCALENDAR
"""
LOGIN = {"Authorization": "Basic YWRhOnNlY3JldA=="}


def test_radicale(httpd: Httpd) -> None:
    """A calendar, over CalDAV. The application is called as its file is."""
    Path("/etc/radicale/config").write_text(CALENDAR)
    Path("/etc/radicale/users").write_text("ada:secret\n")
    machine.run("chown", "-R", OWNER, "/var/lib/radicale")
    installed(httpd, "calendar", "/usr/share/radicale")
    httpd.start()
    ada = Visitor(httpd.port, "calendar", named=False)
    ada.load(ada.get("/"))
    for method, path, body, status in (
            ("PROPFIND", "/ada/", "", 207),
            ("MKCALENDAR", "/ada/plan/", "", 201),
            ("PUT", "/ada/plan/1.ics", EVENT, 201),
            ("PROPFIND", "/ada/plan/", "", 207)):
        response = httpd.request(method, path, "calendar", body, LOGIN)
        assert response.status == status, (method, response.text)
        assert httpd.request(method, path, "calendar", body).status == 401
    assert "of steel" in httpd.get("/ada/plan/1.ics", "calendar",
                                   headers=LOGIN).text


def test_klaus(httpd: Httpd) -> None:
    """It shows repositories, and git clones from it and pushes to it."""
    bare, clone = httpd.dir / "bridge.git", httpd.dir / "clone"
    app = httpd.app("git", f"AppSetEnv KLAUS_REPOS {bare}",
                    "AppSetEnv KLAUS_USE_SMARTHTTP 1",
                    "AppSetEnv KLAUS_UNAUTHENTICATED_PUSH 1", *SLOW_START,
                    command=None)
    (app.root / "wsgi.py").write_text(
        "from klaus.contrib.wsgi import application\n")
    machine.run("git", "init", "-q", "--bare", "-b", "master", bare)
    machine.run("chown", "-R", USER, bare)
    httpd.start()
    machine.run("git", "-c", "http.extraHeader=Host: git", "clone", "-c",
                "http.extraHeader=Host: git",
                f"http://127.0.0.1:{httpd.port}/bridge", clone)
    # git sends more than a megabyte in chunks.
    (clone / "plan").write_bytes(b"of steel" + secrets.token_bytes(3 << 20))
    for words in (["add", "plan"],
                  ["-c", "user.name=ada", "-c", "user.email=ada@git.example",
                   "commit", "-q", "-m", "A plan"], ["push", "-q"]):
        machine.run("git", "-C", clone, *words)
    ada = Visitor(httpd.port, "git", named=False)
    page = ada.get("/bridge/")
    assert "A plan" in page.text
    ada.load(page)
    assert ada.get("/bridge/raw/master/plan").body == \
        (clone / "plan").read_bytes()
