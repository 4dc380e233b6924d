# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's redis on a host of its own, for a comparison."""
import os
import socket
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Iterator, Optional

from harness.places import PACKAGED, REDIS
from harness.servers import PATIENCE, wait_until
from hosts.network import Host, Network

PORT = 6379
NEEDS = ["liblzf1", "libatomic1", "libjemalloc2", "liblua5.1-0", "lua-cjson",
         "lua-bitop"]


def libraries() -> str:
    """Of the packages that are unpacked beside it."""
    return ":".join(str(path) for package in NEEDS
                    for path in (PACKAGED / package).glob("usr/lib/*-gnu"))


def certificate(place: Path) -> dict[str, object]:
    """Of all hosts, made by itself. @return the options of a host that encrypts
    what it sends to others"""
    cert, key = place / "cert", place / "key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=redis", "-keyout",
         key, "-out", cert], check=True, capture_output=True)
    return {"port": 0, "tls-port": PORT, "tls-replication": "yes",
            "tls-auth-clients": "no", "tls-cert-file": cert,
            "tls-key-file": key, "tls-ca-cert-file": cert}


class Redis:
    """It keeps nothing on the disk. A write needs a replica."""
    name = "redis"

    def __init__(self, host: Host, place: Path, master: Optional[Host],
                 more: dict[str, object]) -> None:
        self.address = str(place / "socket")
        program = place / "redis-server"  # it looks at its name
        program.symlink_to(REDIS)
        options = {"bind": host.address, "port": PORT, "save": "",
                   "appendonly": "no", "unixsocket": self.address,
                   "dir": place, "protected-mode": "no",
                   "repl-diskless-sync-delay": 0} | more
        if master:
            options["replicaof"] = f"{master.address} {PORT}"
        else:
            options["min-replicas-to-write"] = 1
        config = place / "redis.conf"
        config.write_text("".join(
            f"{name} {value if str(value) else repr('')}\n"
            for name, value in options.items()))
        self.process = host.popen(
            [str(program), str(config)], stdin=subprocess.DEVNULL,
            stdout=(place / "words").open("wb"),
            env=os.environ | {"LD_LIBRARY_PATH": libraries()})
        self.pid = self.process.pid

    def replicas(self) -> int:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            try:
                connection.connect(self.address)
            except OSError:
                return 0
            connection.sendall(b"INFO replication\r\n")
            return connection.recv(10_000).count(b"state=online")

    def await_replicas(self, n: int) -> None:
        wait_until(lambda: self.replicas() == n, f"{n} replicas")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def redis(slaves: int, tls: bool) -> Iterator[Redis]:
    """A master with some replicas. @param tls between them, as our stores; the
    Unix socket has none"""
    with ExitStack() as stack:
        network = stack.enter_context(Network(1 + slaves))
        more = certificate(Path(stack.enter_context(TemporaryDirectory()))) \
            if tls else {}
        all_of_them: list[Redis] = []
        for host in network.nodes:
            place = Path(stack.enter_context(TemporaryDirectory()))
            all_of_them.append(Redis(host, place, network.nodes[0]
                                     if all_of_them else None, more))
            stack.callback(all_of_them[-1].end)
        all_of_them[0].await_replicas(slaves)
        yield all_of_them[0]
