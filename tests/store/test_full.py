# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A space that is full: it always takes what is new, of any size."""
from random import Random

import pytest

from harness.exchange import exchange
from harness.servers import Server

VALUES = 600


@pytest.mark.parametrize("shortest, longest", [
    (1, 20_000), (4000, 1_000_000), (500_000, 1_000_000)])
def test_a_full_space_takes_values(shortest: int, longest: int,
                                   server: Server) -> None:
    """Up to 450 MB in 64 MiB. Each value is there when it has been set."""
    random = Random(longest)
    for n in range(0, VALUES, 20):
        commands = []
        for key in range(n, n + 20):
            length = random.randrange(shortest, longest)
            commands.append(b"set key%d 0 0 %d\r\n%s\r\n" % (
                key, length, bytes([key % 256]) * length))
        received = exchange(server.connect(), commands)
        assert received == b"STORED\r\n" * 20
        received = exchange(server.connect(), [b"get key%d\r\n" % key])
        assert received == b"VALUE key%d 0 %d\r\n%s\r\nEND\r\n" % (
            key, length, bytes([key % 256]) * length)
