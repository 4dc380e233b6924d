# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Nobody forgets his items for data that is no descendant of them: a master that
began empty, with an old file or with a part of one gives way to a host that has
more, and the host that has most is the master after a start of all."""
import itertools
import os
import re
import signal
import struct
import subprocess
from typing import Iterator

import pytest

from harness.client import get, put
from harness.cluster import ByHand, Cluster, Node
from harness.members import StoreMember, store
from harness.servers import wait_until
from harness.store import BUILD, space
from hosts.network import Host

pytestmark = pytest.mark.usefixtures("namespaces")
LONG = bool(os.environ.get("APPPOOL_LONG"))
ROUNDS = 20 if LONG else 1
ITEMS = 100
MANY = 4000  # of which a copy takes a while
READY, OLD, PART, BETTER = range(1, 5)  # store_ready_t


def saves(host: Host) -> StoreMember:
    member = store(host)
    (member.dir / "store.save").symlink_to(member.dir / "items")
    return member


class Judged(StoreMember):
    """keepalived moves the address only to a host that is ready."""
    USABLE = "1"


def judged(host: Host) -> StoreMember:
    return Judged(host, space("shop"))


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


def items(node: Node) -> int:
    """Of the space shop."""
    data = os.pread(of(node).fds["FIGURES"], 2 << 20, 0)
    at = data.find(b"shop\0")
    return struct.unpack_from("<3Q", data, at + 64)[2] if at > 0 else 0


def why(node: Node) -> int:
    return of(node).figures().of["why"]


def fill(node: Node, prefix: bytes, n: int = ITEMS) -> None:
    with of(node).connect() as client:
        for i in range(n):
            put(client, b"%s%d" % (prefix, i), b"v" * 100)


def have(nodes: list[Node], n: int) -> None:
    for node in nodes:
        wait_until(lambda: items(node) == n, f"{node} has {n} items")


def forget(node: Node) -> None:
    done = subprocess.run(
        [BUILD / "apppoolctl", "--dir", node.member.dir, "store", "forget"],
        text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


def power_cut(node: Node) -> None:
    """httpd and all its programs are killed: the memory is gone. The address
    stays."""
    node.member.end(signal.SIGKILL)
    of(node).forget()
    node.runs = False


def begin(node: Node) -> None:
    node.member.start()
    node.runs = True


@pytest.fixture
def cluster() -> Iterator[ByHand]:
    with ByHand(*[store] * 3) as one:
        yield one


def test_a_master_that_begins_empty(cluster: ByHand) -> None:
    """Both slaves keep their items and are ready; the master is not, and says
    so. The address moves, and the host that began empty takes the items."""
    one, two, three = cluster.nodes
    fill(one, b"a")
    have(cluster.nodes, ITEMS)
    power_cut(one)
    begin(one)
    for node in (two, three):
        of(node).wait_logged("does not follow the master")
        wait_until(lambda: why(node) == READY, "it is ready")
    wait_until(lambda: why(one) == BETTER, "the master is not ready")
    of(one).wait_logged("this host began without an item")
    assert [items(node) for node in cluster.nodes] == [0, ITEMS, ITEMS]
    fill(one, b"lost", 3)
    cluster.move(one, two)
    wait_until(lambda: of(two).slaves() == 2, "both are its slaves")
    have(cluster.nodes, ITEMS)
    of(one).wait_logged("dropped, because they are only here: 3;")
    with of(three).connect() as client:
        assert get(client, b"a7") == b"v" * 100


def test_forget_by_hand(cluster: ByHand) -> None:
    """An administrator wants to begin empty."""
    one, two, three = cluster.nodes
    fill(one, b"a")
    have(cluster.nodes, ITEMS)
    power_cut(one)
    begin(one)
    for node in (two, three):
        of(node).wait_logged("does not follow the master")
        forget(node)
    wait_until(lambda: of(one).slaves() == 2, "both are its slaves")
    have(cluster.nodes, 0)


def test_a_part_of_a_file() -> None:
    """The file of the master was not saved whole. The others keep their
    copies."""
    with ByHand(saves, saves) as cluster:
        one, two = cluster.nodes
        fill(one, b"a")
        have(cluster.nodes, ITEMS)
        assert one.member.end() == 0
        of(one).forget()
        file = of(one).dir / "items"
        os.truncate(file, file.stat().st_size // 2)
        begin(one)
        wait_until(lambda: why(one) == BETTER, "the master is not ready")
        of(two).wait_logged("the items of the master are not complete")
        assert items(two) == ITEMS > items(one)
        cluster.move(one, two)
        have(cluster.nodes, ITEMS)


def test_an_old_file_and_a_late_network() -> None:
    """A host with an old file gets the address. The master before it has more
    changes, so it keeps them, and gets the address back."""
    with ByHand(*[saves] * 3) as cluster:
        one, two, three = cluster.nodes
        fill(one, b"a")
        have(cluster.nodes, ITEMS)
        assert three.member.end() == 0
        three.runs = False
        of(three).forget()
        fill(one, b"b")
        have([one, two], 2 * ITEMS)
        one.drop()
        three.take()
        begin(three)
        of(two).wait_logged("more is here than there (100 changes")
        wait_until(lambda: why(three) == BETTER, "the master is not ready")
        cluster.move(three, two)
        have(cluster.nodes, 2 * ITEMS)
        wait_until(lambda: len({of(node).figures().of["epoch"]
                                for node in cluster.nodes}) == 1,
                   "all have the data of one epoch")


def test_after_a_split_the_data_decides(cluster: ByHand) -> None:
    """Both masters took changes. The one with fewer gives way, although it has
    the address. The log has the number."""
    one, two, three = cluster.nodes
    fill(one, b"both")
    have(cluster.nodes, ITEMS)
    one.host.part()
    two.take()
    wait_until(two.member.is_master, "there is another master")
    wait_until(lambda: of(two).slaves() == 1, "the third host follows it")
    fill(one, b"old", 10)
    fill(two, b"new", 3)
    one.host.heal()
    one.drop()
    of(one).wait_logged("more is here than there (10 changes are only here, "
                        "3 only there)")
    wait_until(lambda: why(two) == BETTER, "the master is not ready")
    cluster.move(two, one)
    wait_until(lambda: of(one).slaves() == 2, "both are its slaves")
    have(cluster.nodes, ITEMS + 10)
    of(two).wait_logged("dropped, because they are only here: 3;")


def test_the_master_dies_while_its_only_slave_copies_again() -> None:
    """The slave had a whole copy, and has it still. So it is usable, as one that
    has lost its master long ago, and an administrator has nothing to do."""
    with ByHand(*[store] * 2) as cluster:
        one, two = cluster.nodes
        fill(one, b"a", MANY)
        have(cluster.nodes, MANY)
        two.host.slow("500kbit")
        one.member.kill()
        of(two).wait_logged("this store keeps its items until it has the next")
        wait_until(lambda: why(two) == PART, "it copies")
        one.crash()
        wait_until(lambda: why(two) == OLD, "its copy is old")
        two.host.fast()
        two.take()
        of(two).wait_logged("it has its old copy, ")
        have([two], MANY)
        with of(two).connect() as client:
            assert get(client, b"a%d" % (MANY - 1)) == b"v" * 100


@pytest.mark.skipif(not LONG, reason="it waits for the end of a lease")
def test_the_address_comes_late(cluster: ByHand) -> None:
    """keepalived is late, so all copies are old. The newest one is usable, and
    the other one knows that."""
    one, two, three = cluster.nodes
    fill(one, b"a")
    have(cluster.nodes, ITEMS)
    three.host.part()
    fill(one, b"b")
    have([one, two], 2 * ITEMS)
    one.crash()
    three.host.heal()
    wait_until(lambda: why(two) == OLD, "its copy is old")
    wait_until(lambda: why(three) == BETTER, "it knows of a newer one")
    two.take()
    wait_until(lambda: of(two).slaves() == 1, "the other one follows it")
    have([two, three], 2 * ITEMS)


def stop(nodes: list[Node]) -> None:
    for node in nodes:
        assert node.member.end() == 0
        node.runs = False
        of(node).forget()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_cold_start_in_any_order(number: int) -> None:
    """Each host has a file of another moment. They are started in any order, and
    nobody has the address. One of them is ready after a while, and it is the one
    with the newest data."""
    with ByHand(*[saves] * 3) as cluster:
        nodes = cluster.nodes
        for n, node in enumerate(reversed(nodes)):
            fill(nodes[0], b"%d-" % n)
            have(cluster.running, (n + 1) * ITEMS)
            stop([node])
        nodes[0].drop()
        order = list(itertools.permutations(nodes))[(number + 5) % 6]
        for node in order:
            begin(node)
        wait_until(lambda: why(nodes[0]) == READY, "the newest one is ready")
        for node in nodes[1:]:
            wait_until(lambda: why(node) == BETTER, "the others are not")
        nodes[0].take()
        wait_until(lambda: of(nodes[0]).slaves() == 2, "all are complete")
        have(nodes, 3 * ITEMS)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_keepalived_moves_the_address(number: int) -> None:
    """The master loses its memory, and keepalived keeps the address there. The
    claim of the others takes it away, without a human."""
    with Cluster(*[judged] * 3) as cluster:
        old = cluster.settled()
        fill(old, b"a")
        have(cluster.nodes, ITEMS)
        power_cut(old)
        begin(old)
        new = cluster.another(old)
        wait_until(lambda: of(new).slaves() == 2, "both follow it")
        have(cluster.nodes, ITEMS)
