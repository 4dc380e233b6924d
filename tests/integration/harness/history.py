# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the clients saw, what the apps did, and which processes were killed: do
these agree?

A request is *lost* if it failed and no kill explains this. It is *wrong* if
the response came from another app or process than the one that did the work,
if the work was done twice, or if a process had more requests at once than it
may."""
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, NamedTuple, Optional

SHOWN = 8  # complaints, of possibly thousands


class Attempt(NamedTuple):
    """A request as its client saw it; see harness.clients."""
    id: str
    host: str
    port: int
    reused: bool
    began: float
    ended: float
    outcome: str
    text: str


class Work(NamedTuple):
    """A request as the process of the app saw it."""
    app: str
    pid: int
    born: str
    began: float
    ended: Optional[float]


@dataclass
class Death:
    """A process was killed between two instants."""
    kind: str  # app, child, spawner, watchdog, store, ready template ...
    pid: int
    before: float = 0.0
    after: float = 0.0
    app: str = ""
    ports: set[int] = field(default_factory=set)  # a child's clients

    def could_fail(self, attempt: Attempt) -> bool:
        return attempt.began <= self.after and attempt.ended >= self.before


def read_attempts(record: Path) -> list[Attempt]:
    """All that have ended. A client may be writing the next line."""
    attempts = []
    for line in record.read_text().rpartition("\n")[0].splitlines():
        words = line.split(" ", 7)
        attempts.append(Attempt(
            words[0], words[1], int(words[2]), words[3] == "1",
            float(words[4]), float(words[5]), words[6], words[7]))
    return attempts


def read_ledgers(directory: Path) -> dict[str, list[Work]]:
    """By id of the request: the processes that worked on it."""
    works: dict[str, list[Work]] = defaultdict(list)
    for path in directory.iterdir():
        app, pid, born = path.name.split(".", 2)
        open_ones: dict[str, float] = {}
        for line in path.read_text().splitlines():
            word, when, number = line.split()
            if word == "began":
                assert number not in open_ones, f"{path}: {line}"
                open_ones[number] = float(when)
            else:
                works[number].append(Work(app, int(pid), born,
                                          open_ones.pop(number), float(when)))
        for number, began in open_ones.items():
            works[number].append(Work(app, int(pid), born, began, None))
    return works


class History:
    def __init__(self, attempts: list[Attempt], ledgers: Path,
                 deaths: Iterable[Death], room: dict[str, int]) -> None:
        """room: how many requests a process of each app may have at once"""
        self.attempts = attempts
        self.works = read_ledgers(ledgers)
        self.deaths = list(deaths)
        self.room = room
        self.served = 0
        self.stale = 0  # sent again: an idle connection was being closed
        self.inside: Counter[str] = Counter()  # failed in what was killed
        self.lost: list[str] = []
        self.wrong: list[str] = []
        self.spent: Counter[int] = Counter()  # by position in deaths
        self.judge()

    # ---- one request

    def check_response(self, a: Attempt) -> None:
        works = self.works.get(a.id, [])
        done = works[0] if len(works) == 1 else None
        if done is None or done.ended is None:
            self.wrong.append(f"{a}: the ledgers say {works}")
        elif a.text != f"{a.host} {done.pid} {a.id}" or done.app != a.host:
            self.wrong.append(f"{a}: it was {done}")
        elif not a.began <= done.began <= done.ended <= a.ended:
            self.wrong.append(f"{a}: another time than {done}")

    def explain(self, a: Attempt) -> Optional[str]:
        """The kind of the killed process in which the request was."""
        works = self.works.get(a.id, [])
        for n, death in enumerate(self.deaths):
            if not death.could_fail(a):
                continue
            if death.kind == "child" and a.port in death.ports \
                    and a.outcome in ("closed", "cut"):
                return "child"
            if death.kind == "app" and death.app == a.host \
                    and a.outcome in ("502", "cut") \
                    and self.spent[n] < self.room[a.host] \
                    and all(work.pid == death.pid for work in works):
                self.spent[n] += 1
                return "app"
        return None

    # ---- all of them

    def judge(self) -> None:
        ids = {a.id for a in self.attempts}
        unexplained = []
        for a in self.attempts:
            if a.outcome == "200":
                self.served += 1
                self.check_response(a)
            elif a.outcome == "closed" and a.reused \
                    and a.id not in self.works:
                self.stale += 1
                if a.id + "r" not in ids:
                    self.lost.append(f"{a}: not sent again")
            else:
                unexplained.append(a)
        # A request that an app knows can have fewer explanations, so it comes
        # first.
        unexplained.sort(key=lambda a: a.id not in self.works)
        for a in unexplained:
            kind = self.explain(a)
            if kind is None:
                self.lost.append(f"{a}: the ledgers say "
                                 f"{self.works.get(a.id, 'nothing')}")
            else:
                self.inside[kind] += 1
        self.check_works(ids)
        self.check_room()

    def check_works(self, ids: set[str]) -> None:
        failed = {a.id for a in self.attempts if a.outcome != "200"}
        for number, works in self.works.items():
            if number not in ids:
                self.wrong.append(f"{number}: nobody asked, {works}")
            elif len(works) > 1:
                self.wrong.append(f"{number}: begun twice, {works}")
            elif works[0].ended is None and number not in failed:
                self.lost.append(f"{number}: never ended, {works[0]}")

    def check_room(self) -> None:
        """A request whose client was inside a killed child of httpd takes no
        place any more, while the app still works on it."""
        served = {a.id for a in self.attempts if a.outcome == "200"}
        steps = defaultdict(list)
        for number, works in self.works.items():
            for work in works:
                if number in served and work.ended is not None:
                    steps[work[:3]] += [(work.began, 1), (work.ended, -1)]
        for process, times in steps.items():
            at_once = most = 0
            for _, step in sorted(times):
                at_once += step
                most = max(most, at_once)
            if most > self.room[process[0]]:
                self.wrong.append(f"{process} had {most} requests at once")

    # ---- the report

    def summary(self) -> str:
        inside = ", ".join(f"{count} in a killed {kind}" for kind, count
                           in sorted(self.inside.items())) or "none"
        return (f"{self.served} served; failed: {inside}; sent again "
                f"(idle connection closed): {self.stale}; "
                f"{len(self.lost)} lost, {len(self.wrong)} wrong")

    def complaints(self) -> str:
        return "\n".join([f"lost: {line}" for line in self.lost[:SHOWN]]
                         + [f"wrong: {line}" for line in self.wrong[:SHOWN]])
