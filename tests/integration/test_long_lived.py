# Licensed under the Apache License, Version 2.0; see LICENSE.
"""WebSockets and event streams keep a process that has to leave for
AppRetireTimeout. Then it is stopped, and their clients see a proper end."""
from contextlib import ExitStack
from typing import Iterator

import pytest

from harness import sentences
from harness.client import Raw
from harness.config import App
from harness.httpd import Httpd
from harness.preloaded import preload
from harness.procs import alive
from harness.wait import wait_until
from test_nonsense import STDOUT, record

HELLO = b"\x81\x7e\x00\xc8" + b"x" * 200 + b"\x81\x05hello"
GOING_AWAY = b"\x88\x02\x03\xe9"


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(httpd: Httpd, *directives: str, retire: str = "1") -> App:
    httpd.log.expect(sentences.ODD_RESPONSE, sentences.TIMED_OUT)
    common = ("AppConcurrency 0", f"AppSetEnv GO {httpd.dir}/go")
    app = httpd.app("shop", *common, f"AppRetireTimeout {retire}", *directives,
                    program="long_lived.py")
    httpd.app("blog", *common, "AppRetireTimeout 1", program="long_lived.py")
    httpd.start()
    return app


def websocket(httpd: Httpd, opened: ExitStack, path: str = "/websocket",
              host: str = "shop") -> Raw:
    line = opened.enter_context(Raw(
        httpd.port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n".encode()))
    assert line.head()[0] == 101
    want = HELLO if path == "/websocket" else HELLO[:-4]
    assert line.stream.file.read(len(want)) == want
    return line


def stream(httpd: Httpd, opened: ExitStack, path: str = "/stream",
           host: str = "shop") -> Raw:
    line = opened.enter_context(Raw(
        httpd.port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()))
    head = line.head()
    assert head[0] == 200 and "chunked" in head[1]
    want = b"d\r\ndata: first\n\n\r\n"
    assert line.stream.file.read(len(want)) == want
    return line


def links(httpd: Httpd, app: App, n: int) -> int:
    """Wait until the pool knows them. @return the pid that has them"""
    wait_until(lambda: [request["state"] for request in
                        httpd.group(app)["requests"]] == ["long_lived"] * n,
               "the pool knows them")
    pid, = httpd.pids(app, "busy")
    return pid


def ids(httpd: Httpd, app: App) -> list[str]:
    return [one["id"] for one in httpd.group(app)["processes"]]


def detach(httpd: Httpd, app: App) -> None:
    assert httpd.ctl("detach", *ids(httpd, app)).returncode == 0


def rolling(httpd: Httpd, _: App) -> None:
    assert httpd.ctl("restart", "shop", "--rolling").returncode == 0


def blocking(httpd: Httpd, _: App) -> None:
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0


def drain(httpd: Httpd, _: App) -> None:
    assert httpd.ctl("drain", "shop").returncode == 0


def requests(httpd: Httpd, _: App) -> None:
    """Three is MaxRequests."""
    for _ in range(3):
        assert httpd.get("/pid", "shop").status == 200


def memory(httpd: Httpd, _: App) -> None:
    assert httpd.get("/grow", "shop").status == 200


@pytest.mark.mpms("prefork", "event")
@pytest.mark.parametrize("way,directives", [
    (detach, ()), (rolling, ()), (blocking, ()), (drain, ()),
    (requests, ("MaxRequests 3",)), (memory, ("AppMemoryLimit 60M",))])
def test_process_retires(httpd: Httpd, opened: ExitStack, way,
                         directives) -> None:
    """For any reason. Both connections are closed as by an app that ends in
    order."""
    app = start(httpd, *directives)
    one, other = websocket(httpd, opened), stream(httpd, opened)
    pid = links(httpd, app, 2)
    way(httpd, app)
    assert one.stream.file.read(len(GOING_AWAY)) == GOING_AWAY
    one.send(b"\x88\x80\0\0\0\0")
    one.sock.shutdown(1)
    assert one.rest() == b""
    assert other.stream.file.read(5) == b"0\r\n\r\n"
    wait_until(lambda: not alive(pid), "it ends")
    httpd.log.wait_for(rf"shop\[{pid}\] is stopped: its WebSockets and event")
    httpd.check()


# A thread that has passed on the end of an app's bytes continues when httpd has
# closed the socket of the client.
HELD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int shutdown(int fd, int how)
{
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "shutdown");
    int is_held = how == SHUT_WR && access("DIR/hold/it", F_OK) == 0;
    int rv = real(fd, how);

    if (is_held) {
        close(open("DIR/hold/held", O_WRONLY | O_CREAT, 0666));
        while (fcntl(fd, F_GETFD) >= 0)
            usleep(1000);
    }
    return rv;
}
"""


@pytest.mark.mpms("event", "worker")
def test_httpd_stops_before_the_end(httpd: Httpd, opened: ExitStack) -> None:
    """The app has closed a WebSocket, its client has not. The child is about to
    wait for the client when httpd closes that socket. This wait ends, so httpd
    does not have to kill the child."""
    preload(httpd, HELD.replace("DIR", str(httpd.dir)))
    app = start(httpd)
    websocket(httpd, opened)
    links(httpd, app, 1)
    (httpd.dir / "hold" / "it").touch()
    blocking(httpd, app)
    wait_until((httpd.dir / "hold" / "held").exists, "the child is held")
    httpd.stop()
    assert not httpd.log.matching("AH00046")


@pytest.mark.mpms("prefork", "event")
@pytest.mark.parametrize("protocol", ["fcgi", "scgi", "uwsgi"])
def test_over_another_protocol(httpd: Httpd, opened: ExitStack,
                               protocol: str) -> None:
    """An event stream may last longer than AppKillAfter, and ends in order."""
    text = b"Content-Type: text/event-stream\r\n\r\ndata: first\n\n"
    response_file = httpd.dir / "response"
    response_file.write_bytes({"fcgi": record(STDOUT, text), "scgi": text,
                               "uwsgi": b"HTTP/1.1 200 OK\r\n" + text}[protocol])
    app = httpd.app("shop", "AppRetireTimeout 1", "AppProtocol " + protocol,
                    "AppHungAfter 1", "AppKillAfter 8", "AppSetEnv HANG 1",
                    f"AppSetEnv PROTOCOL {protocol}",
                    f"AppSetEnv RESPONSE {response_file}", program="raw.py")
    httpd.start()
    line = stream(httpd, opened)
    pid = links(httpd, app, 1)
    wait_until(lambda: httpd.group(app)["requests"][0]["age"] > 12,
               "it is old")
    assert alive(pid)
    detach(httpd, app)
    assert line.stream.file.read(5) == b"0\r\n\r\n"
    wait_until(lambda: not alive(pid), "it ends")
    httpd.log.wait_for(rf"shop\[{pid}\] is stopped: its WebSockets and event")
    httpd.check()


def test_incomplete_frame(httpd: Httpd, opened: ExitStack) -> None:
    """No Close frame is possible there, so the connection ends without one."""
    app = start(httpd)
    line = websocket(httpd, opened, "/websocket?half")
    links(httpd, app, 1)
    detach(httpd, app)
    line.sock.shutdown(1)
    assert line.rest() == b""


def test_app_sends_the_close_frame(httpd: Httpd, opened: ExitStack) -> None:
    """Only the Close frame of the app is sent."""
    app = start(httpd, "AppSetEnv FAREWELL 03f4")
    line = websocket(httpd, opened)
    links(httpd, app, 1)
    detach(httpd, app)
    assert line.stream.file.read(4) == b"\x88\x02\x03\xf4"
    line.sock.shutdown(1)
    assert line.rest() == b""


def the_limit_is_over(httpd: Httpd) -> None:
    """AppRetireTimeout of a process that left earlier is over. So is that of one
    that leaves now."""
    app = httpd.apps[1]
    with ExitStack() as own:
        line = websocket(httpd, own, host="blog")
        links(httpd, app, 1)
        detach(httpd, app)
        assert line.stream.file.read(4) == GOING_AWAY


def test_requests_are_finished(httpd: Httpd, opened: ExitStack) -> None:
    """They have the time that they need, and so have the long-lived
    connections of their process."""
    app = start(httpd)
    line = websocket(httpd, opened)
    pid = links(httpd, app, 1)
    slow = httpd.get_async("/chunks", "shop", 60)
    wait_until(lambda: len(httpd.group(app)["requests"]) == 2, "it has both")
    detach(httpd, app)
    the_limit_is_over(httpd)
    assert alive(pid) and len(httpd.group(app)["requests"]) == 2
    (httpd.dir / "go").touch()
    assert slow.result().text == "data: first\n\ndata: last\n\n"
    assert line.stream.file.read(4) == GOING_AWAY
    wait_until(lambda: not alive(pid), "it ends")


def test_no_limit(httpd: Httpd, opened: ExitStack) -> None:
    """AppRetireTimeout 0: long-lived connections stay."""
    app = start(httpd, retire="0")
    line = stream(httpd, opened)
    pid = links(httpd, app, 1)
    detach(httpd, app)
    the_limit_is_over(httpd)
    assert alive(pid) and len(httpd.group(app)["requests"]) == 1
    (httpd.dir / "go").touch()
    assert line.stream.file.read(5) == b"c\r\nda"
    wait_until(lambda: not alive(pid), "it ends with its last link")


def test_long_response_is_not_a_long_lived_connection(
        httpd: Httpd, opened: ExitStack) -> None:
    """A response with X-Accel-Buffering: no may be a file, so it is
    finished."""
    app = start(httpd)
    line = opened.enter_context(Raw(
        httpd.port, b"GET /unbuffered HTTP/1.1\r\nHost: shop\r\n\r\n"))
    assert line.head()[0] == 200
    pid = links(httpd, app, 1)
    detach(httpd, app)
    the_limit_is_over(httpd)
    assert alive(pid)
    (httpd.dir / "go").touch()
    assert line.stream.file.read(25) == b"data: first\n\ndata: last\n\n"
