# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A cluster without a secret: the open space is all that hosts share. Nobody is
asked who it is, so nobody gets more."""
from contextlib import suppress

import pytest

from harness.client import get, is_closed, put
from harness.members import plain
from harness.pairs import joined, local, move, pair, read, sent_all, write
from hosts.network import VIP, Host
from test_cluster_peers import intrude, may_enter

pytestmark = pytest.mark.usefixtures("namespaces")


def is_refused(host: Host) -> bool:
    got = intrude(host, host.address)
    return b"in-shop" in got and b"blog" not in got and b"STORED" not in got


def test_only_the_open_space_is_shared() -> None:
    """It is copied, and its clients on a slave are relayed. Of another space,
    each host keeps its own items, and only the master serves it."""
    with pair(make=plain) as (first, second):
        write(first, b"in-shop", b"1")
        with local(first, "blog") as blog:
            put(blog, b"in-blog", b"of the first")
        write(second, b"relayed", b"2")
        assert read(first, b"relayed") == b"2"
        with local(second, "blog") as blog:
            with suppress(BrokenPipeError):
                blog.sendall(b"get in-blog\r\n")
            assert is_closed(blog)
        second.wait_logged("space blog: its clients on this host are closed, "
                           "because without AppStoreKey")
        for member in (first, second):
            assert is_refused(member.host)
            assert not may_enter(member.host, b"blog")
        assert may_enter(second.host, b"shop")
        sent_all(first, second)

        move(first, second)
        joined(second, first)
        assert read(second, b"in-shop") == b"1"
        with local(second, "blog") as blog:
            assert get(blog, b"in-blog") == b""
            put(blog, b"in-blog", b"of the second")
        move(second, first)
        with local(first, "blog") as blog:
            assert get(blog, b"in-blog") == b"of the first"


def test_a_store_without_a_secret_has_plain_peers_only() -> None:
    """httpd makes no other table. A store that gets one does not begin."""
    with pair(make=plain) as (first, second):
        second.end()
        second.table["cluster"]["plain"] = [second.host.address]
        second.write_table()
        second.launch().wait(60)
        second.wait_logged("all \"peers\" have to be in \"plain\"")
        assert first.host.addresses() >= {VIP}
