# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Full disks."""
import pytest

from harness.httpd import Httpd
from harness.places import can_mount, mounted

pytestmark = pytest.mark.skipif(not can_mount(), reason="mount is denied")


@pytest.mark.parametrize("room", [0, 40])
def test_full_shared_memory(httpd: Httpd, room: int) -> None:
    """The segment takes no room in /dev/shm: nobody ends by SIGBUS"""
    httpd.wrapper = mounted(
        "mount -t tmpfs -o size=64k none /dev/shm && "
        f"head -c {64 - room}k /dev/zero >/dev/shm/full")
    httpd.app("shop")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(3)]
    for one in held:
        assert one.release().status == 200
    httpd.check()
