# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A child of httpd becomes hostile and writes any values to the live segment.
Root's processes survive, and signal only processes of this pool. When the
writing ends, the pool works again. Children of httpd may crash.

APPPOOL_SEED=NUMBER repeats a run."""
import os
import random
import threading
import time
from http.client import HTTPException
from typing import Callable

import pytest

from harness import procs, sentences
from harness.httpd import Httpd
from harness.innocent import Innocent
from harness.procs import alive
from harness.segment import LOCK, RECORDS, Segment
from harness.wait import wait_until

ROUNDS = 30
WRITES = 40  # in a round
PAUSE = 0.01  # seconds from a response to the next request of a client


class Writer:
    """What is written, by a seed that is printed."""

    def __init__(self, segment: Segment, victim: int) -> None:
        self.segment = segment
        self.victim = victim
        seed = int(os.environ.get("APPPOOL_SEED", time.time()))
        print(f"APPPOOL_SEED={seed}")
        self.dice = random.Random(seed)

    def random_bytes(self) -> None:
        """Anything, anywhere"""
        offset = self.segment.somewhere(self.dice)
        self.segment.write(offset, self.dice.randbytes(
            self.dice.choice([1, 4, 8, 64, 200])))

    def plausible(self) -> None:
        """Indexes and states that exist, links into other arrays, huge counts,
        an innocent process."""
        dice, segment = self.dice, self.segment
        table = dice.choice(list(RECORDS))
        link = segment.tables[table] + dice.randrange(12) * RECORDS[table][0] \
            + dice.randrange(0, RECORDS[table][1], 4)
        value = dice.choice([
            dice.randrange(6), dice.randrange(6), dice.randrange(12), link,
            0xffffffff, 0x7fffffff, 0x10000, self.victim,
            segment.word(segment.somewhere(dice))])
        segment.write_word(segment.somewhere(dice), value)

    def states(self) -> None:
        """The word that says what state a record has."""
        dice, segment = self.dice, self.segment
        table = dice.choice(list(RECORDS))
        segment.write_word(
            segment.tables[table] + dice.randrange(12) * RECORDS[table][0],
            dice.randrange(6))

    def lock(self) -> None:
        """The lock seems to be held by a living process that knows nothing of
        it."""
        self.segment.write_word(LOCK, self.victim)


class Clients:
    """They send requests, whatever the result is."""

    def __init__(self, httpd: Httpd) -> None:
        self.httpd = httpd
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(host,),
                                         daemon=True)
                        for host in ("shop", "blog") * 2]
        for thread in self.threads:
            thread.start()

    def run(self, host: str) -> None:
        while not self.ended.wait(PAUSE):
            try:
                self.httpd.get("/pid", host, timeout=1)
            except (OSError, HTTPException):
                pass

    def end(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(40)


def serves(httpd: Httpd) -> bool:
    """Ten requests to each app in a row succeed, and all invariants hold."""
    try:
        for host in ("shop", "blog") * 10:
            response = httpd.get("/who", host, timeout=3)
            if response.status != 200 or not response.text.startswith(host):
                return False
    except (OSError, HTTPException):
        return False
    return httpd.ctl("check").returncode == 0


# Each of these sentences is about a field of the pool.
WHAT_BYTES_MAY_SAY = (
    sentences.CANNOT_JOIN, sentences.QUEUE_FULL, sentences.QUEUE_LATE,
    sentences.STILL_STARTING, sentences.DRAINED, sentences.LONG_LIVED_FULL,
    sentences.TOO_MANY_UNKILLABLE,
    sentences.UNKILLABLES, sentences.IS_UNKILLABLE, sentences.START_ERROR,
    sentences.NOT_STARTED, sentences.NO_RESPONSE, sentences.KILLED_NO_RESPONSE,
    sentences.SLOW, sentences.REPAIRED, sentences.NO_RECORD, sentences.NO_TERM,
    sentences.CHILDREN_LEFT, sentences.DIED, sentences.UNCONFIGURED,
    sentences.NO_BACKEND)


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
@pytest.mark.parametrize("what", ["random_bytes", "plausible", "states",
                                  "lock"])
def test_hostile_child(httpd: Httpd, what: str) -> None:
    httpd.log.expect(sentences.LOST_PLACE, sentences.DAMAGED,
                     sentences.LOCK_FREED, sentences.FORGOTTEN,
                     sentences.NO_ROOM, sentences.UNREACHABLE,
                     sentences.REFUSED_ALL, sentences.MODULE_MISSING,
                     *WHAT_BYTES_MAY_SAY)
    httpd.log.expect_crashes()
    httpd.directives += ["MaxPoolSize 6", "AppStopTimeout 2",
                         "AppQueueTimeout 3s"]
    httpd.app("shop", "MinInstances 2", "MaxInstances 3")
    httpd.app("blog", "AppConcurrency 3", "AppSetEnv APP_THREADS 1")
    httpd.start()
    for host in ("shop", "blog"):
        # The start of a process may take longer than the queue waits.
        wait_until(lambda: httpd.get("/who", host).status == 200, "it runs")
    root = [httpd.pid, httpd.helper("watchdog"), httpd.helper("spawner")]
    with Innocent(httpd.dir) as innocent, Segment(httpd) as segment:
        writer = Writer(segment, innocent.pid)
        write: Callable[[], None] = getattr(writer, what)
        clients = Clients(httpd)
        try:
            for n in range(ROUNDS):
                for _ in range(1 if what == "lock" else WRITES):
                    write()
                time.sleep(0.02)
                if n % 5 == 0:
                    httpd.ctl("check")
                    httpd.ctl("status")
                assert all(alive(pid) for pid in root), \
                    f"round {n}: {[procs.command(pid) for pid in root]}"
        finally:
            clients.end()
        # Only an administrator decides whether an app is drained.
        if httpd.log.matching("shop is drained"):
            httpd.ctl("restart", "shop")
        if httpd.log.matching("blog is drained"):
            httpd.ctl("restart", "blog")
        began = time.monotonic()
        try:
            wait_until(lambda: serves(httpd), "the pool works again", 60)
        except AssertionError:
            print(httpd.ctl("--json", "status").stdout,
                  httpd.ctl("check").stdout)
            raise
        print(f"after {time.monotonic() - began:.1f} s")
        assert all(alive(pid) for pid in root)
        httpd.log.wait_for("pool was (repaired|damaged)")
        assert innocent.unharmed()
        httpd.stop()
        assert innocent.unharmed()


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
def test_sessions_that_are_over(httpd: Httpd) -> None:
    """Slots of finished requests claim that they hold a process. It is free
    again soon, and no open request is harmed."""
    httpd.log.expect("apppool.*(damaged|no process was free)")
    app = httpd.app("shop", "MinInstances 3", "MaxInstances 3",
                    "AppQueueTimeout 30s")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=3)
    served = [httpd.hold("shop", key) for key in "bcd"]
    assert {one.release().status for one in served} == {200}
    held = httpd.hold("shop", "a")
    pids = httpd.pids(app)
    with Segment(httpd) as segment:
        size, _ = RECORDS["sessions"]
        slots = [segment.tables["sessions"] + index * size
                 for index in range(1, 8)]
        used = [at for at in slots if segment.word(at + 16) != 0]
        free = [at for at in used if segment.word(at) == 0]
        assert len(used) > len(free) > 1
        for at in free:
            segment.write_word(at, 2)
    # These may go to the process that still has /hold.
    others = [httpd.get_async("/pid", "shop") for _ in range(4)]
    wait_until(lambda: httpd.log.matching("all sessions are taken back"),
               "the damage is found")
    assert held.release().text == str(held.pid)
    assert {other.result().status for other in others} == {200}
    httpd.settles(active=0, count=3)
    assert httpd.pids(app) == pids
    httpd.check()


@pytest.mark.mpms("event")
def test_no_slot_of_it(httpd: Httpd) -> None:
    """The slot of a process says that it is free. The process soon has another
    slot and serves on, until a new process replaces it: the pool does not know
    any more which code it runs."""
    httpd.log.expect("pool (is|was) (repaired|damaged)",
                     r"shop\[\d+\] had lost its place in the pool")
    app = httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    httpd.settles(active=0, count=1)
    with Segment(httpd) as segment:
        size, _ = RECORDS["processes"]
        segment.write_word(segment.tables["processes"] + size, 0)
    httpd.log.wait_for(rf"shop\[{pid}\] had lost its place in the pool")
    assert httpd.get("/pid", "shop").status == 200
    httpd.log.wait_for(rf"shop\[{pid}\] is stopped: restart")
    new, = httpd.pids(app, "idle")
    assert httpd.get("/pid", "shop").text == str(new)
    httpd.settles(active=0, count=1)
    httpd.check()
