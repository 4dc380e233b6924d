# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The checker of test_kills.py finds what a server must not do."""
import re

from harness.checker import Checker, number_of, value
from harness.proxy import Faulty, Filter, replaced, unchanged
from harness.servers import Memcached


def found(requests: Filter, replies: Filter, seed: int) -> set[str]:
    with Faulty(Memcached(), requests, replies) as faulty:
        checker = Checker(faulty, seed)
        for _ in range(3):
            checker.round(kill=False)
        return {wrong.what for wrong in checker.wrong}


def test_nothing_is_wrong(seed: int) -> None:
    assert found(unchanged, unchanged, seed) == set()


def test_a_server_that_forgets(seed: int) -> None:
    """memcached holds nothing after a kill."""
    with Memcached() as server:
        checker = Checker(server, seed)
        checker.round()
        assert checker.acknowledged > 0
        assert {wrong.what for wrong in checker.wrong} == {"missing"}


def test_a_change_that_is_acknowledged_only(seed: int) -> None:
    assert "older" in found(replaced(b"set ", b"add "),
                            replaced(b"NOT_STORED", b"STORED"), seed)


def test_a_deletion_that_is_acknowledged_only(seed: int) -> None:
    assert "returned" in found(
        lambda data: re.sub(rb"delete \d+-\d+\r", b"mn\r", data),
        lambda data: re.sub(rb"MN\r", b"DELETED\r", data), seed)


def test_one_cas_for_all(seed: int) -> None:
    received = found(unchanged, lambda data: re.sub(
        rb"(VALUE \S+ \d+ \d+) \d+\r", rb"\1 7\r", data), seed)
    assert received == {"cas 7 again"}


def test_torn_values() -> None:
    data = value("1-7", 12, 100)
    assert number_of("1-7", data) == 12
    assert number_of("1-8", data) is None
    assert number_of("1-7", data[:50] + value("1-7", 13, 100)[50:]) is None
    assert number_of("1-7", b"\0" * 100) is None
    assert number_of("1-7", b"") is None
