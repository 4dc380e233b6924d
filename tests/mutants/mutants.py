# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Break the product in small ways, and see that a test fails: see run.

Each processor has a workshop: a copy of the tree and of its build. A mutant of
*.txt is applied there, its files are built, and its tests run. The same tests
have run without the mutant before. One of them must fail."""
import concurrent.futures
import os
import queue
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from workshop import (CRASH, TOP, Broken, Skipped, Workshop, file_of,
                      known_tests)

HERE = Path(__file__).parent
QUICK, SLOW = 2, 1  # of the random ones: with a test in C, and with httpd
KINDS = {
    "killed": "a test finds it",
    "survives": "none of its tests finds it",
    "wrong": "it could not be judged",
    "skipped": "its tests cannot run here",
    "kept": "without the barrier, this compiler keeps the order that matters",
}
BAD = ("survives", "wrong")


class Mutant:
    """A change of one file, and the tests that find it."""

    def __init__(self, name: str, file: str, old: str, new: str,
                 tests: list[str], notes: dict[str, str]) -> None:
        self.name, self.file, self.old, self.new = name, file, old, new
        self.tests = tests
        self.long = "long" in notes
        self.barrier = "barrier" in notes

    @property
    def path(self) -> str:
        return f"{Path(self.file).parent}/{self.name}"

    @property
    def needs_httpd(self) -> bool:
        return any("integration/" in test for test in self.tests)


def read_table(table: Path) -> list[Mutant]:
    """The mutants of one folder."""
    mutants = []
    for entry in re.split(r"^== ", table.read_text(), flags=re.M)[1:]:
        head, _, rest = entry.partition("\n")
        name, file = head.split()
        notes = {key: " ".join(words.split()) for key, words in re.findall(
            r"^([a-z]+): *(.*(?:\n    .*)*)", rest, re.M)}
        lines = re.findall(r"^([-+|])(.*\n)", rest, re.M)
        mutants.append(Mutant(
            name, f"{table.stem}/{file}",
            "".join(text for mark, text in lines if mark != "+"),
            "".join(text for mark, text in lines if mark != "-"),
            [f"tests/{test}" for test in shlex.split(notes["tests"])], notes))
    return mutants


def barriers() -> list[Mutant]:
    """One mutant for each crash point, which leaves it out."""
    return [Mutant(f"crash-point-{label}", str(path.relative_to(TOP)), line, "",
                   [CRASH], {"barrier": label})
            for path in sorted((TOP / "shm").rglob("*.[ch]"))
            for line, label in re.findall(
                r'(^ *APL_CRASH_POINT\("(\w+)"\);.*\n)', path.read_text(), re.M)]


def judge(shop: Workshop, mutant: Mutant) -> tuple[str, str]:
    """The result of a mutant: a key of KINDS, and details."""
    try:
        for test in mutant.tests:
            shop.test_unbroken(test)
        with shop.changed(mutant.file, mutant.old, mutant.new):
            for test in mutant.tests:
                how = shop.failure(test)
                if how:
                    return "killed", f" by {how}"
    except Skipped as why:
        return "skipped", f": {why}"
    except Broken as why:
        return "wrong", f": {why}"
    return ("kept", "") if mutant.barrier else (
        "survives", f" {', '.join(mutant.tests)}")


def seed_of(every: list[Mutant]) -> int:
    """The same tree has the same seed, so a mutant that survives in one
    tests/run survives in each of them."""
    files = {TOP / m.file for m in every} | {
        file_of(test) for m in every for test in m.tests}
    return zlib.crc32(b"".join(file.read_bytes() for file in
                               sorted(files | {*HERE.glob("*.txt")})))


def some(every: list[Mutant]) -> list[Mutant]:
    """Choose some at random."""
    seed = int(os.environ.get("SEED") or seed_of(every))
    print(f"# SEED={seed}", flush=True)
    dice = random.Random(seed)
    slow = [m for m in every if m.needs_httpd and not m.long]
    quick = [m for m in every if not m.needs_httpd and not m.long]
    # The longest ones start first.
    return (dice.sample(slow, min(SLOW, len(slow))) +
            dice.sample(quick, min(QUICK, len(quick))))


def chosen(every: list[Mutant], names: list[str]) -> list[Mutant]:
    if not names:
        return some(every)
    if names == ["all"]:
        return sorted(every, key=lambda m: not m.needs_httpd)
    if names == ["barriers"]:
        return barriers()
    return [m for m in every
            if m.name.startswith(tuple(names)) or
            m.path.startswith(tuple(names))]


def outdated(mutant: Mutant, there: set[str]) -> str:
    """A text that is no longer in the file, or is there twice, cannot be
    replaced. A test that is gone finds nothing."""
    n = (TOP / mutant.file).read_text().count(mutant.old)
    gone = [test for test in mutant.tests if test not in there]
    if n != 1:
        return f"{n} times in {mutant.file}"
    return f"there is no {gone[0]}" if gone else ""


def judge_all(mutants: list[Mutant], where: Path) -> dict[str, int]:
    sums = {kind: 0 for kind in KINDS}
    shops: queue.Queue[Workshop] = queue.Queue()
    workers = min(os.cpu_count() or 1, len(mutants))
    Workshop.prepare(where / "pattern", {t for m in mutants for t in m.tests})
    for i in range(workers):
        shops.put(Workshop(where / "pattern", where / str(i)))

    def work(mutant: Mutant) -> tuple[str, str, float]:
        began, shop = time.monotonic(), shops.get()
        try:
            return *judge(shop, mutant), time.monotonic() - began
        finally:
            shops.put(shop)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        try:
            jobs = {pool.submit(work, mutant): mutant for mutant in mutants}
            for job in concurrent.futures.as_completed(jobs):
                kind, more, took = job.result()
                sums[kind] += 1
                outcome = f"{kind}{more} ({took:.1f} s)"
                print(f"skipped - {jobs[job].path}{more}" if kind == "skipped"
                      else f"{'not ok' if kind in BAD else 'ok'} - "
                      f"{jobs[job].path}: {outcome}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            Workshop.close_all()
            raise
    return sums


@contextmanager
def directory() -> Iterator[Path]:
    """For the workshops. Apps of the tests must be able to enter it. Broken
    tests of remove_tree leave trees that are too deep for Python's own
    rmtree."""
    where = tempfile.mkdtemp(prefix="mutants-")
    os.chmod(where, 0o755)
    try:
        yield Path(where)
    finally:
        subprocess.run(["rm", "-rf", where], check=True)


def main(names: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and clean up
    every = [m for table in sorted(HERE.glob("*.txt"))
             for m in read_table(table)]
    sums = {kind: 0 for kind in KINDS}
    there = known_tests({test for m in every for test in m.tests})
    for mutant in every:
        wrong = outdated(mutant, there)
        sums["wrong"] += wrong != ""
        if wrong:
            print(f"not ok - {mutant.path}: {wrong}")
    mutants = [] if sums["wrong"] else chosen(every, names)
    if mutants:
        with directory() as where:
            sums = judge_all(mutants, where)
    for kind, meaning in KINDS.items():
        if sums[kind] > 0:
            print(f"# {sums[kind]} {kind}: {meaning}")
    failed = sum(sums[kind] for kind in BAD)
    print(f"{sums['killed']} passed, {failed} failed, "
          f"{sums['skipped']} skipped")
    return failed != 0 or not mutants


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
