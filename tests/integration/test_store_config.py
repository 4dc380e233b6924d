# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd -t: the directives of the store. The store is a stand-in."""
import hmac
import json
import os
import re

import pytest

from harness import sentences
from harness.cases import cases
from harness.httpd import USER, Httpd
from harness.refused import all_refused, refused
from harness.store import Store
from test_store_host import environment

pytestmark = pytest.mark.mpms("event")

# Server-wide: (line, the value that is named)
SERVER = [
    ("AppStoreMaxObject 31M", "31M"),
    ("AppStoreMaxObject 512", "512"),
    ("AppStoreThreads 0", "0"),
    ("AppStoreThreads 17", "17"),
    ("AppStoreUser root", "root"),
    ("AppStoreUser nosuchuser", "nosuchuser"),
    ("AppStoreUser games nosuchgroup", "nosuchgroup"),
    ("AppStoreUser games root", "games"),
    ("AppStoreUser #4711", "#4711"),
    ("AppStoreSave ''", ""),
    ("AppStoreSave /tmp/x 500ms", "500ms"),
    ("AppStoreSave /tmp/x 25h", "25h"),
    ("AppStoreSave Off 5min", "Off"),
    ("AppStoreSaveTime 0", "0"),
    ("AppStoreSaveTime 3601", "3601"),
    ("AppStoreVirtualIP 10.0.0", "10.0.0"),
    ("AppStoreVirtualIP host", "host"),
    ("AppStoreVirtualIP 0.0.0.0", "0.0.0.0"),
    ("AppStoreVirtualIP ::ffff:10.0.0.9", "::ffff:10.0.0.9"),
    ("AppStorePorts 11211 0", "0"),
    ("AppStorePorts 11211 65536", "65536"),
    ("AppStorePorts 11211 x", "x"),
    ("AppStorePorts 11211 11211", "11211 11211"),
    ("AppStorePeers 10.0.0.1 10.0.0.256", "10.0.0.256"),
    ("AppStorePlainPeers fd00::g", "fd00::g"),
    ("AppStorePeers ::ffff:a00:9", "::ffff:a00:9"),
    ("AppStorePeers " + " ".join(f"10.0.0.{n}" for n in range(1, 34)),
     "10.0.0.33"),
    ("AppStoreOpenSpace ''", ""),
    ("AppStoreOpenSpace " + "s" * 64, "s" * 64),
    ("AppStoreListen 11211 shop", "11211"),
    ("AppStoreListen localhost:11211 shop", "localhost:11211"),
    ("AppStoreListen 127.0.0.1: shop", "127.0.0.1:"),
    ("AppStoreListen 127.0.0.1:65536 shop", "127.0.0.1:65536"),
    ("AppStoreListen 127.0.0.1:1023 shop", "127.0.0.1:1023"),
    ("AppStoreListen ::1:11211 shop", "::1:11211"),
    ("AppStoreListen [127.0.0.1]:11211 shop", "[127.0.0.1]:11211"),
    ("AppStoreListen 127.0.0.1:11211 shop\n"
     "AppStoreListen 127.0.0.1:11211 blog", "127.0.0.1:11211"),
    ("AppStoreChanges 63K", "63K"),
    ("AppStoreChanges 5G", "5G"),
    ("AppStoreSlaveTimeout 0", "0"),
    ("AppStoreSlaveTimeout 3601", "3601"),
    ("AppStoreKey ''", ""),
    ("AppStoreKey /nonexistent/key", "/nonexistent/key"),
    ("AppStoreKey /dev/null", "/dev/null"),
    ("AppStoreKey /dev", "/dev"),
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
    ("AppStoreConfirm maybe", "maybe"),
    ("AppStoreConfirm On never", "On never"),
    ("AppStoreConfirm Off Refuse", "Off Refuse"),
    ("AppStoreMaxConnections 0", "0"),
]


@pytest.fixture(name="store")
def make_store(httpd: Httpd) -> Store:
    return Store(httpd)


def test_bad_server_value(httpd: Httpd) -> None:
    httpd.app("shop")
    all_refused(httpd, httpd.directives, SERVER)


def test_bad_app_value(httpd: Httpd) -> None:
    app = httpd.app("shop")
    all_refused(httpd, app.directives, APP)


def test_removed(httpd: Httpd) -> None:
    """The error says what to do, whatever the arguments are."""
    app = httpd.app("shop")
    for line, case in cases(["AppStoreTempDir /var/tmp", "AppStoreDisk",
                             "AppStoreLarge 64K"]):
        app.directives = [line]
        done = httpd.test()
        with case:
            assert done.returncode != 0
            assert f"{line.split()[0]}: values in files are gone: remove " \
                "this line" in done.stdout


def test_third_port(httpd: Httpd) -> None:
    """It was that of counters. The error says what to do."""
    httpd.app("shop")
    httpd.directives.append("AppStorePorts 11211 11213 11215")
    done = httpd.test()
    assert done.returncode != 0
    assert "AppStorePorts: the counters of yrmcds are gone: remove the third " \
        "port, 11215" in done.stdout


