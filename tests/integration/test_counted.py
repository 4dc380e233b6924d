# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The checker of the store in tests/soak finds the mistakes that it is made
for."""
from pathlib import Path

import pytest

from harness.counted import Counted

GOOD = ["asks 1 -", "none 1.1 -", "asks 2 -", "counted 3 1", "kept 4 n1",
        "asks 5 -", "asks 6 -", "counted 7 3", "kept 8 n2"]
HELD = {"n1": "n1" * 10, "n2": "n2" * 10}


def judged(directory: Path, lines: list[str], final: int = 3,
           more: tuple[str, ...] = (), **held: str) -> Counted:
    (directory / "counter.11.0.5").write_text("\n".join(lines) + "\n")
    (directory / "counter.12.0.5").write_text("".join(
        line + "\n" for line in more))
    return Counted(directory, final, {**HELD, **held})


@pytest.mark.parametrize("final, lines", [
    (3, GOOD), (2, [*GOOD[:7], "counted 7 2", GOOD[8]]),
    (4, [*GOOD, "asks 9 -"]), (3, [*GOOD, "asks 9 -"])],
    ids=["done", "not done", "without an answer", "not done at the end"])
def test_a_command_without_an_answer(tmp_path: Path, final: int,
                                     lines: list[str]) -> None:
    result = judged(tmp_path, lines, final)
    assert result.lost + result.wrong == []
    assert len(result.kept) == 2


def test_at_once(tmp_path: Path) -> None:
    """Of two that ask at once, any one may get the lower number."""
    result = judged(tmp_path, GOOD, 4, ("asks 5.5 -", "counted 6.5 4"))
    assert result.lost + result.wrong == []


@pytest.mark.parametrize("final", [1, 2, 4])
def test_another_counter(tmp_path: Path, final: int) -> None:
    assert judged(tmp_path, GOOD, final).lost


@pytest.mark.parametrize("line", ["counted 9 3", "counted 9 2", "counted 9 1"])
def test_a_number_that_goes_back(tmp_path: Path, line: str) -> None:
    assert judged(tmp_path, GOOD, 4, ("asks 8.5 -", line)).lost


def test_a_number_twice(tmp_path: Path) -> None:
    assert judged(tmp_path, GOOD, 4, ("asks 5.5 -", "counted 6.5 3")).wrong


def test_values_that_are_gone(tmp_path: Path) -> None:
    assert judged(tmp_path, GOOD, n2="").lost
    assert judged(tmp_path, GOOD, n2="n1" * 10).lost
    assert judged(tmp_path, [*GOOD, "missed 9 n1"]).lost
    assert judged(tmp_path, [*GOOD, "kept 9 n3"]).lost
