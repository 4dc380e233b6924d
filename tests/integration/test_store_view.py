# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The store as people see it: status page, JSON, metrics, apppoolctl."""
import json
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness import sentences
from harness.browser import Browser
from harness.cases import cases
from harness.httpd import Httpd
from harness.ports import reserve_port
from harness.procs import freeze, kill9
from harness.space import Space
from harness.users import as_user
from harness.wait import wait_until
from test_completion import complete
from test_metrics import metrics, value
from test_status_page import REACH, opened, url

pytestmark = [pytest.mark.mpms("event"), pytest.mark.xdist_group("browser")]

MB = 1 << 20


@pytest.fixture
def shop(httpd: Httpd) -> Iterator[Space]:
    """Two apps with a space each. The space of the first one has items."""
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    httpd.app("shop", "AppGroupName shop", "AppStore 64M")
    httpd.app("blog", "AppGroupName blog", "AppStore 8M")
    httpd.start()
    space = Space(httpd, "shop")
    for n in range(10):
        space.set(f"user:{n}", "x" * 100, 600)
    space.set("a%b", "y")
    for n in range(20):
        assert len(space.get(f"user:{n}")) == (100 if n < 10 else 0)
    yield space
    space.close()


def spaces(store: dict[str, Any]) -> dict[str, Any]:
    return {space["name"]: space for space in store["spaces"]}


def test_document(httpd: Httpd, shop: Space) -> None:
    """The same in httpd's status and in apppoolctl."""
    store = httpd.status()["store"]
    assert store["pid"] == httpd.helper("store")
    now = spaces(store)
    assert list(now) == ["shop", "blog"]
    one = now["shop"]
    assert (one["size"], one["items"]) == (64 * MB, 11)
    assert (one["gets"], one["hits"], one["sets"]) == (20, 10, 11)
    assert one["hit_rate"] == 0.5
    assert one["operations"] == 31
    assert one["evictions"] == 0 and one["evicted_age"] is None
    assert one["connections"] == one["connections_total"] == 1
    assert 0 < one["item_bytes"] < one["used"] <= MB
    assert one["bytes_read"] > 1000 and one["bytes_written"] > 1000
    assert store["cluster"] is None
    assert (now["blog"]["size"], now["blog"]["items"]) == (8 * MB, 0)
    assert now["blog"]["hit_rate"] is None
    # The store counts the bytes of a reply after it has sent the reply.
    wait_until(lambda: httpd.status()["store"]
               == json.loads(httpd.ctl("--json", "store").stdout)
               == json.loads(httpd.ctl("--json", "status").stdout)["store"],
               "the same numbers everywhere")


