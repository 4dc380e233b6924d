# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppStore, and a graceful restart with another build of the module: the new
store takes over what the old one has, and serves the old applications, too."""
import os
import pwd
import re
import signal
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import procs, sentences
from harness.httpd import Held, Httpd
from harness.places import can_mount, mounted
from harness.ports import reserve_port
from harness.procs import alive
from harness.sessions import Client, Sessions, store_path
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("httpd's children do not use the store")

LARGE = 300_000  # bytes; above 256 KB it is a large value


class Site:
    """An application with a store, which is upgraded again and again."""

    def __init__(self, httpd: Httpd) -> None:
        other_build()  # takes long
        self.httpd = httpd
        self.number = 0
        self.held: list[Held] = []
        self.paths: list[str] = []
        self.root = ""  # of httpd's mount namespace
        httpd.libexec = httpd.dir / "lib"
        httpd.module = httpd.libexec / "mod_apppool.so"
        install(httpd.libexec, this_build())
        httpd.directives.append("AppStoreSave Off")
        httpd.app("shop", "MaxInstances 2", "AppStore 16M")

    def path(self) -> str:
        """The socket of the newest applications, which is there."""
        return store_path(self.httpd, self.root)

    def start(self) -> None:
        self.httpd.start()
        self.paths.append(self.path())

    def hold(self) -> None:
        """Keep this instance: one of its requests does not end."""
        self.held.append(self.httpd.hold("shop", str(len(self.held))))

    def drains(self) -> None:
        """Only the newest instance is left. A spawner may be replaced
        meanwhile, so its file says nothing."""
        self.release()
        self.httpd.log.wait_for("the old instance in .* has ended", self.number)
        wait_until(lambda: len(self.stores()) == 1, "one store runs")

    def release(self) -> None:
        """Let these requests end."""
        while self.held:
            assert self.held.pop().release().status == 200

    def upgrade(self) -> None:
        self.number += 1
        files = {name: other_build() / name for name in this_build()} \
            if self.number % 2 else this_build()
        install(self.httpd.libexec, files)
        self.httpd.graceful()

    def stores(self) -> list[int]:
        return self.httpd.helpers("store")


@pytest.fixture(name="site")
def make_site(httpd: Httpd) -> Iterator[Site]:
    site = Site(httpd)
    yield site
    site.release()


def running(site: Site, n: int = 4) -> list[Sessions]:
    threads = [Sessions(site.paths, f"session{i}") for i in range(n)]
    for one in threads:
        one.start()
    for one in threads:
        one.more(20)
    return threads


def check_all(threads: list[Sessions]) -> None:
    for one in threads:
        one.more(20)
    for one in threads:
        one.finish()


def listeners() -> set[str]:
    """The paths at which sockets listen, also those that were removed."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return {words[7] for words in map(str.split, lines)
            if len(words) == 8 and words[3] == "00010000"}


def test_nothing_is_lost(site: Site) -> None:
    """Applications of both builds see the same values at each moment: small
    ones, and large ones. One store runs, of the new build. The old
    instance ends."""
    site.start()
    old_path = site.paths[0]
    Client(old_path).set("kept", b"x" * 10_000)
    Client(old_path).set("large", b"y" * LARGE)
    site.hold()
    old_store, = site.stores()
    threads = running(site)
    site.upgrade()
    site.paths.append(site.path())
    new_path = site.paths[1]
    assert new_path != old_path
    check_all(threads)
    for path in site.paths:
        assert Client(path).get("kept") == b"x" * 10_000
        assert Client(path).get("large") == b"y" * LARGE
    Client(old_path).set("a", b"by an old application")
    assert Client(new_path).get("a") == b"by an old application"
    wait_until(lambda: not alive(old_store), "the old store ends")
    wait_until(lambda: len(site.stores()) == 1, "one store runs")
    site.drains()
    assert Client(new_path).get("a") == b"by an old application"
    wait_until(lambda: old_path not in listeners(), "the old socket is closed")
    site.httpd.check()


def empty(fifo: Path) -> bool:
    """Whoever opens it now reads its end."""
    with suppress(OSError):  # nobody opens it
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    return True


