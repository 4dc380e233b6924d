# Licensed under the Apache License, Version 2.0; see LICENSE.
"""All hosts are stopped and started again, as for work on the electricity. Each
store has a file (AppStoreSave). The newest file is what all have then."""
import os
from typing import Iterator

import pytest

from harness.checker import NO_GAP, Gap
from harness.cluster import ByHand, ByTurns, Cluster, Node
from harness.failover import Failover
from harness.figures import MASTER
from harness.members import StoreMember, store
from harness.pairs import (
    cas_of, holds, inside_of_a_copy, local, read, write)
from harness.servers import wait_until
from hosts.network import Host

pytestmark = pytest.mark.usefixtures("namespaces")
# In the short form the master is stopped first, once: then the address moves, too.
LONG = bool(os.environ.get("APPPOOL_LONG"))


def saves(host: Host) -> StoreMember:
    member = store(host)
    (member.dir / "store.save").symlink_to(member.dir / "items")
    return member


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


def stop(node: Node) -> None:
    """httpd stops, and nothing of the store is left but its file."""
    assert node.member.end() == 0
    node.runs = False
    of(node).forget()
    assert of(node).logged("saved ")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(*[saves] * 3) as one:
        yield one


def down(cluster: Cluster, nodes: list[Node]) -> None:
    """One after the other. If the master is among the first, another host gets
    the address, and the rest have its changes, before the next one is
    stopped."""
    for node in nodes:
        stop(node)
        if cluster.running:
            cluster.another(node)
            cluster.settled()
        node.keepalived.end()
    wait_until(lambda: not cluster.owners(), "nobody has the address")


@pytest.mark.parametrize("first",
                         ["the master", *(["a slave"] if LONG else [])])
def test_stop_and_start_of_all(cluster: Cluster, seed: int,
                               first: str) -> None:
    """Under load. The host that is stopped last is started first, and is the
    master when the others are started: nothing that was acknowledged is lost,
    and no cas is given twice."""
    checker = Failover(ByTurns(cluster), seed)
    for _ in range(2 if LONG else 1):
        master = cluster.settled()
        others = cluster.others(master)
        nodes = [master, *others] if first == "the master" else \
            [*others, master]

        def happens() -> Gap:
            down(cluster, nodes)
            for node in reversed(nodes):
                node.boot()
                cluster.settled()
            return NO_GAP
        checker.during(happens)
        assert checker.wrong == []
        assert of(nodes[-1]).logged(" from the file of the last stop; ")
    print(f"{checker.acknowledged} changes")


def given(member: StoreMember) -> list[int]:
    """The cas values of some changes."""
    found = []
    for _ in range(5):
        write(member, b"b", b"1")
        with local(member) as connection:
            found.append(cas_of(connection, b"b"))
    return found


def test_the_newest_file_wins() -> None:
    """A host that was stopped earlier gets the address first. The later changes
    are in the file of the other one, which keeps them, and is the master when it
    gets the address. No cas is given twice."""
    with ByHand(saves, saves) as pair:
        late, early = pair.nodes
        write(of(late), b"a", b"kept by both")
        wait_until(lambda: holds(of(early), b"kept by both"), "it has it")
        stop(early)
        write(of(late), b"a", b"kept by one")
        seen = given(of(late))
        stop(late)
        late.drop()
        early.take()
        for node in (early, late):
            node.member.start()
            node.runs = True
        of(late).wait_logged("does not follow the master")
        assert of(early).figures().role == MASTER
        seen += given(of(early))
        pair.move(early, late)
        pair.settled()
        assert read(of(early), b"a") == read(of(late), b"a") == b"kept by one"
        of(early).wait_logged("dropped, because they are only here: 5;")
        assert not set(seen) & set(given(of(late)))


def test_the_old_master_first() -> None:
    """The host that was the master at first is stopped, and another one is the
    master. Then the first one is started alone: both have been promoted once
    since they had the same items."""
    with ByHand(saves, saves) as pair:
        old, new = pair.nodes
        write(of(old), b"a", b"of both")
        wait_until(lambda: holds(of(new), b"of both"), "it has it")
        stop(old)
        old.drop()
        new.take()
        wait_until(lambda: of(new).figures().role == MASTER, "it is promoted")
        lost = given(of(new))
        stop(new)
        new.drop()
        old.take()
        old.member.start()
        old.runs = True
        assert not set(lost) & set(given(of(old)))


def test_a_stop_inside_of_a_copy() -> None:
    """The file has a part of the copy, and the next start knows it."""
    with inside_of_a_copy(saves) as (first, second):
        assert second.end() == 0
        assert second.logged("they are a part of a copy")
        second.forget()
        first.end(9)
        first.host.drop_vip()
        second.start()
        second.wait_logged("the items are a part of a copy")
