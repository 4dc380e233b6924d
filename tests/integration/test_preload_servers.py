# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppPreload with gunicorn and uvicorn (helpers/python), and Django."""
import shutil
import socket
import subprocess

import pytest

from harness import procs, template
from harness.config import App
from harness.httpd import Httpd
from harness.places import APPS
from harness.wsgi import WSGI
from test_django_admin import make_project

pytestmark = pytest.mark.mpms("event")

PRELOAD = WSGI.with_name("preload.py")
GUNICORN = """
import os
raw_env = ["RAW=yes"]
def post_fork(server, worker):
    os.environ["POST_FORK"] = f"{server.pid} {os.getpid()}"
"""
WSGI_APP = """
import os
import threading
import forked
RAW = os.environ.get("RAW")

def application(environ, start_response):
    body, = forked.application(environ, lambda *words: None)
    body += (f"post_fork={os.environ.get('POST_FORK')}\\nraw={RAW}\\n"
             f"threads={environ['wsgi.multithread']}\\n").encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""
ASGI_APP = """
import forked
lives = []

async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        lives.append(forked.os.getpid())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        return
    if scope["path"] == "/warm":
        forked.warm.append(str(forked.os.getpid()))
    said = dict(forked.facts(), lives=lives)
    body = "".join(f"{key}={value}\\n" for key, value in said.items()).encode()
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
"""


def add(httpd: Httpd, name: str, file: str, text: str, *directives: str) -> App:
    app = httpd.app(name, *directives, command=None)
    shutil.copy(APPS / "wsgi" / "forked.py", app.root)
    template.deploy(app, "1")
    (app.root / file).write_text(text)
    return app


def by_gunicorn(httpd: Httpd, app: App) -> None:
    """The worker of an arbiter that was forked. The template has asked for the
    path, and gunicorn's hook and variables are there."""
    one = template.who(httpd, host=app.name)
    is_now = template.ready(httpd, app)
    assert one["loader"] == str(is_now["pid"]) and is_now["forked"] == 1
    arbiter, = httpd.pids(app)
    assert one["session"] == str(arbiter) != one["pid"]
    assert one["post_fork"] == f"{arbiter} {one['pid']}"
    assert (one["raw"], one["threads"], one["hook"]) == ("yes", "True", "1")
    assert one["warm"].split(",") == [f"{one['loader']}/warm?@{app.name}",
                                      f"{one['pid']}/warm?@{app.name}"]
    assert (one["fork"], one["asked"], one["listen"]) == ("", "", "")
    shown, = httpd.group(app)["processes"]
    assert shown["concurrency"] == 5
    assert procs.children(int(str(is_now["pid"]))) == []


def by_uvicorn(httpd: Httpd, app: App) -> None:
    """It has a lifespan of its own. Only the process was asked for the path."""
    one = template.who(httpd, host=app.name)
    is_now = template.ready(httpd, app)
    assert one["loader"] == str(is_now["pid"]) and is_now["forked"] == 1
    assert one["pid"] == one["session"] == str(httpd.pids(app)[0])
    assert one["lives"] == f"[{one['pid']}]"
    assert one["warm"] == one["pid"] and one["hook"] == "1"
    assert (one["fork"], one["asked"]) == ("", "")
    shown, = httpd.group(app)["processes"]
    assert shown["concurrency"] == 0


def executed(httpd: Httpd, app: App) -> None:
    """The same command without a template"""
    one = template.who(httpd, host=app.name)
    assert one["forked"] == "0" and one["lives"] == f"[{one['pid']}]"


def django(httpd: Httpd, app: App) -> None:
    """It serves the template too, which asks with a host that Django allows. The
    connection to the database is closed before the fork."""
    assert httpd.get("/admin/login/", app.name).status == 200
    is_now = template.ready(httpd, app)
    assert is_now["forked"] == 1
    database = app.root / "db.sqlite3"
    fds = procs.Path(f"/proc/{is_now['pid']}/fd")
    assert database.exists()
    assert database not in [fd.resolve() for fd in fds.iterdir()]
    assert not template.logged(httpd, "> apppool: ")


