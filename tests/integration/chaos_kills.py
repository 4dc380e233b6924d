# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Processes are killed, alone and in pairs, some times each. Meanwhile 100
clients send requests, and half of them keep their connections (acceptance B1).
Only requests inside a killed process fail, and nothing else changes."""
import itertools
import random
import statistics
import time
from collections import defaultdict

import pytest

from harness.errorlog import KILLED
from harness.figures import say
from harness.history import History
from harness.httpd import Httpd
from harness.load import WORKERS, Load, half_and_half
from harness.long import lasts
from harness.victims import Killer
from harness.wait import wait_until

pytestmark = pytest.mark.bound(400)

CLIENTS = 100
ROUNDS = lasts(2, 10)  # of each
ROUNDS_OF_TWO = lasts(1, 10)
PROCESSES = 4
BETWEEN = 50  # requests that are served after each kill, at least

SINGLES = [("app",), ("spawner",), ("watchdog",), ("idle child",),
           ("busy child",), ("lock holder",)]
PAIRS = list(itertools.combinations(
    ("app", "spawner", "watchdog", "busy child", "lock holder"), 2))
PAIRS_OF = {"prefork": PAIRS[::lasts(2, 1)],
            "event": PAIRS[lasts(1, 0)::lasts(2, 1)]}
PAIRS_OF["worker"] = PAIRS_OF["event"]  # with APPPOOL_MPM

# The log lines about killed processes. AH10392, and AH10393 of worker: httpd waits
# before it replaces the third child. A start that the spawner had no time to
# record is forgotten.
SAID = (*KILLED, "apppool: (watchdog|spawner) \\d+ (died|ended)",
        "processes that the spawner does not have", "AH1039[23]")

HELPERS = {"spawner": Httpd.spawner_now, "watchdog": Httpd.watchdog_now}


class Chaos:
    """An app under load, some of whose processes are killed."""

    def __init__(self, httpd: Httpd) -> None:
        httpd.log.expect(*SAID)
        httpd.directives += WORKERS[httpd.mpm] + ["MaxKeepAliveRequests 0"]
        # For a moment the requests of a dead child are also in the queue.
        self.app = httpd.app("shop", f"MinInstances {PROCESSES}",
                             f"MaxInstances {PROCESSES}",
                             "AppMaxQueue 300", "AppSetEnv APP_THREADS 1")
        self.httpd = httpd.start()
        assert httpd.get("/pid", self.app.name).status == 200
        httpd.settles(active=0, count=PROCESSES)
        self.pids = self.now()
        self.killer = Killer(httpd, [self.app], random.Random(ROUNDS))
        self.took: dict[str, list[float]] = defaultdict(list)

    def now(self) -> set[int]:
        return set(self.httpd.pids(self.app))

    def served(self) -> int:
        return self.httpd.status()["counters"]["requests"]

    def round(self, victims: tuple[str, ...]) -> None:
        """Kill, and return when everything runs again."""
        before = self.httpd.status()["counters"]
        dead = self.killer.kill(*victims)
        for one in dead:
            if one.kind in HELPERS:
                wait_until(lambda: HELPERS[one.kind](self.httpd)
                           not in (0, one.pid), f"the next {one.kind}")
                self.took[one.kind].append(time.monotonic() - one.before)
        gone = {one.pid for one in dead}
        wait_until(lambda: len(self.now() - gone) == PROCESSES,
                   "all processes are there")
        assert len(self.now() & self.pids) == PROCESSES - (
            "app" in victims), "a process that was not killed"
        self.pids = self.now()
        wait_until(lambda: self.served() > before["requests"] + BETWEEN,
                   "requests are served")
        if "lock holder" in victims:
            assert self.httpd.status()["counters"]["repairs"] \
                > before["repairs"]
            assert self.httpd.events("repaired")

    def run(self, kinds: list[tuple[str, ...]], rounds: int) -> None:
        """Interleaved, because a spawner that dies again and again waits a
        while."""
        load = Load(self.httpd.port, self.httpd.dir / "record",
                    half_and_half(CLIENTS, self.app.name))
        try:
            for _ in range(rounds):
                for victims in kinds:
                    self.round(victims)
            attempts = load.end()
        finally:
            load.kill()
        history = History(attempts, self.httpd.ledgers, self.killer.deaths,
                          {self.app.name: 1})
        say(f"{self.httpd.mpm}, {CLIENTS} clients: {history.summary()}")
        for name, times in self.took.items():
            say(f"  the next {name}: after {statistics.median(times):.3f} s "
                f"(median of {len(times)}), {max(times):.3f} s at most")
        assert not history.lost + history.wrong, history.complaints()
        self.httpd.settles(active=0, count=PROCESSES)
        assert self.now() == self.pids
        repairs = self.httpd.status()["counters"]["repairs"]
        wait_until(lambda: self.httpd.log.matching(
            rf"the pool was repaired: .* \({repairs} times"),
            "the log says so")
        self.httpd.check()


def test_one_process_is_killed(httpd: Httpd) -> None:
    Chaos(httpd).run(SINGLES, ROUNDS)


def test_two_processes_are_killed_at_once(httpd: Httpd) -> None:
    Chaos(httpd).run(PAIRS_OF[httpd.mpm], ROUNDS_OF_TWO)
