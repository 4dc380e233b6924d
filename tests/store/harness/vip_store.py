# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A store with a virtual address."""
import socket
from typing import Any

from harness.servers import PATIENCE
from harness.store import Store, space

MEMCACHE, REPL = range(2)


class VipStore(Store):
    """The address is one of loopback, so this store is the master. It has no
    secret."""

    def __init__(self, **more: Any) -> None:
        super().__init__(space("shop"), **more)
        self.ports = [self.free_port() for _ in range(2)]
        self.table["cluster"] = {
            "vip": "127.0.0.1", "ports": self.ports, "plain": ["127.0.0.1"],
            "peers": ["127.0.0.1"], "open_space": "shop",
            "changes": 1 << 20, "slave_timeout": 10}
        self.write_table()

    def tcp(self, port: int = MEMCACHE) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.ports[port]),
                                        PATIENCE)

    def is_open(self, port: int) -> bool:
        try:
            self.tcp(port).close()
        except ConnectionError:
            return False
        return True
