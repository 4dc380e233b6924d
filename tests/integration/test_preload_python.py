# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppPreload with the loader for WSGI applications (helpers/python)."""
import gc
import shutil
import socket
import subprocess
from typing import Optional

import pytest

from harness import cgroups, procs, sentences, template
from harness.config import App
from harness.httpd import Httpd
from harness.places import APPS
from harness.procs import kill9
from harness.wait import wait_until
from harness.wsgi import WSGI

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(params=cgroups.WAYS, autouse=True)
def way(httpd: Httpd, request: pytest.FixtureRequest) -> None:
    """With cgroups and without."""
    httpd.wrapper = cgroups.wrapper(request.param)
    httpd.directives.append("LogLevel apppool:info")


def add(httpd: Httpd, *directives: str, name: str = "shop",
        preload: str = "On") -> App:
    app = httpd.app(
        name, f"AppPreload {preload}", "AppConcurrency 1", *directives,
        command='/usr/bin/python3 -B "$APPPOOL_HELPERS/python/preload.py" '
        "forked")
    shutil.copy(APPS / "wsgi" / "forked.py", app.root)
    template.deploy(app, "1")
    return app


def test_forked(httpd: Httpd) -> None:
    """It has variables, a session and a mark of its own. The timeout that
    Python gives to new sockets is for none of the loader's."""
    app = add(httpd, "AppSetEnv PYTHONPATH .")
    (app.root / "sitecustomize.py").write_text(
        "import socket\nsocket.setdefaulttimeout(0.001)\n")
    httpd.start()
    one = template.who(httpd)
    is_now = template.ready(httpd, app)
    assert one["forked"] == "1" and one["loader"] == str(is_now["pid"])
    assert one["pid"] == one["session"]
    assert (one["fork"], one["asked"], one["listen"]) == ("", "", "")
    assert one["at"] == "", "the template's own is no concern of the app"
    instance, _, number = one["id"].partition("-")
    assert one["notify"].endswith("/n/" + number)
    assert f"APPPOOL_ID={one['id']}".encode() in procs.read(
        int(one["pid"]), "environ").split(b"\0")
    assert template.who(httpd, "/say/hello")["pid"] == one["pid"]
    httpd.log.wait_for(rf"shop\[{one['pid']}\]> hello")
    # It closes those of a fork after the fork, which may serve before.
    fds = procs.Path(f"/proc/{is_now['pid']}/fd")
    wait_until(lambda: {fd.name for fd in fds.iterdir()}
               == {"0", "1", "2", "3"}, "the template keeps no descriptor")
    httpd.check()


def test_detected(httpd: Httpd) -> None:
    """A wsgi.py needs no AppCommand."""
    app = add(httpd)
    app.command = None
    (app.root / "forked.py").rename(app.root / "wsgi.py")
    httpd.start()
    one = template.who(httpd)
    is_now = template.ready(httpd, app)
    assert one["forked"] == "1" and one["loader"] == str(is_now["pid"])
    shown, = httpd.group(app)["processes"]
    assert shown["concurrency"] == 1
    httpd.check()


def test_executed(httpd: Httpd) -> None:
    """The same command serves without a template."""
    add(httpd, preload="Off")
    httpd.start()
    one = template.who(httpd)
    assert one["forked"] == "0" and one["loader"] == one["pid"]
    assert one["hook"] == "0" and one["at"] == one["notify"]
    httpd.check()


def test_each_is_another(httpd: Httpd) -> None:
    """Hooks run in the process that serves, and random numbers differ."""
    app = add(httpd, "MaxRequests 1")
    httpd.start()
    seen = [template.who(httpd) for _ in range(4)]
    assert len({one["pid"] for one in seen}) == 4
    assert len({one["random"] for one in seen}) == 4
    assert {one["hook"] for one in seen} == {"1"}
    assert len({one["loader"] for one in seen}) == 1
    assert int(str(template.ready(httpd, app)["forked"])) >= 4
    httpd.check()


def test_memory(httpd: Httpd) -> None:
    template.saves_memory(httpd, lambda preload: add(
        httpd, "MinInstances 4", "AppSetEnv BALLAST 20", name=preload,
        preload=preload))


def test_garbage(httpd: Httpd) -> None:
    """All objects are kept from the garbage collector, which has not looked at
    all of them: that would cost the first request its time. A process has the
    thresholds of Python, or of the application."""
    add(httpd, "AppSetEnv OBJECTS 200000")
    add(httpd, "AppSetEnv OFTEN 123", name="other")
    httpd.start()
    one = template.who(httpd)
    assert (one["forked"], one["searches"]) == ("1", "0")
    assert int(one["frozen"]) > 200000
    assert int(one["often"]) == gc.get_threshold()[0]
    assert template.who(httpd, host="other")["often"] == "123"


