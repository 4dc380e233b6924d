# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The parts of tests/run long (tests/lib/long.sh), and the unit tests that only
these build with gcc."""
import re
import subprocess
import sys

from source import TOP, lists

sys.path.insert(0, str(TOP / "tests" / "mutants"))
import mutants  # noqa: E402

LONGEST = 60  # minutes
WEB, OTHER, HANGS = 4, 1.5, 10  # s, which a mutant takes on two processors
BEFORE = 2  # minutes, to build what the mutants need
FUZZED = 10  # minutes, for two targets


def parts() -> dict[tuple[str, str], tuple[int, list[str]]]:
    """Suite and name, with minutes and arguments."""
    output = subprocess.run(
        ["bash", "-uc", '. "$1/tests/lib/long.sh"; all_parts', "_", TOP], text=True, stdout=subprocess.PIPE, check=True).stdout
    lines = [line.split() for line in output.splitlines()]
    found = {(line[0], line[1]): (int(line[2]), line[3:]) for line in lines}
    assert len(found) == len(lines)
    return found


PARTS = parts()


def of(suite: str) -> dict[str, tuple[int, list[str]]]:
    return {name: rest for (house, name), rest in PARTS.items()
            if house == suite}


def test_each_suite_has_parts() -> None:
    there = {path.parent.name for path in (TOP / "tests").glob("*/run")}
    assert {suite for suite, _ in PARTS} == there - {"quick"}


def test_none_is_too_long() -> None:
    assert all(0 < minutes <= LONGEST for minutes, _ in PARTS.values())


def test_each_mutant_is_in_one_part() -> None:
    every = [m for table in sorted((TOP / "tests/mutants").glob("*.txt"))
             for m in mutants.read_table(table)]
    seen = []
    for minutes, prefixes in of("mutants").values():
        part = mutants.chosen(every, prefixes)
        seen += [m.path for m in part]
        seconds = sum((WEB if m.needs_httpd else OTHER) + HANGS * m.long
                      for m in part)
        assert BEFORE + seconds / 60 <= minutes + 1, prefixes
    assert sorted(seen) == sorted(m.path for m in every)


def test_each_fuzzer_is_in_one_part() -> None:
    seen = []
    for minutes, (seconds, *targets) in of("fuzz").values():
        assert seconds == "600"
        seen += targets
        assert -(-len(targets) // 2) * FUZZED <= minutes, targets
    assert sorted(seen) == sorted(program.rpartition("/")[2]
                                  for program in lists()["fuzz_programs"])


def test_each_claim_is_in_one_part() -> None:
    text = (TOP / "tests/model/run").read_text()
    claims = re.findall(r"^(\w+: ).*:", text.partition("CLAIMS'\n")[2]
                        .partition("\nCLAIMS\n")[0], re.M)
    words = [word for _, (word,) in of("model").values()]
    assert {claim.strip() for claim in claims} == set(words)
    assert len(words) == len(set(words))


def test_each_file_of_the_store_and_of_integration_is_in_one_part() -> None:
    for suite, patterns in (
            ("integration", {"test_*.py", "chaos_*.py", "alone_*.py",
                             "packages_*.py", "npm_*.py"}),
            ("store", {"test_*.py"})):
        files = {path.name for path in (TOP / "tests" / suite).glob("*_*.py")}
        assert files == {path.name for pattern in patterns
                         for path in (TOP / "tests" / suite).glob(pattern)}
    words = [words for _, words in of("integration").values()]
    assert [one[one.index("-o") + 1] for one in words] == [
        f"python_files={kind}_*.py"
        for kind in ("test", "test", "chaos", "alone", "packages", "npm")]
    assert [one[one.index("-k") + 1] for one in words if "workers" in one] \
        == ["prefork", "not(prefork)"]


def test_the_readme_names_all() -> None:
    text = (TOP / "tests/README.md").read_text()
    table = re.findall(r"^\| `(\w+) (\w+)` \|", text, re.M)
    assert sorted(table) == sorted(PARTS)


# ---- tests/unit/long_with_gcc

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


def test_gcc_builds_the_tests_that_have_threads() -> None:
    threaded = {program.rpartition("/")[2]
                for program in lists()["threaded_tests"]}
    assert threaded & set(late()) == set()


def test_gcc_builds_the_tests_of_what_is_fragile() -> None:
    """No test that finds a mistake in these folders and files is left out."""
    fragile = ("shm/", "store/memory/", "store/protocol/", "store/cluster/",
               "store/server/store_config.c", "mod_apppool/backend/",
               "mod_apppool/status/status_token.c")
    finds = {test for table in sorted((TOP / "tests/mutants").glob("*.txt"))
             for m in mutants.read_table(table) if m.file.startswith(fragile)
             for test in m.tests}
    assert finds & {f"tests/unit/{name}" for name in late()} == set()
