# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A site on two hosts, with one store for both: a whole httpd, keepalived and
Django on each. Whatever happens to a host, its members stay logged in."""
import shutil
from typing import Iterator

import pytest

from harness.cluster import Balancer, Hosted
from harness.members import Club, site
from harness.visitor import visits
from harness.wait import wait_until
from hosts.network import Network, why_none


@pytest.fixture
def hosts(request: pytest.FixtureRequest) -> Iterator[list[Hosted]]:
    why = why_none()
    if why:
        pytest.skip(f"no network namespaces here: {why}")
    with Network(2) as network:
        pair: list[Hosted] = []
        try:
            for host in network.nodes:
                pair.append(Hosted(host))
            yield pair
            for httpd in pair:
                httpd.keepalived.end()
                httpd.stop()
                assert httpd.remains() == []
                assert httpd.damage() == []
        except BaseException:
            for n, httpd in enumerate(pair):
                httpd.keep_logs(f"{request.node.name}-{n}")
                print(httpd.keepalived.output())
            raise
        finally:
            for httpd in pair:
                httpd.end()


def owner(pair: list[Hosted]) -> list[Hosted]:
    return [httpd for httpd in pair if httpd.host.has_vip()]


def test_members_stay_logged_in(hosts: list[Hosted]) -> None:
    """A planned move of the master while members visit, then the sudden death
    of a host, then its return."""
    first, second = hosts
    root = site(first, "Django", "AppStore 64M").root
    site(second, "Django", "AppStore 64M")
    shutil.copytree(root, second.dir / "localhost", dirs_exist_ok=True)
    for httpd in hosts:
        httpd.boot()
    wait_until(lambda: owner(hosts), "one has the address")
    wait_until(lambda: all(httpd.is_ready() for httpd in hosts),
               "both have the data")
    balancer = Balancer(hosts)
    club = Club(balancer)  # type: ignore[arg-type]
    for _ in range(4):  # by turns, on both hosts
        for member in club.members:
            member.visit()

    wait_until(lambda: len(owner(hosts)) == 1, "one has the address")
    old, = owner(hosts)
    with visits(club.try_visit):
        done = old.ctl("store", "handover")
        assert done.returncode == 0, done.stderr
        old.keepalived.end()
        old.keepalived.start()
        wait_until(lambda: owner(hosts) not in ([], [old]), "the other has it")
        wait_until(old.is_ready, "the old master is a slave with all data")
    for member in club.members:
        wait_until(member.try_visit, f"{member.name} is served")

    wait_until(lambda: len(owner(hosts)) == 1, "one has the address")
    old, = owner(hosts)
    other = first if old is second else second
    wait_until(other.is_ready, "the slave has all data")
    old.crash()
    wait_until(lambda: owner([other]), "the other has the address")
    for member in club.members:
        wait_until(member.try_visit, f"{member.name} is served")
        member.visit()
    old.boot()
    wait_until(old.is_ready, "the old master is a slave with all data")
    for member in club.members:
        for _ in range(3):
            wait_until(member.try_visit, f"{member.name} is served")
    balancer.close()