def test_new_code(httpd: Httpd) -> None:
    """It is loaded by a restart only. Code that does not load is a failed start,
    whatever the code does to end. A handler of SIGTERM runs in the processes
    only."""
    app = add(httpd, "AppRestartMode blocking", "AppSetEnv FAREWELL goodbye")
    httpd.log.expect(template.FOR_NOW, sentences.NOT_STARTED,
                     sentences.START_ERROR, sentences.DIED)
    httpd.start()
    one = template.who(httpd)
    template.deploy(app, "2")
    kill9(int(one["pid"]))
    wait_until(lambda: int(one["pid"]) not in httpd.pids(app), "it is gone")
    again = template.who(httpd)
    assert again["version"] == "1"
    app.touch()
    two = template.who(httpd)
    assert (two["version"], two["forked"]) == ("2", "1")
    httpd.log.wait_for(rf"shop\[{again['pid']}\]> goodbye")
    wait_until(lambda: not procs.alive(int(one["loader"])), "so is its template")
    assert not template.logged(httpd, r"template\[\d+\]> goodbye")
    for version, code, said in (
            ("broken", 1, "this does not load"), ("exits", 3, ""),
            ("raises", 1, "ZeroDivisionError: this does not load, either")):
        template.deploy(app, version)
        app.touch()
        assert httpd.get("/", "shop").status == 502
        for way in "while it loaded", "while it started":
            assert template.logged(
                httpd, f"it ended with exit code {code} {way}.*{said}")


def test_exit_code(httpd: Httpd) -> None:
    add(httpd)
    httpd.log.expect(r"shop\[\d+\] died: exit code 7",
                     sentences.NO_BACKEND, sentences.NO_RESPONSE)
    httpd.start()
    one = template.who(httpd)
    httpd.get("/exit/7", "shop")
    httpd.log.wait_for(rf"shop\[{one['pid']}\] died: exit code 7")
    assert template.who(httpd)["loader"] == one["loader"]


def test_thread_and_connection(httpd: Httpd) -> None:
    """The log names what the forked processes will not have, and what they must
    not use."""
    with socket.create_server(("127.0.0.1", 0)) as peer:
        port = peer.getsockname()[1]
        app = add(httpd, "AppSetEnv THREAD cleaner", f"AppSetEnv PEER {port}")
        httpd.start()
        one = template.who(httpd)
    assert (one["threads"], one["forked"]) == ("1", "1")
    said = rf"shop template\[{template.ready(httpd, app)['pid']}\]> apppool: the "
    httpd.log.wait_for(
        said + "thread cleaner of the template will not be in the processes")
    httpd.log.wait_for(
        said + rf"connection to 127\.0\.0\.1:{port} is open, and two processes")
    httpd.check()


def test_warm(httpd: Httpd) -> None:
    """The template has asked for that path."""
    add(httpd, "AppReady /warm%20up?a=b")
    httpd.start()
    one = template.who(httpd)
    assert one["warm"].split(",") == [f"{one['loader']}/warm up?a=b@shop",
                                      f"{one['pid']}/warm up?a=b@shop"]
    httpd.check()


def test_warm_fails(httpd: Httpd) -> None:
    """The app still serves."""
    app = add(httpd, "AppReady /raise", "AppStartTimeout 12")
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.DIED)
    httpd.start()
    httpd.get("/", "shop")
    assert template.ready(httpd, app)
    httpd.log.wait_for(r"> apppool: the template asked shop for /raise and got "
                       "nothing")
    httpd.log.wait_for(r"template\[\d+\]> RuntimeError: asked for")


def test_notify(httpd: Httpd) -> None:
    """A READY=1 of the app while it loads does not count for the template. The
    process says that it is ready."""
    app = add(httpd, "AppReady notify", "AppSetEnv SAYS_READY 1")
    httpd.start()
    assert template.who(httpd)["forked"] == "1"
    assert template.ready(httpd, app)["forked"] == 1
    httpd.check()


def test_no_room_for_a_process(httpd: Httpd) -> None:
    """The template drops the order, and the command is executed at once."""
    add(httpd, "AppSetEnv NO_FORK 1")
    httpd.start()
    assert template.who(httpd)["forked"] == "0"
    httpd.log.wait_for("> apppool: no process can be forked: ")
    httpd.check()


def test_spawner_killed(httpd: Httpd) -> None:
    """The template ends. Its process continues to serve."""
    app = add(httpd)
    httpd.log.expect(sentences.SPAWNER_KILLED)
    httpd.start()
    one = template.who(httpd)
    old = int(str(template.ready(httpd, app)["pid"]))
    kill9(httpd.helper("spawner"))
    wait_until(lambda: not procs.alive(old), "it has ended")
    assert template.who(httpd)["pid"] == one["pid"]
    httpd.check()


def test_loggers(httpd: Httpd) -> None:
    template.prints_through_loggers(httpd, add(
        httpd, "AppSetEnv LOGS 1", "AppPreloadIdleTime 200ms"))


@pytest.mark.parametrize("version, words, code, logged", [
    ("2", ["forked"], 69, "version of the protocol is not known"),
    ("1", [], 1, "usage: preload.py [gunicorn|uvicorn ARGUMENT...] MODULE"),
    (None, ["forked"], 1, "no socket to listen on")])
def test_alone(version: Optional[str], words: list[str], code: int,
               logged: str) -> None:
    """Without the spawner, it is no template"""
    done = subprocess.run(
        ["/usr/bin/python3", "-B", WSGI.with_name("preload.py"), *words],
        env={"APPPOOL_FORK": version} if version else {}, cwd="/",
        capture_output=True, text=True)
    assert done.returncode == code
    assert logged in done.stderr
