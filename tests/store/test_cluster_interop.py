# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's yrmcds and our store in one cluster: the space that is open to all
goes from one to the other, with all that belongs to a value."""
import os
import time
from typing import Iterator

import pytest

from harness.checker import Gap
from harness.client import ask, get, put
from harness.cluster import AtTheAddress, Cluster, Make, Node
from harness.failover import Failover, sudden, waited
from harness.follower import DELETE, SET, TOUCH, Follower
from harness.members import (
    MEMCACHE, REPL, StoreMember, YrmcdsMember, plain, store)
from harness.servers import wait_until
from hosts.network import VIP, Host

pytestmark = pytest.mark.usefixtures("namespaces")
MEGABYTE = b"0123456789abcdef" * (1 << 16)
LONG = bool(os.environ.get("APPPOOL_LONG"))
LAG = 0.2  # s, beside that of the machine; yrmcds does not show it


def fill(front: AtTheAddress, name: bytes) -> None:
    """Values of all kinds. Some are deleted or touched again."""
    with front.connect() as c:
        put(c, name + b"-plain", b"value of " + name)
        for flags in (1, 0xffffffff):
            assert ask(c, b"set %s-f%d %d 0 2\r\nab\r\n" % (
                name, flags, flags)) == b"STORED\r\n"
        assert ask(c, b"set %s-later 5 1000 1\r\nx\r\n" % name) == b"STORED\r\n"
        assert ask(c, b"set %s-touched 5 0 1\r\nx\r\n" % name) == b"STORED\r\n"
        assert ask(c, b"touch %s-touched 2000\r\n" % name) == b"TOUCHED\r\n"
        assert ask(c, b"set %s-empty 9 3000 0\r\n\r\n" % name) == b"STORED\r\n"
        put(c, name + b"-large", MEGABYTE[:-100])
        put(c, name + b"-number", b"41")
        assert ask(c, b"incr %s-number 1\r\n" % name) == b"42\r\n"
        put(c, name + b"-gone", b"x")
        assert ask(c, b"delete %s-gone\r\n" % name) == b"DELETED\r\n"
        put(c, name + b"-longer", b"one")
        assert ask(c, b"append %s-longer 0 0 4\r\n two\r\n" % name) == \
            b"STORED\r\n"
        assert ask(c, b"set %s-brief 0 3 1\r\nx\r\n" % name) == b"STORED\r\n"


def check(front: AtTheAddress, name: bytes, keeps_empty: bool = True) -> None:
    """@param keeps_empty the flags and times of empty values, which yrmcds
    does not give to a slave"""
    with front.connect() as c:
        def line(key: bytes) -> bytes:
            return ask(c, b"get %s-%s\r\n" % (name, key), b"END\r\n")
        assert get(c, name + b"-plain") == b"value of " + name
        for flags in (1, 0xffffffff):
            assert line(b"f%d" % flags).split()[2] == b"%d" % flags
        assert line(b"later").split()[2:5] == [b"5", b"1", b"x"]
        assert line(b"touched").split()[2:5] == [b"5", b"1", b"x"]
        empty = line(b"empty").split()
        assert empty[0] == b"VALUE" and empty[3] == b"0"
        if keeps_empty:
            assert empty[2] == b"9"
        assert get(c, name + b"-large") == MEGABYTE[:-100]
        assert get(c, name + b"-number") == b"42"
        assert line(b"gone") == b"END\r\n"
        assert get(c, name + b"-longer") == b"one two"
        wait_until(lambda: line(b"brief") == b"END\r\n", "it has expired")


def times(front: AtTheAddress, name: bytes) -> dict[bytes, int]:
    """The seconds that values have left, from a store of ours."""
    with front.connect() as c:
        return {key: int(ask(c, b"mg %s-%s t\r\n" % (name, key)).split()[1][1:])
                for key in (b"later", b"touched", b"empty", b"plain")}


def move(cluster: Cluster) -> Node:
    """A planned move of the address, when all have the copy."""
    old = cluster.settled()
    # A yrmcds counts a slave that has no copy yet.
    wait_until(lambda: all(node.member.figures().of["complete"]
                           for node in cluster.others(old)
                           if node.member.OURS), "our slave has the copy")
    if old.member.OURS:
        old.hand_over()
    else:
        old.give_away()
    return cluster.another(old)


def with_secret(host: Host) -> StoreMember:
    """Its other peers are yrmcds, which know no secret."""
    others = [node.address for node in host.network.nodes if node is not host]
    return store(host, cluster={"plain": others})


@pytest.mark.parametrize("makes", [(YrmcdsMember, plain),
                                   (with_secret, YrmcdsMember)],
                         ids=["their master", "our master with a secret"])
def test_promotion_both_ways(makes: tuple[Make, Make]) -> None:
    """Y11: one is the slave of the other and then its master, and again.
    Half of the values come with the copy, the others as changes."""
    with Cluster(*makes) as cluster:
        front = AtTheAddress(cluster, MEMCACHE)
        names, theirs = [], set()
        for turn in range(3):
            master = cluster.settled()
            slave, = cluster.others(master)
            if turn == 1:
                cluster.lose(slave)
            name = b"turn%d" % turn
            fill(front, name)
            names.append(name)
            if turn == 1:
                slave.member.start()
                slave.runs = True
            new = move(cluster)
            if not (master.member.OURS and new.member.OURS):
                theirs |= set(names)
            for one in names:
                check(front, one, keeps_empty=one not in theirs)
            if new.member.OURS:
                left = times(front, name)
                assert left[b"plain"] == -1
                assert 900 < left[b"later"] <= 1000
                assert 1900 < left[b"touched"] <= 2000


@pytest.fixture
def mixed() -> Iterator[Cluster]:
    """One of ours between two of theirs."""
    with Cluster(plain, YrmcdsMember, YrmcdsMember) as one:
        yield one


def test_failover_under_load(mixed: Cluster, seed: int) -> None:
    """Whoever has the address serves. The cas values of yrmcds are its own."""
    checker = Failover(AtTheAddress(mixed, MEMCACHE), seed, has_cas=False)
    for _ in range(6 if LONG else 1):
        old = mixed.settled()
        late = waited(mixed)

        def happens() -> Gap:
            gap = sudden(old.crash, LAG + waited(mixed) - late)
            mixed.another(old)
            return gap
        checker.during(happens)
        assert checker.wrong == []
        old.boot()


def test_any_program_is_a_slave() -> None:
    """Y11: it gets the copy and then each change, in its order,
    as SetQ, DeleteQ and Touch."""
    with Cluster(plain, plain) as cluster:
        master = cluster.settled()
        guest = cluster.others(master)[0]
        guest.kill()
        front = AtTheAddress(cluster, MEMCACHE)
        with front.connect() as c:
            for i in range(1000):
                put(c, b"key%d" % i, b"%d" % i * (i % 50))
            follower = Follower(guest.host.connect(VIP, REPL, 60))
            wait_until(lambda: len(follower.items) >= 1000, "the whole copy")
            for i in range(300):
                put(c, b"rises", b"%d" % i)
            for i in range(500):
                assert ask(c, b"delete key%d\r\n" % i) == b"DELETED\r\n"
            now = int(time.time())
            assert ask(c, b"set key999 7 100 3\r\nend\r\n") == b"STORED\r\n"
            assert ask(c, b"touch key998 500\r\n") == b"TOUCHED\r\n"
            put(c, b"last", b"1")
        wait_until(lambda: b"last" in follower.items, "the last change")
        assert follower.opcodes <= {SET, DELETE, TOUCH}
        assert sorted(follower.items) == sorted(
            [b"key%d" % i for i in range(500, 1000)] + [b"rises", b"last"])
        assert follower.items[b"key999"].value == b"end"
        assert follower.items[b"key999"].flags == 7
        assert abs(follower.items[b"key999"].exptime - now - 100) < 40
        assert abs(follower.items[b"key998"].exptime - now - 500) < 40
        seen = [int(item.value) for key, item in follower.history
                if key == b"rises" and item]
        assert seen == sorted(seen) and seen[-1] == 299
        follower.end()
