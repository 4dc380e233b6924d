# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The test of the differential test: it finds mistakes, and names the shortest
commands that show them."""
import os
import struct

import pytest

from harness import replies as parse
from harness.commands import CasOf
from harness.differ import case, compare, reduce, report
from harness.proxy import Faulty, Filter, replaced, unchanged
from harness.servers import Memcached

# What goes wrong: in which protocol, in the request or in the reply, and with
# how many commands it can be seen.
FAULTS: dict[str, tuple[str, Filter, Filter, int]] = {
    "a byte of a reply": (
        "text", unchanged, replaced(b"DELETED", b"DELETEd"), 2),
    "a word": ("text", unchanged, replaced(b"EXISTS", b"NOT_FOUND"), 2),
    "a sum": ("text", replaced(b"\r\nincr ", b"\r\ndecr "), unchanged, 2),
    "a time": ("meta", replaced(b" T86400", b" T2000"), unchanged, 3),
    "a change that is not made": (
        "meta", replaced(b"\r\nma ", b"\r\nmg "), unchanged, 3),
    "a flag": ("meta", replaced(b" F5", b" F4"), unchanged, 2),
    "a length": ("meta", unchanged, replaced(b" s1 ", b" s2 "), 2),
    "a message": (
        "binary", unchanged, replaced(b"Not found", b"not found"), 1),
    "a status": ("binary", unchanged, replaced(
        struct.pack(">BBHBBH", 0x81, 0x02, 0, 0, 0, 2),
        struct.pack(">BBHBBH", 0x81, 0x02, 0, 0, 0, 1)), 2)}
CASES = 20
# One of each protocol in the short form
SHORT = ("a word", "a length", "a status")


@pytest.mark.parametrize(
    "fault", FAULTS if os.environ.get("APPPOOL_LONG") else SHORT)
def test_finds(fault: str) -> None:
    protocol, requests, replies, commands = FAULTS[fault]
    with Faulty(Memcached(), requests, replies) as faulty, \
            Memcached() as reference:
        for number in range(CASES):
            steps = case(protocol, number, 400)
            if compare(faulty, reference, steps):
                break
        else:
            pytest.fail(f"not found in {CASES} cases")
        found = report(faulty, reference, steps, None)
    assert int(found.split()[0]) <= commands, found


def test_no_time_ends_during_a_case() -> None:
    """It would end at one of the servers first."""
    place = {b"gat": 1, b"gats": 1, b"touch": 2, b"set": 3, b"add": 3,
             b"replace": 3, b"append": 3, b"prepend": 3, b"cas": 3}
    times = set()
    for number in range(200):
        for step in case("text", number, 400):
            data = b"".join(part for part in step.command
                            if isinstance(part, bytes))
            for words in map(bytes.split, data.split(b"\n")):
                if words and len(words) > place.get(words[0], len(words)):
                    times.add(words[place[words[0]]])
    assert len(times) > 20
    soon = [time for time in times
            if time.lstrip(b"+").isdigit() and 0 < int(time) < 90]
    assert soon == []


def test_finds_a_crash() -> None:
    """A server that ends is a difference as well."""
    with Memcached() as tested, Memcached() as reference:
        tested.end()
        difference = compare(tested, reference, case("text", 1, 50))
    assert difference and "the end" in difference.what


def test_cas_values_are_mapped() -> None:
    """One value of a server is always the same one of the other."""
    equal = parse.Equality()
    assert equal.parts(parse.Cas(5), parse.Cas(70))
    assert equal.parts(parse.Cas(5), parse.Cas(70))
    assert equal.parts(parse.Cas(6), parse.Cas(71))
    assert not equal.parts(parse.Cas(5), parse.Cas(71))
    assert not equal.parts(parse.Cas(7), parse.Cas(71))
    assert not equal.parts(parse.Cas(0), parse.Cas(72))


def test_an_older_cas_is_older_for_both() -> None:
    """One of the servers has counted above 1000, and the other has not."""
    older = CasOf(b"k1", -1000, False)
    assert older.bytes({b"k1": 1016}) == b"16"
    assert older.bytes({b"k1": 989}) == b"1"
    assert int(older.bytes({})) > 1016


def test_a_repeated_cas_is_found() -> None:
    """A server that gives each change the same cas value."""
    data = b"VALUE k1 0 1 %d\r\na\r\nVALUE k2 0 1 %d\r\nb\r\nEND\r\n"
    right, wrong = parse.text(data % (7, 8)), parse.text(data % (7, 7))
    equal = parse.Equality()
    assert not all(map(equal.replies, wrong, right))


def test_reduces_to_what_is_needed() -> None:
    steps = case("text", 1, 100)
    wanted = [steps[17], steps[18], steps[90]]
    assert reduce(steps, lambda fewer: all(step in fewer
                                           for step in wanted)) == wanted
