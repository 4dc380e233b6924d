# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of a table that one httpd can answer for."""
from contextlib import contextmanager
from typing import Any, Iterator


@contextmanager
def case(*row: Any) -> Iterator[None]:
    """for row in TABLE: with case(row): ... says which one fails"""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{', '.join(map(repr, row))}: {error}") \
            from error
