# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Everything that the manual quotes exists: directives, commands, lines of the
log."""
import re
from pathlib import Path

import pytest

from source import TOP, c_files, name
from test_docs import helped, known

PAGES = [*sorted((TOP / "doc").glob("*.md")), TOP / "README.md"]
# Numbers of ?auto, whose names are made from other names.
LINES = re.compile(r"AppPool(Max|Count|Processes|Total)")

LITERAL = r'"(?:[^"\\]|\\.)*"'
# "uses %" PRId64 " bytes", PROCESS_FMT " is killed": one text.
TEXT = re.compile(rf"(?:{LITERAL}|[A-Z][A-Z0-9_]+(?:_FMT|64))"
                  rf"(?:\s+(?:{LITERAL}|[A-Z][A-Za-z0-9_]+(?:_FMT|64)?))*")
WILD = "\0"


def texts() -> list[list[str]]:
    """The messages of the programs, as the parts between the values."""
    made = []
    for house in ("mod_apppool", "spawner", "base", "system", "detect",
                  "watchdog", "shm", "ctl"):
        for path in c_files(house):
            for found in TEXT.findall(path.read_text()):
                found = found.replace("PROCESS_FMT", '"%s[%d]"')
                text = re.sub(r"%?\"\s+[A-Z]\w+\s+\"|%?\"\s+[A-Z]\w+$",
                              WILD, found)
                text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"',
                                          text.replace("apppool: ", "")))
                text = re.sub(r"%[-0-9.]*(ll|l|z)?[a-zA-Z]", WILD, text)
                made.append(text.replace("\\n", "").split(WILD))
    return made


def words(part: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}|\d[\d.]*", part)


def tokens(parts: list[str]) -> list[str]:
    """Its words, with "*" in place of values."""
    return [word for part in parts for word in [*words(part), "*"]]


TEXTS = [tokens(parts) for parts in texts()]


def is_in_source(line: str) -> bool:
    """Are its first four words, up to a colon, somewhere in a text?"""
    line = re.sub(r"^shop(\[\d+\])?:? ?", "", line)
    want = words(re.split(r"\.\.\.|:|; |\(", line)[0])[:4]
    return any(one[at] == want[0] and
               all(token in ("*", word) for token, word
                   in zip(one[at:at + len(want)], want))
               for one in TEXTS for at in range(len(one) - len(want) + 1))


def quotes(path: Path) -> list[str]:
    """Lines of the log about an application called shop."""
    text = path.read_text()
    spans = re.findall(r"(?<!`)`([^`]+)`(?!`)", text)
    lines = re.findall(r"^ {4,}(?:\.\.\. )?(?:apppool: )?(.+)$", text, re.M)
    return [one for one in spans + lines
            if re.match(r"shop(\[\d+\]|:| is | has | does | did )", one)]


def test_lines_of_the_log_exist() -> None:
    """Values are not compared."""
    found = [one for page in ("operations.md", "logs.md")
             for one in quotes(TOP / "doc" / page)]
    assert len(found) > 25
    assert [one for one in found if not is_in_source(one)] == []
    assert not is_in_source("shop[4711] has fallen asleep: GET /cart")
    assert not is_in_source("shop: the queue was full")


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_directives_exist(path: Path) -> None:
    found = set(re.findall(r"\b(?:App[A-Z]\w+|M(?:ax|in)Instances|MaxRequests|"
                           r"MaxPoolSize|PoolIdleTime)\b", path.read_text()))
    module = {"AppPool",  # of Ruby, with the hooks of AppPreload
              "AppExample"}  # doc/new-directive.md
    assert {one for one in found if not LINES.match(one)} - known() <= module


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_commands_exist(path: Path) -> None:
    commands, options = helped()
    for one in re.findall(r"(?:    |`|&& |^)apppoolctl ([^`\n|&]+)",
                          path.read_text(), re.M):
        verbs = [word for word in one.split() if not word.startswith("-")]
        assert not verbs or verbs[0] in commands, one
        assert set(re.findall(r"--[a-z]+", one)) <= options, one
