# Licensed under the Apache License, Version 2.0; see LICENSE.
"""strace changes what the system calls of a running process do."""
import subprocess
from contextlib import contextmanager
from typing import Iterator

from harness import procs
from harness.procs import alive
from harness.wait import wait_until


@contextmanager
def injected(pid: int, call: str, what: str) -> Iterator[None]:
    """Inject this into these calls of the process, as in `inject=` of
    strace(1). What it does there may end the process."""
    tracer = subprocess.Popen(
        ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
         f"inject={call}:{what}", "-p", str(pid)])
    try:
        wait_until(lambda: f"TracerPid:\t{tracer.pid}\n".encode()
                   in procs.read(pid, "status") or not alive(pid),
                   "it is traced, or has ended already")
        yield
    finally:
        tracer.terminate()
        tracer.wait(40)
