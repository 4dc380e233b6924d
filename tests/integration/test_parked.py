# Licensed under the Apache License, Version 2.0; see LICENSE.
"""WebSockets and event streams that hold no worker of httpd: event parks them,
and one thread of each child moves their bytes."""
import re
import socket
import struct
from contextlib import ExitStack
from typing import Callable, Iterator

import pytest

from harness import procs
from harness.cases import cases
from harness.client import Raw
from harness.config import App
from harness.errorlog import BUSY
from harness.httpd import Httpd
from harness.tls import TlsHost
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# One child, so that all connections are in it.
SMALL = ("ServerLimit 2", "StartServers 1", "ThreadsPerChild 16",
         "MaxRequestWorkers 16", "MinSpareThreads 1", "MaxSpareThreads 16",
         "AsyncRequestWorkerFactor 40")
GOING_AWAY = b"\x88\x02\x03\xe9"
FRAME = b"\x81\x05hello"
END = b"0\r\n\r\n"
KB, MB = 1 << 10, 1 << 20


class Line(Raw):
    """A connection of a client."""
    events = b""


class Place:
    """An httpd with one app, over TCP and over TLS."""

    def __init__(self, httpd: Httpd, opened: ExitStack, *directives: str,
                 few: bool = True) -> None:
        self.httpd = httpd
        self.opened = opened
        self.go = httpd.dir / "go"
        if few:
            httpd.directives += SMALL
            httpd.log.expect(BUSY)
        self.app = httpd.app("shop", "AppConcurrency 0", "MaxInstances 1",
                             f"AppSetEnv GO {self.go}", *directives,
                             program="tunnels.py")
        httpd.modules += ["reqtimeout", "env"]
        httpd.directives += ['LogFormat "%U %>s %I %O %X" all',
                             "CustomLog access.log all"]
        self.tls = TlsHost(httpd, self.app, "CustomLog access.log all")
        opened.callback(self.tls.close)
        opened.callback(self.left)
        httpd.start()

    def line(self, tls: bool) -> Line:
        return self.opened.enter_context(
            Line(self.tls.port, context=self.tls.context()) if tls
            else Line(self.httpd.port))

    def tunnel(self, path: str = "/echo", tls: bool = False,
               what: str = "websocket", behind: bytes = b"") -> Line:
        line = self.line(tls)
        line.send(f"GET {path} HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade"
                  f"\r\nUpgrade: {what}\r\n\r\n".encode() + behind)
        assert line.head()[0] == 101
        return line

    def events(self, tls: bool = False, path: str = "/events") -> Line:
        line = self.line(tls)
        line.send(f"GET {path} HTTP/1.1\r\nHost: shop\r\n\r\n".encode())
        assert line.head()[0] == 200
        assert event(line) == b"first"
        return line

    def parked(self, n: int) -> None:
        wait_until(lambda: self.httpd.group(self.app)["suspended"] == n,
                   f"{n} hold no worker")

    def left(self) -> None:
        """All clients have been closed. httpd would need some seconds for a
        stop while its connections end."""
        if self.httpd.process and self.httpd.process.poll() is None:
            self.parked(0)

    def still_open(self, n: int) -> None:
        wait_until(lambda: self.httpd.get("/open", "shop").text == str(n),
                   f"{n} connections are open to the app")

    def logged(self, path: str, n: int = 1) -> list[list[str]]:
        file = self.httpd.dir / "access.log"

        def lines() -> list[list[str]]:
            found = [line.split()[1:] for line in file.read_text().splitlines()
                     if line.split()[0] == path]
            return found if len(found) == n else []

        return wait_until(lines, f"{path} is logged {n} times")


def event(line: Line) -> bytes:
    """The next one. A chunk may have several."""
    while b"\n\n" not in line.events:
        size = int(line.stream.file.readline(), 16)
        line.events += line.stream.file.read(size)
        assert line.stream.file.readline() == b"\r\n"
    text, _, line.events = line.events.partition(b"\n\n")
    assert text.startswith(b"data: ")
    return text[6:]


