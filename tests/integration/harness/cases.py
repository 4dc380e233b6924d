# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of a table that one httpd can test."""
import traceback
from contextlib import contextmanager
from typing import Iterable, Iterator, ContextManager, TypeVar

import pytest

from missed import Missed, only_missed

Row = TypeVar("Row")


def cases(table: Iterable[Row]) -> Iterator[tuple[Row, ContextManager[None]]]:
    """for row, case in cases(TABLE): with case: ... A failed assertion is
    kept, and the other rows are run. At the end, all failed rows are named.
    Another error ends the test at once, because httpd may be gone."""
    failed: list[str] = []
    late: list[bool] = []  # of each of them: only a limit was missed

    def failure() -> AssertionError:
        return (Missed if all(late) else AssertionError)("\n".join(failed))

    @contextmanager
    def case(row: Row) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            is_assertion = isinstance(error, (AssertionError,
                                              pytest.fail.Exception))
            _, test, *_ = traceback.extract_tb(error.__traceback__)
            failed.append(f"{row!r}, line {test.lineno}: "
                          f"{error if is_assertion else repr(error)}")
            late.append(only_missed(error))
            if not is_assertion:
                raise failure() from error

    for row in table:
        yield row, case(row)
    if failed:
        raise failure()
