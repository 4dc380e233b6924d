# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of a table that one httpd can test."""
from contextlib import contextmanager
from typing import Iterable, Iterator, ContextManager, TypeVar

Row = TypeVar("Row")


def cases(table: Iterable[Row]) -> Iterator[tuple[Row, ContextManager[None]]]:
    """for row, case in cases(TABLE): with case: ... A failed assertion is
    kept, and the other rows are run. At the end, all failed rows are named.
    Another error ends the test at once, because httpd may be gone."""
    failed: list[str] = []

    @contextmanager
    def case(row: Row) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            failed.append(f"{row!r}: {error}")
        except Exception as error:
            failures = [*failed, f"{row!r}: {error!r}"]
            raise AssertionError("\n".join(failures)) from error

    for row in table:
        yield row, case(row)
    if failed:
        raise AssertionError("\n".join(failed))
