# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The table of claims in CONTRIBUTING, and the tests that it names."""
import re

from source import TOP

CLAIMS = 31
TESTS = TOP / "tests"


def rows() -> dict[int, str]:
    """What stands below each claim."""
    found = re.findall(r"^P(\d+)  ? ?\S.*\n((?: {5}.*\n)*)",
                       (TOP / "CONTRIBUTING").read_text(), re.M)
    assert [int(number) for number, _ in found] == list(range(1, CLAIMS + 1))
    return {int(number): text for number, text in found}


def named(row: str) -> set[tuple[str, str]]:
    """Files with the tests in them."""
    return {(file, test)
            for file, tests in re.findall(
                r"^ {5}(\w+\.(?:c|py)) ((?:\w+,\s+)*\w+)$", row, re.M)
            for test in re.split(r",\s+", tests)}


def there(file: str) -> set[str]:
    """The tests of a file."""
    if file.endswith(".py"):
        return set(re.findall(r"^def (test_\w+)\(",
                              (TESTS / "integration" / file).read_text(),
                              re.M))
    return set(re.findall(r"^ +cmocka_unit_test\((\w+)\)",
                          (TESTS / "unit" / file).read_text(), re.M))


def test_each_claim_has_a_test() -> None:
    for number, row in rows().items():
        assert named(row), f"P{number}"


def test_each_test_is_there() -> None:
    for number, row in rows().items():
        for file, test in named(row):
            assert test in there(file), f"P{number}: {file} {test}"


def test_each_line_is_read() -> None:
    """A test that is misspelt is not taken for a sentence."""
    for number, row in rows().items():
        known = {word for pair in named(row) for word in pair}
        for word in re.findall(r"\w+\.(?:c|py)\b|\w*_\w*", row):
            assert word in known, f"P{number}: {word}"


def test_each_test_of_a_claim_is_in_the_table() -> None:
    table = {(number, file, test) for number, row in rows().items()
             for file, test in named(row)}
    for path in sorted((TESTS / "unit").glob("*.c")):
        for test in there(path.name):
            claim = re.match(r"p(\d+)_", test)
            assert not claim or (int(claim[1]), path.name, test) in table, test