def test_served(httpd: Httpd) -> None:
    httpd.directives.append("LogLevel apppool:info")
    threads = add(httpd, "threads", "wsgi.py", WSGI_APP, "AppPreload On",
                  "AppConcurrency 5", "AppReady /warm")
    (threads.root / "gunicorn.conf.py").write_text(GUNICORN)
    loops = add(httpd, "loops", "asgi.py", ASGI_APP, "AppPreload On",
                "AppReady /warm")
    alone = add(httpd, "alone", "asgi.py", ASGI_APP)
    alone.command = '/usr/bin/python3 "$APPPOOL_HELPERS/python/preload.py" ' \
        "uvicorn --fd 3 asgi:application"
    shop = httpd.app("shop", "AppPreload On", "AppReady /admin/login/",
                     command=None)
    make_project(shop.root)
    for file, text in (
            ("wsgi.py", "from django.db import connection\n"
                        "connection.ensure_connection()\n"),
            ("settings.py", "DATABASES['default']['CONN_MAX_AGE'] = None\n")):
        with open(shop.root / "shop" / file, "a") as code:
            code.write(text)
    httpd.start()
    by_gunicorn(httpd, threads)
    by_uvicorn(httpd, loops)
    executed(httpd, alone)
    django(httpd, shop)
    httpd.check()


@pytest.mark.parametrize("file, text, threads", [
    ("wsgi.py", WSGI_APP, "1"), ("wsgi.py", WSGI_APP, "5"),
    ("asgi.py", ASGI_APP, "auto")])
def test_executed_and_says_ready(httpd: Httpd, file: str, text: str,
                                 threads: str) -> None:
    """AppReady notify needs no template, where the files are found."""
    app = add(httpd, "shop", file, text, "AppReady notify",
              f"AppConcurrency {threads}")
    httpd.start()
    assert template.who(httpd)["version"] == "1"
    assert httpd.group(app)["template"] is None
    httpd.check()


# A later version of a server, which stands before that of the system. A method
# is another one.
LATER = """
import importlib.machinery, sys
found = importlib.machinery.PathFinder.find_spec(__name__, sys.path[1:])
__path__ = found.submodule_search_locations
exec(open(found.origin).read())
"""
LATER_GUNICORN = LATER + """
import gunicorn.arbiter
class Arbiter(gunicorn.arbiter.Arbiter):
    def __init__(self, app, wanted):
        raise AssertionError
gunicorn.arbiter.Arbiter = Arbiter
"""
LATER_UVICORN = LATER + "del Config.load"


def test_later_version(httpd: Httpd) -> None:
    """It is executed. That is no error of the application."""
    httpd.directives.append("LogLevel apppool:info")
    for server, file, app, later in (
            ("gunicorn", "wsgi.py", WSGI_APP, LATER_GUNICORN),
            ("uvicorn", "asgi.py", ASGI_APP, LATER_UVICORN)):
        one = add(httpd, server, file, app, "AppPreload On", "AppConcurrency 2")
        (one.root / f"{server}.py").write_text(later)
    httpd.start()
    for server in ("gunicorn", "uvicorn"):
        assert template.who(httpd, host=server)["forked"] == "0"
        httpd.log.wait_for(
            f" {server}.*> apppool: {server} is not as this loader knows it")
        httpd.log.wait_for(f" {server}: no template, .* exit code 69")
    httpd.check()


@pytest.mark.parametrize("python, words, said", [
    ("-B", ["gunicorn", "--worker-class", "gevent", "wsgi"],
     "gunicorn's worker class gevent has to be there before"),
    ("-BS", ["uvicorn", "wsgi:app"], "python3 has no uvicorn")])
def test_refused(python: str, words: list[str], said: str) -> None:
    """With the exit code for that. -S: this Python has no packages."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here, there:
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" 3<&0', "sh", "/usr/bin/python3", python,
             PRELOAD, *words],
            stdin=there, cwd="/", capture_output=True, text=True,
            env={"APPPOOL_FORK": "1", "APPPOOL_ID": "1",
                 "NOTIFY_SOCKET": "none"})
    assert (done.returncode, done.stdout) == (69, "")
    assert said in done.stderr
