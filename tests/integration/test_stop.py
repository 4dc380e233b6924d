# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The ways to stop and restart httpd. Nothing is left."""
import os
import signal
import threading
from contextlib import ExitStack
from datetime import datetime
from http.client import HTTPException

import pytest

from harness import procs, sentences
from harness.client import UPGRADE, Connection, Pending, Raw
from harness.httpd import Httpd
from harness.late import Late
from harness.places import httpd_program
from harness.procs import alive, kill9
from harness.wait import wait_until
from harness.web import SERVERS, mount
from missed import within
from test_long_lived import opened, stream, websocket  # noqa: F401
from test_nonsense import STDOUT, record

GRACEFUL_STOP = signal.SIGWINCH
BEHIND = "left processes behind"


def test_graceful_stop(httpd: Httpd) -> None:
    """Open and waiting requests are finished. Then everything ends."""
    httpd.directives.append("GracefulShutdownTimeout 100")
    app = httpd.app("shop", "MaxInstances 1", "AppQueueTimeout 100")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = httpd.get_async("/pid", "shop")
    httpd.settles(active=1, count=1, waiting=1)
    httpd.note_segments()
    pids = [*httpd.pids(app), httpd.helper("watchdog"),
            httpd.helper("spawner")]
    httpd.begin_stop(GRACEFUL_STOP)
    wait_until(lambda: not httpd.listening(), "it takes no new ones")
    assert all(map(alive, pids))
    assert held.release().status == 200
    assert waiting.result().text == str(held.pid)
    assert httpd.process is not None
    assert httpd.process.wait(40) == 0
    assert not any(map(alive, pids))
    assert not httpd.runtime.exists()


