# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The claims of tests/claims.md, the tests that they name, and the names of
tests that cite them."""
import re

from source import TOP

TESTS = TOP / "tests"
SETS = {"A": 21, "B": 40, "C": 10, "D": 5, "I": 26, "S": 15, "P": 31, "Y": 47}


def rows() -> dict[str, str]:
    """The lines below each claim."""
    found = re.findall(r"^([A-Z]\d+)  ? ?\S.*\n((?: {5}.*\n)*)",
                       (TESTS / "claims.md").read_text(), re.M)
    claims = [claim for claim, _ in found]
    assert set(claims) == {f"{letter}{number}" for letter, last in SETS.items()
                           for number in range(1, last + 1)}
    assert len(claims) == len(set(claims))
    return dict(found)


def named(row: str) -> set[tuple[str, str]]:
    """Files with the tests in them."""
    return {(file, test)
            for file, tests in re.findall(
                r"^ {5}(\w+\.(?:c|py)) ((?:\w+,\s+)*\w+)$", row, re.M)
            for test in re.split(r",\s+", tests)}


def there(file: str) -> set[str]:
    """The tests of a file."""
    if file.endswith(".py"):
        folder = "integration" if (TESTS / "integration" / file).exists() \
            else "store"
        return set(re.findall(r"^def (test_\w+)\(",
                              (TESTS / folder / file).read_text(), re.M))
    return set(re.findall(
        r"^ +(?:cmocka_unit_test(?:_setup_teardown)?|PLAY|TEST)\(\s*(\w+)",
        (TESTS / "unit" / file).read_text(), re.M))


def test_each_claim_has_a_test() -> None:
    for claim, row in rows().items():
        assert named(row), claim


def test_each_test_is_there() -> None:
    for claim, row in rows().items():
        for file, test in named(row):
            assert test in there(file), f"{claim}: {file} {test}"


def test_each_line_is_read() -> None:
    """A misspelt test is not taken for a part of the sentence."""
    for claim, row in rows().items():
        known = {word for pair in named(row) for word in pair}
        for word in re.findall(r"\w+\.(?:c|py)\b|\w*_\w*", row):
            assert word in known, f"{claim}: {word}"


def test_each_test_that_cites_a_claim_is_below_it() -> None:
    table = {(claim, file, test) for claim, row in rows().items()
             for file, test in named(row)}
    cited = 0
    for path in sorted((TESTS / "unit").glob("*.c")):
        for test in there(path.name):
            claim = re.match(r"([a-z])(\d+)_", test)
            if claim:
                at = (claim[1].upper() + claim[2], path.name, test)
                assert at in table, at
                cited += 1
    assert cited > 150  # the names are really read


def test_each_test_of_the_store_that_cites_a_claim_is_below_it() -> None:
    table = {(claim, file, test) for claim, row in rows().items()
             for file, test in named(row)}
    cited = 0
    for path in sorted((TESTS / "store").glob("test_*.py")):
        for test, claims in re.findall(
                r'^def (test_\w+)\([^"]*?:\n    """((?:Y\d+(?:, )?)+):',
                path.read_text(), re.M):
            for claim in claims.split(", "):
                assert (claim, path.name, test) in table, (claim, test)
                cited += 1
    assert cited > 10


def test_each_test_of_a_file_is_run() -> None:
    """Each test function of a unit test is in its list."""
    for path in sorted((TESTS / "unit").glob("*.c")):
        written = set(re.findall(r"^(?:static void )?([a-z]\d+_\w+)\(void \*\*",
                                 path.read_text(), re.M))
        assert written <= there(path.name), path.name
