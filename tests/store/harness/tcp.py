# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Servers on a TCP port of loopback."""
import os
import socket

from harness.places import MEMCACHED, YRMCDS
from harness.servers import PATIENCE, Server


class OverTcp(Server):
    port = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answers(self) -> bool:
        """yrmcds takes connections some time before it serves them."""
        try:
            with self.connect() as connection:
                connection.settimeout(1)
                connection.sendall(b"version\r\n")
                return connection.recv(100).startswith(b"VERSION")
        except OSError:
            return False

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)


class MemcachedOverTcp(OverTcp):
    name = "memcached"

    def command(self) -> list[str]:
        self.port = self.free_port()
        user = ["-u", "root"] if os.getuid() == 0 else []
        return [str(MEMCACHED), "-l", "127.0.0.1", "-p", str(self.port),
                "-m", "64", "-t", "4", *user]


class Yrmcds(OverTcp):
    """A master, because it has the address of its own loopback."""
    name = "yrmcds"

    def __init__(self, size: int = 64) -> None:
        """@param size MiB"""
        super().__init__()
        self.size = size

    def command(self) -> list[str]:
        self.port = self.free_port()
        config = self.dir / "yrmcds.conf"
        config.write_text("\n".join([
            "virtual_ip = 127.0.0.1", f"port = {self.port}",
            f"repl_port = {self.free_port()}", f'temp_dir = "{self.dir}"',
            f'log.file = "{self.words}"', "workers = 4",
            f"memory_limit = {self.size}M", ""]))
        return [str(YRMCDS), "-f", str(config)]
