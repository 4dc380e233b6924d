# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A hostile app beside a good one (apps/hostile.py). The clients of the good
app send requests all the time, and its processes are replaced all the time, so
it needs the spawner. In one run, phases with attacks alternate with phases in
which the app does the same work to itself. The load of the machine is in both.
No request of the good app may fail, and the p99 of both kinds of phases is
compared."""
import random
import statistics
import threading
import time
from typing import NamedTuple

from harness import sentences
from harness.client import Pending
from harness.history import Attempt, History
from harness.httpd import Httpd
from harness.load import WORKERS, Crowd, Load
from harness.wait import wait_until

ATTACKS = ("output", "notify", "linger", "links", "forks", "files",
           "responses", "term")
PHASE = 1.0  # seconds
CLIENTS = 6
WORST = 2.0  # times the p99 of the harmless phases
# The p99 of one turn is that of a dozen requests, all of which one stop of the
# machine delays. A stop is in few turns. What the hostile app does is in all.
MOST = 5  # turns, as long as the p99 of all of them is too high
# Below this, a p99 comes from the machine's scheduling, not from a queue.
FLOOR = 0.02

# Lines about the hostile app. The requests of the good app are checked
# separately.
SAID = (sentences.PRINTS_TOO_MUCH, sentences.DESCRIPTOR_SENT,
        sentences.NOT_STARTED, sentences.START_ERROR, sentences.NO_RESPONSE,
        sentences.NO_TERM, sentences.CHILDREN_LEFT, sentences.UNREACHABLE,
        sentences.REFUSED_ALL, sentences.LEFT_THERE, sentences.DIED,
        r"AH00898: .* returned by /\w*$", "AH01102: .* server bad",
        sentences.CUT_OFF, "AH01110|AH01114|AH02454")


class Phase(NamedTuple):
    attack: str
    hostile: bool
    began: float
    ended: float


class Visitors(threading.Thread):
    """Clients of the hostile app. Their responses do not matter, unless they
    come from the good app: `stolen`."""

    def __init__(self, httpd: Httpd) -> None:
        super().__init__(daemon=True)
        self.httpd = httpd
        self.ended = threading.Event()
        self.stolen: list[str] = []

    def run(self) -> None:
        pending: list[Pending] = []
        while not self.ended.wait(0.1):
            pending += [self.httpd.get_async("/who", name, timeout=5)
                        for name in ("bad", "bad-unix")]
            self.stolen += [one.response.text for one in pending if one.done()
                            and one.response
                            and one.response.text.startswith("good")]
            pending = [one for one in pending if not one.done()]


class Hostile:
    def __init__(self, httpd: Httpd, seconds: float, seed: int,
                 attacks: tuple[str, ...] = ATTACKS) -> None:
        assert set(attacks) <= set(ATTACKS), f"attacks are {ATTACKS}"
        self.httpd = httpd
        self.seconds = seconds
        self.attacks = attacks
        self.dice = random.Random(seed)
        self.phases: list[Phase] = []
        httpd.log.expect(*SAID)
        httpd.directives += [*WORKERS[httpd.mpm], "MaxKeepAliveRequests 0",
                             "MaxPoolSize 12"]
        self.good = httpd.app(
            "good", "MinInstances 2", "MaxInstances 4", "MaxRequests 100",
            "AppMaxQueue 1000", "AppSetEnv APP_THREADS 1")
        self.mode = httpd.dir / "mode"
        own = httpd.dir / "own"
        own.mkdir()
        own.chmod(0o777)
        for name, way in (("bad", "fd"), ("bad-unix", "unix")):
            httpd.app(name, "AppUser nobody nogroup", f"AppListen {way}",
                      "MinInstances 1", "MaxInstances 1", "AppPreStart On",
                      "AppStopTimeout 1", "AppTimeout 2",
                      f"AppSetEnv MODE_FILE {self.mode}",
                      f"AppSetEnv OWN_DIR {own}", program="hostile.py")
        self.switch("idle")

    def switch(self, words: str) -> None:
        new = self.mode.with_name("mode.new")
        new.write_text(words)
        new.rename(self.mode)

    def phase(self, attack: str, hostile: bool) -> None:
        way = "hostile" if hostile else "harmless"
        victim = self.httpd.group(self.good)["processes"][0]["id"]
        self.switch(f"{attack} {way} {self.httpd.runtime}/s/{victim}")
        began = time.monotonic()
        if attack == "term":
            how = "--blocking" if hostile else "--rolling"
            self.httpd.ctl("restart", "bad", how)
        time.sleep(PHASE)
        self.phases.append(Phase(attack, hostile, began, time.monotonic()))
        self.switch("idle")
        # Remove what it has left, so the next phase begins without it.
        wait_until(lambda: self.httpd.ctl("status").returncode == 0,
                   f"the spawner responds after {attack}")

    def turn(self, load: Load) -> None:
        phases = [(attack, hostile) for attack in self.attacks
                  for hostile in (False, True)]
        self.dice.shuffle(phases)
        for attack, hostile in phases:
            assert load.running(), "the clients ended"
            self.phase(attack, hostile)

    def is_too_slow(self, load: Load) -> bool:
        """So far, and there may be more turns."""
        self.attempts = load.so_far()
        return self.ratio() >= WORST and \
            len(self.phases) < MOST * 2 * len(self.attacks)

    def run(self) -> None:
        httpd = self.httpd.start()
        for name in ("good", "bad", "bad-unix"):
            assert httpd.get("/pid", name).status == 200
        load = Load(httpd.port, httpd.dir / "record", [
            Crowd(CLIENTS // 2, "good", kept=True, pause=0.03),
            Crowd(CLIENTS // 2, "good", kept=False, pause=0.03)])
        visitors = Visitors(httpd)
        visitors.start()
        until = time.monotonic() + self.seconds
        try:
            self.turn(load)
            while time.monotonic() < until or self.is_too_slow(load):
                self.turn(load)
            self.attempts = load.end()
        finally:
            self.switch("idle")
            visitors.ended.set()
            visitors.join()
            load.kill()
        self.stolen = visitors.stolen
        self.history = History(self.attempts, httpd.ledgers, [], {"good": 1})
        httpd.check()

    # ---- the measurements

    def took(self, hostile: bool, attack: str = "") -> list[float]:
        phases = [one for one in self.phases if one.hostile == hostile
                  and attack in ("", one.attack)]

        def within(one: Attempt) -> bool:
            return any(phase.began <= one.began < phase.ended
                       for phase in phases)

        return [one.ended - one.began for one in self.attempts if within(one)]

    def p99(self, hostile: bool, attack: str = "") -> float:
        took = self.took(hostile, attack)
        return statistics.quantiles(took, n=100)[98] if len(took) > 1 else 0.0

    def ratio(self) -> float:
        return self.p99(True) / max(self.p99(False), FLOOR)

    def report(self) -> list[str]:
        lines = [f"{attack}: p99 {self.p99(True, attack) * 1000:.1f} ms, "
                 f"harmless {self.p99(False, attack) * 1000:.1f} ms"
                 for attack in self.attacks]
        return [*lines, self.history.summary(),
                f"{len(self.stolen)} responses of the good app by the hostile "
                "one's name"]

    def verdict(self) -> str:
        """p99 with attacks, and without."""
        return (f"p99 {self.p99(True) * 1000:.1f} ms beside it, "
                f"{self.p99(False) * 1000:.1f} ms beside a harmless one: "
                f"ratio {self.ratio():.2f}")


def hostile(httpd: Httpd, seconds: float, seed: int,
            attacks: tuple[str, ...] = ATTACKS) -> Hostile:
    run = Hostile(httpd, seconds, seed, attacks)
    run.run()
    return run
