# Licensed under the Apache License, Version 2.0; see LICENSE.
"""memccapable of libmemcached: 27 tests in text and 27 in binary."""
import subprocess

import pytest

from harness.proxy import Port
from harness.servers import Server


@pytest.mark.parametrize("option, protocol, tests", [
    ("-a", "ascii", 27), ("-b", "binary", 27)])
def test_capable(option: str, protocol: str, tests: int,
                 server: Server) -> None:
    with Port(server) as port:
        done = subprocess.run(
            ["memccapable", "-h", "127.0.0.1", "-p", str(port.number), "-v",
             option], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=120)
    passed = [line for line in done.stdout.splitlines()
              if line.startswith(protocol) and line.endswith("[pass]")]
    assert (len(passed), done.returncode) == (tests, 0), done.stdout
