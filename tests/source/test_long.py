# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The unit tests that only tests/run long builds with gcc."""
import sys

from source import TOP, lists

sys.path.insert(0, str(TOP / "tests" / "mutants"))
import mutants  # noqa: E402


def late() -> dict[str, str]:
    text = (TOP / "tests/unit/long_with_gcc").read_text()
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    pairs = dict(line.split(": ") for line in lines)
    assert len(pairs) == len(lines) and list(pairs) == sorted(pairs)
    return pairs


def test_what_gcc_leaves_out_is_used_otherwise() -> None:
    """By a test with a whole httpd or store, or by another unit test."""
    others = {program.removeprefix("tests/")
              for program in lists()["unit_tests"]}
    for name, proof in late().items():
        assert f"unit/{name}" in others
        assert (TOP / "tests" / proof).exists() or proof in others - {
            f"unit/{test}" for test in late()}, name


def test_gcc_builds_the_tests_of_what_is_fragile() -> None:
    """No test that finds a mistake in these folders is left out."""
    fragile = ("shm/", "store/memory/", "store/command/",
               "mod_apppool/backend/")
    finds = {test for table in sorted((TOP / "tests/mutants").glob("*.txt"))
             for m in mutants.read_table(table) if m.file.startswith(fragile)
             for test in m.tests}
    assert finds & {f"tests/unit/{name}" for name in late()} == set()
