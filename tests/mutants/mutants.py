# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Break the pool in small ways, and see that a test says so: see run.

A copy of the tree is built as for release. Each mutant of mutants.txt is
applied to it, and tests are run until one fails. Each barrier (APL_STEP) is
left out, too. Where the compiler makes the same object of it, there is
nothing that a test could find.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator

TOP = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("mutants.txt")
BOUND = 300  # s: a test that is not back by then hangs
SLOWER = 20  # or after so many times what it took without a mutant
HASTE = 30  # s; but not before
CRASH = "tests/crash/images"
KINDS = {
    "killed": "a test or the model finds it",
    "same": "the compiler makes the same object of it",
    "kept": "without the barrier, this compiler keeps the order that matters",
    "equivalent": "nobody could tell",
}
WRONG = "wrong"


class Mutant:
    """A change of one file, and what is known of it."""

    def __init__(self, name: str, file: str, old: str, new: str,
                 notes: dict[str, str]) -> None:
        self.name, self.file, self.old, self.new = name, file, old, new
        self.tests = [f"tests/{t}" for t in notes.get("tests", "").split()]
        self.quick = "quick" in notes
        self.model = notes.get("model", "")
        self.equivalent = notes.get("equivalent", "")
        self.barrier = "barrier" in notes


def read_table() -> list[Mutant]:
    mutants = []
    for entry in re.split(r"^== ", TABLE.read_text(), flags=re.M)[1:]:
        head, _, rest = entry.partition("\n")
        name, file = head.split()
        notes = {key: " ".join(words.split()) for key, words in re.findall(
            r"^([a-z]+): *(.*(?:\n    .*)*)", rest, re.M)}
        lines = re.findall(r"^([-+|])(.*\n)", rest, re.M)
        mutants.append(Mutant(
            name, f"shm/{file}",
            "".join(text for mark, text in lines if mark != "+"),
            "".join(text for mark, text in lines if mark != "-"), notes))
    return mutants


def barriers() -> list[Mutant]:
    """Each one left out."""
    return [Mutant(f"step-{label}", f"shm/{path.name}", line, "",
                   {"tests": "crash/images", "barrier": label})
            for path in sorted((TOP / "shm").glob("*.[ch]"))
            for line, label in re.findall(
                r'(^ *APL_STEP\("(\w+)"\);.*\n)', path.read_text(), re.M)]


class Workshop:
    """A copy of the tree, and a build of it."""

    def __init__(self, where: Path) -> None:
        self.src, self.build = where, where / "build"
        for name in ("shm", "spawner", "mod_apppool", "ctl", "tests", "m4",
                     "build-aux"):
            shutil.copytree(TOP / name, where / name)
        for name in ("configure", "configure.ac", "aclocal.m4", "sources.mk",
                     "Makefile.am", "Makefile.in"):
            shutil.copy2(TOP / name, where)
        self.build.mkdir()
        self.run("../configure", "-q")
        self.unchanged = self.objects()
        self.tests = [*self.make("check-list").split(), CRASH]
        self.bounds: dict[str, float] = {}

    def run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.build, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}")
        return done.stdout

    def make(self, *targets: str) -> str:
        return self.run("make", "-s", f"-j{os.cpu_count()}", *targets)

    def put(self, file: str, text: str) -> None:
        (self.src / file).write_text(text)

    def objects(self) -> list[bytes]:
        """The pool's, without the names of steps."""
        self.make("libapppool.la")
        bare = self.build / "bare.o"
        found = []
        for path in sorted((self.build / "shm" / ".libs").glob("*.o")):
            self.run("strip", "--strip-unneeded", "-o", str(bare), str(path))
            found.append(bare.read_bytes())
        return found

    def failure(self, test: str) -> str:
        """How a test fails; "" when it passes."""
        self.make(test)
        with tempfile.TemporaryFile("w+") as out:
            began = time.monotonic()
            command = [f"./{test}"] + ["--quick"] * (test == CRASH)
            run = subprocess.Popen(
                command, cwd=self.build, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True)
            try:
                status = run.wait(self.bounds.get(test, BOUND))
            except subprocess.TimeoutExpired:
                return f"{test} hangs"
            finally:
                end_session(run)
            out.seek(0)
            failed = re.findall(r"^\[  FAILED  \] ([a-z]\w+)$|"
                                r"^not ok - (.*): \d+ instructions",
                                out.read(), re.M)
        if status == 0:
            took = time.monotonic() - began
            self.bounds.setdefault(test, min(BOUND, HASTE + SLOWER * took))
            return ""
        return f"{test}, {''.join(failed[0]) if failed else status}"


