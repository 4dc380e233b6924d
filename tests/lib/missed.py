# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A limit of time that was missed. All else that fails a test is wrong data, or
damage."""
import subprocess
from typing import Callable, Iterable, Optional


class Missed(AssertionError):
    """Something did not come within its time."""


def within(took: float, limit: float, what: str) -> None:
    """Did it take less than this limit, in seconds?"""
    if took >= limit:
        raise Missed(f"{what} took {took:.2f} s; the limit is {limit} s")


# What the objects of a test have seen and the test may not have looked at yet:
# damage, wrong data. They are asked after a missed limit (second_look.py).
Witness = Callable[[], Iterable[object]]
witnesses: list[Witness] = []
LIMITS = (Missed, TimeoutError, subprocess.TimeoutExpired)


def only_missed(error: Optional[BaseException]) -> bool:
    """Is this a missed limit, and so is each error from which it followed?"""
    group = getattr(error, "exceptions", None)  # of several fixtures
    if group is not None:
        return all(only_missed(one) for one in group)
    while error is not None:
        if not isinstance(error, LIMITS):
            return False
        error = error.__cause__ or (
            None if error.__suppress_context__ else error.__context__)
    return True
