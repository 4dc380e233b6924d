# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The servers of a cluster, one on each host: yrmcds, or apppool-store."""
import os
import re
import signal
import socket
import struct
import subprocess
from typing import Any, Optional

from harness.client import ask
from harness.figures import (MASTER, SIZE, UNCONFIRMED, Figures, counted,
                             figure)
from harness.places import YRMCDS
from harness.servers import PATIENCE, Server, wait_until
from harness.store import Store, space
from harness.watch import Watch
from hosts.network import VIP, Host

MEMCACHE, REPL = 11211, 11213
FIGURES_FD = 11  # CONTRACT_FIGURES_FD
EPOCH = 256 + 256 * 256 + 16  # of the history in the directory: id, position
SECRET = "5e" * 32  # of all hosts


class Member(Server):
    """A server on a host. It is started again whenever it ends by itself."""
    OURS = False
    AGAIN = 0  # status of the end that a lost address causes
    FALL = 1  # keepalived may notice at once that it was killed

    def __init__(self, host: Host, **more: Any) -> None:
        super().__init__(**more)
        self.host = host
        self.watch: Optional[Watch] = None

    def launch(self) -> "subprocess.Popen[bytes]":
        raise NotImplementedError

    def start(self) -> None:
        self.watch = Watch(self.launch)
        self.watch.start()

    @property
    def pid(self) -> int:
        assert self.watch
        return self.watch.pid

    @property
    def ready(self) -> str:
        """A command of sh for keepalived."""
        return f"read pid <{self.dir}/pid && kill -0 $pid"

    def note(self, process: "subprocess.Popen[bytes]") \
            -> "subprocess.Popen[bytes]":
        new = self.dir / "pid.new"
        new.write_text(f"{process.pid}\n")
        new.rename(self.dir / "pid")
        return process

    def kill(self) -> None:
        """It is started again at once."""
        assert self.watch
        self.watch.signal(signal.SIGKILL)

    def end(self, sign: int = signal.SIGTERM) -> int:
        assert self.watch
        watch, self.watch = self.watch, None
        try:
            return watch.end(sign)
        finally:
            self.past += [status for _, status in watch.ended]

    def destroy(self) -> None:
        try:
            if self.watch:
                self.end(signal.SIGKILL)
        finally:
            super().destroy()

    def statuses(self) -> list[int]:
        """Of the processes that have ended by themselves."""
        return [status for _, status in self.watch.ended] if self.watch else []

    def over_tcp(self, address: str = VIP, port: int = MEMCACHE,
                 seconds: float = PATIENCE) -> socket.socket:
        """A connection of a program on this host."""
        return self.host.connect(address, port, seconds)

    def serves(self) -> bool:
        """Are TCP clients served by this host?"""
        try:
            with self.over_tcp(self.host.address, seconds=2) as connection:
                connection.sendall(b"version\r\n")
                return connection.recv(100).startswith(b"VERSION")
        except OSError:
            return False

    def is_master(self) -> bool:
        return self.host.has_vip() and self.serves()

    def slaves(self) -> int:
        """How many have the whole copy."""
        raise NotImplementedError

    def logged(self, text: str) -> int:
        return self.words.read_text(errors="replace").count(text) \
            if self.words.exists() else 0


class YrmcdsMember(Member):
    name = "yrmcds"

    def __init__(self, host: Host, size: int = 64) -> None:
        """@param size MiB"""
        super().__init__(host)
        self.size = size
        self.joined = 0, 0, 0  # pid, slaves, collections before them

    def launch(self) -> "subprocess.Popen[bytes]":
        config = self.dir / "yrmcds.conf"
        config.write_text("\n".join([
            f"virtual_ip = {VIP}", f"port = {MEMCACHE}", f"repl_port = {REPL}",
            f'temp_dir = "{self.dir}"', "workers = 4", "buckets = 100000", "gc_interval = 1",
            f"memory_limit = {self.size}M", ""]))
        with self.words.open("ab") as words:
            return self.note(self.host.popen(
                [str(YRMCDS), "-f", str(config)], stdin=subprocess.DEVNULL,
                stdout=words, stderr=words))

    def slaves(self) -> int:
        """The second collection of garbage after a slave has come ends after
        the copy."""
        with self.over_tcp(seconds=5) as connection:
            stats = ask(connection, b"stats\r\n", b"END\r\n").decode()
        pid, collections, slaves = (int(re.findall(
            rf"STAT {name} (\d+)", stats)[0])
            for name in ("pid", "gc_count", "slaves"))
        if self.joined[:2] != (pid, slaves):
            self.joined = pid, slaves, collections
        return slaves if collections >= self.joined[2] + 2 else 0