@pytest.mark.mpms("event")
def test_another_signal(httpd: Httpd) -> None:
    """AppStopSignal ends a process that TERM does not end."""
    app = httpd.app("shop", "AppStopSignal USR1", "AppStopTimeout 60",
                    "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    one, = httpd.group(app)["processes"]
    assert httpd.ctl("detach", one["id"]).returncode == 0
    httpd.log.wait_for(rf"shop\[{pid}\] ended: signal 10 \(SIGUSR1\)")
    last = int(httpd.get("/pid", "shop").text)
    httpd.stop()
    assert httpd.log.matching(rf"shop\[{last}\] ended: signal 10")


def test_one_deadline_for_all(httpd: Httpd) -> None:
    """P31: all processes share one AppStopTimeout, whatever they do with
    SIGTERM. The processes that they have started end as well."""
    httpd.log.expect("AH01102|AH00898", sentences.NO_TERM)
    pids = []
    for name in ("shop", "blog"):
        httpd.app(name, "AppStopTimeout 4", "MinInstances 3",
                  "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    for name in ("shop", "blog"):
        pids.append(int(httpd.get("/daemon", name).text))
    httpd.settles(active=0, count=6)
    for app in httpd.apps:
        pids += httpd.pids(app)
    assert len(pids) == 8
    with Late(httpd.helper("spawner")) as late:
        httpd.stop()
    assert late.took >= 4
    assert not any(map(alive, pids))
    ends = httpd.log.matching("is stopped|did not end in time")
    assert ["is stopped" in line for line in ends] == [True] * 6 + [False] * 6
    first, last = (datetime.strptime(line[1:32], "%a %b %d %H:%M:%S.%f %Y")
                   for line in (ends[6], ends[11]))
    within((last - first).total_seconds(), 4 + late.seconds, "the end of all")


@pytest.mark.mpms("prefork")  # event needs ten seconds for it
def test_graceful_stop_takes_too_long(httpd: Httpd) -> None:
    """GracefulShutdownTimeout ends it. A runtime directory of another name than
    the default stays."""
    httpd.log.expect("AH00045|AH00046")
    httpd.runtime = httpd.dir / "named"
    httpd.directives += [f'AppPoolRuntimeDir "{httpd.runtime}"',
                         "GracefulShutdownTimeout 1"]
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    httpd.note_segments()
    httpd.begin_stop(GRACEFUL_STOP)
    assert httpd.process is not None
    assert httpd.process.wait(30) == 0
    assert not alive(held.pid)
    assert list(httpd.runtime.iterdir()) == []


@pytest.mark.mpms("prefork")  # its signal handler frees everything
@pytest.mark.parametrize("name", ["gunicorn", "uwsgi"])
def test_stop_within_a_response(httpd: Httpd, name: str) -> None:
    """Children wait for their clients, and hold bytes that our client of the
    app has read, or mod_proxy. They do not crash."""
    # The C library fills freed memory, so a child that uses it crashes.
    httpd.wrapper = ["env", "MALLOC_PERTURB_=170"]
    httpd.directives.append("SendBufferSize 16384")
    place, _ = mount(httpd, SERVERS[name], "AppBufferResponse Off")
    httpd.app("shop", "AppBufferResponse Off")
    httpd.start()
    # The apps send 3 MB at once, so no child waits for them. mod_proxy sends a
    # request that asks for an upgrade, whatever the response is.
    size = 3 << 20
    post = (f"POST /up HTTP/1.1\r\nHost: {place.host}\r\n"
            f"Content-Length: {size}\r\n\r\n" + "x" * size)
    upgrade = (f"GET /big?n={size} HTTP/1.1\r\nHost: shop\r\n"
               "Connection: Upgrade\r\nUpgrade: raw\r\n\r\n")
    with Raw(httpd.port, post.encode(), 16384) as one, \
            Raw(httpd.port, upgrade.encode(), 16384) as other:
        for client in (one, other):
            peer = client.sock.getsockname()[1]
            wait_until(lambda: procs.has_closed_window(httpd.port, peer),
                       "the client has no room")
            child = procs.socket_owner(httpd.children(), httpd.port, peer)
            wait_until(lambda: any("poll" in where
                                   for where in procs.waits(child)),
                       "the child waits for its client")
        httpd.stop()


EVENTS = b"Content-Type: text/event-stream\r\n\r\ndata: first\n\n"


def open_requests(httpd: Httpd, opened: ExitStack) -> None:
    """One in each way of the module to wait for an app."""
    for name, text in (("fcgi", record(STDOUT, EVENTS)), ("scgi", EVENTS),
                       ("uwsgi", b"HTTP/1.1 200 OK\r\n" + EVENTS)):
        file = httpd.dir / f"{name}.response"
        file.write_bytes(text)
        httpd.app(name, f"AppProtocol {name}", "AppSetEnv HANG 1",
                  f"AppSetEnv PROTOCOL {name}", f"AppSetEnv RESPONSE {file}",
                  program="raw.py")
    httpd.app("shop", "AppConcurrency 0", f"AppSetEnv GO {httpd.dir}/go",
              program="long_lived.py")
    httpd.directives.append("MaxPoolSize 10")
    httpd.app("blog", "MaxInstances 3")
    httpd.start()
    for name in ("fcgi", "scgi", "uwsgi", "shop"):
        stream(httpd, opened, host=name)
    websocket(httpd, opened)
    httpd.hold("blog", "get")
    Pending(Connection(httpd.port), "POST", "/hold?key=post", "blog", b"body")
    Pending(Connection(httpd.port), "GET", "/hold?key=upgrade", "blog",
            headers=UPGRADE)
    for key in ("post", "upgrade"):
        wait_until((httpd.dir / "hold" / f"{key}.held").exists,
                   "it is held, too")


@pytest.mark.mpms("event", "worker")
def test_open_requests(httpd: Httpd, opened: ExitStack) -> None:
    """No thread waits for an app when its child is stopped, so httpd does not
    have to kill the child. No line of the log is about these requests. In
    worker, threads wait for those that have no worker in event."""
    open_requests(httpd, opened)
    httpd.stop()
    assert not httpd.log.matching("AH00046")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("protocol", ["http", "fcgi", "scgi", "uwsgi"])
def test_half_a_response_is_not_stored(httpd: Httpd, opened: ExitStack,
                                       protocol: str) -> None:
    """It has no length, so a cache knows only from us that a stop has cut it."""
    place = httpd.dir / "cache"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    text = b"Cache-Control: max-age=100\r\n" + EVENTS
    file = httpd.dir / "response"
    file.write_bytes({"fcgi": record(STDOUT, text), "scgi": text}.get(
        protocol, b"HTTP/1.1 200 OK\r\n" + text))
    httpd.modules += ["cache", "cache_disk"]
    httpd.app("shop", f"AppProtocol {protocol}", "AppSetEnv HANG 1",
              f"AppSetEnv PROTOCOL {protocol}", f"AppSetEnv RESPONSE {file}",
              'CacheEnable disk "/"', f'CacheRoot "{place}"',
              program="raw.py")
    httpd.start()
    stream(httpd, opened)
    assert any(place.rglob("aptmp*")), "the cache has begun"
    httpd.stop()
    assert not any(place.rglob("*.data"))


def test_hard_restarts_under_load(httpd: Httpd) -> None:
    """Requests may fail. Each time everything starts again, and nothing from
    before is left."""
    httpd.log.expect(sentences.NO_RESPONSE, sentences.NO_BACKEND,
                     sentences.UNREACHABLE)
    app = httpd.app("shop", "MaxInstances 3", "MinInstances 2")
    httpd.start()
    ended = threading.Event()
    served: list[int] = []

    def client() -> None:
        while not ended.is_set():
            connection = Connection(httpd.port)
            try:
                if connection.request("GET", "/pid", "shop").status == 200:
                    served.append(1)
            except (OSError, HTTPException):
                pass
            connection.close()

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    gone: set[int] = set()
    try:
        for _ in range(3):
            wait_until(lambda: len(httpd.pids(app)) >= 2, "apps serve")
            gone |= {*httpd.pids(app), *httpd.helpers("watchdog"),
                     *httpd.helpers("spawner")}
            before = len(served)
            httpd.restart()
            assert not [pid for pid in gone if alive(pid)]
            wait_until(lambda: len(served) > before + 20, "it serves")
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert len(httpd.helpers("watchdog")) == 1
    httpd.note_segments()
    assert len(httpd.segments) == 1
    httpd.check()


@pytest.mark.parametrize("how", ["restart", "stop"])
@pytest.mark.parametrize("victims", [["watchdog"], ["spawner", "watchdog"]])
def test_helpers_die_just_before(httpd: Httpd, victims: list[str],
                                 how: str) -> None:
    """Another watchdog ends everything in order."""
    httpd.log.expect(r"(spawner|watchdog) \d+ (ended|died)", BEHIND,
                     "another spawner uses it")  # it has not signed yet
    httpd.app("shop")
    httpd.start()
    pids = [int(httpd.get("/pid", "shop").text),
            int(httpd.get("/daemon", "shop").text),
            httpd.helper("spawner")]
    for victim in victims:
        kill9(httpd.helper(victim))
    if how == "restart":
        httpd.restart()
        assert not any(map(alive, pids))
        assert httpd.get("/pid", "shop").status == 200
    else:
        httpd.stop()
        assert not any(map(alive, pids))
        assert not httpd.runtime.exists()


def test_watchdog_dies_meanwhile(httpd: Httpd) -> None:
    """While it waits for the end of an app."""
    httpd.log.expect(sentences.NO_TERM)
    app = httpd.app("shop", "AppStopTimeout 20", "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    watchdog = httpd.helper("watchdog")
    httpd.begin_stop()
    wait_until(lambda: httpd.log.matching(rf"\[{pid}\] is stopped"))
    kill9(watchdog)
    assert httpd.process is not None
    assert httpd.process.wait(80) == 0
    assert app and not alive(pid)
    assert not httpd.runtime.exists()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_one_process(httpd: Httpd, sign: signal.Signals) -> None:
    """httpd -X, as in a debugger. It has no right to stop the watchdog, which
    notices its end."""
    httpd.log.expect("httpd's parent process is gone", BEHIND)
    httpd.app("shop", "AppStopTimeout 1")
    httpd.start("-X")
    for _ in range(3):
        assert httpd.get("/pid", "shop").status == 200
    pids = [int(httpd.get("/pid", "shop").text),
            int(httpd.get("/daemon", "shop").text),
            httpd.helper("watchdog"), httpd.helper("spawner")]
    assert httpd.children() == []
    httpd.check()
    httpd.begin_stop(sign)
    assert httpd.process is not None
    httpd.process.wait(40)
    wait_until(lambda: not any(map(alive, pids)), "all is gone")
    assert not httpd.runtime.exists()


def test_detached(httpd: Httpd) -> None:
    """As httpd usually runs: the parent is not the process that was started.
    apppoolctl doctor tests its configuration all the same."""
    httpd.app("shop", "AppUser games")
    httpd.launch("-k", "start")
    assert httpd.process is not None
    assert httpd.process.wait(40) == 0
    pid_file = httpd.dir / "httpd.pid"
    parent = int(wait_until(
        lambda: pid_file.exists() and pid_file.read_text().strip(),
        "it runs"))
    app = int(httpd.get("/pid", "shop").text)
    assert f"{httpd_program()} -f {httpd.dir}/httpd.conf -t finds nothing" \
        in httpd.ctl("doctor").stdout
    helpers = [httpd.helper("watchdog"), httpd.helper("spawner")]
    os.kill(parent, signal.SIGUSR1)
    wait_until(lambda: len(httpd.log.matching("resuming")) == 2, "graceful")
    assert httpd.get("/pid", "shop").text == str(app)
    httpd.begin_stop(parent=parent)
    wait_until(lambda: not alive(parent), "it ends")
    assert not any(map(alive, [app, *helpers]))
    assert not httpd.runtime.exists()
