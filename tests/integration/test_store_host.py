# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppStore: how httpd and the watchdog start, watch, configure and stop the
store, and the variables that the application gets. The store is a stand-in."""
import os
import pwd
import re
import stat
import subprocess
from typing import Iterable

import pytest

from harness import procs, sentences
from harness.config import App
from harness.httpd import USER, Httpd
from harness.store import Store
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the parent and the programs are the same")

UID = pwd.getpwnam(USER).pw_uid
ITEMS, FIGURES = "/memfd:store-items", "/memfd:store-figures"


@pytest.fixture(name="store")
def make_store(httpd: Httpd) -> Store:
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    return Store(httpd)


def environment(httpd: Httpd, name: str = "shop") -> dict[str, str]:
    response = httpd.get("/process", name)
    assert response.status == 200, response.body
    return response.json()["environment"]


def names(start: dict) -> list[str]:
    return [space["name"] for space in start["table"]["spaces"]]


def having(pids: Iterable[int], what: str) -> list[int]:
    """Those of the processes that have this file open."""
    found = []
    for pid in pids:
        for link in os.listdir(f"/proc/{pid}/fd"):
            try:
                if what in os.readlink(f"/proc/{pid}/fd/{link}"):
                    found.append(pid)
                    break
            except FileNotFoundError:
                pass
    return found


def test_not_started_without_a_space(httpd: Httpd, store: Store) -> None:
    """Servers that exist need no store of ours."""
    httpd.app("shop", "AppStore memcached://10.0.0.5:11211,[::1]:11212")
    httpd.app("plain")
    httpd.start()
    got = environment(httpd)
    assert got["MEMCACHE_SERVERS"] == "10.0.0.5:11211,[::1]:11212"
    assert got["APPPOOL_STORE"] == "memcached://" + got["MEMCACHE_SERVERS"]
    assert not {"MEMCACHE_SERVERS", "APPPOOL_STORE"} & \
        set(environment(httpd, "plain"))
    assert not (httpd.runtime / "m").exists()
    assert not (httpd.runtime / "store.pid").exists()
    assert not store.events("start")
    assert [name for name in ("items", "figures") for fd in os.listdir(
        f"/proc/{httpd.pid}/fd") if f"store-{name}" in os.readlink(
            f"/proc/{httpd.pid}/fd/{fd}") and os.stat(
                f"/proc/{httpd.pid}/fd/{fd}").st_blocks] == []


def test_environment(httpd: Httpd, store: Store) -> None:
    """The application gets the path of its socket. AppSetEnv wins."""
    httpd.app("shop", "AppStore 8M", "AppSetEnv MEMCACHE_SERVERS mine")
    httpd.app("blog", "AppStore 9M", "AppStoreSpace common",
              "AppStoreEvict Off", "AppStoreMaxConnections 7",
              "AppUser games")
    httpd.app("news", "AppStore 9M", "AppStoreSpace common",
              "AppStoreEvict Off", "AppStoreMaxConnections 7")
    httpd.directives += ["AppStoreThreads 3", "AppStoreMaxObject 2M"]
    httpd.start()
    table = store.wait_for("start")["table"]
    spaces = {space.pop("name"): space for space in table.pop("spaces")}
    assert spaces["common"].pop("key") in environment(httpd, "blog")[
        "MEMCACHE_SERVERS"]
    assert spaces["common"] == {
        "size": 9 << 20, "evict": False, "confirm": "off",
        "max_connections": 7,
        "uids": [pwd.getpwnam("games").pw_uid, UID]}
    assert len(spaces) == 2
    own = next(space for name, space in spaces.items() if name != "common")
    key = own.pop("key")
    assert own == {"size": 8 << 20, "evict": True, "confirm": "off",
                   "max_connections": 1024, "uids": [UID]}
    assert re.fullmatch("[0-9a-f]{16}", key)
    got = environment(httpd)
    assert got["MEMCACHE_SERVERS"] == "mine"
    assert got["APPPOOL_STORE"] == f"unix:{httpd.runtime}/m/{key}"
    assert environment(httpd, "news")["MEMCACHE_SERVERS"] == \
        environment(httpd, "blog")["MEMCACHE_SERVERS"]
    build = table.pop("build")
    assert table.pop("cluster") == {
        "ports": [11211, 11213], "peers": [], "plain": [],
        "changes": 32 << 20, "slave_timeout": 10}
    assert table == {"listens": [], "contract": table["contract"], "threads": 3,
                     "max_object": 2 << 20, "save_time": 40,
                     "save_every": 0}
    assert os.readlink(httpd.runtime / "store.save") == f"{httpd.dir}/saved"
    assert os.readlink(httpd.runtime / "store.time") == "40"
    assert build.startswith(f"contract {table['contract']}, ")


def test_files(httpd: Httpd, store: Store) -> None:
    """Only the store's user may change its directory and read its table."""
    httpd.app("shop", "AppStore 8M")
    httpd.directives.append("AppStoreUser games www-data")
    httpd.start()
    started = store.wait_for("start")
    games, group = pwd.getpwnam("games").pw_uid, pwd.getpwnam(USER).pw_gid
    assert started["uid"] == games
    there = os.stat(httpd.runtime / "m")
    assert (stat.S_IMODE(there.st_mode), there.st_uid, there.st_gid) == \
        (0o711, games, group)
    table = os.stat(httpd.runtime / "m" / "table")
    assert (stat.S_IMODE(table.st_mode), table.st_uid) == (0o400, games)
    assert not (httpd.runtime / "m" / "table.new").exists()
    assert stat.S_IMODE(os.stat(httpd.runtime / "o").st_mode) == 0o700


