#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, each start of which waits for a file and removes it: GATE, from the
environment."""
import os
import sys
import time
from contextlib import suppress

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402


def take(gate):
    while True:
        with suppress(FileNotFoundError):
            os.unlink(gate)
            return
        time.sleep(0.005)


take(os.environ["GATE"])
app.main()