@pytest.mark.mpms("prefork", "event")
def test_no_child_of_httpd_is_left(site: Site) -> None:
    """All old children end while the new configuration is read. The old
    instance waits until the new one has taken its store over."""
    site.start()
    Client(site.paths[0]).set("kept", b"x" * 10_000)
    Client(site.paths[0]).set("large", b"y" * LARGE)
    children, (store,) = site.httpd.children(), site.stores()
    beats = [site.httpd.runtime / "watchdog.beat"] * 2
    magic = site.httpd.dir / "magic"
    os.mkfifo(magic)  # httpd reads it, after its configuration
    site.httpd.modules.append("mime_magic")
    site.httpd.directives.append(f"MimeMagicFile {magic}")
    restart = threading.Thread(target=site.upgrade)
    restart.start()
    wait_until(lambda: not any(map(alive, children)), "the children end")
    for beat in beats:  # the watchdog has looked for them
        before = beat.stat().st_mtime_ns
        wait_until(lambda: not alive(store)
                   or beat.stat().st_mtime_ns != before, "it looks again")
    assert alive(store)
    wait_until(lambda: empty(magic) and not restart.is_alive(),
               "each virtual host has read it, and httpd serves")
    magic.unlink()
    client = Client(site.path())
    assert client.get("kept") == b"x" * 10_000
    assert client.get("large") == b"y" * LARGE
    site.drains()


def test_several_builds(site: Site) -> None:
    """Applications of four builds share one store. A space that the new
    configuration does not name is gone, as after any graceful restart. A new
    size holds."""
    site.httpd.app("blog", "AppStore 8M")
    site.start()
    threads = running(site)
    response = site.httpd.get("/process", "blog")
    blog: Any = response.json()["environment"]["MEMCACHE_SERVERS"]
    wait_until(lambda: os.path.exists(blog))
    Client(blog).set("post", b"text")
    site.hold()
    site.httpd.apps.pop()
    site.httpd.apps[0].directives.remove("AppStore 16M")
    site.httpd.apps[0].directives.append("AppStore 24M")
    for _ in range(3):
        site.upgrade()
        site.paths.append(site.path())
        site.hold()
    assert len(set(site.paths)) == 4
    check_all(threads)
    with pytest.raises(OSError):
        Client(blog).get("post")
    assert b"limit_maxbytes %d\r\n" % (24 << 20) in Client(
        site.paths[0]).ask(b"stats\r\n", b"END\r\n")
    wait_until(lambda: len(site.stores()) == 1, "the old stores end")
    site.drains()


def test_another_user(site: Site) -> None:
    """The new store may run as another user. It serves the old sockets, too."""
    site.start()
    Client(site.paths[0]).set("a", b"1")
    Client(site.paths[0]).set("large", b"y" * LARGE)
    site.hold()
    site.httpd.directives.append("AppStoreUser games")
    site.upgrade()
    site.paths.append(site.path())
    for path in site.paths:
        assert Client(path).get("a") == b"1"
        assert Client(path).get("large") == b"y" * LARGE
    wait_until(lambda: len(site.stores()) == 1, "the old store ends")
    uid = pwd.getpwnam("games").pw_uid
    assert os.stat(f"/proc/{site.stores()[0]}").st_uid in (uid, 0)
    assert f"Uid:\t{uid}\t{uid}" in procs.read(
        site.stores()[0], "status").decode()


def test_master(site: Site) -> None:
    """The ports of a cluster have one owner: the store that serves."""
    taken = [reserve_port() for _ in range(2)]
    ports = [port for port, _ in taken]
    site.httpd.directives += [
        "AppStoreVirtualIP 127.0.0.1", "AppStorePeers 127.0.0.1",
        "AppStorePlainPeers 127.0.0.1",
        "AppStorePorts " + " ".join(map(str, ports)),
        "AppStoreOpenSpace shop"]
    site.httpd.apps[0].directives.append("AppStoreSpace shop")
    site.start()
    Client(site.paths[0]).set("a", b"1")

    def over_tcp() -> bytes:
        with socket.create_connection(("127.0.0.1", ports[0]), 20) as client:
            client.sendall(b"get a\r\n")
            return client.recv(100)

    assert over_tcp() == b"VALUE a 0 1\r\n1\r\nEND\r\n"
    site.hold()
    site.upgrade()
    site.paths.append(site.path())
    for path in site.paths:
        assert Client(path).get("a") == b"1"
    assert over_tcp() == b"VALUE a 0 1\r\n1\r\nEND\r\n"
    site.httpd.log.wait_for(r"is at this host: the store is the master", 2)
    for _, claim in taken:
        claim.close()


