# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd -t: which hosts may be peers of a virtual address. The store is a
stand-in."""
import re

import pytest

from harness.httpd import Httpd
from test_store_config import PLAIN, key_of, make_store

__all__ = ["make_store"]  # the fixture
pytestmark = [pytest.mark.mpms("event"), pytest.mark.usefixtures("store")]

# Peers and plain peers beside a virtual address, and which of the peers could
# be any user of its host.
PEERS = [
    ("10.0.0.2", "", "10.0.0.2"),
    ("10.0.0.1 10.0.0.2", "10.0.0.1", "10.0.0.2"),
    ("10.0.0.1 fd00::2", "10.0.0.1 10.0.0.2", "fd00::2"),
    ("10.0.0.1 10.0.0.2", "10.0.0.2 10.0.0.3", "10.0.0.1"),
    ("10.0.0.1 FD00::0:2", "fd00::2 10.0.0.3 10.0.0.1", None),
]
# What a virtual address without a key shares with nobody.
UNSHARED = "without AppStoreKey only the space of AppStoreOpenSpace is shared"
NOTHING = "AppStorePlainPeers 10.0.0.2: without AppStoreOpenSpace these hosts " \
    "get nothing"


def test_peers_without_a_key(httpd: Httpd) -> None:
    """Each of them has to be a plain peer. With a key none has to."""
    httpd.app("shop", "AppStore 8M", "AppStoreSpace shop")
    others = len(httpd.directives)
    for peers, plain, unknown in PEERS:
        httpd.directives[others:] = [
            "AppStoreVirtualIP 10.0.0.9", f"AppStorePeers {peers}",
            "AppStoreOpenSpace shop"]
        if plain:
            httpd.directives.append(f"AppStorePlainPeers {plain}")
        done = httpd.test()
        assert (done.returncode != 0) == (unknown is not None), peers
        if unknown:
            assert "AppStoreVirtualIP 10.0.0.9: without AppStoreKey each user " \
                f"of the host {unknown} (AppStorePeers) could read" in \
                done.stdout
            for remedy in ("AppStoreKey names its file", "AppStoreUser names a",
                           f"if {unknown} is a yrmcds, name it in "
                           "AppStorePlainPeers"):
                assert remedy in done.stdout, remedy
        httpd.directives += key_of(httpd)
        done = httpd.test()
        assert done.returncode == 0 and "AppStore" not in done.stdout, peers


def test_what_is_not_shared_is_told(httpd: Httpd) -> None:
    """By a configuration that works, with its first space."""
    httpd.app("shop", "AppStore 8M", "AppStoreSpace shop")
    httpd.app("blog", "AppStore 8M", "AppStoreSpace blog")
    httpd.directives += ["AppStoreVirtualIP 10.0.0.9", PLAIN]
    cluster = len(httpd.directives)
    for lines, told in (
            ([], [NOTHING, UNSHARED, "the others, which are 2 (shop)"]),
            (["AppStoreOpenSpace shop"],
             [UNSHARED, "the others, which are 1 (blog)"]),
            (key_of(httpd), [NOTHING]),
            ([*key_of(httpd), "AppStoreOpenSpace shop"], [])):
        httpd.directives[cluster:] = lines
        done = httpd.test()
        assert done.returncode == 0
        assert [words in done.stdout for words in (NOTHING, UNSHARED)] == \
            [words in told for words in (NOTHING, UNSHARED)], lines
        assert all(words in done.stdout for words in told), lines


def test_nobody_can_confirm(httpd: Httpd) -> None:
    """Without other hosts, or while they have no copy of the space."""
    httpd.app("shop", "AppStore 8M", "AppStoreConfirm On")
    httpd.app("blog", "AppStore 8M", "AppStoreConfirm Off")
    warning = r"line \d+ of .*: AppStoreConfirm has no effect without "
    done = httpd.test()
    assert done.returncode == 0
    assert len(re.findall(warning + "AppStoreVirtualIP", done.stdout)) == 1
    httpd.directives += ["AppStoreVirtualIP 10.0.0.9", PLAIN]
    assert len(re.findall(warning + "AppStoreKey", httpd.test().stdout)) == 1
    httpd.directives += key_of(httpd)
    assert "AppStoreConfirm" not in httpd.test().stdout
