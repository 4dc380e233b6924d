# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Graceful restarts while clients of all kinds come and go. As many connections
end as have begun, and the access log has each of them once, with its bytes.
Under tests/sanitized/run each moment between two threads lasts longer
(sanitized/window.h)."""
import itertools
import random
import threading
from contextlib import ExitStack, suppress
from typing import Callable

import pytest

from missed import witnesses

from harness import procs
from harness.figures import say
from harness.httpd import Httpd
from harness.long import lasts
from harness.wait import wait_until
from test_parked import END, GOING_AWAY, Line, Place, close, opened, reset

pytestmark = pytest.mark.mpms("event")

RESTARTS = lasts(3, 30)
BEGUN = 60  # connections, at least, between two restarts
WINDOW = 5000  # us
MORE = ("ServerLimit 10", "StartServers 2", "ThreadsPerChild 32",
        "MaxRequestWorkers 64", "MinSpareThreads 32", "MaxSpareThreads 64",
        "AsyncRequestWorkerFactor 20",
        'GlobalLog ends.log "%{X-Id}i %>s %I %O"')
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n"


class Visitors:
    """Each is a thread with one connection after the other."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.ids = itertools.count()
        self.ended = threading.Event()
        # id: the status, and the bytes of a plain connection that ended in order
        self.begun: dict[str, int] = {}
        self.bytes: dict[str, tuple[int, int]] = {}
        self.failed: list[str] = []
        witnesses.append(lambda: self.failed)
        ways = [self.echoes, self.reads, self.is_silent]
        self.threads = [
            threading.Thread(target=self.run, args=(way, tls, seed))
            for seed, (way, tls) in enumerate(
                [(way, tls) for way in ways for tls in (False, True)] * 2 +
                [(self.is_deaf, False), (self.is_deaf, True),
                 (self.asks, False), (self.asks, True)])]

    def run(self, way: Callable[[Line, str, random.Random], None], tls: bool,
            seed: int) -> None:
        chance = random.Random(seed)
        while not self.ended.is_set():
            name = str(next(self.ids))
            try:
                self.visit(way, tls, name, chance)
            except Exception as error:  # is told at the end
                self.failed.append(f"{way.__name__} {tls} {name}: {error!r}")

    def visit(self, way: Callable[[Line, str, random.Random], None],
              tls: bool, name: str, chance: random.Random) -> None:
        with Line(self.place.tls.port, context=self.place.tls.context()) \
                if tls else Line(self.place.httpd.port) as line:
            way(line, name, chance)
        if tls:
            self.bytes.pop(name, None)

    def open(self, line: Line, name: str, path: str, more: str = UPGRADE) -> int:
        """@return the bytes that were sent"""
        text = f"GET {path} HTTP/1.1\r\nHost: shop\r\nX-Id: {name}\r\n{more}\r\n"
        line.send(text.encode())
        status, head = line.head()
        assert status == (101 if more else 200), head
        self.begun[name] = status
        self.bytes[name] = len(text), len(head)
        return len(text)

    def leaves(self, line: Line, name: str, chance: random.Random) -> bool:
        """Some leave, and the others stay until httpd ends the connection."""
        how = chance.choice([close, reset, None])
        if how:
            self.bytes.pop(name)
            how(line)
        return how is not None

    def echoes(self, line: Line, name: str, chance: random.Random) -> None:
        self.open(line, name, "/echo")
        received, sent = self.bytes[name]
        for n in range(chance.randrange(20)):
            frame = b"\x82\x02%02d" % n
            with suppress(ConnectionResetError, BrokenPipeError):
                line.send(frame)
            got = line.stream.file.read(len(frame))
            if got != frame:
                self.bytes.pop(name)  # this frame may have come too late
                assert got == GOING_AWAY or not got, got
                return
            received, sent = received + len(frame), sent + len(frame)
        if not self.leaves(line, name, chance):
            rest = line.rest()
            assert rest == GOING_AWAY, rest
            self.bytes[name] = received, sent + len(rest)

    def is_silent(self, line: Line, name: str, chance: random.Random) -> None:
        self.open(line, name, "/frames")
        if not self.leaves(line, name, chance):
            received, sent = self.bytes[name]
            rest = line.rest()
            # The application's frame may have come too late.
            assert rest in (b"\x81\x05hello" + GOING_AWAY, GOING_AWAY), rest
            self.bytes[name] = received, sent + len(rest)

    def reads(self, line: Line, name: str, chance: random.Random) -> None:
        self.open(line, name, "/events", "")
        if not self.leaves(line, name, chance):
            received, sent = self.bytes[name]
            rest = line.rest()
            assert rest.endswith(END), rest
            self.bytes[name] = received, sent + len(rest)

    def is_deaf(self, line: Line, name: str, chance: random.Random) -> None:
        self.open(line, name, "/flood")
        self.bytes.pop(name)
        self.ended.wait(chance.random() * 3)
        reset(line)

    def asks(self, line: Line, name: str, _: random.Random) -> None:
        self.open(line, name, "/open", "")
        self.bytes.pop(name)
        assert line.stream.file.read(1).isdigit()

    def more(self) -> None:
        """Return when many others have come."""
        seen = len(self.begun)
        wait_until(lambda: len(self.begun) >= seen + BEGUN or self.failed,
                   "others come")

    def are_there(self) -> bool:
        return any(thread.is_alive() for thread in self.threads)


def logged(httpd: Httpd) -> dict[str, list[str]]:
    """Each of them once."""
    lines = [line.split() for line in
             (httpd.dir / "ends.log").read_text().splitlines()]
    found = {words[0]: words[1:] for words in lines if words[0] != "-"}
    assert len(found) == len([words for words in lines if words[0] != "-"])
    return found


def test_restarts(httpd: Httpd, opened: ExitStack,
                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPPOOL_WINDOW", str(WINDOW))
    httpd.directives += MORE
    place = Place(httpd, opened, "AppMaxLongLived 0", "AppSetEnv MB 20",
                  few=False)
    visitors = Visitors(place)
    children = set(httpd.children())
    for thread in visitors.threads:
        thread.start()
    for _ in range(RESTARTS):
        visitors.more()
        httpd.graceful()
        children |= set(httpd.children())
    visitors.ended.set()
    while visitors.are_there():
        httpd.graceful()
        for thread in visitors.threads:
            thread.join(0.3)
    assert not visitors.failed, visitors.failed
    place.parked(0)
    place.still_open(0)
    wait_until(lambda: logged(httpd).keys() == visitors.begun.keys(),
               "all are logged")
    found = logged(httpd)
    assert {name: int(words[0]) for name, words in found.items()} == \
        visitors.begun
    assert {name: (int(found[name][1]), int(found[name][2]))
            for name in visitors.bytes} == visitors.bytes
    new = set(httpd.children())
    wait_until(lambda: not any(procs.alive(pid) for pid in children - new),
               "the old children end")
    say(f"{RESTARTS} graceful restarts: {len(found)} connections have begun and "
        f"ended, {len(visitors.bytes)} with all bytes counted")
    httpd.check()
