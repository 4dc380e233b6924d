# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Everything at random and under load, for some seconds: one or two processes
are killed, httpd is reloaded, apps are deployed or retire, MaxPoolSize
changes, apppoolctl is run. Afterwards the history must explain each request,
and nothing may be left."""
import itertools
import os
import random
import signal
import time
from collections import Counter
from typing import Any, Callable, Optional

from harness import procs
from harness.errorlog import KILLED
from harness.history import History
from harness.httpd import Httpd
from harness.load import Crowd, Load
from harness.victims import Killer
from harness.wait import wait_until

LIMITS = {
    "prefork": ["ServerLimit 400", "MaxRequestWorkers 400",
                "StartServers 80", "MinSpareServers 20",
                "MaxSpareServers 100"],
    "event": ["ServerLimit 64", "ThreadsPerChild 32", "StartServers 6",
              "MinSpareThreads 96", "MaxSpareThreads 256",
              "MaxRequestWorkers 512"],
}

CROWDS = [
    Crowd(20, "single", kept=True, pause=0.1),
    Crowd(20, "single", kept=False, pause=0.1),
    Crowd(20, "shared", kept=True, pause=0.1, work=0.005),
    Crowd(20, "shared", kept=False, pause=0.1, work=0.005, size=500000),
    Crowd(5, "slow", kept=True, pause=0.2, work=0.2),
    Crowd(5, "slow", kept=False, pause=0.2, work=0.2),
    Crowd(1, "idler", kept=True, pause=2.5),
    Crowd(1, "idler", kept=False, pause=3.1),
]

APPS = {
    "single": ("MinInstances 2", "MaxInstances 4"),
    "shared": ("MinInstances 1", "MaxInstances 2", "AppConcurrency 4"),
    "slow": ("MaxInstances 3",),
    "idler": ("MaxInstances 2", "PoolIdleTime 1"),
}
ROOM = {"single": 1, "shared": 4, "slow": 1, "idler": 1}

# kind: how often
KILLS = {"app": 4, "spawner": 2, "watchdog": 1, "idle child": 1,
         "busy child": 3, "lock holder": 3}

SAID = (*KILLED, "apppool: (watchdog|spawner) \\d+ (died|ended)",
        "processes that the spawner does not have", "AH10392")


GROWTH = 512 * 1024  # bytes that a helper may have more than its successor


class Soak:
    def __init__(self, httpd: Httpd, seconds: float, seed: int) -> None:
        self.httpd = httpd
        self.seconds = seconds
        self.dice = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.spawner_kills: list[float] = []
        self.helpers_until = 0.0  # they are not killed afterwards
        self.growth: list[str] = []
        httpd.log.expect(*SAID)
        httpd.directives += LIMITS[httpd.mpm] + [
            "MaxKeepAliveRequests 0", "MaxPoolSize 9"]
        self.apps = [httpd.app(name, *directives, "AppMaxQueue 1000",
                               "AppSetEnv APP_THREADS 1",
                               "AppSetEnv RETIRES 1")
                     for name, directives in APPS.items()]
        self.killer = Killer(httpd, self.apps, self.dice)

    # ---- events

    def kill(self) -> None:
        self.kill_these(*self.dice.choices(*zip(*KILLS.items())))

    def kill_two(self) -> None:
        self.kill_these(*self.dice.choice(
            list(itertools.combinations(KILLS, 2))))

    def kill_these(self, *kinds: str) -> None:
        """The spawner is not killed if it would then be delayed because it
        dies again and again. No helper is killed in the last third, which
        shows whether the helpers grow."""
        now = time.monotonic()
        helpers = {"spawner", "watchdog"} & set(kinds)
        recent = [when for when in self.spawner_kills if when > now - 11]
        if helpers and now > self.helpers_until \
                or "spawner" in helpers and len(recent) >= 4:
            return
        self.killer.kill(*kinds)
        if "spawner" in kinds:
            self.spawner_kills.append(now)
        self.done[" and ".join(sorted(kinds))] += 1

    def graceful(self) -> None:
        self.httpd.graceful()
        self.done["graceful"] += 1

    def resize(self) -> None:
        self.httpd.directives[-1] = f"MaxPoolSize {self.dice.randint(5, 12)}"
        self.httpd.graceful()
        self.done["graceful with another MaxPoolSize"] += 1

    def deploy(self) -> None:
        self.dice.choice(self.apps).touch()
        self.done["restart.txt"] += 1

    def restart(self) -> None:
        how = self.dice.choice(["--rolling", "--blocking"])
        self.run_ctl("restart", self.dice.choice(self.apps).name, how)

    def detach(self) -> None:
        process = self.anyone()
        if process:
            self.run_ctl("detach", process["id"])

    def retire(self) -> None:
        """The app itself sends STOPPING=1."""
        process = self.anyone()
        if process:
            try:
                os.kill(process["pid"], signal.SIGUSR1)
                self.done["STOPPING=1"] += 1
            except ProcessLookupError:
                pass

    def anyone(self) -> Optional[dict[str, Any]]:
        """A process that takes requests."""
        app = self.dice.choice(self.apps)
        live = [process for process in self.httpd.group(app)["processes"]
                if process["state"] in ("idle", "busy")]
        return self.dice.choice(live) if live else None

    def read_pool(self) -> None:
        self.run_ctl(self.dice.choice(["check", "status"]))

    def run_ctl(self, *words: str) -> None:
        """Run apppoolctl. If the spawner has just been killed, run it
        again."""
        def has_run() -> bool:
            done = self.httpd.ctl(*words)
            said = done.stdout + done.stderr
            gone = words[0] in ("detach", "restart") and done.returncode == 1
            assert done.returncode in (0, 3) or gone, said
            return done.returncode != 3

        wait_until(has_run, "apppoolctl has run", 15)
        self.done[f"apppoolctl {words[0]}"] += 1

    # ---- the run

    def run(self) -> None:
        httpd = self.httpd.start()
        for app in self.apps:
            assert httpd.get("/pid", app.name).status == 200
        load = Load(httpd.port, httpd.dir / "record", CROWDS)
        deeds: dict[Callable[[], None], int] = {
            self.kill: 10, self.kill_two: 4, self.graceful: 2,
            self.resize: 1, self.deploy: 2, self.restart: 2, self.detach: 2,
            self.retire: 2, self.read_pool: 3}
        began = time.monotonic()
        self.helpers_until = began + self.seconds * 2 / 3
        try:
            while time.monotonic() < began + self.seconds:
                assert load.running(), "the clients ended"
                [deed] = self.dice.choices(*zip(*deeds.items()))
                deed()
                time.sleep(self.dice.uniform(0.05, 0.8))
            attempts = load.end()
        finally:
            load.kill()
        self.history = History(attempts, httpd.ledgers, self.killer.deaths,
                               ROOM)

    # ---- the end

    def tidy(self) -> None:
        """The pool is at rest, and its status agrees with the processes."""
        def at_rest() -> bool:
            pool = self.httpd.status()["pool"]
            return not any(pool[key] for key in
                           ("active", "waiting", "spawning", "leaving"))

        wait_until(at_rest, "the pool is at rest", 60)
        self.httpd.check()
        wait_until(lambda: self.shown() == self.running(),
                   f"the status shows {self.running()}")
        for place in ("s", "o", "n"):
            wait_until(lambda: self.files(place) == len(self.shown()),
                       f"{self.files(place)} files in {place}/ are those of "
                       f"{len(self.shown())} processes")

    def files(self, place: str) -> int:
        return len(list((self.httpd.runtime / place).iterdir()))

    def shown(self) -> list[int]:
        return sorted(process["pid"]
                      for group in self.httpd.status()["groups"]
                      for process in group["processes"])

    def running(self) -> list[int]:
        return sorted(pid for pid in procs.marked(str(self.httpd.dir))
                      if "APPPOOL_ID" in procs.environment(pid))

    def compare(self, name: str, now: Callable[[], int]) -> str:
        """A helper and its successor in the same situation: neither memory nor
        descriptors have grown."""
        old = now()
        memory, open_ones = procs.private_memory(old), procs.descriptors(old)
        procs.kill9(old)
        wait_until(lambda: now() not in (0, old)
                   and self.httpd.ctl("status").returncode == 0,
                   f"the next {name}")
        wait_until(lambda: procs.descriptors(now()) >= open_ones,
                   f"the next {name} has {open_ones} descriptors, too")
        successor = procs.private_memory(now())
        assert memory < successor + GROWTH, f"{name}: {memory}, {successor}"
        return (f"{name}: {memory >> 10} KB private memory at the end, its "
                f"successor {successor >> 10} KB")

    # ---- the report

    def report(self) -> list[str]:
        deeds = ", ".join(f"{count} {deed}" for deed, count
                          in sorted(self.done.items()) if count)
        return [deeds, self.history.summary(), *self.growth]


def soak(httpd: Httpd, seconds: float, seed: int) -> Soak:
    """The whole run, without the check of the history and httpd's end."""
    run = Soak(httpd, seconds, seed)
    run.run()
    run.tidy()
    for name, now in (("spawner", httpd.spawner_now),
                      ("watchdog", httpd.watchdog_now)):
        run.growth.append(run.compare(name, now))
    run.tidy()
    return run
