# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl, which runs as root at a terminal, asks a store that was
compromised."""
import os
import socket
from pathlib import Path

import pytest

from harness.false_store import FalseStore
from harness.httpd import Httpd
from harness.space import Space

pytestmark = pytest.mark.one_mpm("httpd's children do not use the store")

# The title of the window, and both forms of the sequence that clears it.
ORDERS = b"\x1b]0;root\x07 \x1b[2J \xc2\x9b2J \x7f"
ADMIN = "admin"


@pytest.fixture
def name(httpd: Httpd) -> str:
    """Of the socket of the space shop."""
    httpd.directives.append("AppStoreSave Off")
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.start()
    space = Space(httpd, "shop")
    space.close()
    return Path(space.path).name


def is_plain(output: bytes) -> bool:
    """It orders the terminal nothing."""
    text = output.decode()
    return not any(ord(c) < 0x20 and c not in "\n\t" or 0x7f <= ord(c) < 0xa0
                   for c in text)


@pytest.mark.parametrize("words", [
    ("handover",), ("--json", "handover"), ("flush", "shop"),
    ("keys", "shop")])
def test_orders_to_the_terminal(name: str, words: tuple[str, ...]) -> None:
    """What the store responds is printed without control characters."""
    answers = b"ERROR " + ORDERS + b"\n"
    with FalseStore(ADMIN if "handover" in words else name,
                    lambda _: answers) as false:
        at = words.index("handover") if "handover" in words else 0
        done = false.ctl(*words[:at], "store", *words[at:])
    assert done.returncode == 1
    assert b"root? ?[2J" in done.stderr
    assert is_plain(done.stderr) and is_plain(done.stdout)
    assert done.stdout == b""


def test_handover_follows_no_link() -> None:
    """Neither a link, nor a socket that another user has made. Nobody else gets
    the request of root."""
    with FalseStore(ADMIN, lambda _: b"OK\n") as false, \
            socket.socket(socket.AF_UNIX) as other:
        assert false.ctl("store", "handover").returncode == 0
        other.bind(str(false.dir / "other"))
        other.listen()
        other.setblocking(False)
        kept = false.path.rename(false.dir / "kept")
        false.path.symlink_to(false.dir / "other")
        refused = [false.ctl("store", "handover")]
        false.path.unlink()
        if os.getuid() == 0:
            os.link(false.dir / "other", false.path)
            os.chown(false.path, 65534, -1)
            refused.append(false.ctl("store", "handover"))
            false.path.unlink()
        refused.append(false.ctl("store", "handover"))
        with pytest.raises(BlockingIOError):
            other.accept()
        kept.rename(false.path)
    for done in refused:
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"there is no store that has other hosts: " in done.stderr
