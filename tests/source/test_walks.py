# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The walks of ARCHITECTURE agree with the code."""
import re

import pytest

from source import TOP, code
from walks import Step, functions, measure, walks

WALKS = walks()


def test_there_are_walks() -> None:
    assert {"The way of a request", "The way of a set"} <= set(WALKS)
    for title, steps in WALKS.items():
        assert [step.number for step in steps] == \
            list(range(1, len(steps) + 1)), title
        assert len(steps) > 5, title


def is_called(step: Step, before: list[Step]) -> bool:
    return any(re.search(rf"\b{step.function}\b", code(TOP / other.file))
               for other in before)


@pytest.mark.parametrize("title", list(WALKS))
def test_each_step_is_called(title: str) -> None:
    """The file of an earlier step calls it."""
    steps = WALKS[title]
    for i, step in enumerate(steps):
        assert step.function in functions((TOP / step.file).read_text()), \
            f"{step.file} has no {step.function}()"
        assert step.outside or is_called(step, steps[:i]), \
            f"nothing before step {step.number} calls {step.function}()"


@pytest.mark.parametrize("title", list(WALKS))
def test_no_climb(title: str) -> None:
    """No file calls an earlier file that leads to it."""
    files, climbs = measure(TOP, title)
    assert climbs == []
    assert {step.file for step in WALKS[title]} <= set(files)


# Files that a reader enters on a way. It gets no longer.
LONGEST = {"The way of a set": 10}


@pytest.mark.parametrize("title", list(LONGEST))
def test_length(title: str) -> None:
    files, _ = measure(TOP, title)
    assert len(files) <= LONGEST[title], files
