# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The servers that the tests take as a parameter."""
import os

from harness.servers import Memcached, Server
from harness.store import Store


class StoreOfFiles(Store):
    """Values above 1 KB are in files."""
    name = "apppool-store with files"

    def __init__(self) -> None:
        super().__init__(large=1024)


KINDS: dict[str, type[Server]] = {"memcached": Memcached, "store": Store,
                                  "files": StoreOfFiles}
# That memcached itself passes shows that the tests are right, which only a
# change of the tests changes.
TESTED = KINDS if os.environ.get("APPPOOL_LONG") else ["store"]
# Tests that compare replies.
COMPARED = [*TESTED, "files"] if "files" not in TESTED else TESTED
# Those that keep what they hold when they are killed.
SURVIVORS = ["store"]
