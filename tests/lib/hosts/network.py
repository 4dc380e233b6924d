# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Hosts with a network of their own: network namespaces, joined by a bridge.

The namespaces have no name. They exist while a descriptor of this process or a
process inside of them exists, so nothing is left behind by a test that is
killed. The kernel ends our processes in them when the thread that has started
them ends; so they are started by threads that last as long as the test."""
import ctypes
import os
import re
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional

NET = 0x40000000  # CLONE_NEWNET
PARENT_DEATH = 1  # PR_SET_PDEATHSIG
SUBNET = "10.77.0"
VIP = f"{SUBNET}.100"
# An address in the table of routes that is this host's.
OWN = re.compile(r"\|-- (10\.\S+)\n +/32 host LOCAL")
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: int) -> None:
    if getattr(libc, name)(*args) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


class Namespace:
    def __init__(self) -> None:
        """A thread enters the new namespace, which the descriptor keeps. Its
        loopback card is down."""
        self.fd = -1
        self.error: Optional[OSError] = None
        thread = threading.Thread(target=self._make)
        thread.start()
        thread.join()
        if self.error:
            raise self.error

    def _make(self) -> None:
        try:
            call("unshare", NET)
            self.fd = os.open("/proc/thread-self/ns/net",
                              os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            self.error = error

    @property
    def path(self) -> str:
        """For programs that enter it."""
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    def close(self) -> None:
        os.close(self.fd)

    def enter(self) -> None:
        """For preexec_fn: the process that is started has this network, and
        ends with us."""
        call("setns", self.fd, NET)
        call("prctl", PARENT_DEATH, signal.SIGKILL, 0, 0, 0)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread makes sockets in it. They stay there."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            call("setns", self.fd, NET)
            try:
                yield
            finally:
                call("setns", before, NET)
        finally:
            os.close(before)

    def run(self, *words: str, lines: str = "") -> str:
        """@param lines its input"""
        done = subprocess.run(words, preexec_fn=self.enter, text=True,
                              input=lines, capture_output=True)
        if done.returncode != 0:
            raise OSError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def ip(self, *commands: str) -> None:
        """One process runs all of them."""
        self.run("ip", "-batch", "-", lines="\n".join(commands) + "\n")

    def popen(self, command: list[str], more: Callable[[], None] = lambda: None,
              **options: Any) -> "subprocess.Popen[bytes]":
        """@param more also called in the process, before it executes"""
        def prepare() -> None:
            self.enter()
            more()
        return subprocess.Popen(command, preexec_fn=prepare, **options)

    def connect(self, host: str, port: int, seconds: float) -> socket.socket:
        with self.entered():
            connection = socket.socket()
        try:
            connection.settimeout(seconds)
            connection.connect((host, port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            connection.close()
            raise
        return connection


class Host(Namespace):
    """A namespace with one card, eth0, at a port of the switch."""

    def __init__(self, network: "Network", number: int) -> None:
        super().__init__()
        self.network, self.number = network, number
        self.address = f"{SUBNET}.{number}"
        self.port = f"port{number}"
        switch = network.switch
        switch.ip(f"link add {self.port} type veth peer name eth0 "
                  f"netns {self.path}",
                  f"link set {self.port} master bridge up")
        self.ip("link set lo up",
                f"address add {self.address}/24 dev eth0",
                "link set eth0 up")

    def addresses(self) -> set[str]:
        """Its own ones. Tests ask very often, and `ip` would be a process."""
        with self.entered():
            with open("/proc/thread-self/net/fib_trie") as file:
                return set(OWN.findall(file.read()))

    def has_vip(self) -> bool:
        return VIP in self.addresses()

    def take_vip(self) -> None:
        """By hand, as keepalived does it: others learn where it is now."""
        self.run("ip", "address", "add", f"{VIP}/32", "dev", "eth0")
        for other in self.network.hosts:
            if other is not self:
                other.forget(VIP)

    def drop_vip(self) -> None:
        self.run("ip", "address", "del", f"{VIP}/32", "dev", "eth0")

    def forget(self, address: str) -> None:
        """What a gratuitous ARP does."""
        self.run("ip", "neighbour", "flush", "to", address)

    # ---- faults of its cable

    def unplug(self) -> None:
        """Its card has no carrier."""
        self.network.switch.run("ip", "link", "set", self.port, "down")

    def plug(self) -> None:
        self.network.switch.run("ip", "link", "set", self.port, "up")

    def part(self) -> None:
        """Nothing passes, but its card does not know that."""
        self.network.switch.run("ip", "link", "set", self.port, "nomaster")

    def heal(self) -> None:
        self.network.switch.run("ip", "link", "set", self.port,
                                "master", "bridge")

    def slow(self, rate: str) -> None:
        """What it receives comes at this rate, as "8mbit"."""
        self.network.switch.run(
            "tc", "qdisc", "add", "dev", self.port, "root", "tbf",
            "rate", rate, "burst", "32k", "latency", "100ms")

    def fast(self) -> None:
        self.network.switch.run("tc", "qdisc", "del", "dev", self.port, "root")


class Network:
    """The switch, the hosts of a cluster, and one for the clients."""

    def __init__(self, hosts: int = 3) -> None:
        self.hosts: list[Host] = []
        self.switch = Namespace()
        try:
            self.switch.ip("link set lo up",
                           "link add bridge type bridge stp_state 0 "
                           "mcast_snooping 0", "link set bridge up")
            for number in range(1, hosts + 2):
                self.hosts.append(Host(self, number))
        except BaseException:
            self.close()
            raise

    @property
    def nodes(self) -> list[Host]:
        return self.hosts[:-1]

    @property
    def clients(self) -> Host:
        return self.hosts[-1]

    def close(self) -> None:
        for host in self.hosts:
            host.close()
        self.switch.close()

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def why_none() -> str:
    """Why such a network cannot be made here; "": it can."""
    try:
        with Network(1) as network:
            network.nodes[0].take_vip()
            network.nodes[0].slow("8mbit")
    except (OSError, FileNotFoundError) as error:
        return str(error)
    return ""