DIFFERENCES = [("AppStore 8M", "AppStore 9M"),
               ("AppStoreEvict On", "AppStoreEvict Off"),
               ("AppStoreConfirm On", "AppStoreConfirm On Refuse"),
               ("AppStoreMaxConnections 5", "AppStoreMaxConnections 6")]


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
    assert re.search(r"\(line \d+ of .*\): AppStoreEvict has no effect: the "
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


def wrong_program(httpd: Httpd, words: str) -> None:
    program = httpd.libexec / "apppool-store"
    program.unlink()
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)


def test_program_of_another_build(httpd: Httpd, store: Store) -> None:
    """Without a space it is not looked at."""
    wrong_program(httpd, "echo other")
    app = httpd.app("shop")
    httpd.start()
    app.directives.append("AppStore 8M")
    httpd.log.expect(sentences.OTHER_BUILD)
    httpd.graceful()
    httpd.log.wait_for(sentences.OTHER_BUILD)
    assert httpd.get("/", "shop").status == 200
    assert store.pid() == 0


def test_a_program_is_checked_once(httpd: Httpd, store: Store) -> None:
    """Not each time that httpd reads its configuration, if its file is the
    same."""
    program, seen = httpd.libexec / "apppool-store", httpd.dir / "seen"
    program.rename(httpd.dir / "real")
    program.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo $1 >> {seen}\n"
                       f"exec {httpd.dir}/real \"$@\"\n")
    program.chmod(0o755)
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    assert seen.read_text() == "--version\n"
    httpd.graceful()
    assert seen.read_text() == "--version\n"


SECRET = bytes(range(1, 41))


def own_user() -> list[str]:
    """For a store that has a secret."""
    return ["AppStoreUser games"] if os.getuid() == 0 else []


def key_of(httpd: Httpd) -> list[str]:
    """A secret, and the user that it needs."""
    key = httpd.dir / "store.key"
    key.write_bytes(SECRET + b"\n")
    key.chmod(0o600)
    return [f"AppStoreKey {key}", *own_user()]


PLAIN = "AppStorePeers 10.0.0.2\nAppStorePlainPeers 10.0.0.2"

# What is set, and what the sentence says beside the directive and its value.
TOGETHER = [
    ("AppStoreVirtualIP 10.0.0.9", "AppStoreVirtualIP 10.0.0.9: it needs "
     "AppStorePeers"),
    ("AppStoreOpenSpace other", 'AppStoreOpenSpace other: there is no space '
     '"other"'),
    ("AppStoreListen 127.0.0.1:11211 other", "AppStoreListen 127.0.0.1:11211 "
     'other: there is no space "other"'),
    ("AppStoreListen 10.0.0.1:11211 shop", "AppStoreListen 10.0.0.1:11211 "
     "shop: other hosts reach this address, so it needs AppStoreKey"),
    ("AppStoreListen [::]:11211 shop", "AppStoreListen [::]:11211 shop: other "
     "hosts reach this address, so it needs AppStoreKey"),
    (f"AppStoreVirtualIP 127.0.0.1\n{PLAIN}\n"
     "AppStoreListen 127.0.0.1:11213 shop", "AppStoreListen 127.0.0.1:11213: "
     "AppStoreVirtualIP 127.0.0.1 has this port (AppStorePorts)"),
    (f"AppStoreVirtualIP 10.0.0.9\n{PLAIN}\n"
     "AppStoreListen 0.0.0.0:11213 shop", "AppStoreListen 0.0.0.0:11213: "
     "AppStoreVirtualIP 10.0.0.9 has this port (AppStorePorts)"),
    (f"AppStoreVirtualIP 10.0.0.9\n{PLAIN}\n"
     "AppStoreListen 10.0.0.2:11213 shop", "AppStoreListen 10.0.0.2:11213: the "
     "stores ask each other at this port of 10.0.0.2 (AppStorePeers, "),
    ("AppStoreListen [::1]:11311 shop\nAppStoreListen [::]:11311 shop",
     "AppStoreListen [::]:11311 has the port of AppStoreListen [::1]:11311"),
]

# The same port, but no conflict.
DISTINCT = [
    f"AppStoreVirtualIP 127.0.0.9\n{PLAIN}\n"
    "AppStoreListen 127.0.0.1:11211 shop",
    f"AppStoreVirtualIP 127.0.0.1\n{PLAIN}\n"
    "AppStoreListen [::1]:11211 shop\nAppStoreListen 127.0.0.2:11211 shop",
]


@pytest.mark.usefixtures("store")
def test_what_does_not_go_together(httpd: Httpd) -> None:
    httpd.app("shop", "AppStore 8M", "AppStoreSpace shop")
    for (line, sentence), case in cases(TOGETHER):
        httpd.directives.append(line)
        done = httpd.test()
        with case:
            assert done.returncode != 0
            assert sentence in done.stdout
        httpd.directives.pop()


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("lines", DISTINCT)
def test_what_goes_together(httpd: Httpd, lines: str) -> None:
    httpd.app("shop", "AppStore 8M", "AppStoreSpace shop")
    httpd.directives.append(lines)
    done = httpd.test()
    assert done.returncode == 0, done.stdout


