# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Wait for events, never for time."""
import time
from typing import Callable, TypeVar

from missed import Missed

T = TypeVar("T")
LATER = 0.2  # seconds between two checks, when it takes long


def until(happened: Callable[[], T], what: str, bound: float,
          soon: float) -> T:
    """Return the first true value of happened(); fail after the bound. Checks
    are `soon` seconds apart at first, and then fewer and fewer: many of them
    would cost as much as what they check."""
    began = time.monotonic()
    deadline = began + bound
    while True:
        # read before happened(): so there is a last check after the bound
        late = time.monotonic() > deadline
        value = happened()
        if value:
            return value
        if late:
            name = what or getattr(happened, "__name__", "it")
            raise Missed(
                f"after {bound} s still not: {name} (last: {value!r})")
        waited = time.monotonic() - began
        time.sleep(min(max(soon, waited / 5), LATER))