def test_killed(httpd: Httpd, store: Store) -> None:
    """It is started at once, with the same memory and the same listener."""
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    first = store.wait_for("start")
    assert first["counters"] == [0, 0] and first["listener"] == "new"
    assert first["size"] == (1 << 20) + 256 * (32 << 30)
    assert first["blocks"] < 100
    assert store.pid() == first["pid"]
    httpd.log.expect(rf"apppool: store {first['pid']} ended: signal 9")
    procs.kill9(first["pid"])
    second = store.wait_for("start", 2)
    assert second["pid"] != first["pid"] and second["counters"] == [1, 1]
    assert second["listener"] == f"shop {httpd.runtime}/m/{'0' * 16}"
    # The next watchdog finds the store that runs.
    watchdog = httpd.watchdog_now()
    httpd.log.expect(rf"apppool: watchdog {watchdog} died of SIGKILL")
    procs.kill9(watchdog)
    httpd.log.wait_for(
        rf"apppool: watchdog joins the running store {second['pid']}")
    assert store.pid() == second["pid"] and len(store.events("start")) == 2


def test_log(httpd: Httpd, store: Store) -> None:
    """The lines of the store are in the error log."""
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    store.wait_for("start")
    line, = httpd.log.wait_for(r"apppool: store: started")
    assert "[apppool:notice]" in line
    line, = httpd.log.wait_for(r"apppool: store: with \\x1b a control")
    assert "[apppool:info]" in line


@pytest.mark.mpms("prefork", "event")
def test_graceful(httpd: Httpd, store: Store) -> None:
    """The first space starts the store. It reads each new table. The processes
    of the application are replaced, as after any change of its environment."""
    shop: App = httpd.app("shop", "MinInstances 1")
    httpd.start()
    assert "APPPOOL_STORE" not in environment(httpd)
    old = httpd.pids(shop)
    shop.directives.append("AppStore 8M")
    httpd.graceful()
    started = store.wait_for("start")
    assert len(names(started)) == 1
    wait_until(lambda: httpd.pids(shop) and httpd.pids(shop) != old,
               "the process of the shop is replaced")
    assert "APPPOOL_STORE" in environment(httpd)
    httpd.app("blog", "AppStore 8M", "AppGroupName blog")
    httpd.graceful()
    assert "blog" in names(wait_until(
        lambda: [event for event in store.events("table")
                 if len(names(event)) == 2], "the second space is read")[0])
    shop.directives.remove("AppStore 8M")
    httpd.apps.pop()
    httpd.graceful()
    wait_until(lambda: [event for event in store.events("table")
                        if names(event) == []], "no space is left")
    assert store.pid() == started["pid"]
    wait_until(lambda: "APPPOOL_STORE" not in environment(httpd),
               "the processes of the shop are replaced again")


@pytest.mark.one_mpm("the parent chooses the user")
def test_another_user(httpd: Httpd, store: Store) -> None:
    """A graceful restart does not change AppStoreUser, and says so. The store
    goes on as its user, which can read the new table."""
    httpd.app("shop", "AppStore 8M")
    httpd.directives.append("AppStoreUser games")
    httpd.start()
    started = store.wait_for("start")
    games = pwd.getpwnam("games").pw_uid
    assert started["uid"] == games
    httpd.directives[-1] = "AppStoreUser mail"
    httpd.app("blog", "AppStore 8M")
    httpd.log.expect("AppStoreUser cannot be changed by a graceful restart")
    httpd.graceful()
    httpd.log.wait_for("AppStoreUser cannot be changed by a graceful restart; "
                       f"the store runs as user {games} until")
    assert len(names(store.wait_for("table"))) == 2
    assert os.stat(httpd.runtime / "m" / "table").st_uid == games
    procs.kill9(started["pid"])
    httpd.log.expect(rf"apppool: store {started['pid']} ended: signal 9")
    assert store.wait_for("start", 2)["uid"] == games
    httpd.restart()
    assert store.wait_for("start", 3)["uid"] == pwd.getpwnam("mail").pw_uid


