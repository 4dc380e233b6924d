# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the code has and what the manual says are the same."""
import re

from source import TOP, c_files, name

DIRECTIVES_C = TOP / "mod_apppool" / "directives.c"
MANUAL = TOP / "doc" / "directives.md"


def known() -> set[str]:
    """Directives of the module."""
    table = re.search(r"command_rec \w+\[\] = \{(.*?)\n\};",
                      DIRECTIVES_C.read_text(), re.S)
    assert table
    return set(re.findall(r'^    [A-Z_0-9]+\("(\w+)"', table[1], re.M))


def documented() -> dict[str, str]:
    """Directive: its section of the manual."""
    parts = re.split(r"^## (\w+)$", MANUAL.read_text(), flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def test_each_directive_is_documented() -> None:
    assert len(known()) > 20
    assert known() - set(documented()) == set()


def test_each_documented_directive_exists() -> None:
    assert set(documented()) - known() == set()


def test_sections() -> None:
    for directive, section in documented().items():
        for line in (rf"^\*\*Syntax:\*\* `{directive} ",
                     r"^\*\*Context:\*\* \w", r"^\*\*Default:\*\* \S",
                     rf"^    {directive} "):
            assert re.search(line, section, re.M), f"{directive}: no {line}"


def test_headers_state_their_contract() -> None:
    """Lock, Crash, Trust: what a caller has to know"""
    for path in c_files("shm"):
        for line in (r"@brief \S", r"^ \* Lock:\s+\S",
                     r"^ \* Crash:\s+\S", r"^ \* Trust:\s+\S"):
            assert path.suffix != ".h" or re.search(
                line, path.read_text(), re.M), f"{name(path)}: no {line}"


def test_links_lead_somewhere() -> None:
    for path in sorted((TOP / "doc").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text()):
            assert (path.parent / link).exists(), f"{name(path)}: {link}"
