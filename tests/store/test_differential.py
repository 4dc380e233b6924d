# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Random commands to a server and to Debian's memcached: equal replies, byte
for byte, and the same values, flags and times held afterwards. What is excepted is
in harness/replies.py."""
import os

import pytest

from harness.differ import PROTOCOLS, case, compare, report
from harness.servers import Server

CASES = 4000 if os.environ.get("APPPOOL_LONG") else 50
COMMANDS = 400


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_same_replies(protocol: str, both: tuple[Server, Server],
                      seed: int) -> None:
    """Every second case reaches the tested server in pieces."""
    for number in range(seed, seed + CASES):
        steps = case(protocol, number, COMMANDS)
        pieces = number if number % 2 else None
        difference = compare(*both, steps, pieces)
        if difference:
            pytest.fail(f"case {number} of {protocol}, {difference}\n"
                        + report(*both, steps, pieces), pytrace=False)