class StoreMember(Member, Store):
    name = "apppool-store"
    OURS = True
    AGAIN = 75
    FALL = 2  # the next one runs very soon
    USABLE = "1|2"  # of the figure `why`: ready, or with an old copy

    def __init__(self, host: Host, *spaces: dict[str, Any],
                 cluster: Optional[dict[str, Any]] = None,
                 **more: Any) -> None:
        """@param cluster what is not the default in the table"""
        Store.__init__(self, *spaces, **more)
        self.host, self.watch = host, None
        self.unconfirmed_before: dict[str, int] = {}
        self.table["cluster"] = {
            "vip": VIP, "ports": [MEMCACHE, REPL],
            "peers": [node.address for node in host.network.nodes],
            "plain": [], "secret": SECRET,
            "changes": 32 << 20, "slave_timeout": 10,
        } | (cluster or {})
        self.write_table()

    @property
    def ready(self) -> str:
        """As `apppoolctl store usable`, by the figures: there is no httpd here
        that apppoolctl could ask."""
        place = Figures.AT + 64 + 8 * Figures.FIELDS.index("why")
        return (f"read pid <{self.dir}/pid && set -- $(od -An -td8 -j{place} "
                f"-N8 /proc/$pid/fd/{FIGURES_FD}) && case $1 in "
                f"{self.USABLE}) ;; *) false ;; esac")

    def options(self) -> dict[str, Any]:
        options = super().options()
        place = options.pop("preexec_fn")

        def prepare() -> None:
            self.host.enter()
            place()
        return options | {"preexec_fn": prepare}

    def launch(self) -> "subprocess.Popen[bytes]":
        """The figures of the last process are there until the next one begins."""
        for one in self.table["spaces"]:
            self.unconfirmed_before[one["name"]] = self.unconfirmed(one["name"])
        with self.words.open("ab") as words:
            return self.note(subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL,
                stdout=words, stderr=words, **self.options()))

    def start(self) -> None:
        before = self.logged(" has started: ")
        Member.start(self)
        wait_until(lambda: self.logged(" has started: ") > before,
                   "the store has started")

    def figures(self) -> Figures:
        """They are there when it has ended, too, until the next one begins."""
        data = b""

        def whole() -> bool:
            nonlocal data
            data = os.pread(self.fds["FIGURES"], 4096, 0)
            return any(data[:8])
        wait_until(whole, "the store has figures")
        return Figures(data)

    def unconfirmed(self, space: str) -> int:
        """Writes that it has acknowledged without a slave, of all processes."""
        return self.unconfirmed_before.get(space, 0) + counted(
            os.pread(self.fds["FIGURES"], SIZE, 0), space, UNCONFIRMED)

    def of_space(self, space: str, what: str) -> int:
        return figure(os.pread(self.fds["FIGURES"], SIZE, 0), space, what)

    def serves(self) -> bool:
        """It listens at the virtual address only."""
        return self.figures().role == MASTER

    def slaves(self) -> int:
        return sum(slave.complete for slave in self.figures().slaves)

    def epoch(self) -> tuple[int, int]:
        """The id of the last promotion of its data, and how many changes since
        then it has: a master, before it acknowledges them; a slave, when a mark
        says so."""
        found = struct.unpack("<2Q", os.pread(self.fds["ITEMS"], 16, EPOCH))
        return found[0], found[1]


def store(host: Host, **more: Any) -> StoreMember:
    """One whose space shop is open to all, and blog is not."""
    cluster = {"open_space": "shop"} | more.pop("cluster", {})
    return StoreMember(host, space("shop"), space("blog", 8 << 20),
                       cluster=cluster, **more)


def without_secret(member: StoreMember) -> StoreMember:
    """As beside yrmcds: the open space is all that it shares with others."""
    cluster = member.table["cluster"]
    del cluster["secret"]
    cluster["plain"] = cluster["peers"]
    member.write_table()
    return member


def plain(host: Host, **more: Any) -> StoreMember:
    return without_secret(store(host, **more))
