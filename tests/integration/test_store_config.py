# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd -t: the directives of the store. The store is a stand-in."""
import os
import re

import pytest

from harness.httpd import Httpd
from harness.store import Store
from test_config import refused

pytestmark = pytest.mark.mpms("event")

# Server-wide: (line, the value that is named)
SERVER = [
    ("AppStoreMaxObject 31M", "31M"),
    ("AppStoreMaxObject 512", "512"),
    ("AppStoreLarge 31M", "31M"),
    ("AppStoreLarge 512", "512"),
    ("AppStoreTempDir ''", ""),
    ("AppStoreThreads 0", "0"),
    ("AppStoreThreads 17", "17"),
    ("AppStoreUser root", "root"),
    ("AppStoreUser nosuchuser", "nosuchuser"),
    ("AppStoreUser games nosuchgroup", "nosuchgroup"),
    ("AppStoreUser games root", "games"),
    ("AppStoreUser #4711", "#4711"),
    ("AppStoreSave ''", ""),
]

# In an app
APP = [
    ("AppStore On", "On"),
    ("AppStore 7M", "7M"),
    ("AppStore 33G", "33G"),
    ("AppStore 64MB", "64MB"),
    ("AppStore -1", "-1"),
    ("AppStore memcached://", "memcached://"),
    ("AppStore memcached://host", "memcached://host"),
    ("AppStore memcached://host:0", "memcached://host:0"),
    ("AppStore memcached://host:65536", "memcached://host:65536"),
    ("AppStore memcached://host:1,", "memcached://host:1,"),
    ("AppStore memcached://:11211", "memcached://:11211"),
    ("AppStore memcached://[::1:11211", "memcached://[::1:11211"),
    ("AppStore memcached://a/b:1", "memcached://a/b:1"),
    ("AppStoreSpace ''", ""),
    ("AppStoreSpace " + "s" * 64, "s" * 64),
    ("AppStoreEvict maybe", "maybe"),
    ("AppStoreMaxConnections 0", "0"),
    ("AppStoreDisk 1023K", "1023K"),
    ("AppStoreDisk 1025G", "1025G"),
]


@pytest.fixture(name="store")
def make_store(httpd: Httpd) -> Store:
    return Store(httpd)


@pytest.mark.parametrize("line,value", SERVER, ids=lambda x: x[:30])
def test_bad_server_value(httpd: Httpd, line: str, value: str) -> None:
    httpd.app("shop")
    httpd.directives.append(line)
    refused(httpd, line.split()[0], value)


@pytest.mark.parametrize("line,value", APP, ids=lambda x: x[:30])
def test_bad_app_value(httpd: Httpd, line: str, value: str) -> None:
    httpd.app("shop", line)
    refused(httpd, line.split()[0], value)


DIFFERENCES = [("AppStore 8M", "AppStore 9M"),
               ("AppStoreEvict On", "AppStoreEvict Off"),
               ("AppStoreMaxConnections 5", "AppStoreMaxConnections 6"),
               ("AppStoreDisk 8M", "AppStoreDisk 9M")]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("one,two", DIFFERENCES)
def test_one_space_has_one_size(httpd: Httpd, one: str, two: str) -> None:
    """The sentence names both places and the directive."""
    for name, directive in (("shop", one), ("blog", two)):
        httpd.app(name, "AppStore 8M", "AppStoreSpace common", directive)
    done = httpd.test()
    assert done.returncode != 0
    line, = [line for line in done.stdout.splitlines() if "common" in line]
    assert len(re.findall(r"line \d+ of ", line)) == 2
    assert f"do not have the same {one.split()[0]}:" in line
    httpd.apps[0].directives.remove(one)
    httpd.apps[0].directives += ["AppStore 8M", two]
    assert httpd.test().returncode == 0


@pytest.mark.usefixtures("store")
def test_the_group_of_another_application(httpd: Httpd) -> None:
    """The name of a group is the name of its space."""
    httpd.app("shop", "AppStore 8M", "AppGroupName shop")
    httpd.app("blog", "AppStore 9M", "AppStoreSpace shop")
    done = httpd.test()
    assert done.returncode != 0 and 'share the space "shop"' in done.stdout


@pytest.mark.usefixtures("store")
def test_warnings(httpd: Httpd) -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") >> 30
    for number in range(memory // 64 + 1):
        httpd.app(f"shop{number}", "AppStore 32G")
    httpd.app("blog", "AppStoreEvict Off")
    done = httpd.test()
    assert done.returncode == 0
    assert "are more than half of the memory of this host" in done.stdout
    assert re.search(r"AppStoreEvict \(line \d+ of .*\) has no effect: the "
                     "application has no space", done.stdout)


def test_program_is_missing(httpd: Httpd, store: Store) -> None:
    """It is needed only where there is a space."""
    (httpd.libexec / "apppool-store").unlink()
    app = httpd.app("shop", "AppStore 8M")
    done = httpd.test()
    assert done.returncode != 0
    assert f"cannot execute {httpd.libexec}/apppool-store: No such file" \
        in done.stdout
    app.directives.remove("AppStore 8M")
    httpd.start()
    app.directives.append("AppStore 8M")
    httpd.log.expect("apppool: AppStore needs apppool-store, which was not in")
    httpd.graceful()
    httpd.log.wait_for("apppool: AppStore needs apppool-store, which was not")
    assert store.pid() == 0