def says(line: Line, text: bytes) -> None:
    line.send(text)
    assert line.stream.file.read(len(text)) == text


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_many_more_than_workers(httpd: Httpd, opened: ExitStack) -> None:
    """200 of all kinds, in a child with 16 threads. All get what is theirs, and
    other requests are served meanwhile."""
    place = Place(httpd, opened)
    lines = [place.tunnel(tls=n % 2 == 1) for n in range(100)]
    streams = [place.events(tls=n % 2 == 1) for n in range(100)]
    place.parked(200)
    for n, line in enumerate(lines):
        says(line, b"a line of %d\n" % n)
        if n % 10 == 0:
            assert httpd.get("/open", "shop").status == 200
    for stream in streams:
        assert [event(stream) for _ in lines] == \
            [b"a line of %d" % n for n in range(100)]
    metrics = httpd.get("/apppool-status?metrics").text
    pid, = httpd.pids(place.app)
    assert re.search(r'apppool_suspended_connections\{app=".*"\} 200\n',
                     metrics)
    assert re.search(r'apppool_process_suspended_connections\{app=".*",'
                     rf'pid="{pid}"\}} 200\n', metrics)
    assert re.search(rf"^ *{pid}  200  ", httpd.ctl("top", "-n", "1").stdout,
                     re.M)
    for line in lines + streams:
        line.stream.file.close()
        line.sock.close()
    place.parked(0)
    place.still_open(0)
    httpd.settles(active=0, count=1)
    assert {tuple(one[:1]) for one in place.logged("/echo", 100)} == {("101",)}
    place.logged("/events", 100)
    httpd.check()


def test_no_event_yet(httpd: Httpd, opened: ExitStack) -> None:
    """The header alone is enough: more of them than workers."""
    place = Place(httpd, opened)
    streams = []
    for n in range(40):
        stream = place.line(n % 2 == 1)
        streams.append(stream)
        stream.send(b"GET /quiet HTTP/1.1\r\nHost: shop\r\n\r\n")
        assert stream.head()[0] == 200
    place.parked(40)
    says(place.tunnel(), b"hello\n")
    assert [event(stream) for stream in streams] == [b"hello"] * 40


def test_memory(httpd: Httpd, opened: ExitStack) -> None:
    """httpd keeps nothing for the next request of a connection that has none.
    The first ones are not counted: threads need memory, too."""
    place = Place(httpd, opened)
    child, = httpd.children()
    for kind in place.tunnel, place.events:
        for _ in range(40):
            kind()
        before = procs.private_memory(child)
        for _ in range(100):
            kind()
        assert procs.private_memory(child) - before < 100 * 36 * KB


def reset(line: Line) -> None:
    line.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
    close(line)


def close(line: Line) -> None:
    line.stream.file.close()
    line.sock.close()


def test_client_leaves(httpd: Httpd, opened: ExitStack) -> None:
    """The app knows it at once."""
    place = Place(httpd, opened)
    rows: list[tuple[Callable[[], Line], Callable[[Line], None]]] = [
        (lambda tls=tls, kind=kind: kind(tls=tls), leave)  # type: ignore
        for tls in (False, True) for kind in (place.tunnel, place.events)
        for leave in (close, reset)]
    for (begin, leave), case in cases(rows):
        with case:
            line = begin()
            place.parked(1)
            leave(line)
            place.still_open(0)
            place.parked(0)
    httpd.check()


def test_app_closes(httpd: Httpd, opened: ExitStack) -> None:
    place = Place(httpd, opened)
    for tls, case in cases([False, True]):
        with case:
            line = place.tunnel("/bye", tls)
            place.parked(1)
            line.send(b"good night\n")
            assert line.rest() == b"good night\n"
            close(line)
            place.parked(0)


def test_half_close(httpd: Httpd, opened: ExitStack) -> None:
    """The client has sent everything, and gets its answer."""
    place = Place(httpd, opened)
    line = place.tunnel("/half", what="numbers", behind=b"123")
    place.parked(1)
    line.send(b"45678")
    line.sock.shutdown(socket.SHUT_WR)
    assert line.rest() == b"8 bytes"
    place.parked(0)


def test_app_is_killed(httpd: Httpd, opened: ExitStack) -> None:
    """All clients see the end at once. A response that was cut off is no
    complete one."""
    httpd.log.expect("has closed the connection before the end", "died")
    place = Place(httpd, opened)
    lines = [place.tunnel(), place.tunnel(tls=True)]
    streams = [place.events(), place.events(tls=True)]
    place.parked(4)
    pid, = httpd.pids(place.app)
    procs.kill9(pid)
    for line in lines + streams:
        assert line.rest() == b""
    place.parked(0)
    place.logged("/echo", 2)
    place.logged("/events", 2)
    httpd.check()


