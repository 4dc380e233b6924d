# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Three hosts with Debian's keepalived and Debian's yrmcds (harness/cluster.py).
That yrmcds passes shows that the hosts, their faults and the checker are right."""
import os
import socket
from typing import Callable

import pytest

from harness.checker import GONE, Gap, State, allowed
from harness.client import get, put
from harness.cluster import AtTheAddress, Cluster
from harness.failover import Failover, sudden, waited
from harness.members import MEMCACHE, YrmcdsMember
from harness.servers import wait_until

pytestmark = pytest.mark.usefixtures("namespaces")
LONG = bool(os.environ.get("APPPOOL_LONG"))
LAG = 0.2  # s, beside that of the machine; yrmcds does not show it


def test_yrmcds(seed: int) -> None:
    """Its server is killed, its host dies, and its address is taken away."""
    with Cluster(*[YrmcdsMember] * 3) as cluster:
        checker = Failover(AtTheAddress(cluster, MEMCACHE), seed, has_cas=False)
        for event in ("kill", "crash", "give_away") if LONG else ("crash",):
            old = cluster.settled()
            late = waited(cluster)

            def happens() -> Gap:
                gap = sudden(getattr(old, event),
                             LAG + waited(cluster) - late)
                cluster.another(old)
                return gap
            checker.during(happens)
            assert checker.wrong == [], event
            print(f"{event}: {len(checker.lost)} changes lost, "
                  f"{checker.acknowledged} acknowledged")
            if event == "kill":
                old.member.start()
                old.runs = True
            elif event == "crash":
                old.boot()


def test_an_empty_master_is_noticed(seed: int) -> None:
    """The checker finds what is missing: a host that has no copy gets the
    address."""
    with Cluster(YrmcdsMember, YrmcdsMember) as cluster:
        checker = Failover(AtTheAddress(cluster, MEMCACHE), seed, has_cas=False)
        first = cluster.settled()

        def happens() -> Gap:
            gap = sudden(first.kill, LAG)
            second = cluster.another(first)
            second.member.kill()  # and it begins again, with nothing
            wait_until(second.member.serves, "it serves")
            return gap
        checker.during(happens)
        assert "missing" in {wrong.what for wrong in checker.wrong}


def test_both_sides_of_a_split_serve() -> None:
    """The cable looks well, and nothing passes."""
    with Cluster(*[YrmcdsMember] * 3) as cluster:
        old = cluster.settled()
        old.host.part()
        wait_until(lambda: len(cluster.owners()) == 2, "two have the address")
        new = next(node for node in cluster.owners() if node is not old)
        wait_until(new.member.serves, "the new master serves")
        with old.member.over_tcp() as there:
            put(there, b"side", b"old")
        front = AtTheAddress(cluster, MEMCACHE)
        front.seconds = 1

        def reached(do: Callable[[socket.socket], object]) -> bool:
            """The client may still send to where the address was."""
            try:
                with front.connect() as connection:
                    do(connection)
            except OSError:
                return False
            return True

        def look(connection: socket.socket) -> None:
            found.append(get(connection, b"side"))

        found: list[bytes] = []
        wait_until(lambda: reached(lambda one: put(one, b"side", b"new")),
                   "the new master is reached")
        old.host.heal()
        master = cluster.settled()
        wait_until(lambda: reached(look), "the only master is reached")
        assert found == [b"old" if master is old else b"new"]


def test_what_a_gap_allows() -> None:
    def states(*given: tuple[int, float, float]) -> list[State]:
        return [State(number, sent, when or None)
                for number, sent, when in given]

    some = states((GONE, 1, 1), (5, 2, 2), (6, 3, 3), (7, 4, 0))
    assert allowed(some, Gap(0, 0)) == [6, 7]
    assert allowed(some, Gap(2.5, 4)) == [5, 6, 7]
    assert allowed(some, Gap(1.5, 4)) == [GONE, 5, 6, 7]
    assert allowed(some, Gap(1.5, 2.5)) == [6, 7]
    late = states((GONE, 1, 1), (5, 2, 3), (6, 3, 3))
    assert allowed(late, Gap(2.5, 2.7)) == [6]
    assert allowed(late[:2], Gap(2.5, 2.7)) == [GONE, 5]
    assert allowed(late[:2], Gap(1.5, 1.7)) == [5]
