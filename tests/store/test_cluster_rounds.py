# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Three hosts with a store each, under load, while the master changes. The
clients are applications on all hosts; those of the slaves reach the master
through the relay. harness/failover.py says what may be lost."""
import os
import time
from typing import Callable, Iterator

import pytest

from harness.checker import NO_GAP, Gap
from harness.cluster import ByTurns, Cluster, Node
from harness.failover import Failover
from harness.figures import MASTER, SLAVE
from harness.members import StoreMember, store
from harness.servers import wait_until

pytestmark = pytest.mark.usefixtures("namespaces")
LONG = bool(os.environ.get("APPPOOL_LONG"))
ROUNDS = 10 if LONG else 1


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(*[store] * 3) as one:
        yield one


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


def position(node: Node) -> int:
    """Changes since its data had the last promotion."""
    return of(node).epoch()[1]


def suddenly(cluster: Cluster, old: Node, what: Callable[[], None]) -> Gap:
    """Do it to the master. Before it, the slaves have all that was acknowledged
    before the gap: nothing of that may be lost, however late they are."""
    begin = time.monotonic()
    epoch, last = of(old).epoch()
    wait_until(lambda: all((epoch, last) <= of(slave).epoch() < (epoch + 1, 0)
                           for slave in cluster.others(old)),
               f"the slaves have {last} changes")
    what()
    return Gap(begin, time.monotonic())


# ---- what can happen to the master. Each returns what may be lost

def killed(cluster: Cluster, old: Node) -> Gap:
    """The watchdog starts the store again, and it is the master still."""
    old.member.kill()
    return NO_GAP


def host_dies(cluster: Cluster, old: Node) -> Gap:
    gap = suddenly(cluster, old, old.crash)
    cluster.another(old)
    return gap


def link_is_pulled(cluster: Cluster, old: Node) -> Gap:
    """Until it has noticed, its own applications are served."""
    gap = suddenly(cluster, old, old.host.unplug)
    new = cluster.another(old)
    wait_until(lambda: of(old).AGAIN in old.member.statuses(),
               "the old master has ended")
    old.runs = False  # its applications reach no master
    assert of(new).figures().role == MASTER
    return Gap(gap.begin, max(gap.end, old.member.watch.ended[-1][0]))


def address_is_moved(cluster: Cluster, old: Node) -> Gap:
    gap = suddenly(cluster, old, old.give_away)
    cluster.another(old)
    return Gap(gap.begin, max(gap.end, old.member.watch.ended[-1][0]))


def handed_over(cluster: Cluster, old: Node) -> Gap:
    """Before the address is moved, the master sends all that it has."""
    old.hand_over()
    cluster.another(old)
    return NO_GAP


def network_is_split(cluster: Cluster, old: Node) -> Gap:
    """The others have another master, and more changes. What the applications
    of the old one have written there is lost when the network is whole
    again."""
    before = position(old)
    gap = suddenly(cluster, old, old.host.part)
    old.runs = False
    wait_until(lambda: len(cluster.owners()) == 2, "two have the address")
    new, = [node for node in cluster.owners() if node is not old]
    wait_until(lambda: of(new).figures().role == MASTER, "it is the master")
    old.keepalived.end()  # so it is known who loses the address
    wait_until(lambda: of(old).AGAIN in old.member.statuses(),
               "the old master has ended")
    end = old.member.watch.ended[-1][0]
    wait_until(lambda: of(old).figures().role == SLAVE, "it is a slave")
    wait_until(lambda: position(new) > position(old) - before,
               "the new master has more changes")
    old.host.heal()
    old.keepalived.start()
    return Gap(gap.begin, max(gap.end, end))


def after(happened: Callable[[Cluster, Node], Gap], old: Node) -> None:
    if happened is host_dies:
        old.boot()
    elif happened is link_is_pulled:
        old.host.plug()
    old.runs = True


@pytest.mark.parametrize("happens", [
    killed, host_dies, link_is_pulled, address_is_moved, handed_over,
    network_is_split])
def test_the_master_changes(cluster: Cluster, seed: int,
                            happens: Callable[[Cluster, Node], Gap]) -> None:
    """The host that has the address is the master, and has the
    data. The old master comes back as a slave."""
    checker = Failover(ByTurns(cluster), seed)
    for _ in range(ROUNDS):
        old = cluster.settled()
        checker.during(lambda: happens(cluster, old))
        assert checker.wrong == []
        after(happens, old)
        new = cluster.settled()
        assert [of(node).figures().role for node in cluster.others(new)] == \
            [SLAVE, SLAVE]
    print(f"{checker.acknowledged} changes, {len(checker.lost)} lost")
