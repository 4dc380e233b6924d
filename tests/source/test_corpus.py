# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The inputs from which the fuzzers start are as the programs write them
today."""
import json
import re
from typing import Any, Iterator

from directives import rows
from source import TOP, code, lists

FUZZ = TOP / "tests/fuzz"
ANYBODYS = {"env", "store_env"}  # their keys are names of variables


def written() -> set[str]:
    """Keys of the app table, as httpd writes them."""
    return {row.key for row in rows() if row.key} | \
        set(re.findall(r'json_object_set_new\(\s*\w+,\s*"(\w+)"',
                       code(TOP / "mod_apppool/parent/app_table_write.c")))


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from keys(one)
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            if key not in ANYBODYS:
                yield from keys(one)


def test_app_table() -> None:
    """Each key is in the dictionary and in a complete table. A table without
    one key is refused, and nothing behind that check is tested."""
    table = [json.loads(line) for line in
             (FUZZ / "corpus/table/whole").read_text().splitlines()]
    assert set(keys(table)) == written()
    assert 0 < table[0]["apps"] == len(table) - 1
    words = (FUZZ / "table.dict").read_text()
    assert {key for key in written() if f'"\\"{key}\\": ' not in words} == set()


def test_each_fuzzer_has_a_corpus_and_a_floor() -> None:
    programs = {program.rpartition("/")[2]
                for program in lists()["fuzz_programs"]}
    floors = dict(line.split() for line in
                  (FUZZ / "floors").read_text().splitlines()
                  if not line.startswith("#"))
    assert set(floors) == programs
    assert {path.name for path in (FUZZ / "corpus").iterdir()} == programs
    assert all(int(floor) > 40 for floor in floors.values())