def test_no_store(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.status()["store"] is None
    done = httpd.ctl("store")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no store" in done.stderr
    assert httpd.ctl("--json", "store").stdout == "null\n"
    assert httpd.ctl("store", "keys", "shop").returncode == 1
    assert not any(name.startswith("apppool_store") for name in metrics(httpd))
    assert httpd.get("/apppool-status?list").json()["store"] is None


def test_killed(httpd: Httpd, shop: Space) -> None:
    """The page shows how many items the next store has recovered."""
    httpd.log.expect(sentences.STORE_KILLED)
    old = httpd.helper("store")
    kill9(old)
    wait_until(lambda: httpd.status()["store"]["pid"] not in (0, old),
               "another one runs")
    space = Space(httpd, "shop")
    assert space.get("a%b") == "y"
    one = spaces(httpd.status()["store"])["shop"]
    assert (one["items"], one["recovered"], one["dropped"]) == (11, 11, 0)
    assert (one["gets"], one["hits"]) == (1, 1)
    space.close()


def test_metrics_of_spaces(httpd: Httpd, shop: Space) -> None:
    now = metrics(httpd)
    assert value(now, "apppool_store_size_bytes", space="shop") == 64 * MB
    assert value(now, "apppool_store_items", space="shop") == 11
    assert value(now, "apppool_store_items", space="blog") == 0
    assert value(now, "apppool_store_gets", "_total", space="shop") == 20
    assert value(now, "apppool_store_hits", "_total", space="shop") == 10
    assert value(now, "apppool_store_evictions", "_total", space="shop") == 0
    assert value(now, "apppool_store_recovery_seconds") >= 0
    assert now["apppool_store_evicted_age_seconds"].samples == []


def test_page(httpd: Httpd, shop: Space) -> None:
    assert httpd.get("/pid", "shop").status == 200
    for width, case in cases([1200, 390, 320]):
        with case, Browser(width, 900, width < 600) as browser:
            look(httpd, shop, browser, width)


def look(httpd: Httpd, shop: Space, browser: Browser, width: int) -> None:
    """The spaces are shown, also beside their applications."""
    before = httpd.status()["store"]["spaces"][0]["hit_rate"]
    for view in ("#app=shop", ""):
        opened(browser, httpd, view)
        where = "drawer" if view else "store"
        wait_until(lambda: re.search(
            "of 64 MB, 11 items, 1 of 1024 connections.*"
            rf"Hit rate\s+{before * 100:.1f} %", browser.run(
                f"document.getElementById('{where}')?.innerText || ''"),
            re.S), where)
        assert browser.run(REACH) <= width
    assert browser.run("document.querySelectorAll('.store').length") == 2
    wait_until(lambda: re.search(r"Operations\s+0\.0/s", browser.text()),
               "the rate of two seconds")

    def grows() -> bool:
        for _ in range(100):
            shop.get("a%b")
        return bool(re.search(r"Operations\s+[1-9]\d+/s", browser.text()))

    wait_until(grows, "it has grown")
    if "APPPOOL_PICTURES" in os.environ:
        browser.picture(Path(os.environ["APPPOOL_PICTURES"])
                        / f"store-{width}.png")
    assert browser.errors == []


def test_ctl(httpd: Httpd, shop: Space) -> None:
    done = httpd.ctl("store")
    assert done.returncode == 0, done.stderr
    assert "shop: " in done.stdout and "11 items" in done.stdout
    assert "20 gets, 50.0 % of them hits; 11 sets" in done.stdout
    screen = httpd.ctl("store", "top", "-n", "2", "-s", "0.1").stdout
    assert screen.count("GETS/S") == 2
    assert re.search(r" 11 .* 50\.0 % .* shop\n", screen)
    lines = httpd.ctl("--json", "store", "top", "-n", "1").stdout
    assert spaces(json.loads(lines))["shop"]["items"] == 11


def test_alone(httpd: Httpd, shop: Space) -> None:
    """Without AppStoreVirtualIP nobody sees a cluster."""
    done = httpd.ctl("store", "ready")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the store has no AppStoreVirtualIP" in done.stderr
    assert httpd.ctl("--json", "store", "ready").stdout == '{"ready":false}\n'
    assert "master" not in httpd.ctl("store").stdout
    assert "apppool_store_ready" not in metrics(httpd)


def test_a_missing_listener(httpd: Httpd, shop: Space) -> None:
    """Another program has the port. It is shown while that is so."""
    def missing() -> int:
        n: int = httpd.status()["store"]["missing_listeners"]
        return n

    def shown() -> set[bool]:
        """In all places, or in none."""
        return {"cannot listen at 1 address" in httpd.ctl("store").stdout,
                "cannot listen at 1 address" in
                httpd.get("/apppool-status").text,
                value(metrics(httpd), "apppool_store_missing_listeners") == 1}

    assert (missing(), shown()) == (0, {False})
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        httpd.log.expect(rf"the store cannot listen at 127.0.0.1, port {port}")
        httpd.directives.append(f"AppStoreListen 127.0.0.1:{port} shop")
        httpd.graceful()
        wait_until(missing, "it is missing")
        assert shown() == {True}
    wait_until(lambda: not missing(), "the store listens")
    assert shown() == {False}


def test_master_without_slaves(httpd: Httpd) -> None:
    """This host has the virtual address, and there is no other host."""
    ports = [reserve_port() for _ in range(2)]
    httpd.directives += [
        "AppStoreSave Off", "AppStoreVirtualIP 127.0.0.1",
        "AppStorePeers 127.0.0.1", "AppStorePlainPeers 127.0.0.1",
        "AppStoreOpenSpace shop",
        "AppStorePorts " + " ".join(str(port) for port, _ in ports)]
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.start()
    wait_until(lambda: httpd.ctl("store", "ready").returncode == 0,
               "the master is ready")
    cluster = httpd.status()["store"]["cluster"]
    assert cluster["role"] == "master"
    assert cluster["virtual_ip"] == "127.0.0.1"
    assert cluster["complete"] and cluster["ready"]
    assert (cluster["handover"], cluster["slaves"]) == (False, [])
    assert "master of 127.0.0.1 since 20" in httpd.ctl("store").stdout
    done = httpd.ctl("store", "handover")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no handover: no slave has the whole copy" in done.stderr
    now = metrics(httpd)
    assert value(now, "apppool_store_ready") == 1
    assert now["apppool_store_slave_lag"].samples == []
    with Browser() as browser:
        browser.open(url(httpd))
        wait_until(lambda: "This host is the master of 127.0.0.1"
                   in browser.text(), "it is shown")
        assert "There is no slave." in browser.text()
        assert browser.errors == []
    children = httpd.children()
    for child in children:
        freeze(child)
    assert httpd.ctl("store", "ready").returncode == 0, "no child is asked"
    for child in children:
        os.kill(child, signal.SIGCONT)
    store = httpd.helper("store")
    freeze(store)
    wait_until(lambda: httpd.ctl("store", "ready").returncode == 1,
               "a store that hangs is not ready")
    assert "not ready: it has not looked for a master yet, or this store " in \
        httpd.ctl("store", "ready").stderr
    os.kill(store, signal.SIGCONT)
    wait_until(lambda: httpd.ctl("store", "ready").returncode == 0,
               "it is ready again")


def test_keys(httpd: Httpd, shop: Space) -> None:
    lines = httpd.ctl("store", "keys", "shop", "user:").stdout.splitlines()
    assert sorted(line.split()[-1] for line in lines) == \
        [f"user:{n}" for n in range(10)]
    assert all(re.match(r" *\d+  expires in (5[5-9]\d|600) s +", line)
               for line in lines)
    everything = [json.loads(line) for line in httpd.ctl(
        "--json", "store", "keys", "shop").stdout.splitlines()]
    assert len(everything) == 11
    assert [key["key"] for key in everything
            if key["expires"] is None] == ["a%b"]
    assert httpd.ctl("store", "keys", "blog").stdout == ""


def test_flush(httpd: Httpd, shop: Space) -> None:
    blog = Space(httpd, "blog")
    blog.set("a", "b")
    done = httpd.ctl("store", "flush", "shop")
    assert (done.returncode, done.stdout) == (0, "all items are removed\n")
    assert shop.get("a%b") == "" and blog.get("a") == "b"
    missing = httpd.ctl("store", "flush", "shed")
    assert missing.returncode == 1
    assert "there is no space shed; the spaces are:" in missing.stderr
    assert sorted(missing.stderr.split()[-2:]) == ["blog", "shop"]
    blog.close()


def test_short_names(httpd: Httpd) -> None:
    """The end of a name is enough if it is that of one space. The whole name
    always is."""
    httpd.directives.append("AppStoreSave Off")
    for group in "/srv/shop (production)", "/srv/old/shop", "/srv/blog":
        httpd.app(group.replace("/", "-").split()[0],
                  f'AppGroupName "{group}"', "AppStore 8M")
    httpd.start()
    wait_until(lambda: httpd.ctl("store").stdout.count("MB,") == 3,
               "there are three spaces")

    def keys(name: str) -> tuple[int, str]:
        done = httpd.ctl("store", "keys", name)
        return done.returncode, done.stderr.partition(":")[2]

    for name in "blog", "/srv/shop", "old/shop", "/srv/shop (production)":
        # A space is shown a moment before its socket is there.
        wait_until(lambda: keys(name) == (0, ""), name)
    several = " there is more than one space shop:\n"
    status, text = keys("shop")
    assert status == 1 and text.startswith(several)
    assert sorted(text[len(several):].splitlines()) == [
        "  /srv/blog", "  /srv/old/shop", "  /srv/shop (production)"]
    assert keys("hop")[1].startswith(" there is no space hop; ")


def test_a_space_that_is_gone(httpd: Httpd) -> None:
    """Nobody means it any more, and the status does not show it."""
    httpd.directives.append("AppStoreSave Off")
    for group in "/srv/shop", "/old/shop":
        httpd.app(group.replace("/", "-"), f"AppGroupName {group}",
                  "AppStore 8M")
    httpd.start()
    wait_until(lambda: httpd.ctl("store").stdout.count("MB,") == 2,
               "there are two spaces")
    assert httpd.ctl("store", "keys", "shop").returncode == 1
    app = httpd.apps.pop()
    httpd.graceful()
    wait_until(lambda: httpd.ctl("store", "keys", "shop").returncode == 0,
               "the other space is gone")
    httpd.apps.append(app)
    httpd.graceful()
    wait_until(lambda: httpd.ctl("store").stdout.count("MB,") == 2,
               "it is back")


def test_a_link_in_place_of_a_socket(httpd: Httpd, shop: Space) -> None:
    """A store that was compromised leads apppoolctl, which runs as root, to no
    other program."""
    path, kept = Path(shop.path), Path(shop.path + ".kept")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(httpd.dir / "other"))
        other.listen()
        other.setblocking(False)
        path.rename(kept)
        path.symlink_to(httpd.dir / "other")
        refused = httpd.ctl("store", "flush", "shop")
        path.unlink()
        os.link(httpd.dir / "other", path)
        refused_too = httpd.ctl("store", "keys", "shop")
        kept.replace(path)
        with pytest.raises(BlockingIOError):
            other.accept()
    (httpd.dir / "other").unlink()
    for done in (refused, refused_too):
        assert (done.returncode, done.stdout) == (1, "")
        assert "there is no space shop: " in done.stderr
    assert httpd.ctl("store", "keys", "shop").returncode == 0