def test_helpers_are_killed(httpd: Httpd, opened: ExitStack) -> None:
    """No connection ends, and those that begin meanwhile are parked, too."""
    httpd.log.expect(r"apppool: (spawner|watchdog) \d+ ended")
    place = Place(httpd, opened)
    lines = [place.tunnel(tls=tls) for tls in (False, True)]
    streams = [place.events(tls=tls) for tls in (False, True)]
    place.parked(4)
    before = httpd.helper("spawner")
    procs.kill9(httpd.helper("watchdog"))
    procs.kill9(before)
    lines.append(place.tunnel())
    for line in lines:
        says(line, b"still here\n")
    wait_until(lambda: httpd.spawner_now() not in (0, before),
               "there is another spawner")
    place.parked(5)
    for line in lines:
        says(line, b"and now\n")
    for stream in streams:
        assert [event(stream) for _ in range(6)] \
            == [b"still here"] * 3 + [b"and now"] * 3
    httpd.check()


def end_in_order(place: Place, stop: Callable[[], None]) -> None:
    lines = [place.tunnel("/frames", tls) for tls in (False, True)]
    streams = [place.events(tls) for tls in (False, True)]
    other = place.tunnel(what="numbers")
    for line in lines:
        assert line.stream.file.read(len(FRAME)) == FRAME
    place.parked(5)
    stop()
    assert [line.rest() for line in lines] == [GOING_AWAY] * 2
    assert [line.rest() for line in streams] == [END] * 2
    assert other.rest() == b""
    assert {one[0] for one in place.logged("/frames", 2)} == {"101"}
    assert {one[0] for one in place.logged("/events", 2)} == {"200"}
    place.logged("/echo", 1)


def test_graceful(httpd: Httpd, opened: ExitStack) -> None:
    """The clients are told, and come again. The old child ends."""
    place = Place(httpd, opened)
    old, = httpd.children()
    end_in_order(place, httpd.graceful)
    wait_until(lambda: not procs.alive(old), "the old child ends")
    line = place.tunnel()
    place.parked(1)
    says(line, b"again\n")
    httpd.check()


def test_stop(httpd: Httpd, opened: ExitStack) -> None:
    """event also closes, without a word, the connections that its workers
    have, and may crash then. So the workers put down what they parked. A worker
    comes once more for the first connection of a child."""
    place = Place(httpd, opened)
    child, = httpd.children()

    def stop() -> None:
        httpd.log.wait_for("this httpd is as known")
        wait_until(lambda: procs.all_sleep(child), "no worker has a connection")
        httpd.stop()

    end_in_order(place, stop)
    assert not httpd.log.matching("AH00046")


def test_child_is_replaced(httpd: Httpd, opened: ExitStack) -> None:
    """MaxConnectionsPerChild"""
    httpd.directives.append("MaxConnectionsPerChild 100")
    place = Place(httpd, opened)

    def use_up() -> None:
        for _ in range(100):
            httpd.get("/open", "shop")

    end_in_order(place, use_up)


def test_middle_of_a_frame(httpd: Httpd, opened: ExitStack) -> None:
    """No Close frame is possible there."""
    place = Place(httpd, opened)
    line = place.tunnel()
    says(line, FRAME[:3])
    place.parked(1)
    httpd.graceful()
    assert line.rest() == b""


def test_child_is_killed(httpd: Httpd, opened: ExitStack) -> None:
    """It loses its connections, and nothing else."""
    place = Place(httpd, opened)
    line, stream = place.tunnel(), place.events()
    place.parked(2)
    child, = httpd.children()
    procs.kill9(child)
    assert line.rest() == b"" and stream.rest() == b""
    place.parked(0)
    place.still_open(0)
    httpd.settles(active=0, count=1)


