# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A process that has nothing to do with httpd, with a child in its session.
Both count the signals that they get."""
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Optional, Type

from harness import procs
from harness.procs import alive, kill9_if_alive
from harness.wait import wait_until

PROGRAM = """
import os, signal, sys
def count(number, frame):
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()} {number}\\n")
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP,
                                     signal.SIGCHLD}:
    signal.signal(number, count)
child = os.fork()
if child:
    with open(sys.argv[1] + ".child", "w") as file:
        file.write(str(child) + "\\n")
while True:
    signal.pause()
"""


class Innocent:
    """with Innocent(directory) as one: ... one.unharmed()"""

    def __init__(self, directory: Path, user: str = "root") -> None:
        self.user = user  # the user that may write there
        self.file = directory / "signals"
        self.file.touch()
        shutil.chown(self.file, user)

    def __enter__(self) -> "Innocent":
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-IS", "-c", PROGRAM, str(self.file)],
            cwd="/", start_new_session=True, user=self.user)
        written = self.file.with_name("signals.child")
        wait_until(lambda: written.exists() and written.read_text().endswith("\n"),
                   "the innocent process is there")
        self.pid = self.process.pid
        self.child = int(written.read_text())
        return self

    def start(self) -> int:
        """Clock ticks since boot."""
        text = procs.read(self.pid, "stat").decode("latin-1")
        return int(text.rpartition(")")[2].split()[19])

    def unharmed(self) -> bool:
        return alive(self.pid) and alive(self.child) \
            and self.file.read_text() == ""

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        for pid in (self.child, self.pid):
            kill9_if_alive(pid)
        self.process.wait()