def test_stopped_last(httpd: Httpd, store: Store) -> None:
    """The store gets SIGTERM when the applications and the spawner have
    ended, and nothing is left."""
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    store.wait_for("start")
    httpd.stop()
    assert store.wait_for("stop")["spawner"] is False
    assert not httpd.remains()


@pytest.mark.mpms("prefork", "event")
def test_killed_httpd(httpd: Httpd, store: Store) -> None:
    """The next start ends what is left of the store, before its own begins."""
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    first = store.wait_for("start")
    for pid in (httpd.pid, httpd.watchdog_now(), httpd.spawner_now(),
                *httpd.children()):
        procs.kill9(pid)
    assert httpd.process is not None
    httpd.process.wait(40)  # until then, its pid counts as a running httpd
    httpd.log.expect(sentences.PARENT_GONE, sentences.PID_FILE)
    httpd.start()
    assert store.wait_for("stop")["pid"] == first["pid"]
    assert store.wait_for("start", 2)["counters"] == [0, 0]


@pytest.mark.mpms("prefork", "event")
def test_nothing_leaks(httpd: Httpd, store: Store) -> None:
    """Only httpd's parent, the watchdog and the store have the memory. A child
    of httpd has the figures, and cannot write them."""
    app = httpd.app("shop", "AppStore 8M")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    store.wait_for("start")
    httpd.graceful()
    parent, watchdog = httpd.pid, httpd.watchdog_now()
    assert having([parent, watchdog, store.pid()], ITEMS) == \
        [parent, watchdog, store.pid()]
    # After a graceful restart, event starts its children one by one.
    wait_until(httpd.children, "a new child runs")
    others = [*httpd.children(), *httpd.pids(app), httpd.spawner_now()]
    assert len(others) > 2
    # A child that was just forked has them until it begins to work.
    wait_until(lambda: having(others, ITEMS) == [], "no other one has it")
    others.remove(httpd.spawner_now())  # it shows the figures
    assert having(others, FIGURES) == []
    assert having([store.pid()], "/memfd:apppool") == []
    for child in httpd.children():
        maps = procs.read(child, "smaps").decode()
        assert ITEMS not in maps
        flags = re.search(rf" r--s .*{FIGURES}(?:.*\n)*?VmFlags:(.*)", maps)
        assert flags and "mr" in flags[1].split() \
            and "mw" not in flags[1].split()


def test_limit_of_file_sizes(httpd: Httpd, store: Store) -> None:
    """It is raised for the memory of the store, and holds again then."""
    httpd.wrapper = ["prlimit", f"--fsize={64 << 20}:unlimited"]
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    assert store.wait_for("start")["size"] > 1 << 42
    limits = procs.read(httpd.pid, "limits").decode()
    assert re.search(rf"Max file size +{64 << 20} +unlimited", limits)


def test_hard_limit_of_file_sizes(httpd: Httpd, store: Store) -> None:
    """Where root may not raise it, there is no store, and the log says why."""
    httpd.wrapper = ["prlimit", f"--fsize={64 << 20}"]
    raises = subprocess.run([*httpd.wrapper, "sh", "-c", "ulimit -f unlimited"],
                            check=False, stderr=subprocess.DEVNULL)
    httpd.app("shop", "AppStore 8M")
    if raises.returncode == 0:
        httpd.start()
        assert store.wait_for("start")["size"] > 1 << 42
    else:
        httpd.log.expect("apppool: AppStore: cannot make the memory of the")
        httpd.start()
        httpd.log.wait_for(r"File too large: apppool: AppStore: .*ulimit -f")
        assert httpd.get("/pid", "shop").status == 200
        assert not (httpd.runtime / "m").exists()


def test_long_names(httpd: Httpd, store: Store) -> None:
    """A long group name is cut, and two of them are two spaces."""
    for name in ("a", "b"):
        httpd.app(name, "AppStore 8M", "AppGroupName " + "x" * 80 + name)
    httpd.start()
    found = names(store.wait_for("start"))
    assert len(set(found)) == 2 and {len(name) for name in found} == {63}
    assert environment(httpd, "a")["MEMCACHE_SERVERS"] != \
        environment(httpd, "b")["MEMCACHE_SERVERS"]
