# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Who is master and who is slave, when a test moves the address itself."""
import itertools
import time
from typing import Iterator

import pytest

from harness.client import ask, get, is_closed, put
from harness.cluster import AtTheAddress, ByHand, Node
from harness.figures import MASTER, SLAVE
from harness.follower import Follower
from harness.members import MEMCACHE, REPL, StoreMember, plain, store
from harness.pairs import holds
from harness.servers import wait_until
from hosts.network import VIP
from missed import within

pytestmark = pytest.mark.usefixtures("namespaces")
SLAVES = 5  # STORE_SLAVES
READY, BETTER = 1, 4  # store_ready_t
VALUE = b"nothing else in the memory of a store is like this"
HOLD = 4.5  # s; a client is held for 5 s
MOVES = 10  # of the address, until one is quick


@pytest.fixture
def cluster() -> Iterator[ByHand]:
    with ByHand(*[store] * 3) as one:
        yield one


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


def held(node: Node, key: bytes) -> bytes:
    with of(node).connect() as connection:
        return get(connection, key)


def set_by(node: Node, key: bytes, value: bytes) -> None:
    with of(node).connect() as connection:
        put(connection, key, value)


def masters(node: Node) -> set[str]:
    """Where stores of this host are connected as slaves, or to ask."""
    lines = node.host.run("ss", "-Htn", "state", "established", "dport",
                          f"= :{REPL}").splitlines()
    return {line.split()[-1].rpartition(":")[0] for line in lines}


def test_the_owner_of_the_address_is_the_master(cluster: ByHand) -> None:
    """One master and two slaves. They connect to its address, and
    the master connects to no master."""
    one, two, three = cluster.nodes
    cluster.move(one, two)
    wait_until(lambda: of(two).slaves() == 2, "both are its slaves")
    assert [of(node).figures().role for node in cluster.nodes] == \
        [SLAVE, MASTER, SLAVE]
    assert {slave.address for slave in of(two).figures().slaves} == \
        {one.host.address, three.host.address}
    set_by(two, b"a", b"1")
    wait_until(lambda: held(one, b"a") == b"1", "the slave's clients see it")
    assert VIP in masters(three) and VIP not in masters(two)


def test_two_masters_say_so(cluster: ByHand) -> None:
    """Somebody has given the address to a second host, and both hosts reach each
    other. It is an error of both logs while it lasts. The one with fewer changes
    is not usable, so keepalived would take the address from it."""
    one, two, three = cluster.nodes
    two.take()
    wait_until(lambda: of(two).figures().role == MASTER, "there are two")
    set_by(one, b"a", b"1")
    of(one).wait_logged(f"{two.host.address} is a master, too: {VIP} is at both")
    of(two).wait_logged(f"{one.host.address} is a master, too: {VIP} is at both")
    assert of(three).logged("is a master, too") == 0
    wait_until(lambda: of(two).figures().of["why"] == BETTER, "it gives way")
    assert of(one).figures().of["why"] == READY


def test_the_address_moves(cluster: ByHand) -> None:
    """The clients of the old master are closed at once, and it is
    a slave then. A slave becomes the master, and keeps its data."""
    lost: list[float] = []
    gained: list[float] = []
    moves = zip(itertools.cycle(cluster.nodes),
                itertools.cycle(cluster.nodes[1:] + cluster.nodes[:1]))
    # Other work may come in the middle of some.
    while len(lost) < 2 or (max(min(lost), min(gained)) >= 1 and
                            len(lost) < MOVES):
        old, new = next(moves)
        wait_until(lambda: of(old).slaves() == 2, "both are its slaves")
        ends, pid = len(old.member.watch.ended), new.member.pid
        with AtTheAddress(cluster, MEMCACHE).connect() as remote, \
                of(old).connect() as local:
            put(remote, b"a", b"1")
            new_value = VALUE + b" %d" % pid
            put(local, b"b", new_value)
            wait_until(lambda: holds(of(new), new_value), "the slave has it")
            began = time.monotonic()
            old.drop()
            assert is_closed(local)
            lost.append(time.monotonic() - began)
        wait_until(lambda: len(old.member.watch.ended) > ends, "it has ended")
        assert old.member.watch.ended[-1][1] == StoreMember.AGAIN
        wait_until(lambda: of(old).figures().role == SLAVE, "it is a slave")
        began = time.monotonic()
        new.take()
        wait_until(lambda: of(new).figures().role == MASTER, "promoted")
        gained.append(time.monotonic() - began)
        assert held(new, b"a") == b"1" and held(new, b"b") == new_value
        assert new.member.pid == pid
    print(f"clients closed {min(lost):.3f} s after the address was lost, "
          f"promoted {min(gained):.3f} s after it was gained")
    within(min(lost), 1, "the end of the clients")
    within(min(gained), 1, "the promotion")


