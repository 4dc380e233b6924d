# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Three hosts with a keepalived and a server each, and what can happen to
them."""
import itertools
import signal
import socket
import subprocess
from contextlib import ExitStack
from typing import Any, Callable, Optional

from harness.members import Member
from harness.servers import PATIENCE, Server, wait_until
from harness.store import BUILD
from hosts.keepalived import Keepalived
from hosts.network import VIP, Host, Network

Make = Callable[[Host], Member]


class Node:
    def __init__(self, host: Host, make: Make) -> None:
        self.host = host
        self.member = make(host)
        place = self.member.dir / "keepalived"
        place.mkdir()
        self.keepalived = Keepalived(host, place, self.member.ready,
                                     self.member.FALL)
        self.runs = False

    def __repr__(self) -> str:
        return f"host {self.host.number} ({self.member.name})"

    def boot(self) -> None:
        self.host.plug()
        self.member.start()
        self.keepalived.start()
        self.runs = True

    def crash(self) -> None:
        """The host dies: nothing that it has not yet sent is sent."""
        self.host.unplug()
        self.runs = False
        self.keepalived.end(signal.SIGKILL)
        self.member.end(signal.SIGKILL)
        if self.host.has_vip():
            self.host.drop_vip()

    def kill(self) -> None:
        """The server is killed and nothing starts it again. The host lives."""
        self.runs = False
        self.member.end(signal.SIGKILL)

    def take(self) -> None:
        """Without keepalived: it gets the address."""
        self.host.take_vip()

    def drop(self) -> None:
        self.host.drop_vip()

    def give_away(self) -> None:
        """keepalived is stopped, as for maintenance, and started again when
        another host has the address. Before, it might take it back: each host
        looks only now and then whether its own store is usable."""
        self.keepalived.end()
        wait_until(lambda: any(
            host.has_vip() for host in self.host.network.nodes
            if host is not self.host), "another host has the address")
        self.keepalived.start()

    def hand_over(self) -> None:
        """The same, and before it the master, of ours, sends all that it
        has."""
        done = subprocess.run(
            [BUILD / "apppoolctl", "--dir", self.member.dir,
             "store", "handover"],
            text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        self.give_away()

    def destroy(self) -> None:
        try:
            self.keepalived.end(signal.SIGKILL)
        finally:
            self.member.destroy()


class Cluster:
    def __init__(self, *makes: Make) -> None:
        self.network = Network(len(makes))
        self.nodes: list[Node] = []
        try:
            for host, make in zip(self.network.nodes, makes):
                self.nodes.append(Node(host, make))
        except BaseException:
            self.destroy()
            raise

    def start(self) -> None:
        """Each host begins. The first that is ready is the master."""
        for node in self.nodes:
            node.boot()
        self.settled()

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes if node.runs]

    def owners(self) -> list[Node]:
        return [node for node in self.nodes if node.host.has_vip()]

    def master(self, seconds: float = PATIENCE) -> Node:
        """Wait until one host has the address, and serves."""
        return self.another(None, seconds)

    def another(self, but: Optional[Node], seconds: float = PATIENCE) -> Node:
        """Wait until one host has the address and serves, which is not that
        one."""
        found: list[Node] = []

        def one() -> bool:
            found[:] = self.owners()
            return len(found) == 1 and found[0] is not but \
                and found[0].member.is_master()
        wait_until(one, f"there is a master, {found}", seconds)
        return found[0]

    def settled(self) -> Node:
        """Wait until there is a master, and all others have the whole copy. On
        a busy machine the address may move meanwhile."""
        others = len(self.running) - 1
        found: list[Node] = []

        def complete() -> bool:
            found[:] = [self.master()]
            try:
                return found[0].member.slaves() >= others
            except OSError:
                return False
        wait_until(complete, f"{others} slaves are complete")
        return found[0]

    def lose(self, slave: Node) -> None:
        """It is killed, and the master knows that."""
        master = self.settled()
        slaves = master.member.slaves()
        slave.kill()
        wait_until(lambda: master.member.slaves() < slaves, "a slave is gone")

    def others(self, node: Node) -> list[Node]:
        return [other for other in self.running if other is not node]

    def destroy(self) -> None:
        """All of them, also if one is late: each may have damage to show."""
        with ExitStack() as all_of_them:
            all_of_them.callback(self.network.close)
            for node in reversed(self.nodes):
                all_of_them.callback(node.destroy)

    def __enter__(self) -> "Cluster":
        try:
            self.start()
        except BaseException:
            self.report()
            self.destroy()
            raise
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind:
            self.report()
        self.destroy()

    def report(self) -> None:
        """What helps to understand a failure."""
        for node in self.nodes:
            print(f"---- {node}: {node.host.addresses()}, "
                  f"ended: {node.member.statuses()}")
            print(node.member.output()[-3000:])
            print(node.keepalived.output())


class ByHand(Cluster):
    """Without keepalived: a test moves the address, so it knows when."""

    def start(self) -> None:
        self.nodes[0].take()
        for node in self.nodes:
            node.member.start()
            node.runs = True
        self.settled()

    def move(self, old: Node, new: Node) -> None:
        old.drop()
        new.take()
        wait_until(new.member.is_master, f"{new} is the master")


class AtTheAddress(Server):
    """The cluster, for a client on another host: whoever has the address."""

    def __init__(self, cluster: Cluster, port: int) -> None:
        """It has no directory and no process."""
        self.cluster, self.port = cluster, port
        self.seconds = 5.0  # a host that is gone refuses nothing

    def start(self) -> None:
        pass

    def connect(self) -> socket.socket:
        return self.cluster.network.clients.connect(VIP, self.port,
                                                    self.seconds)


class ByTurns(Server):
    """The cluster, for applications on its hosts: each connection is one to
    the socket of the next host that runs."""

    def __init__(self, cluster: Cluster) -> None:
        """It has no directory and no process."""
        self.cluster = cluster
        self.turn = itertools.count()  # of all threads

    def start(self) -> None:
        pass

    def connect(self) -> socket.socket:
        running = self.cluster.running
        if not running:
            raise ConnectionRefusedError("no host runs")
        return running[next(self.turn) % len(running)].member.connect()
