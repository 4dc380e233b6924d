# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Tests that find more the longer they run. In tests/run they are short, and
APPPOOL_LONG=1 makes them long."""
import os

LONG = os.environ.get("APPPOOL_LONG", "") not in ("", "0")


def lasts(short: int, long: int) -> int:
    """The duration in this run."""
    return long if LONG else short
