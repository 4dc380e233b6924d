# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A site on two hosts, with one store for both, gets another build of the
module: the slave first, and then the master, which keeps its address. Clients
at both hosts write on and lose nothing that was acknowledged."""
from harness.cluster import Hosted
from harness.httpd import Httpd
from harness.sessions import Client, Sessions
from harness.space import Space
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until
from test_store_cluster import (
    at, cluster, hosts, is_slave, owner, settled)

__all__ = ["hosts"]
LARGE = 300_000  # bytes; above 256 KB it is a large value


def prepare(httpd: Hosted) -> None:
    """A host with a build of its own, which can be replaced."""
    httpd.libexec = httpd.dir / "lib"
    httpd.module = httpd.libexec / "mod_apppool.so"
    install(httpd.libexec, this_build())
    httpd.app("shop", "AppGroupName shop", "AppStore 16M")


def path(httpd: Hosted) -> str:
    """The socket of the newest processes of the application."""
    space: Space = at(httpd, lambda one: Space(one, "shop"))
    space.close()
    return space.path


def upgrade(httpd: Hosted) -> None:
    install(httpd.libexec, {name: other_build() / name for name in this_build()})
    at(httpd, Httpd.graceful)


def test_the_slave_and_then_the_master(hosts: list[Hosted]) -> None:
    """Afterwards the address moves, and the new master has everything."""
    other_build()  # takes long
    for httpd in hosts:
        prepare(httpd)
        httpd.boot()
    master, slave = settled(hosts)
    paths = [path(httpd) for httpd in hosts]
    Client(paths[0]).set("kept", b"x" * 10_000)
    Client(paths[0]).set("large", b"y" * LARGE)
    sessions = [Sessions(paths, f"session{n}") for n in range(4)]
    for one in sessions:
        one.start()

    for httpd in (slave, master):
        old_store, = httpd.helpers("store")
        upgrade(httpd)
        paths.append(path(httpd))
        wait_until(lambda: old_store not in httpd.helpers("store"),
                   "the new store has taken over")
        wait_until(lambda: cluster(master)["role"] == "master"
                   and is_slave(slave), "the slave has the whole copy")
        for one in sessions:
            one.more(20)
    assert owner(hosts) == [master]

    done = master.ctl("store", "handover")
    assert done.returncode == 0, done.stderr
    master.keepalived.end()
    wait_until(lambda: owner(hosts) == [slave], "the slave has the address")
    wait_until(lambda: cluster(slave)["role"] == "master", "it is the master")
    for one in sessions:
        one.more(20)
        one.finish()
    for newest in paths[2:]:
        client = Client(newest)
        assert client.get("kept") == b"x" * 10_000
        assert client.get("large") == b"y" * LARGE
        client.close()
