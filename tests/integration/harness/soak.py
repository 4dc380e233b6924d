# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Everything at random and under load, for some seconds: one or two processes
are killed, httpd is reloaded, apps are deployed or retire, MaxPoolSize
changes, apppoolctl is run. Afterwards the history must explain each request,
and nothing may be left."""
import itertools
import os
import random
import re
import shutil
import signal
import time
from collections import Counter
from typing import Any, Callable, Optional

from harness import procs, template
from harness.config import App
from harness.counted import counted
from harness.errorlog import KILLED
from harness.history import History
from harness.httpd import Httpd
from harness.load import Crowd, Load
from harness.places import APPS as PROGRAMS
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
    Crowd(10, "forked", kept=True, pause=0.2),
    Crowd(10, "forked", kept=False, pause=0.2, size=200000),
    Crowd(8, "counter", kept=True, pause=0.2),
    Crowd(8, "counter", kept=False, pause=0.2),
]

APPS = {
    "single": ("MinInstances 2", "MaxInstances 4"),
    "shared": ("MinInstances 1", "MaxInstances 2", "AppConcurrency 4"),
    "slow": ("MaxInstances 3",),
    "idler": ("MaxInstances 2", "PoolIdleTime 1"),
}
# Their processes are forked by a template (apps/wsgi/work.py).
PRELOADED = {
    "forked": ("MinInstances 1", "MaxInstances 4", "PoolIdleTime 1"),
    "counter": ("MinInstances 2", "MaxInstances 3", "AppStore 8M",
                "AppStoreEvict Off"),
}
MOST = 4  # processes that one of these may have
ROOM = {"single": 1, "shared": 4, "slow": 1, "idler": 1, "forked": 1,
        "counter": 1}

# kind: how often
KILLS = {"app": 4, "spawner": 2, "watchdog": 1, "idle child": 1,
         "busy child": 3, "lock holder": 3, "template": 5, "forked": 3,
         "store": 2}

SAID = (*KILLED, "apppool: (watchdog|spawner) \\d+ (died|ended)",
        r"apppool: store \d+ ended: (signal 9|exit status not known)",
        r"apppool: \S+ template\[\d+\] died: signal 9",
        r"apppool: \S+: no template, its command is executed: it ended with ",
        r"apppool: \S+: no template, its command is executed until its code or ",
        "processes that the spawner does not have", "AH10392")
FORKED = r"apppool: \S+\[(\d+)\] is forked from template\["


GROWTH = 512 * 1024  # bytes that a helper may have more than its successor


def memory_of(helper: int) -> int:
    """Its private memory. While it has a child that it has forked, they share
    all their pages."""
    wait_until(lambda: not procs.copies(helper), "its child has ended")
    return procs.private_memory(helper)


class Soak:
    def __init__(self, httpd: Httpd, seconds: float, seed: int) -> None:
        self.httpd = httpd
        self.seconds = seconds
        self.dice = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()  # deployments, by app
        self.recent: dict[str, list[float]] = {"spawner": [], "store": []}
        self.helpers_until = 0.0  # they are not killed afterwards
        self.growth: list[str] = []
        httpd.log.expect(*SAID)
        httpd.directives += LIMITS[httpd.mpm] + [
            "MaxKeepAliveRequests 0", "AppStoreSave Off", "MaxPoolSize 13"]
        self.apps = [httpd.app(name, *directives, "AppMaxQueue 1000",
                               "AppSetEnv APP_THREADS 1",
                               "AppSetEnv RETIRES 1")
                     for name, directives in APPS.items()]
        self.notes = httpd.dir / "counted"
        self.notes.mkdir()
        self.notes.chmod(0o1777)
        self.apps += [self.preloaded(name, *directives)
                      for name, directives in PRELOADED.items()]
        self.killer = Killer(httpd, self.apps, self.dice)

    def preloaded(self, name: str, *directives: str) -> App:
        more = [f"AppSetEnv COUNTED_DIR {self.notes}"] if any(
            line.startswith("AppStore ") for line in directives) else []
        app = self.httpd.app(
            name, *directives, *more, "AppPreload On", "AppConcurrency 1",
            "AppMaxQueue 1000", f"AppSetEnv APP_NAME {name}",
            f"AppSetEnv LEDGER_DIR {self.httpd.ledgers}",
            "AppSetEnv RETIRES 1", "AppSetEnv LOAD 0.2",
            command='/usr/bin/python3 -B '
            '"$APPPOOL_HELPERS/python/preload.py" work')
        shutil.copy(PROGRAMS / "wsgi" / "work.py", app.root)
        template.deploy(app, "0")
        return app

    # ---- events

    def kill(self) -> None:
        self.kill_these(*self.dice.choices(*zip(*KILLS.items())))

    def kill_two(self) -> None:
        self.kill_these(*self.dice.choice(
            list(itertools.combinations(KILLS, 2))))

    def kill_these(self, *kinds: str) -> None:
        """A helper is not killed if it would then be delayed because it dies
        again and again. The spawner and the watchdog are not killed in the last
        third, which shows whether they grow. If the apps have no template, a
        deployment makes the next start load one."""
        now = time.monotonic()
        if {"spawner", "watchdog"} & set(kinds) and now > self.helpers_until:
            return
        for kind in self.recent.keys() & set(kinds):
            self.recent[kind] = [when for when in self.recent[kind]
                                 if when > now - 11]
            if len(self.recent[kind]) >= 4:
                return
        if "template" in kinds and not self.templates():
            self.touch(*self.killer.preloaded())
            return
        self.killer.kill(*kinds)
        for kind in self.recent.keys() & set(kinds):
            self.recent[kind].append(now)
        self.done[" and ".join(sorted(kinds))] += 1

    def templates(self) -> list[int]:
        """Their pids"""
        return [group["template"]["pid"]
                for group in self.httpd.status()["groups"]
                if group.get("template")]

    def graceful(self) -> None:
        self.httpd.graceful()
        self.done["graceful"] += 1

    def resize(self) -> None:
        self.httpd.directives[-1] = f"MaxPoolSize {self.dice.randint(8, 16)}"
        self.httpd.graceful()
        self.done["graceful with another MaxPoolSize"] += 1

    def deploy(self) -> None:
        self.touch(self.dice.choice(self.apps))

    def deploy_preloaded(self) -> None:
        self.touch(self.dice.choice(self.killer.preloaded()))

    def kill_loading(self) -> None:
        """A template that may still be loading"""
        self.deploy_preloaded()
        time.sleep(self.dice.uniform(0, 0.5))
        self.kill_these("template")

    def touch(self, *apps: App) -> None:
        for app in apps:
            self.versions[app.name] += 1
            if app.name in PRELOADED:
                template.deploy(app, str(self.versions[app.name]))
            app.touch()
        self.done["restart.txt"] += len(apps)

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
            output = done.stdout + done.stderr
            gone = words[0] in ("detach", "restart") and done.returncode == 1
            assert done.returncode in (0, 3) or gone, output
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
            self.resize: 1, self.deploy: 2, self.deploy_preloaded: 2,
            self.kill_loading: 2, self.restart: 2, self.detach: 2,
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
        self.counted = counted(self.notes, *(
            path for path in (httpd.runtime / "m").iterdir()
            if path.is_socket()))
        self.history.lost += self.counted.lost
        self.history.wrong += self.counted.wrong

    # ---- the end

    def check_code(self) -> None:
        """All processes have the code that was deployed last, although templates
        were killed while they loaded."""
        for app in self.killer.preloaded():
            want = str(self.versions[app.name])
            wait_until(lambda: self.served_by(app) == {want},
                       f"{app.name} has version {want}")

    def served_by(self, app: App) -> set[str]:
        """The versions of an app. As many requests at once as reach all of its
        processes"""
        pending = [self.httpd.get_async("/version?s=0.1", app.name)
                   for _ in range(2 * MOST)]
        return {one.result().text for one in pending}

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
            # A template has no socket to listen on.
            wait_until(lambda: self.files(place) == len(self.shown()) + len(
                [] if place == "s" else self.templates()),
                       f"{self.files(place)} files in {place}/ are those of "
                       f"{len(self.shown())} processes")

    def files(self, place: str) -> int:
        """Those of processes and templates: the store has a file there, too"""
        return len([path for path in (self.httpd.runtime / place).iterdir()
                    if path.name != "store"])

    def shown(self) -> list[int]:
        return sorted(process["pid"]
                      for group in self.httpd.status()["groups"]
                      for process in group["processes"]
                      if process["pid"] is not None)  # it is not forked yet

    def running(self) -> list[int]:
        """Processes of apps, without templates"""
        return sorted(pid for pid in procs.marked(str(self.httpd.dir))
                      if "APPPOOL_ID" in procs.environment(pid)
                      and pid not in self.templates())

    def end_templates(self) -> None:
        """The next spawner has none, either."""
        for pid in self.templates():
            procs.kill9(pid)
        wait_until(lambda: not self.templates(), "there is no template")

    def compare(self, name: str, now: Callable[[], int]) -> str:
        """A helper and its successor in the same situation: neither memory nor
        descriptors have grown."""
        old = now()
        memory, open_ones = memory_of(old), procs.descriptors(old)
        procs.kill9(old)
        wait_until(lambda: now() not in (0, old)
                   and self.httpd.ctl("status").returncode == 0,
                   f"the next {name}")
        wait_until(lambda: procs.descriptors(now()) >= open_ones,
                   f"the next {name} has {open_ones} descriptors, too")
        # It has done little by now, and needs more when it has worked.
        wait_until(lambda: memory < memory_of(now()) + GROWTH,
                   f"the next {name} has {memory} bytes, too")
        return (f"{name}: {memory >> 10} KB private memory at the end, its "
                f"successor {memory_of(now()) >> 10} KB")

    # ---- the report

    def report(self) -> list[str]:
        deeds = ", ".join(f"{count} {deed}" for deed, count
                          in sorted(self.done.items()) if count)
        return [deeds, self.killed(), self.counted.summary(),
                self.history.summary(), *self.growth]

    def killed(self) -> str:
        forked = {int(pid) for line in self.httpd.log.matching(FORKED)
                  for pid in re.findall(FORKED, line)}
        kinds = Counter("forked process" if death.pid in forked
                        else death.kind for death in self.killer.deaths)
        return "killed: " + ", ".join(f"{count} {kind}" for kind, count
                                      in sorted(kinds.items()))


def soak(httpd: Httpd, seconds: float, seed: int) -> Soak:
    """The whole run, without the check of the history and httpd's end."""
    run = Soak(httpd, seconds, seed)
    run.run()
    run.check_code()
    run.tidy()
    run.end_templates()
    for name, now in (("spawner", httpd.spawner_now),
                      ("watchdog", httpd.watchdog_now)):
        run.growth.append(run.compare(name, now))
    run.tidy()
    return run
