# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Wait for events, never for time."""
from typing import Callable, TypeVar

from until import until

T = TypeVar("T")
BOUND = 40.0  # seconds; any process may not run for some of them
SOON = 0.02  # seconds between the first checks


def wait_until(happened: Callable[[], T], what: str = "",
               bound: float = BOUND) -> T:
    """Return the first true value of happened(); fail after the bound."""
    return until(happened, what, bound, SOON)