def test_the_address_comes_back() -> None:
    """A host that has no slave keeps its items meanwhile, also those in
    files."""
    with ByHand(store) as alone:
        node, = alone.nodes
        set_by(node, b"small", b"1")
        set_by(node, b"large", b"x" * 300_000)
        node.drop()
        wait_until(lambda: of(node).figures().role == SLAVE, "it is a slave")
        node.take()
        wait_until(of(node).is_master, "it is the master again")
        assert held(node, b"small") == b"1"
        assert held(node, b"large") == b"x" * 300_000


def test_a_split_is_healed(cluster: ByHand) -> None:
    """Two hosts have the address. The one that loses it forgets what
    was written there, and takes the other's data. It says how much."""
    one, two, three = cluster.nodes
    set_by(one, b"both", VALUE)
    for node in (two, three):
        wait_until(lambda: holds(of(node), VALUE), "the slaves have it")
    one.host.part()
    two.take()
    wait_until(two.member.is_master, "there is another master")
    wait_until(lambda: of(two).slaves() == 1, "the third host follows it")
    for i in range(10):
        set_by(one, b"old%d" % i, b"1")
    for i in range(20):  # it has more changes
        set_by(two, b"more%d" % i, b"1")
    set_by(two, b"new", b"2")
    assert held(one, b"new") == b"" and held(two, b"old1") == b""
    one.host.heal()
    one.drop()
    wait_until(lambda: of(two).slaves() == 2, "the old master is a slave")
    of(one).wait_logged("dropped, because they are only here: 10;")
    assert held(one, b"new") == b"2"
    # Its own items, and not those of a relay, when it is the master again:
    cluster.move(two, one)
    for i in range(10):
        assert held(one, b"old%d" % i) == b""
    assert held(one, b"new") == b"2" and held(one, b"both") == VALUE


def test_no_client_of_a_slave_over_tcp(cluster: ByHand) -> None:
    """As with yrmcds; a local client reaches the master."""
    _, two, _ = cluster.nodes
    for address in (two.host.address, "127.0.0.1"):
        try:
            with two.host.connect(address, MEMCACHE, 40) as connection:
                connection.sendall(b"version\r\n")
                assert is_closed(connection)
        except ConnectionError:
            pass
    with of(two).connect() as connection:
        assert ask(connection, b"version\r\n").startswith(b"VERSION")


def test_five_slaves_and_no_more() -> None:
    """The next one is closed, and the others get changes still."""
    with ByHand(plain, plain) as cluster:
        one, two = cluster.nodes
        two.kill()
        wait_until(lambda: not of(one).figures().slaves, "no slave is left")
        guests = [Follower(two.host.connect(VIP, REPL, 60))
                  for _ in range(SLAVES)]
        wait_until(lambda: of(one).slaves() == SLAVES, "all have the copy")
        with two.host.connect(VIP, REPL, 60) as sixth:
            sixth.sendall(b"\0")
            assert is_closed(sixth)
        set_by(one, b"last", b"1")
        for guest in guests:
            wait_until(lambda: b"last" in guest.items, "all get the change")
            guest.end()


def test_all_restart(cluster: ByHand) -> None:
    """All stores end and start. The first master has the data, and the others
    take it again."""
    one = cluster.nodes[0]
    set_by(one, b"a", b"1")
    for node in reversed(cluster.nodes):
        assert node.member.end() == 0
    for node in cluster.nodes:
        node.member.start()
    cluster.settled()
    assert [held(node, b"a") for node in cluster.nodes] == [b"1"] * 3


def test_no_master_yet(cluster: ByHand) -> None:
    """A client of a slave waits while nobody has the address, and is served
    then: by this host, or by the master."""
    old, new, other = cluster.nodes
    set_by(old, b"a", VALUE)
    for _ in range(5):
        wait_until(lambda: of(old).slaves() == 2, "both are its slaves")
        for node in (new, other):
            wait_until(lambda: holds(of(node), VALUE), "the slaves have it")
        old.kill()
        old.drop()
        wait_until(lambda: not of(new).figures().of["connected"] and
                   not of(other).figures().of["connected"], "no master")
        began = time.monotonic()
        with of(new).connect() as here, of(other).connect() as there:
            for client in (here, there):
                client.sendall(b"get a\r\n")
            new.take()
            try:
                for client in (here, there):
                    assert ask(client, b"", b"END\r\n") == \
                        b"VALUE a 0 %d\r\n%s\r\nEND\r\n" % (
                            len(VALUE), VALUE)
                return
            except OSError:
                # The machine has other work.
                assert time.monotonic() - began > HOLD
        old.member.start()
        old, new = new, old
    raise AssertionError("no client was held")