def test_slow_client(httpd: Httpd, opened: ExitStack) -> None:
    """The app waits for it. Others do not wait, and the child does not hold
    what it does not take."""
    place = Place(httpd, opened, "AppSetEnv MB 60")
    others = [place.tunnel(tls=tls) for tls in (False, True)]
    for path, tls, case in [(*row, case) for row, case in cases(
            [("/flood", False), ("/flood", True), ("/many", True)])]:
        with case:
            child, = httpd.children()
            before = procs.private_memory(child)
            line = place.tunnel(path, tls) if path == "/flood" \
                else place.events(tls, path)
            place.parked(3)
            for other in others * 500:
                says(other, b"and so on\n")
            place.still_open(3)
            assert procs.private_memory(child) - before < 8 * MB
            if path == "/flood":
                assert len(line.stream.file.read()) == 60 * MB
            else:
                for _ in range(60 * 16):
                    assert event(line) == b"x" * 65536
            close(line)
            place.parked(2)


def test_slow_app(httpd: Httpd, opened: ExitStack) -> None:
    place = Place(httpd, opened)
    other = place.tunnel()
    for tls, case in cases([False, True]):
        with case:
            line = place.tunnel("/slow", tls, what="numbers")
            place.parked(2)
            line.sock.settimeout(0.5)
            n = 0
            with pytest.raises((TimeoutError, socket.timeout)):
                while n < 100 * MB:
                    n += line.sock.send(b"x" * 65536)
            says(other, b"still here\n")
            place.go.touch()
            line.sock.settimeout(40)
            close(line)
            place.parked(1)
            place.go.unlink()
            assert n < 100 * MB


def test_bytes_are_logged(httpd: Httpd, opened: ExitStack) -> None:
    """mod_logio counts what has gone over the wire."""
    place = Place(httpd, opened)
    request = b"GET /bye HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\n" \
        b"Upgrade: echo\r\n\r\n"
    line = place.line(False)
    line.send(request)
    _, head = line.head()
    place.parked(1)
    line.send(b"x" * 9999 + b"\n")
    got = line.rest()
    assert got == b"x" * 9999 + b"\n"
    close(line)
    [(status, received, sent, end)] = place.logged("/bye")
    assert (status, end) == ("101", "-")
    assert int(received) == len(request) + 10000
    assert int(sent) == len(head) + 10000


def test_longer_than_timeout(httpd: Httpd, opened: ExitStack) -> None:
    """httpd lets no connection wait for that long, so a worker comes for it
    again and again. AppTimeout is the limit, for an upgraded connection the
    longer of both."""
    httpd.directives += ["Timeout 1", "RequestReadTimeout body=1"]
    place = Place(httpd, opened, "AppTimeout 1min")
    lines = [place.tunnel(), place.tunnel(tls=True)]
    streams = [place.events(), place.events(tls=True)]
    wait_until(lambda: min(one["age"] for one in httpd.group(place.app)[
        "requests"]) > 4, "they are old")
    place.parked(4)
    for line in lines:
        says(line, b"hello\n")
    for stream in streams:
        assert [event(stream) for _ in lines] == [b"hello"] * 2
    httpd.check()


def test_silence(httpd: Httpd, opened: ExitStack) -> None:
    """AppTimeout, and Timeout if that is longer for an upgraded one."""
    httpd.log.expect("was silent for too long within its response")
    httpd.directives.append("Timeout 2")
    place = Place(httpd, opened, "AppTimeout 1")
    line, stream = place.tunnel(), place.events()
    assert line.rest() == b""
    assert stream.rest() == b""
    place.parked(0)


def test_no_room(httpd: Httpd, opened: ExitStack) -> None:
    """A child would accept no more connections. So the others hold a worker
    each, and all are served."""
    httpd.directives += [*SMALL[:-1], "AsyncRequestWorkerFactor 2"]
    httpd.log.expect("hold no worker, as many as")
    place = Place(httpd, opened, "AppMaxLongLived 0", few=False)
    lines = [place.tunnel() for _ in range(20)]
    place.parked(16)
    for n, line in enumerate(lines):
        says(line, b"%d\n" % n)
    assert len(httpd.log.matching(
        "16 WebSockets and event streams of this child of httpd hold no "
        "worker, as many as AsyncRequestWorkerFactor allows: others")) == 1
    httpd.check()


def test_filter_that_waits(httpd: Httpd, opened: ExitStack) -> None:
    """It would make all others wait."""
    httpd.modules.append("ratelimit")
    place = Place(httpd, opened, "SetOutputFilter RATE_LIMIT",
                  "SetEnv rate-limit 400")
    place.events()
    httpd.log.wait_for("keeps a worker, because the filter rate_limit may wait")
    place.parked(0)
