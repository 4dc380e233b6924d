# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files that ARCHITECTURE names exist, and contain what it says."""
import re

import pytest

import picture
from source import HOUSES, MAY, TOP

TEXT = (TOP / "ARCHITECTURE").read_text()


def glossary() -> list[tuple[str, str]]:
    """Each word, and the file that says most about it."""
    return re.findall(r"^    (\S.*?)(?: \(.*\))? {2,}(\S+)$",
                      TEXT.partition("\nWords that mislead\n")[2], re.M)


def test_the_picture_has_each_folder() -> None:
    drawn = re.sub(r"^ +\d+ ", "", picture.picture(), flags=re.M).split()
    assert sorted(drawn) == sorted(MAY)


@pytest.mark.parametrize("page, most", [("ARCHITECTURE", 20000),
                                        ("SECURITY", 15000),
                                        ("CHANGES", 8000)])
def test_a_page_is_read_to_its_end(page: str, most: int) -> None:
    """Who comes new reads them all."""
    assert len((TOP / page).read_bytes()) <= most


def test_each_word_of_the_glossary_is_in_its_file() -> None:
    assert len(glossary()) >= 12
    for word, file in glossary():
        text = (TOP / file).read_text().lower()
        assert word.lower() in re.sub(r"[\s*/_]+", " ", text), (word, file)


def test_the_glossary_is_in_order() -> None:
    words = [word for word, _ in glossary()]
    assert words == sorted(words, key=str.lower) and len(set(words)) == len(words)


def test_files_that_are_named_exist() -> None:
    named = re.findall(rf"\b(?:{'|'.join(HOUSES)}|tests)/[\w/]+"
                       r"\.(?:[ch]|py)\b", TEXT)
    assert len(named) > 50
    assert [file for file in named if not (TOP / file).is_file()] == []
