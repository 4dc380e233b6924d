# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the threads of an httpd do that does not end."""
import shutil
import subprocess

from harness import procs

# Seconds. httpd sends SIGTERM to its children again after three, and SIGKILL
# after nine.
LATE = 6.0


def wait_for_end(process: "subprocess.Popen[bytes]", bound: float) -> None:
    """Wait until it has ended. If that takes long, print the stacks of its
    threads and of those of its children: pytest shows them if the test
    fails."""
    try:
        process.wait(min(bound, LATE))
    except subprocess.TimeoutExpired:
        for pid in (process.pid, *procs.children_at_once(process.pid)):
            command = procs.command(pid)
            if "apppool-" not in command:
                print(f"---- {pid}: {command}\n{stacks(pid)}")
        process.wait(max(0.0, bound - LATE))


def stacks(pid: int) -> str:
    """The stack of each thread, or at least where in the kernel it waits."""
    program = shutil.which("eu-stack")
    if program is None or "D" in procs.threads(pid):
        return ", ".join(procs.waits(pid))
    try:
        return subprocess.run(
            [program, "-p", str(pid)], text=True, errors="replace", timeout=5,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    except subprocess.TimeoutExpired:
        return "eu-stack did not end"
