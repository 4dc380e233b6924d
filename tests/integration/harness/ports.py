# Licensed under the Apache License, Version 2.0; see LICENSE.
"""TCP ports for tests that run side by side."""
import random
import socket

PORTS = range(20000, 32000)  # the kernel gives these to no client


def reserve_port() -> tuple[int, socket.socket]:
    """A free port, and an object that keeps it from other tests."""
    for _ in PORTS:
        port = random.choice(PORTS)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0apppool-test-port-{port}")
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
            return port, claim
        except OSError:
            claim.close()
    raise OSError(f"no port of {PORTS} is free")