# Bytes and mode of a key file, and what the sentence says.
KEYS = [
    (b"k" * 31, 0o600, "has not 32 to 256 bytes"),
    (b"k" * 31 + b"\n\r\n", 0o600, "has not 32 to 256 bytes"),
    (b"k" * 257, 0o600, "has not 32 to 256 bytes"),
    (b"k" * 32, 0o640, "has mode 640, so that others than its owner"),
    (b"k" * 32, 0o604, "has mode 604, so that others than its owner"),
]


def test_key_file(httpd: Httpd) -> None:
    key = httpd.dir / "store.key"
    httpd.directives.append(f"AppStoreKey {key}")
    for (text, mode, sentence), case in cases(KEYS):
        key.write_bytes(text)
        key.chmod(mode)
        with case:
            refused(httpd, "AppStoreKey", str(key))
            assert sentence in httpd.test().stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_key_file_of_another(httpd: Httpd) -> None:
    key = httpd.dir / "store.key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    os.chown(key, 65534, 65534)
    httpd.directives.append(f"AppStoreKey {key}")
    assert "belongs to user 65534, and has to be root's" in httpd.test().stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root has other users")
@pytest.mark.usefixtures("store")
def test_key_and_the_user_of_httpd(httpd: Httpd) -> None:
    """PHP and CGI programs of httpd could read the table. Without a space there
    is none."""
    key = httpd.dir / "store.key"
    key.write_bytes(SECRET)
    key.chmod(0o600)
    httpd.directives += [f"AppStoreKey {key}", f"AppStoreUser {USER}"]
    assert httpd.test().returncode == 0
    httpd.app("shop", "AppStore 8M")
    done = httpd.test()
    assert done.returncode != 0
    assert f"AppStoreKey {key}: the store runs as the user of httpd" in \
        done.stdout
    httpd.directives[-1] = "AppStoreUser games"
    assert httpd.test().returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root has other users")
@pytest.mark.usefixtures("store")
def test_key_and_the_user_of_an_application(httpd: Httpd) -> None:
    """It could read the table, also if it has no space. Without a key there is
    no secret in it."""
    httpd.app("shop", "AppStore 8M")
    httpd.app("blog", "AppUser games")
    httpd.directives += key_of(httpd)
    done = httpd.test()
    assert done.returncode != 0
    assert re.search(r"AppStoreKey \S+: the application of AppRoot \(.*\) runs "
                     "as the user of the store, so it could read the secret",
                     done.stdout)
    httpd.directives[-1] = "AppStoreUser nobody"
    assert httpd.test().returncode == 0
    del httpd.directives[-2:]
    httpd.directives.append("AppStoreUser games")
    assert httpd.test().returncode == 0


@pytest.mark.parametrize("has_key", [False, True])
def test_table_and_environment(httpd: Httpd, store: Store,
                               has_key: bool) -> None:
    """The store gets all in its table, and an application its password."""
    plain = "10.0.0.4" + ("" if has_key else " 10.0.0.1 10.0.0.2 fd00::3")
    httpd.app("shop", "AppStore 8M", "AppStoreSpace shop")
    httpd.directives += [
        "AppStoreVirtualIP 10.0.0.9", "AppStorePorts 1211 1213",
        "AppStorePeers 10.0.0.1 10.0.0.2", "AppStorePeers FD00::0:3",
        f"AppStorePlainPeers {plain}", "AppStoreOpenSpace shop",
        "AppStoreListen [::1]:11311 shop", "AppStoreListen 127.0.0.1:11312 shop",
        "AppStoreChanges 1M", "AppStoreSlaveTimeout 2500ms"]
    if has_key:
        httpd.directives += key_of(httpd)
    httpd.start()
    store.wait_for("start")
    table = httpd.runtime / "m" / "table"
    read = json.loads(table.read_text())
    assert table.stat().st_mode & 0o777 == 0o400
    assert read["cluster"] == {
        "vip": "10.0.0.9", "ports": [1211, 1213],
        "peers": ["10.0.0.1", "10.0.0.2", "fd00::3"], "plain": plain.split(),
        "open_space": "shop", "changes": 1 << 20, "slave_timeout": 3,
    } | ({"secret": SECRET.hex()} if has_key else {})
    assert read["listens"] == [
        {"address": "::1", "port": 11311, "space": "shop"},
        {"address": "127.0.0.1", "port": 11312, "space": "shop"}]
    env = environment(httpd, "shop")
    password = hmac.new(SECRET, b"clientshop", "sha256").hexdigest()
    assert env.get("MEMCACHE_USERNAME") == ("shop" if has_key else None)
    assert env.get("MEMCACHE_PASSWORD") == (password if has_key else None)
