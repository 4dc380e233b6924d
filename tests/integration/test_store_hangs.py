# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The store hangs, or one of its threads does. The watchdog replaces it, and no
item is lost."""
from pathlib import Path

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.procs import alive, freeze, traced
from harness.space import Space
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

HANGS = r"store \d+ has had no heartbeat for \d+ s: SIGKILL"


@pytest.fixture(name="store")
def start_store(httpd: Httpd) -> int:
    """@return its process"""
    httpd.log.expect(sentences.STORE_KILLED, HANGS)
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.start()
    with_one_item = Space(httpd, "shop")
    with_one_item.set("a", "1")
    with_one_item.close()
    return httpd.helper("store")


def worker_of(store: int) -> int:
    """The thread id of its first worker."""
    for thread in Path(f"/proc/{store}/task").iterdir():
        if (thread / "comm").read_text() == "worker 0\n":
            return int(thread.name)
    raise AssertionError("there is no worker")


def is_replaced(httpd: Httpd, store: int) -> None:
    wait_until(lambda: not alive(store), "the store is ended", 120)
    wait_until(lambda: httpd.helpers("store") not in ([], [store]),
               "the next store")
    space = Space(httpd, "shop")
    assert space.get("a") == "1"
    space.close()
    httpd.check()


def test_store_is_stopped(httpd: Httpd, store: int) -> None:
    freeze(store)
    is_replaced(httpd, store)


def test_worker_is_stopped(httpd: Httpd, store: int) -> None:
    """As if it waited for a lock for ever. The other threads run."""
    with traced(worker_of(store)):
        wait_until(lambda: httpd.log.matching(HANGS), "it is killed", 120)
    is_replaced(httpd, store)
