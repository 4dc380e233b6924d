# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The table of SECURITY names tests and files that exist."""
import re
from pathlib import Path

from source import TOP

TEXT = (TOP / "SECURITY").read_text()
SUITES = ("integration", "store", "unit", "fuzz")


def rows() -> list[tuple[str, str, str]]:
    """Each asset, with what checks it and its tests."""
    return re.findall(r"^(\S.*)\n  may    .*\n(?: {9}.*\n)*"
                      r"  check  (.*\n(?: {9}.*\n)*)"
                      r"  tests  (.*\n(?: {9}.*\n)*)", TEXT, re.M)


def suite(file: str) -> Path:
    return next((path for folder in SUITES
                 if (path := TOP / "tests" / folder / file).exists()),
                TOP / "tests" / file)


def test_each_row_is_read() -> None:
    table = TEXT.partition("\nThe table\n")[2].partition("\nThe runtime")[0]
    assert len(rows()) == len(re.findall(r"^  tests ", table, re.M)) > 20


def test_each_asset_has_a_test() -> None:
    for asset, _, tests in rows():
        named = re.findall(r"(\w+\.(?:py|c))((?:\s+\w+(?![\w.]),?)*)", tests)
        assert named, asset
        for file, functions in named:
            assert suite(file).is_file(), f"{asset}: {file}"
            text = suite(file).read_text()
            for function in re.findall(r"\w+", functions):
                assert re.search(rf"\b{function}\(|[(,]\s*{function}\b", text), \
                    f"{asset}: {file} {function}"


def test_files_that_decide_exist() -> None:
    for asset, check, _ in rows():
        folder = ""
        for file in re.findall(r"[\w/]+\.h\b", check):
            folder = file.rpartition("/")[0] or folder
            path = file if "/" in file else f"{folder}/{file}"
            assert (TOP / path).is_file(), f"{asset}: {path}"