def test_without_a_store_before(site: Site) -> None:
    """The new configuration has the first space: there is nothing to take
    over. Then it has none: the old store serves the old applications on."""
    site.httpd.apps[0].directives.remove("AppStore 16M")
    site.httpd.start()
    site.hold()
    site.httpd.apps[0].directives.append("AppStore 16M")
    site.upgrade()
    site.paths.append(site.path())
    Client(site.paths[0]).set("a", b"1")
    site.hold()
    site.httpd.apps[0].directives.remove("AppStore 16M")
    site.upgrade()
    assert "MEMCACHE_SERVERS" not in site.httpd.get(
        "/process", "shop").json()["environment"]
    assert Client(site.paths[0]).get("a") == b"1"


@pytest.mark.one_mpm("the parent writes the table")
@pytest.mark.skipif(not can_mount(), reason="mount is denied")
def test_no_room_for_the_apps(site: Site) -> None:
    """The new instance gets the table of its store, but not that of its apps,
    so it is forgotten. The old store serves on. The next instance takes it
    over."""
    disk = site.httpd.dir / "disk"
    disk.mkdir()
    site.httpd.runtime = disk / "p"
    site.httpd.directives[0] = f'AppPoolRuntimeDir "{disk}/p"'
    site.httpd.wrapper = mounted(
        f"mount -t tmpfs -o size=1m,mode=755 none {disk}")
    site.httpd.log.expect(sentences.NO_TABLE)
    site.httpd.start()
    site.root = f"/proc/{site.httpd.pid}/root"
    site.paths.append(site.path())
    Client(site.paths[0]).set("a", b"1")
    site.hold()
    full = Path(f"{site.root}{disk}/full")
    room = os.statvfs(full.parent)
    full.write_bytes(bytes(room.f_bavail * room.f_bsize - (64 << 10)))
    long = [f"AppSetEnv LONG{i} {'x' * 1000}" for i in range(200)]
    site.httpd.apps[0].directives += long
    site.upgrade()
    site.httpd.log.wait_for(r"No space left on device.*cannot write .*/table")
    assert Client(site.paths[0]).get("a") == b"1"
    full.unlink()
    del site.httpd.apps[0].directives[-len(long):]
    site.httpd.graceful()
    site.paths.append(site.path())
    for path in site.paths:
        assert Client(path).get("a") == b"1"


def test_a_stop_meanwhile(site: Site) -> None:
    """httpd stops while the new store waits for the old one. What both have is
    saved. The old store is stopped, so it hands over when it is to end."""
    site.httpd.directives.remove("AppStoreSave Off")
    site.httpd.directives.append(f"AppStoreSave {site.httpd.dir}/saved")
    site.start()
    Client(site.paths[0]).set("a", b"1")
    Client(site.paths[0]).set("large", b"y" * LARGE)
    site.hold()
    old, = site.stores()
    procs.send(old, signal.SIGSTOP)
    site.upgrade()
    site.httpd.log.wait_for(rf"the store waits for the end of store {old}")
    site.httpd.stop()
    site.held.clear()
    assert not site.httpd.remains()
    site.httpd.start()
    assert Client(site.path()).get("a") == b"1"
    assert Client(site.path()).get("large") == b"y" * LARGE


@pytest.mark.parametrize("which", ["old", "stopped", "new", "watchdogs"])
def test_kills(site: Site, which: str) -> None:
    """Who is killed meanwhile makes no difference."""
    site.httpd.log.expect(r"store \d+ ended: signal 9",
                          r"store \d+ has had no heartbeat",
                          r"watchdog \d+ died of SIGKILL")
    site.start()
    site.hold()
    threads = running(site)
    old, = site.stores()
    watchdog = site.httpd.watchdog_now()
    if which == "old":
        procs.kill9(old)
    if which == "stopped":
        procs.send(old, signal.SIGSTOP)
    site.upgrade()
    if which == "stopped":
        site.httpd.log.wait_for(rf"the store waits for the end of store {old}")
        procs.kill9(old)
    if which == "watchdogs":
        procs.kill9(watchdog)
    site.paths.append(site.path())
    if which == "new":
        wait_until(lambda: old not in site.stores() and site.stores())
        procs.kill9(site.stores()[0])
    check_all(threads)
    wait_until(lambda: len(site.stores()) == 1, "one store runs")
    if which == "watchdogs":
        wait_until(lambda: len(site.httpd.helpers("watchdog")) == 2)
        procs.kill9(site.stores()[0])
    assert int(Client(site.paths[0]).get(threads[0].key) or 0) \
        >= threads[0].acknowledged
    site.drains()
