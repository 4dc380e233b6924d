# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl store once on a slave: its lock is at the master, and the master
changes while the command runs."""
import subprocess
from typing import Iterator

import pytest

from harness.cluster import ByHand, Node
from harness.members import StoreMember
from harness.pairs import holds
from harness.servers import wait_until
from harness.store import BUILD, space
from hosts.network import Host

pytestmark = pytest.mark.usefixtures("namespaces")
BUSY = 75  # --conflict-exit-code


def key(name: str) -> str:
    """apl_group_key(): apppoolctl knows a space by its name."""
    number = 0xcbf29ce484222325
    for byte in name.encode():
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{number:016x}"


def named(host: Host) -> StoreMember:
    return StoreMember(host, space("shop", key=key("shop")))


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


@pytest.fixture
def cluster() -> Iterator[ByHand]:
    with ByHand(*[named] * 3) as one:
        yield one


def words(node: Node, *more: str) -> list[str]:
    return [str(BUILD / "apppoolctl"), "--dir", str(node.member.dir), "store",
            "once", "nightly", "--space", "shop", "-E", str(BUSY), *more]


def try_once(node: Node, *more: str) -> int:
    return subprocess.run(words(node, *more, "--", "true"),
                          timeout=120).returncode


@pytest.mark.parametrize("number", [1, 2])
def test_the_master_changes(cluster: ByHand, number: int) -> None:
    """The next master is the host of the command, or the third one. The lock is
    lost and held again. No other host runs the command: at first because a run
    has begun lately, then because of the lock."""
    old, here, _ = cluster.nodes
    new = cluster.nodes[number]
    with subprocess.Popen(
            words(here, "--", "sh", "-c", "echo begun; read line; exit 7"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True) as one:
        assert one.stdout and one.stderr
        assert one.stdout.readline() == "begun\n"
        for node in cluster.nodes:
            assert try_once(node, "--every", "0") == BUSY
        for node in cluster.nodes[1:]:
            wait_until(lambda: holds(of(node), b"apppool:once:nightly:begun"),
                       "it knows that a run has begun")
        cluster.move(old, new)
        assert "the lock nightly is lost" in one.stderr.readline()
        for node in cluster.nodes:
            assert try_once(node, "--every", "600") == BUSY
        assert "the lock nightly is held again" in one.stderr.readline()
        for node in cluster.nodes:
            assert try_once(node, "--every", "0") == BUSY
        assert one.communicate("\n", 60) == ("", "")
    assert one.returncode == 7
    assert try_once(old, "--every", "0") == 0


def test_no_master(cluster: ByHand) -> None:
    """While nobody has the address, nobody gets the lock, and nothing runs."""
    old, here, _ = cluster.nodes
    old.drop()
    wait_until(lambda: not of(here).figures().of["connected"], "no master")
    assert try_once(here) == 69
    old.take()
    wait_until(old.member.is_master, "it is the master again")
    assert try_once(here) == 0
