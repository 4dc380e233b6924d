# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Tests that find the more the longer they run: for tests/run they are short,
and APPPOOL_LONG=1 makes them long."""
import os

LONG = os.environ.get("APPPOOL_LONG", "") not in ("", "0")


def lasts(short: int, long: int) -> int:
    """What it is this time."""
    return long if LONG else short
