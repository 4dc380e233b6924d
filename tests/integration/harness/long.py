# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Tests that find more the longer they run. In tests/run they are short, and
APPPOOL_LONG=1 makes them long."""
import os
from typing import TypeVar

T = TypeVar("T")
LONG = os.environ.get("APPPOOL_LONG", "") not in ("", "0")


def lasts(short: T, long: T) -> T:
    """The duration in this run, or the cases."""
    return long if LONG else short
