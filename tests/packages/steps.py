# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Steps that follow each other: each prints `ok - NAME` or `not ok - NAME`."""
import subprocess
import sys
import time
import traceback
from typing import Callable

Step = Callable[[], None]


def shell(command: str, limit: float = 900, **more: object) -> str:
    """Run it. @return what it prints; the text of its failure has that, too"""
    done = subprocess.run(command, shell=True, text=True, timeout=limit,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)  # type: ignore
    assert done.returncode == 0, \
        f"{command}: exit {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def until(condition: Callable[[], object], what: str,
          limit: float = 60) -> object:
    """Wait for it. @return what the condition returned"""
    end = time.monotonic() + limit
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"after {limit} s still not: {what}"
        time.sleep(0.05)


def run(steps: list[Step]) -> None:
    """All of them, also those that follow a failure; or those that the command
    line names."""
    for step in [step for step in steps if step.__name__ in sys.argv[1:]
                 or not sys.argv[1:]]:
        start = time.monotonic()
        try:
            step()
        except Exception as trouble:  # pylint: disable=broad-except
            if not isinstance(trouble, AssertionError):
                traceback.print_exc(file=sys.stdout)
            text = str(trouble).replace("\n", "\n    ")
            print(f"not ok - {step.__name__}: {text}", flush=True)
        else:
            print(f"ok - {step.__name__} ({time.monotonic() - start:.1f} s)",
                  flush=True)
    print("complete", flush=True)
