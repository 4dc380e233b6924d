# Licensed under the Apache License, Version 2.0; see LICENSE.
"""SIGKILL under load, and the requests that were inside: see harness.history.

    app          a process of an app
    spawner      apppool-spawner
    watchdog     apppool-watchdog
    store        apppool-store
    template     a template, ready or not. If there is none just now, a
                 process of its app
    forked       a process of an app that has templates
    idle child   a child of httpd that has no request in an app
    busy child   one that has
    lock holder  one that holds the pool lock

A child of httpd is stopped before it is killed. Then it is known which
connections it had, and no other request may fail."""
import os
import random
import signal
import subprocess
import time
from typing import Callable, Optional

from harness import procs, store
from harness.config import App
from harness.history import Death
from harness.httpd import Httpd
from harness.places import holder
from harness.segment import Segment
from harness.wait import wait_until

STEPS = 1000  # instructions; about as many as run with the lock held


class Killer:
    def __init__(self, httpd: Httpd, apps: list[App],
                 dice: random.Random) -> None:
        self.httpd = httpd
        self.apps = apps
        self.dice = dice
        self.deaths: list[Death] = []
        self.taken: list[Death] = []  # to be killed together
        self.holders: list[subprocess.Popen[str]] = []
        # In this order: while the lock is held no request gets a response, and
        # while a child is stopped the pool waits for it.
        self.aims: dict[str, Callable[[], Optional[Death]]] = {
            "app": lambda: self.app(self.apps),
            "forked": lambda: self.app(self.preloaded()),
            "template": self.template,
            "store": lambda: helper("store", store.running(httpd)),
            "spawner": lambda: helper("spawner", httpd.spawner_now()),
            "watchdog": lambda: helper("watchdog", httpd.watchdog_now()),
            "lock holder": self.lock_holder,
            "idle child": lambda: self.child(busy=False),
            "busy child": lambda: self.child(busy=True),
        }

    def kill(self, *kinds: str) -> list[Death]:
        """Kill one of each kind, as nearly at once as possible. @return the
        deaths"""
        self.taken = []
        for kind in sorted(kinds, key=list(self.aims).index):
            self.taken.append(wait_until(lambda: self.aim(kind),
                                         f"some {kind}", 60))
        self.end(self.taken)
        for process in self.holders:
            process.wait(40)
        self.holders = []
        return self.taken

    def end(self, victims: list[Death]) -> None:
        for victim in list(victims):
            victim.before = time.monotonic()
            try:
                procs.send(victim.pid, signal.SIGKILL)
            except ProcessLookupError:
                victims.remove(victim)  # it ended by itself meanwhile
        for victim in victims:
            wait_until(lambda: not procs.alive(victim.pid), "it is dead")
            victim.after = time.monotonic()
        self.deaths += victims

    # ---- the victims

    def aim(self, kind: str) -> Optional[Death]:
        try:
            return self.aims[kind]()
        except (FileNotFoundError, ProcessLookupError):
            return None  # it ended by itself meanwhile

    def preloaded(self) -> list[App]:
        return [app for app in self.apps if "AppPreload On" in app.directives]

    def template(self) -> Optional[Death]:
        app = self.dice.choice(self.preloaded())
        found = self.httpd.group(app)["template"]
        return Death(f"{found['state']} template", found["pid"],
                     app=app.name) if found else self.app([app])

    def app(self, apps: list[App]) -> Optional[Death]:
        app = self.dice.choice(apps)
        # A process that has served nothing yet would be a failed start.
        pids = [process["pid"] for process
                in self.httpd.group(app)["processes"]
                if process["state"] in ("idle", "busy")
                and process["processed"] > 0]
        return Death("app", self.dice.choice(pids), app=app.name) \
            if pids else None

    def children(self) -> list[int]:
        """Children of httpd, in random order."""
        taken = {victim.pid for victim in self.taken}
        pids = [pid for pid in self.httpd.children() if pid not in taken]
        self.dice.shuffle(pids)
        return pids

    def child(self, busy: bool) -> Optional[Death]:
        children = self.children()
        if self.holders:
            # Now no process becomes busy or idle.
            children.sort(key=lambda pid: self.is_busy(pid) != busy)
        for pid in children:
            if self.is_busy(pid) != busy and not self.holders:
                continue
            procs.freeze(pid)
            if self.is_busy(pid) == busy or self.holders:
                return self.frozen(pid)
            os.kill(pid, signal.SIGCONT)
        return None

    def is_busy(self, pid: int) -> bool:
        """Has this child of httpd a request in the pool?"""
        with Segment(self.httpd) as segment:
            return segment.sessions_of(pid) > 0

    def lock_holder(self) -> Optional[Death]:
        of_clients = procs.connections(self.httpd.port)
        serving = [pid for pid in self.children()
                   if procs.sockets(pid) & set(of_clients)]
        if not serving:
            return None
        process = subprocess.Popen(
            [str(holder()), str(serving[0]), str(self.dice.randrange(STEPS))],
            stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        if not process.stdout.readline():
            # It did not take the lock in time, and could not continue.
            process.wait(40)
            procs.freeze(serving[0])
            self.end([self.frozen(serving[0])])
            return None
        self.holders = [process]
        return self.frozen(serving[0])

    def frozen(self, pid: int) -> Death:
        """A child of httpd that is stopped."""
        of_clients = procs.connections(self.httpd.port)
        return Death("child", pid, ports={
            of_clients[name] for name in procs.sockets(pid)
            if name in of_clients})


def helper(name: str, pid: int) -> Optional[Death]:
    return Death(name, pid) if pid else None