def test_other_users(httpd: Httpd, shop: Space) -> None:
    """They see nothing and change nothing."""
    httpd.log.expect(sentences.STORE_REFUSES)
    for words in (["keys", "shop"], ["flush", "shop"], ["status"], ["top"]):
        done = as_user(httpd, "nobody", "store", *words)
        assert done.returncode != 0, words
        assert done.stdout == "" and done.stderr != "", words
    assert shop.get("a%b") == "y"


def test_usage(httpd: Httpd, shop: Space) -> None:
    for words in (["keys"], ["flush"], ["nothing"], ["status", "shop"],
                  ["ready", "shop"], ["ready", "-n", "1"],
                  ["flush", "shop", "a"], ["keys", "shop", "a", "b"],
                  ["keys", "shop", "-n", "1"], ["status", "-s", "1"]):
        done = httpd.ctl("store", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("apppoolctl: "), words
    for words in (["once"], ["once", "a", "--every", "1", "--", "true"]):
        done = httpd.ctl("store", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert 'doc/store.md, "A command on one host"' in done.stderr
    assert complete(httpd, "store", "fl") == ["flush"]
    assert complete(httpd, "store", "keys", "") == ["blog", "shop"]


def test_the_end_of_a_name_among_many(httpd: Httpd) -> None:
    """No other space is taken for it, above all not by flush."""
    httpd.directives.append("AppStoreSave Off")
    names = [f"app{n}" for n in range(7)]
    for name in names:
        httpd.app(name, "AppStore 8M")
    httpd.start()
    for name in names:
        space = Space(httpd, name)
        space.set(f"of-{name}", "1")
        space.close()
    for name in names:
        assert httpd.ctl("store", "keys", name).stdout.split()[-1] == \
            f"of-{name}"
    assert httpd.ctl("store", "flush", names[0]).returncode == 0
    assert httpd.ctl("store", "keys", names[0]).stdout == ""
    for name in names[1:]:
        assert f"of-{name}" in httpd.ctl("store", "keys", name).stdout
