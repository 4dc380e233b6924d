# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A site on two hosts, with one store for both: a whole httpd, keepalived and
Django on each. Whatever happens to a host, its members stay logged in. Each host
shows what it is for the other."""
import re
import shutil
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from harness.cluster import Balancer, Hosted
from harness.damage import look
from harness.httpd import Httpd
from harness.members import Club, site
from harness.places import CTL, TOP
from harness.space import Space
from harness.visitor import visits
from harness.wait import wait_until
from hosts.network import VIP, Network, why_none
import second_look
from test_metrics import metrics, value


def stop(httpd: Hosted, item: pytest.Item) -> None:
    httpd.keepalived.end()
    with second_look.noted(item):
        look(httpd, False, second_look.missed_so_far(item))
        assert httpd.remains() == []


@pytest.fixture
def hosts(request: pytest.FixtureRequest) -> Iterator[list[Hosted]]:
    why = why_none()
    if why:
        pytest.skip(f"no network namespaces here: {why}")
    passed = False
    with Network(2) as network:
        pair: list[Hosted] = []
        try:
            for host in network.nodes:
                pair.append(Hosted(host, *pair[:1]))
            yield pair
            with ExitStack() as all_of_them:
                for httpd in reversed(pair):
                    all_of_them.callback(stop, httpd, request.node)
            passed = request.node.report_call.passed
        finally:
            for n, httpd in enumerate(pair):
                if not passed:
                    second_look.keep(request.node, httpd.keep_logs(
                        f"{request.path.stem}-{request.node.name}-{n}"))
                    print(httpd.keepalived.output())
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
        wait_until(lambda: owner(hosts) not in ([], [old]), "the other has it")
        old.keepalived.start()
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


# ---- what a host shows

def at(httpd: Hosted, ask: Callable[[Httpd], Any]) -> Any:
    """By a client on this host."""
    with httpd.host.entered():
        return ask(httpd)


def cluster(httpd: Hosted) -> dict[str, Any]:
    shown: dict[str, Any] = {}

    def is_shown() -> bool:
        store = at(httpd, Httpd.status)["store"] or {}
        shown.update(store.get("cluster") or {})
        return bool(shown)
    wait_until(is_shown, "the store has begun")
    return shown


def is_slave(httpd: Hosted) -> bool:
    """It has the whole copy."""
    shown = cluster(httpd)
    return shown["role"] == "slave" and shown["connected"] \
        and shown["complete"] and shown["ready"] is True


def settled(hosts: list[Hosted]) -> tuple[Hosted, Hosted]:
    """The master, and its slave, which has the whole copy"""
    wait_until(lambda: len(owner(hosts)) == 1 and all(
        cluster(httpd)["ready"] for httpd in hosts), "both have the data")
    master, = owner(hosts)
    slave = hosts[1] if master is hosts[0] else hosts[0]
    wait_until(lambda: is_slave(slave), "the copy is complete")
    return master, slave


# ---- an administrator moves the address

SECTION = "### Without keepalived"


def script(httpd: Hosted) -> Path:
    """That of doc/store.md. arping is not among the packages of the tests; take()
    does what it does."""
    section = (TOP / "doc" / "store.md").read_text().split(SECTION)[1]
    found = re.search(r"\n\n((?:    .*\n)+)", section)
    assert found, f"{SECTION}: there is no script"
    text = textwrap.dedent(found[1])
    for old, new in {
            "apppoolctl": f"{CTL} --dir {httpd.runtime}", "10.0.0.9": VIP,
            "arping -c 3 -A": f"echo >{httpd.dir}/told"}.items():
        assert old in text, f"{SECTION}: {old!r}"
        text = text.replace(old, new)
    file = httpd.dir / "store-address"
    file.write_text(text)
    file.chmod(0o755)
    return file


def give(httpd: Hosted) -> None:
    httpd.host.run(str(script(httpd)), "give")


def take(httpd: Hosted) -> None:
    httpd.host.run(str(script(httpd)), "take")
    assert (httpd.dir / "told").read_text() == f"-I eth0 {VIP}\n"
    for other in httpd.host.network.hosts:
        if other is not httpd.host:
            other.forget(VIP)


def test_without_keepalived(hosts: list[Hosted]) -> None:
    """A planned move, the death of the master, and its return. What the script
    refuses leaves the address where it is."""
    old, new = hosts
    for httpd in hosts:
        httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    old.start()
    wait_until(old.is_ready, "it has found no master")
    take(old)
    wait_until(lambda: cluster(old)["role"] == "master", "it is the master")
    with pytest.raises(OSError, match="no slave has the whole copy"):
        give(old)
    assert owner(hosts) == [old]
    new.start()
    wait_until(lambda: is_slave(new), "the copy is complete")
    space: Space = at(old, lambda one: Space(one, "shop"))
    space.set("a", "1")
    with pytest.raises(OSError, match="not the master of a cluster"):
        give(new)
    assert owner(hosts) == [old]

    give(old)
    assert owner(hosts) == []
    with pytest.raises(OSError):
        give(old)
    take(new)
    wait_until(lambda: cluster(new)["role"] == "master", "it is the master")
    wait_until(lambda: is_slave(old), "the old one is its slave")
    space.close()
    space = at(old, lambda one: Space(one, "shop"))
    assert space.get("a") == "1"
    space.close()

    new.crash()
    wait_until(lambda: not cluster(old)["ready"], "its copy is old")
    take(old)
    wait_until(lambda: cluster(old)["role"] == "master", "it is the master")
    new.host.plug()
    new.start()
    wait_until(lambda: is_slave(new), "it is a slave")
    assert owner(hosts) == [old]
    space = at(new, lambda one: Space(one, "shop"))
    assert space.get("a") == "1"
    space.close()


# ---- what people see

def see_slave(slave: Hosted) -> None:
    """A slave that has the copy, and one local client."""
    shown = cluster(slave)
    assert (shown["role"], shown["virtual_ip"]) == ("slave", VIP)
    assert shown["connected"] and shown["complete"] and shown["ready"]
    assert not shown["yrmcds"] and shown["since"].startswith("20")
    assert not {"slaves", "handover", "unsent_changes"} & shown.keys()
    now = at(slave, metrics)
    assert [value(now, f"apppool_store_{name}") for name in
            ("ready", "complete", "connected", "relayed")] == [1] * 4
    assert "apppool_store_unsent_changes" not in now
    assert "apppool_store_slave_lag" not in now
    printed = slave.ctl("store").stdout
    assert f"slave of {VIP} since 20" in printed
    assert "connected to the master, 1 connection relayed" in printed
    assert "not complete" not in printed


def see_master(master: Hosted, slave: Hosted) -> None:
    """Its slave has the copy, and is not behind."""
    shown = cluster(master)
    assert (shown["role"], shown["complete"]) == ("master", True)
    assert not {"connected", "relayed", "changes_received"} & shown.keys()
    one, = shown["slaves"]
    assert one["address"].split(":")[0] == slave.host.address
    assert one["complete"] and not one["yrmcds"]
    assert (one["lag"], one["lag_seconds"]) == (0, 0)
    assert one["bytes_sent"] > 0
    now = at(master, metrics)
    assert value(now, "apppool_store_unsent_changes") == 0
    assert value(now, "apppool_store_slave_complete",
                 slave=one["address"]) == 1
    assert value(now, "apppool_store_slave_lag", slave=one["address"]) == 0
    assert value(now, "apppool_store_slave_lag_seconds",
                 slave=one["address"]) == 0
    assert "apppool_store_connected" not in now
    assert f"slave {one['address']}, copy complete, 0 changes behind" in \
        master.ctl("store").stdout


def see_no_master(slave: Hosted) -> None:
    """Nobody has the address. The slave has all items, and says how old they
    are."""
    wait_until(lambda: not cluster(slave)["connected"], "the master is gone",
               120)
    wait_until(lambda: not cluster(slave)["ready"], "its copy is old")
    assert cluster(slave)["role"] == "slave"
    assert cluster(slave)["age_seconds"] > 10
    assert value(at(slave, metrics), "apppool_store_age_seconds") > 10
    assert " s old" in slave.ctl("store").stdout
    assert value(at(slave, metrics), "apppool_store_connected") == 0
    assert "no master is connected" in slave.ctl("store").stdout


def test_what_a_slave_and_its_master_show(hosts: list[Hosted]) -> None:
    """In the JSON, the metrics and apppoolctl. test_status_page.py shows such a
    JSON on the page."""
    for httpd in hosts:
        httpd.app("shop", "AppGroupName shop", "AppStore 8M")
        httpd.boot()
    master, slave = settled(hosts)
    space: Space = at(slave, lambda one: Space(one, "shop"))
    space.set("a", "b")
    wait_until(lambda: cluster(slave)["relayed"] == 1
               and cluster(slave)["changes_received"] > 0
               and [one["lag"] for one in cluster(master)["slaves"]] == [0]
               and cluster(master)["slaves"][0]["bytes_sent"] > 0,
               "the slave has the change, and the master has counted it")
    see_slave(slave)
    see_master(master, slave)
    for httpd in (slave, master):
        httpd.keepalived.end()
    wait_until(lambda: not owner(hosts), "nobody has the address")
    see_no_master(slave)
    space.close()
