# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Spaces that come to a host of a cluster after it has its role."""
from contextlib import contextmanager
from typing import Any, Iterator

import pytest

from harness.client import get, is_closed, put
from harness.figures import MASTER
from harness.members import StoreMember
from harness.pairs import joined, local, pair
from harness.servers import wait_until

pytestmark = pytest.mark.usefixtures("namespaces")


@contextmanager
def without_blog(member: StoreMember) -> Iterator[None]:
    """Its configuration has no blog in the meantime."""
    spaces: list[dict[str, Any]] = member.table["spaces"]
    member.table["spaces"] = [one for one in spaces if one["name"] != "blog"]
    member.write_table()
    member.ring()
    wait_until(lambda: not member.socket_of("blog").exists(), "it has no blog")
    yield
    member.table["spaces"] = spaces
    member.write_table()
    member.ring()
    wait_until(lambda: member.listens_at("blog"), "it has blog")


def write_blog(member: StoreMember, value: bytes) -> None:
    with local(member, "blog") as connection:
        put(connection, b"a", value)


def must_have_blog(old: StoreMember, new: StoreMember, value: bytes) -> None:
    """The new one, after the sudden death of the old one."""
    old.end(9)
    old.host.drop_vip()
    new.host.take_vip()
    wait_until(lambda: new.figures().role == MASTER, "it is the master")
    with local(new, "blog") as connection:
        assert get(connection, b"a") == value


def test_a_space_that_comes_back_to_a_slave() -> None:
    """What has changed meanwhile is copied, too."""
    with pair() as (first, second):
        write_blog(first, b"1")
        with without_blog(second):
            write_blog(first, b"2")
        second.wait_logged("a space has come to this host")
        wait_until(lambda: second.logged("the copy of the master is complete")
                   == 2, "it has the second copy")
        joined(first, second)
        must_have_blog(first, second, b"2")


def test_a_space_that_comes_back_to_the_master() -> None:
    """The slave has joined while the master was without it."""
    with pair() as (first, second):
        write_blog(first, b"1")
        second.end()
        wait_until(lambda: first.slaves() == 0, "the slave is gone")
        with without_blog(first):
            second.start()
            joined(first, second)
        wait_until(lambda: first.logged("has the whole copy") == 3,
                   "the slave has the space, too")
        joined(first, second)
        must_have_blog(first, second, b"1")


def test_a_slave_that_loses_a_space_closes_its_clients() -> None:
    """Also those that are joined to the master, which serves the space still."""
    with pair() as (first, second), local(second, "blog") as blog, \
            local(second) as shop:
        put(blog, b"a", b"1")
        put(shop, b"a", b"1")
        with without_blog(second):
            assert is_closed(blog)
        assert get(shop, b"a") == b"1"
