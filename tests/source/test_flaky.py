# Licensed under the Apache License, Version 2.0; see LICENSE.
"""tests/flaky: the tests that tests/run has found to be flaky."""
import re
from datetime import date

from source import TOP

TESTS = TOP / "tests"
ENTRY = re.compile(r"((?:integration|store)/(?:test|alone)_\w+\.py)::(test_\w+) "
                   r"(\d{4}-\d\d-\d\d)")


def complaints(text: str) -> list[str]:
    """What is wrong with a file like tests/flaky."""
    lines = text.splitlines()
    entries = lines[next((n for n, line in enumerate(lines)
                          if not line.startswith("#")), len(lines)):]
    found = [] if entries == sorted(set(entries)) else ["they are not sorted"]
    for entry in entries:
        match = ENTRY.fullmatch(entry)
        if not match:
            found.append(f"{entry}: not FOLDER/FILE::FUNCTION DATE")
            continue
        file = TESTS / match[1]
        if not file.exists() or f"\ndef {match[2]}(" not in file.read_text():
            found.append(f"{entry}: there is no such test")
        try:
            date.fromisoformat(match[3])
        except ValueError:
            found.append(f"{entry}: there is no such day")
    return found


def one_of(file: str) -> str:
    """One of its tests."""
    return re.findall(r"^def (test_\w+)", (TESTS / file).read_text(), re.M)[0]


def test_list() -> None:
    assert complaints((TESTS / "flaky").read_text()) == []


def test_list_is_checked() -> None:
    good = f"store/test_kills.py::{one_of('store/test_kills.py')} 2026-02-28\n"
    assert complaints("# words\n" + good) == []
    assert complaints(good + "# words\n") != []
    for old, new in (("02-28", "02-30"), (" 2026", "s 2026"), ("::", "::a"),
                     ("store/", "unit/"), ("test_kills.py", "test_none.py"),
                     (" 2026", "[x] 2026"), ("\n", "\n\n"), ("-28\n", "-28 \n"),
                     ("store", "integration/test_stop.py::test_a 2026-01-01\n"
                      "store")):
        assert complaints(good.replace(old, new)) != [], (old, new)
    file = "integration/test_stop.py"
    first = f"{file}::{one_of(file)} 2026-03-01\n"
    assert complaints(first + good) == []
    assert complaints(good + first) == ["they are not sorted"]
    assert complaints(good + good) == ["they are not sorted"]
