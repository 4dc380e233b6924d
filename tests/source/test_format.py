# Licensed under the Apache License, Version 2.0; see LICENSE.
"""shm/format/format.h: the segment contains no pointer, and each struct has
its documented size."""
import re

import pytest

from source import TOP, c_files, code, name

FORMAT = TOP / "shm/format/format.h"
STRUCTS = re.findall(r"typedef struct \w*\s*\{(.*?)\}\s*(\w+);",
                     code(FORMAT), re.S)


@pytest.mark.parametrize("body,struct", STRUCTS, ids=[s for _, s in STRUCTS])
def test_no_pointer(body: str, struct: str) -> None:
    assert "*" not in body
    assert not re.search(r"\b(u?intptr_t|size_t|s?size_t|long\b|char\s*\w+;"
                         r"|time_t|pid_t|int\s+\w)", body), \
        "a type whose size or meaning is a process's own"


def test_there_are_structs() -> None:
    names = {struct for _, struct in STRUCTS}
    assert {"apl_group_t", "apl_process_t", "apl_session_t", "apl_child_t",
            "apl_header_t", "apl_wire_t"} <= names


@pytest.mark.parametrize("struct", ["apl_group_t", "apl_process_t",
                                    "apl_session_t", "apl_child_t"])
def test_size_is_asserted(struct: str) -> None:
    assert re.search(rf"_Static_assert\(\s*sizeof\({struct}\)", code(FORMAT))


# Invariants about which a check of one moment shows nothing, or nothing new.
UNSEEN = {
    2: "it allows something",
    7: "it is I3 and I8 together",
    11: "the limit may have been lowered: tests/unit/support/same.c",
    12: "the limit may have been lowered: tests/unit/support/same.c",
    13: "it speaks of the past: tests/unit/support/same.c",
    15: "it speaks of the past: tests/unit/support/same.c",
}


def test_each_invariant_is_checked() -> None:
    """check.c reports the numbers of format.h."""
    stated = {int(number) for number in
              re.findall(r"^ \*  I(\d+) ", FORMAT.read_text(), re.M)}
    checked = {int(number) for number in re.findall(
        r"found\(\s*a, (\d+),", code(TOP / "shm/recovery/check.c"))}
    assert len(stated) >= 19
    assert checked == stated - set(UNSEEN)


def test_steps_are_named_once() -> None:
    """A label of APL_CRASH_POINT names one place."""
    labels: dict[str, str] = {}
    for path in c_files("shm"):
        if path.name == "step.h":
            continue
        for label in re.findall(r'APL_CRASH_POINT\("(\w+)"\)', code(path)):
            assert label not in labels, \
                f"{label}: {labels[label]} and {name(path)}"
            labels[label] = name(path)
    assert labels
