# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A commit that changes a line must change its mutants as well. tests/run
tries only some of them."""
import sys

from source import TOP

sys.path.insert(0, str(TOP / "tests" / "mutants"))
import mutants  # noqa: E402


def test_each_stands_once_in_its_file() -> None:
    every = [m for table in sorted((TOP / "tests/mutants").glob("*.txt"))
             for m in mutants.read_table(table)]
    assert len(every) > 300
    wrong = {m.path: (TOP / m.file).read_text().count(m.old) for m in every}
    assert {path: n for path, n in wrong.items() if n != 1} == {}
    assert len({m.path for m in every}) == len(every)
