# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Three hosts whose slaves confirm each write (AppStoreConfirm). Of the space
shop, which refuses to write without a slave, nothing that was acknowledged is
ever lost. Of blog, only what its master has counted as unconfirmed."""
import math
import os
import select
import signal
import socket
import time
from contextlib import ExitStack
from typing import Callable, Iterator

import pytest

from harness.checker import NO_GAP, Gap
from harness.client import get, put
from harness.cluster import ByHand, ByTurns, Cluster, Node
from harness.confirmed import Kept
from harness.figures import MASTER
from harness.members import StoreMember, store
from harness.pace import Pace
from harness.servers import wait_until
from hosts.network import Host
from missed import within

pytestmark = pytest.mark.usefixtures("namespaces")
LONG = bool(os.environ.get("APPPOOL_LONG"))
ROUNDS, AT_ONCE = 20, 4  # of the long form, and of one test


def confirming(host: Host) -> StoreMember:
    member = store(host)
    shop, blog = member.table["spaces"]
    shop["confirm"], blog["confirm"] = "refuse", "on"
    blog["size"] = 64 << 20
    member.write_table()
    return member


class Blog(ByTurns):
    def connect(self) -> socket.socket:
        running = self.cluster.running
        if not running:
            raise ConnectionRefusedError("no host runs")
        member = running[next(self.turn) % len(running)].member
        assert isinstance(member, StoreMember)
        return member.connect_to("blog")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(*[confirming] * 3) as one:
        yield one


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


# ---- what can happen

def master_dies(cluster: Cluster, master: Node) -> None:
    master.crash()
    cluster.another(master)
    master.boot()


def slave_dies(cluster: Cluster, master: Node) -> None:
    slave = cluster.others(master)[0]
    slave.crash()
    slave.boot()


def slave_hangs(cluster: Cluster, master: Node) -> None:
    """In the short form it goes on when all writers wait for it."""
    slave = cluster.others(master)[0]
    os.kill(slave.member.pid, signal.SIGSTOP)
    try:
        if LONG:
            line = f"slave {slave.host.address} dropped"
            before = of(master).logged(line)
            wait_until(lambda: of(master).logged(line) > before, line)
    finally:
        os.kill(slave.member.pid, signal.SIGCONT)


def slave_is_slow(cluster: Cluster, master: Node) -> None:
    """All wait for it."""
    def sent() -> int:
        return sum(slave.sent for slave in of(master).figures().slaves)
    slave = cluster.others(master)[0]
    slave.host.slow("4mbit")
    before = sent()
    try:
        wait_until(lambda: sent() > before + 500_000, "all have gone on")
    finally:
        slave.host.fast()


def network_is_split(cluster: Cluster, master: Node) -> None:
    """The master has no slave, and the others have another master."""
    master.host.part()
    master.runs = False
    wait_until(lambda: len(cluster.owners()) == 2, "two have the address")
    new, = [node for node in cluster.owners() if node is not master]
    wait_until(lambda: of(new).figures().role == MASTER, "it is the master")
    master.keepalived.end()
    wait_until(lambda: of(master).AGAIN in master.member.statuses(),
               "the old master has ended")
    master.host.heal()
    master.keepalived.start()
    master.runs = True


def address_moves(cluster: Cluster, master: Node) -> None:
    """Twice. The second time comes before the others have joined the new
    master, so the address may come back to it."""
    master.give_away()
    new = cluster.another(master)
    new.keepalived.end()
    new.keepalived.start()
    cluster.master()


EVENTS = [master_dies, slave_dies, slave_hangs, slave_is_slow,
          network_is_split, address_moves]


def play(cluster: Cluster, shop: Kept, blog: Kept,
         happens: Callable[[Cluster, Node], None]) -> None:
    master = cluster.settled()
    before = sum(of(node).unconfirmed("blog") for node in cluster.nodes)
    blog.lost.clear()
    counted = Gap(time.monotonic(), math.inf)

    def event() -> Gap:
        happens(cluster, master)
        return NO_GAP
    blog.load()
    try:
        shop.during(event)
    finally:
        blog.settle()
    blog.read(counted)
    assert shop.wrong == [] and blog.wrong == []
    unconfirmed = sum(of(node).unconfirmed("blog")
                      for node in cluster.nodes) - before
    print(f"{happens.__name__}: {shop.acknowledged} and {blog.acknowledged} "
          f"writes, {unconfirmed} unconfirmed, {len(blog.lost)} of them lost")
    assert len(blog.lost) <= unconfirmed


@pytest.mark.parametrize(
    "events", [[event] * AT_ONCE for event in EVENTS
               for _ in range(ROUNDS // AT_ONCE)] if LONG else [EVENTS])
def test_confirmed_writes_stay(
        cluster: Cluster, seed: int,
        events: list[Callable[[Cluster, Node], None]]) -> None:
    shop, blog = Kept(ByTurns(cluster), seed), Kept(Blog(cluster), seed)
    for happens in events:
        play(cluster, shop, blog, happens)


def reply_to(client: socket.socket) -> bytes:
    """b"": the connection has ended without one."""
    try:
        return client.recv(100)
    except ConnectionResetError:
        return b""


@pytest.mark.skipif(not LONG, reason="writes wait for the end of a lease")
def test_a_master_hangs_while_another_one_is_promoted(seed: int) -> None:
    """It goes on when the other one has acknowledged writes. What its clients
    have sent to it meanwhile is kept, or not acknowledged."""
    with ByHand(*[confirming] * 3) as cluster, ExitStack() as clients:
        one, two, three = cluster.nodes
        shop = Kept(ByTurns(cluster), seed)
        late = [clients.enter_context(of(one).connect()) for _ in range(20)]
        for client in late:
            put(client, b"before", b"1")

        def event() -> Gap:
            os.kill(one.member.pid, signal.SIGSTOP)
            one.drop()
            one.runs = False
            two.take()
            wait_until(lambda: of(two).slaves() == 1, "the third one follows")
            shop.wait_for(300)
            # It does not accept these. The next process does, as a slave.
            late.extend(clients.enter_context(of(one).connect())
                        for _ in range(20))
            for n, client in enumerate(late):
                client.sendall(b"set late%d 0 0 1\r\nx\r\n" % n)
            os.kill(one.member.pid, signal.SIGCONT)
            wait_until(lambda: of(two).slaves() == 2, "it is a slave")
            one.runs = True
            return NO_GAP
        shop.during(event)
        assert shop.wrong == []
        assert of(one).AGAIN in one.member.statuses()
        with of(two).connect() as client:
            for n, other in enumerate(late):
                if reply_to(other) == b"STORED\r\n":
                    assert get(client, b"late%d" % n) == b"x"


# ---- a wait

LEFT = 20  # clients that give up


def connections(node: Node) -> int:
    """To the space shop."""
    return of(node).of_space("shop", "connections")


def left_while_it_waits(cluster: Cluster) -> bool:
    """@return False: a busy machine has let the wait end before. Then the numbers
    of connections say nothing"""
    master = cluster.settled()
    hangs, host = cluster.others(master)
    with of(host).connect() as patient:
        put(patient, b"before", b"1")
        alone = connections(master), connections(host)
        os.kill(hangs.member.pid, signal.SIGSTOP)
        try:
            patient.sendall(b"set waits 0 0 1\r\nx\r\n")
            for n in range(LEFT):
                with of(host).connect() as client:
                    client.sendall(b"set left%d 0 0 1\r\nx\r\n" % n)
            wait_until(lambda: connections(host) == alone[1], "here")
            wait_until(lambda: connections(master) == alone[0], "there")
            waits = not select.select([patient], [], [], 0)[0]
        finally:
            os.kill(hangs.member.pid, signal.SIGCONT)
        assert patient.recv(100) == b"STORED\r\n"
        # This connection may be served before the relay has joined theirs.
        for n in range(LEFT):
            wait_until(lambda: get(patient, b"left%d" % n) == b"x",
                       "what they have sent is done")
    return waits


def test_clients_of_a_slave_that_give_up(cluster: Cluster) -> None:
    """Their writes wait for another slave, which hangs. They count nowhere,
    while the wait goes on. What they have sent is done."""
    assert any(left_while_it_waits(cluster) for _ in range(3))


# ---- no wait

PACE = 0.1  # s: p99 of a write, beside what is usual on this machine
WRITES = 300  # of a measure of what is usual
LEASE = 14  # s that a write waits for a slave that has not said that it stops


def usual(master: Node) -> float:
    """The p99 while nothing happens."""
    pace = Pace(master.member, 100)
    pace.start()
    try:
        wait_until(lambda: len(pace.took) > WRITES, "it has written")
    finally:
        pace.stop.set()
        pace.join(60)
    return pace.p99()


def test_slaves_stop_one_after_the_other(cluster: Cluster) -> None:
    """As for an upgrade. No client waits for one that has said that it stops."""
    master = cluster.settled()
    before = usual(master)
    pace = Pace(master.member, 100)
    pace.start()
    try:
        for slave in cluster.others(master):
            slave.keepalived.end()
            slave.member.end()
            slave.member.start()
            slave.keepalived.start()
            cluster.settled()
    finally:
        pace.stop.set()
        pace.join(60)
    print(f"p99 {pace.p99() * 1000:.1f} ms of {len(pace.took)} writes, "
          f"the longest {max(pace.took) * 1000:.1f} ms")
    assert of(master).unconfirmed("shop") == 0
    within(pace.p99(), PACE + 3 * max(before, usual(master)), "a write")
    within(max(pace.took), LEASE - 2, "the longest write")