def end_session(run: subprocess.Popen[bytes]) -> None:
    """The test and what it forked, which has its process group."""
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    run.wait()


def model_finds(words: str) -> bool:
    """Does Spin find the same mistake in the model?"""
    return subprocess.run([TOP / "tests/model/run", words], check=False,
                          stdout=subprocess.DEVNULL).returncode == 0


def killer(shop: Workshop, mutant: Mutant) -> str:
    """Who finds the mutant that was applied; "" when nobody does."""
    if mutant.model:
        found = model_finds(mutant.model)
        return f"tests/model, {mutant.model}" if found else ""
    others = [test for test in shop.tests if test not in mutant.tests]
    for test in mutant.tests + ([] if mutant.barrier else others):
        how = shop.failure(test)
        if how:
            return how
    return ""


def judge(shop: Workshop, mutant: Mutant) -> tuple[str, str]:
    """What becomes of a mutant: a key of KINDS or WRONG, and more of it."""
    whole = (shop.src / mutant.file).read_text()
    shop.put(mutant.file, whole.replace(mutant.old, mutant.new))
    try:
        if shop.objects() == shop.unchanged:
            return "same", ""
        how = killer(shop, mutant)
    except RuntimeError as why:
        return WRONG, f": {why}"
    finally:
        shop.put(mutant.file, whole)
    if how:
        return WRONG if mutant.equivalent else "killed", f" by {how}"
    if mutant.equivalent:
        return "equivalent", f": {mutant.equivalent}"
    return ("kept", "") if mutant.barrier else (WRONG, ": nobody finds it")


def chosen(every: list[Mutant], names: list[str]) -> list[Mutant]:
    if names == ["all"]:
        return every
    if names:
        return [m for m in every if m.name.startswith(tuple(names))]
    return [m for m in every if m.quick]


def outcomes(mutants: list[Mutant], everything: bool) \
        -> Iterator[tuple[Mutant, str, str]]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as where:
        shop = Workshop(Path(where))
        asked = {test for mutant in mutants for test in mutant.tests}
        for test in shop.tests if everything else sorted(asked):
            how = shop.failure(test)
            if how:
                sys.exit(f"{how}: it fails without any mutant")
        for mutant in mutants:
            yield mutant, *judge(shop, mutant)


def main(names: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and clean up
    every = read_table() + barriers()
    sums = {kind: 0 for kind in [*KINDS, WRONG]}
    for mutant in every:
        n = (TOP / mutant.file).read_text().count(mutant.old)
        if n != 1:
            print(f"not ok - {mutant.name}: {n} times in {mutant.file}")
            sums[WRONG] += 1
    if sums[WRONG] == 0:
        for mutant, kind, more in outcomes(chosen(every, names),
                                           names == ["all"]):
            sums[kind] += 1
            print(f"{'not ok' if kind == WRONG else 'ok'} - {mutant.name}: "
                  f"{kind}{more}", flush=True)
    passed = sum(sums[kind] for kind in KINDS)
    for kind, meaning in KINDS.items():
        if sums[kind] > 0:
            print(f"# {sums[kind]} {kind}: {meaning}")
    print(f"{passed} passed, {sums[WRONG]} failed")
    return sums[WRONG] != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
