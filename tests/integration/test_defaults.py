# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Defaults that depend on the machine."""
import os

import pytest

from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


@pytest.mark.parametrize("capacity", [1024, 4])
def test_pool_size(httpd: Httpd, capacity: int) -> None:
    """Two processes for each processor, at least six, and at most as many as
    the memory has room for."""
    httpd.directives.remove("MaxPoolSize 6")
    httpd.directives.append(f"AppPoolCapacity {capacity}")
    httpd.app("shop")
    assert "MaxPoolSize" not in httpd.test().stdout
    httpd.start()
    processors = os.sysconf("SC_NPROCESSORS_ONLN")
    wanted = min(max(6, 2 * processors), capacity)
    wait_until(lambda: httpd.pool("max") == wanted, f"it is {wanted}")
