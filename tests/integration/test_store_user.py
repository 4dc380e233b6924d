# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The user of the store and the secret, after a graceful restart. The store is a
stand-in."""
import os

import pytest

from harness.httpd import USER, Httpd
from harness.store import Store
from test_store_config import SECRET, key_of, make_store

__all__ = ["make_store"]  # the fixture
pytestmark = pytest.mark.mpms("event")


@pytest.mark.skipif(os.getuid() != 0, reason="only root has other users")
@pytest.mark.parametrize("others", ["httpd", "an application"])
def test_key_and_the_user_that_stays(httpd: Httpd, store: Store,
                                     others: str) -> None:
    """A graceful restart does not change the user of the store. So a key that
    comes with another user waits for a restart."""
    user = USER if others == "httpd" else "mail"
    httpd.app("shop", "AppStore 8M")
    if others != "httpd":
        httpd.app("blog", f"AppUser {user}")
    httpd.directives.append(f"AppStoreUser {user}")
    httpd.start()
    store.wait_for("start")
    table = httpd.runtime / "m" / "table"
    before = table.read_bytes()
    httpd.directives[-1:] = key_of(httpd)
    sentence = (rf"AppStoreKey \S+: the store runs as user \d+ until httpd is "
                rf"restarted, and so does {others}")
    httpd.log.expect(sentence)
    httpd.log.expect("AppStoreUser cannot be changed by a graceful restart")
    httpd.log.expect("the store does not get this configuration")
    httpd.graceful()
    assert table.read_bytes() == before
    httpd.log.wait_for(sentence)
    httpd.restart()
    store.wait_for("start", 2)
    assert SECRET.hex() in table.read_text()
