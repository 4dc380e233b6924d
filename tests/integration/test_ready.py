# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppReady: when does a new process get its first request?"""
import subprocess

import pytest

from harness import sentences
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd
from harness.places import can_mount
from harness.procs import children, frozen, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner finds out")


# It never says READY=1. At SIGTERM, it first reads from its clients to the
# end, as many servers do. It does not sleep, so that it sees what comes first.
POLITE = """
import signal, socket, sys
told = False
def end(*_):
    global told
    told = True
def wait_for(call, *args):
    while True:
        try:
            return call(*args)
        except BlockingIOError:
            if call == server.accept and told:
                sys.exit("our connection ended before the signal came")
signal.signal(signal.SIGTERM, end)
server = socket.socket(fileno=3)
server.setblocking(False)
while not told:
    client, _ = wait_for(server.accept)
    client.setblocking(False)
    open("reads", "w").close()
    wait_for(client.recv, 1)
"""

# In a mount namespace: the runtime directory's path, and a socket whose path
# is the same as an app's, with a connection that is never accepted.
NEIGHBOUR = """
import os, socket, sys
path = sys.argv[1]
os.makedirs(os.path.dirname(path))
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
client = socket.socket(socket.AF_UNIX)
client.connect(path)
print("listens", flush=True)
sys.stdin.read()
"""


def starting(httpd: Httpd, ready: str, *directives: str) -> App:
    """An app that is warm when the file `warm` exists."""
    app = httpd.app("shop", f"AppReady {ready}", *directives,
                    f"AppSetEnv UP_IF {httpd.dir}/warm")
    httpd.start()
    return app


def requests_for(httpd: Httpd, path: str) -> int:
    return sum(line.endswith(f" GET {path}")
               for line in httpd.requests_seen())


@pytest.mark.parametrize("listen", ["fd", "unix", "tcp"])
def test_warm_up(httpd: Httpd, listen: str) -> None:
    """No request comes before a response of 2xx for the path. Then requests
    come at once."""
    app = starting(httpd, "/up", f"AppListen {listen}")
    first = httpd.get_async("/pid", "shop")
    wait_until(lambda: requests_for(httpd, "/up") >= 3, "it is asked again")
    assert not first.done()
    assert httpd.group(app)["state"] == "starting"
    assert requests_for(httpd, "/pid") == 0
    (httpd.dir / "warm").touch()
    assert first.result().status == 200
    seen = requests_for(httpd, "/up")
    assert httpd.get("/pid", "shop").text == first.result().text
    assert requests_for(httpd, "/up") == seen, "it is not asked any more"
    httpd.log.wait_for(r"asked for shop$")  # by the server's name


def test_what_is_ready(httpd: Httpd) -> None:
    """By its status line: 2xx and 3xx mean ready."""
    paths = ("/status?code=204", "/status?code=302", "/big?n=50000000",
             "/chunked?n=100", "/close", "/head")
    for n, path in enumerate(paths):
        httpd.app(f"shop{n}", f"AppReady '{path}'", "AppStartTimeout 60")
    httpd.start()
    for (n, path), case in cases(enumerate(paths)):
        with case:
            assert httpd.get("/pid", f"shop{n}").status == 200
            httpd.settles(active=0, count=n + 1)


def test_what_is_not_ready(httpd: Httpd) -> None:
    """The path is requested again until AppStartTimeout."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    paths = ("/status?code=404", "/status?code=500", "/garbage", "/nothing")
    apps = {path: httpd.app(f"shop{n}", f"AppReady '{path}'",
                            "AppStartTimeout 10")
            for n, path in enumerate(paths)}
    httpd.start()
    pending = {path: httpd.get_async("/pid", apps[path].name) for path in paths}
    for path, case in cases(paths):
        with case:
            assert pending[path].result().status == 502
            error = httpd.group(apps[path])["last_error"]
            assert f"GET {path} with 2xx or 3xx" in error
            assert "within 10 s" in error
            code = path.partition("=")[2]
            assert (f"the last status was {code}" if code
                    else "there was no response") in error


def test_an_app_that_hangs(httpd: Httpd) -> None:
    """Its response never comes, or never ends."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = starting(httpd, "'/hold?key=a'", "AppStartTimeout 8",
                   "AppStopTimeout 1")
    assert httpd.get("/pid", "shop").status == 502
    assert "(there was no response) within 8 s" in httpd.group(app)["last_error"]


def test_its_first_response_may_take_long(httpd: Httpd) -> None:
    """The path is requested once, and the spawner waits for the response."""
    app = starting(httpd, "'/hold?key=a'")
    first = httpd.get_async("/pid", "shop")
    held = httpd.dir / "hold" / "a.held"
    wait_until(held.exists, "it is asked")
    first.thread.join(2)
    assert not first.done() and requests_for(httpd, "/hold?key=a") == 1
    (httpd.dir / "hold" / "a.go").touch()
    assert first.result().status == 200
    assert len(httpd.pids(app)) == 1


def test_dies_while_it_warms_up(httpd: Httpd) -> None:
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = starting(httpd, "/crash")
    assert httpd.get("/pid", "shop").status == 502
    assert "signal 9 (SIGKILL)" in httpd.group(app)["last_error"]


@pytest.mark.parametrize("ready", ["/up", "notify"])
def test_the_spawner_dies_meanwhile(httpd: Httpd, ready: str) -> None:
    """The next spawner continues with the same process."""
    app = starting(httpd, ready, f"AppSetEnv READY_IF {httpd.dir}/warm")
    first = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.log.matching("starts as"), "it is executed")
    pid, = httpd.pids(app, "starting")
    kill9(httpd.helper("spawner"))
    wait_until(lambda: httpd.log.matching(rf"{pid}\] is adopted"),
               "the next spawner has it")
    (httpd.dir / "warm").touch()
    assert first.result().text == str(pid)


