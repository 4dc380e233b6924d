# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A copy of the tree and of its build, where mutants are applied. Only the
changes of a mutant are built."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
BOUND = 300  # s: a test that runs for longer is hung
SLOWER = 4  # or this multiple of its time without a mutant
HASTE = 15  # s; but at least this long
CRASH = "tests/crash/images"
INTEGRATION = "tests/integration/"
COPIED = ("base", "system", "shm", "store", "detect", "watchdog", "spawner",
          "mod_apppool", "ctl", "helpers", "doc",
          "demo", "tests", "m4", "build-aux", "configure", "configure.ac", "aclocal.m4",
          "sources.mk", "apxs.mk", "Makefile.am", "Makefile.in")
# What tests of httpd need.
PROGRAMS = ("all", "tests/crash/holder")
# A mutant may leave a variable unused. A cache does not help with mutants.
VARIABLES = {"CCACHE_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1",
             "CMOCKA_MESSAGE_OUTPUT": "TAP"}


class Broken(Exception):
    """The mutant cannot be judged."""


class Skipped(Exception):
    """The test cannot run here."""


def run_make(build: Path, *arguments: str) -> None:
    done = subprocess.run(["make", "-s", "-C", str(build),
                           f"LIBTOOL={TOP}/tests/lib/libtool", *arguments],
                          env={**os.environ, **VARIABLES}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Broken(f"make {' '.join(arguments)}:\n{done.stdout}")


def file_of(test: str) -> Path:
    name = test.partition("::")[0]
    return TOP / (name if name.endswith(".py") else f"{name}.c")


def known_tests(wanted: set[str]) -> set[str]:
    """Those of these tests that exist."""
    web = {test for test in wanted if test.startswith(INTEGRATION)}
    files = sorted({str(file_of(test)) for test in web})
    output = subprocess.run(
        ["/usr/bin/python3", "-m", "pytest", "-q", "--collect-only", "-p",
         "no:cacheprovider", "--rootdir=.", *files], cwd=TOP / INTEGRATION,
        env={**os.environ, **VARIABLES}, text=True, stdout=subprocess.PIPE)
    names = {INTEGRATION + line for line in output.stdout.splitlines()}
    names |= {name.partition("[")[0] for name in names}
    return (web & names) | {test for test in wanted - web
                            if file_of(test).exists()}


def copy(paths: list[Path], to: Path) -> None:
    subprocess.run(["cp", "-a", *map(str, paths), str(to)], check=True)


class Workshop:
    every: "list[Workshop]" = []
    # For tests without a mutant: seconds, or the failure.
    known: dict[str, float | Exception] = {}
    knows = threading.Lock()

    @staticmethod
    def prepare(pattern: Path, tests: set[str]) -> None:
        """Make the tree that all workshops are copies of, with the programs of
        these tests."""
        if not (BUILD / "config.status").exists():
            raise SystemExit(f"{BUILD} is not there: configure it first")
        with open(BUILD / ".lock", "w") as lock:  # of tests/lib/setup.sh
            fcntl.flock(lock, fcntl.LOCK_EX)
            run_make(BUILD, f"-j{os.cpu_count()}", *PROGRAMS, *sorted(
                test for test in tests if not test.startswith(INTEGRATION)))
            (pattern / "build").mkdir(parents=True)
            parts = [path for path in BUILD.iterdir()
                     if path.name not in ("packaged", "test-logs")]
            copy([TOP / name for name in COPIED], pattern)
            copy(parts, pattern / "build")
            (pattern / "build" / "packaged").symlink_to(BUILD / "packaged")

    def __init__(self, pattern: Path, where: Path) -> None:
        self.src, self.build = where, where / "build"
        self.pattern = pattern
        self.process: subprocess.Popen[bytes] | None = None
        copy([pattern], where)
        for path in [self.build / "Makefile", self.build / "config.status",
                     self.build / "libtool", *self.build.rglob(".deps/*")]:
            self.relocate(path)
        (self.build / "helpers").unlink()
        (self.build / "helpers").symlink_to(where / "helpers")
        self.stamp = self.time_stamps()
        Workshop.every.append(self)

    def relocate(self, path: Path) -> None:
        """configure may have been called by its absolute path. Also, a mutant
        may leave something unused, which is a warning."""
        was = path.stat()
        text = path.read_text()
        new = text.replace(str(TOP), str(self.src))
        new = re.sub(r"(HOUSE_CFLAGS = .*) -Werror\b", r"\1", new)
        if new != text:
            path.write_text(new)
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))

    def time_stamps(self) -> dict[Path, int]:
        """All files of the build, and when each was written."""
        return {path: path.stat().st_mtime_ns
                for path in self.build.rglob("*") if path.is_file()}

    def restore(self) -> None:
        """Restore the build. This is faster than to make it again."""
        for path, written in self.time_stamps().items():
            if self.stamp.get(path) == written:
                continue
            path.unlink()
            if path in self.stamp:
                shutil.copy2(self.pattern / path.relative_to(self.src), path)
                if path.parent.name == ".deps":
                    self.relocate(path)

    @contextmanager
    def changed(self, file: str, old: str, new: str) -> Iterator[None]:
        path = self.src / file
        path.write_text(path.read_text().replace(old, new))
        try:
            yield
        finally:
            shutil.copy2(self.pattern / file, path)
            self.restore()

    def test_unbroken(self, test: str) -> None:
        """A test that fails without the mutant, or does not run, finds
        nothing."""
        with self.knows:
            known = self.known.get(test)
        if known is None:
            began = time.monotonic()
            try:
                how = self.failure(test)
                known = (Broken(f"{how} without any mutant") if how
                         else time.monotonic() - began)
            except (Broken, Skipped) as why:
                known = why
            with self.knows:
                self.known[test] = known
        if isinstance(known, Exception):
            raise known

    def bound(self, test: str) -> float:
        known = self.known.get(test)
        return (BOUND if not isinstance(known, float)
                else min(BOUND, HASTE + SLOWER * known))

    def failure(self, test: str) -> str:
        """How a test fails, or "" if it passes."""
        if not test.startswith(INTEGRATION):
            run_make(self.build, test)
            return self.program(test, *self.run(test, False, {}))
        run_make(self.build, "all")
        # One of the MPMs in which it can run is enough. Brackets of a name say
        # in which: it is not found in another.
        event = {"APPPOOL_MPM": "event"}
        for mpm in ({},) if "[" in test else (event, {}):
            how = self.pytest(test, *self.run(test, True, mpm))
            if how is not None:
                return how
        raise Skipped(test)

    def run(self, test: str, is_web: bool,
            also: dict[str, str]) -> tuple[int | None, str]:
        """Exit status, or None if it hangs, and the output."""
        command = ["./" + test] + ["--quick"] * (test == CRASH)
        where = self.build
        # What a killed test leaves is removed with the workshop.
        scratch = {"TMPDIR": str(self.src / "scratch")}
        (self.src / "scratch").mkdir(mode=0o755, exist_ok=True)
        if is_web:
            scratch = {}
            where = self.src / INTEGRATION
            command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-rfE",
                       "-p", "no:cacheprovider", "--rootdir=.", "--tb=line",
                       f"--basetemp={self.src}/tmp",
                       test.removeprefix(INTEGRATION)]
        with tempfile.TemporaryFile("w+") as out:
            self.process = subprocess.Popen(
                command, cwd=where, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, start_new_session=True, env={
                    **os.environ, **VARIABLES, **also, **scratch,
                    "APPPOOL_BUILD": str(self.build)})
            try:
                status: int | None = self.process.wait(self.bound(test))
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self.close()
            out.seek(0)
            return status, out.read()

    @staticmethod
    def program(test: str, status: int | None, output: str) -> str:
        if status == 0:
            return ""
        if status is None:
            return f"{test}, which hangs"
        failed = re.findall(r"^not ok \d* ?- (\w+)$|"
                            r"^not ok - (.*): \d+ instructions", output, re.M)
        return f"{test}, {''.join(failed[0]) if failed else status}"

    @staticmethod
    def pytest(test: str, status: int | None, output: str) -> str | None:
        """As failure(), or None if it was skipped."""
        if status is None:
            return f"{test}, which hangs"
        if status == 0:
            return "" if re.search(r"\d+ passed", output) else None
        if status != 1:
            raise Broken(f"{test}: pytest ended with {status}\n{output[-2000:]}")
        failed = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output, re.M)
        return INTEGRATION + failed[0]

    def close(self) -> None:
        """End the test, and the processes that it forked. pytest ends its
        httpd first."""
        run = self.process
        if run is None:
            return
        try:
            if run.poll() is None and "pytest" in run.args:
                run.send_signal(signal.SIGINT)
                run.wait(60)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait()
        self.end_orphans()

    def end_orphans(self) -> None:
        """Processes that the test forked and that left its process group. They
        are found by their directory, which is the build of this workshop."""
        for link in Path("/proc").glob("[0-9]*/cwd"):
            try:
                if os.readlink(link) == str(self.build):
                    os.kill(int(link.parent.name), signal.SIGKILL)
            except OSError:
                pass  # it has ended

    @classmethod
    def close_all(cls) -> None:
        for shop in cls.every:
            shop.close()
