# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Wait for events, never for time."""
import time
from typing import Callable, TypeVar

from missed import Missed

T = TypeVar("T")
BOUND = 40.0  # seconds; any process may not run for some of them
# Seconds between two checks, at first, and when it takes long. Many checks
# would cost as much as what they check.
SOON, LATER = 0.02, 0.2


def wait_until(happened: Callable[[], T], what: str = "",
               bound: float = BOUND) -> T:
    """Return the first true value of happened(); fail after the bound."""
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
        time.sleep(min(max(SOON, waited / 5), LATER))
