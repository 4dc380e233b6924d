# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A plugin of pytest for tests/quick/coverage: tests of the store end a store
by SIGTERM, because one that is killed leaves no counters of gcov."""
import sys
from typing import Any


def pytest_collection_finish() -> None:
    servers: Any = sys.modules.get("harness.servers")
    if servers is None:
        return
    destroy = servers.Server.destroy

    def gently(server: Any) -> None:
        if server.process is not None:
            server.end()
        destroy(server)

    servers.Server.destroy = gently