@pytest.mark.mpms("event")
def test_notify_while_no_spawner_runs(httpd: Httpd) -> None:
    """READY=1 comes while no spawner runs. The next spawner does not need
    it."""
    app = starting(httpd, "notify", f"AppSetEnv READY_IF {httpd.dir}/warm")
    first = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.log.matching("starts as"), "it is executed")
    pid, = httpd.pids(app, "starting")
    wait_until(lambda: children(pid), "it will say so")
    with frozen(httpd.helper("watchdog")):
        kill9(httpd.helper("spawner"))
        (httpd.dir / "warm").touch()
        wait_until(lambda: not children(pid), "it has said so")
    assert first.result(30).text == str(pid)
    httpd.log.wait_for("nobody hears it: .*refused")


@pytest.mark.mpms("event")
def test_stop_while_it_starts(httpd: Httpd) -> None:
    """Our own connection does not prevent the end of the app. It ends after
    the signal: a server that looks for the signal only when it has read from
    the connection could otherwise wait for the next one."""
    app = httpd.app("shop", "AppPreStart On", "MinInstances 1",
                    "AppReady notify", "AppStopTimeout 20",
                    command="/usr/bin/python3 -IS polite.py")
    (app.root / "polite.py").write_text(POLITE)
    httpd.start()
    wait_until((app.root / "reads").exists, "it reads from us")
    httpd.stop()
    ended, = httpd.log.wait_for("ended: ")
    assert "exit code 0" in ended
    assert not httpd.log.matching("did not end in time")


def test_notify(httpd: Httpd) -> None:
    """The app accepts connections, but is not ready before it says so."""
    app = starting(httpd, "notify", f"AppSetEnv READY_IF {httpd.dir}/warm")
    first = httpd.get_async("/pid", "shop")
    wait_until(lambda: httpd.pids(app, "starting"), "it starts")
    first.thread.join(1)
    assert not first.done()
    (httpd.dir / "warm").touch()
    assert first.result().status == 200


def test_notify_never_comes(httpd: Httpd) -> None:
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = starting(httpd, "notify", "AppStartTimeout 8")
    assert httpd.get("/pid", "shop").status == 502
    assert "did not say READY=1 within 8 s" in httpd.group(app)["last_error"]


def test_rolling(httpd: Httpd) -> None:
    """The old process serves until the new one is warm."""
    warm = httpd.dir / "warm"
    warm.touch()
    app = starting(httpd, "/up", "MaxInstances 1")
    old = httpd.get("/pid", "shop").text
    warm.unlink()
    seen = requests_for(httpd, "/up")
    app.touch()
    assert httpd.get("/pid", "shop").text == old
    wait_until(lambda: requests_for(httpd, "/up") > seen + 1, "it is asked")
    assert httpd.get("/pid", "shop").text == old
    assert httpd.group(app)["state"] == "restarting"
    warm.touch()
    wait_until(lambda: httpd.get("/pid", "shop").text != old, "it is replaced")
    httpd.check()


@pytest.mark.mpms("prefork", "event")
def test_changed_by_graceful(httpd: Httpd) -> None:
    """This is no reason to replace processes."""
    app = starting(httpd, "accept")
    pid = httpd.get("/pid", "shop").text
    app.directives[0] = "AppReady /never"
    httpd.graceful()
    assert httpd.get("/pid", "shop").text == pid
    httpd.settles(active=0, count=1)
    assert httpd.group(app)["outdated"] == 0


@pytest.mark.mpms("event")
@pytest.mark.parametrize("odd", ["b\u00fccher.example", "'my shop'",
                                 "'sh\x01op'"])
def test_odd_server_name(httpd: Httpd, odd: str) -> None:
    """A name that cannot be a Host header: the app gets localhost instead, and
    no app is harmed."""
    app = starting(httpd, "/up", f"ServerName {odd}", "ServerAlias shop")
    httpd.app("blog")
    (httpd.dir / "warm").touch()
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "blog").status == 200,
               "the new configuration")
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.pids(app)
    httpd.log.wait_for("asked for localhost$")


@pytest.mark.mpms("event")
@pytest.mark.skipif(not can_mount(), reason="mount is denied")
@pytest.mark.parametrize("listen", ["fd", "unix"])
def test_a_neighbour_binds_the_same_path(httpd: Httpd, listen: str) -> None:
    """In a mount namespace of its own. Its queue is not the queue of the
    app."""
    kind, own = {"fd": ("s", ""), "unix": ("a", "/s")}[listen]
    app = httpd.app("shop", f"AppListen {listen}", "AppStartTimeout 60")
    program, app.command = app.command, "/bin/sh start.sh"
    (app.root / "start.sh").write_text(
        f"until [ -e {httpd.dir}/go ]; do sleep 0.05; done\n"
        f"exec {program}\n")
    httpd.start()
    first = httpd.get_async("/pid", "shop")
    path, = wait_until(lambda: httpd.group(app)["processes"] and list(
        (httpd.runtime / kind).glob("*")), "it starts")
    with subprocess.Popen(
            ["unshare", "-m", "sh", "-c",
             f'mount -t tmpfs none {httpd.runtime} && exec "$@"', "sh",
             "/usr/bin/python3", "-IS", "-c", NEIGHBOUR, f"{path}{own}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True) as neighbour:
        assert neighbour.stdin and neighbour.stdout
        assert neighbour.stdout.readline() == "listens\n"
        (httpd.dir / "go").touch()
        assert first.result().status == 200
        neighbour.stdin.close()
        neighbour.wait()
