# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The servers that the tests take as a parameter."""
import os

from harness.servers import Memcached, Server
from harness.store import Store


KINDS: dict[str, type[Server]] = {"memcached": Memcached, "store": Store}
# That memcached itself passes shows that the tests are right, which only a
# change of the tests changes.
TESTED = KINDS if os.environ.get("APPPOOL_LONG") else ["store"]
# Those that keep what they hold when they are killed.
SURVIVORS = ["store"]
