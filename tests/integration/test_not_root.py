# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An ordinary user starts httpd. Applications run as that user, and that user
owns the pool (doc/directives.md, AppUser)."""
import os
import shutil
import subprocess

import pytest

from harness.httpd import Httpd
from harness.places import CTL
from harness.store import Store

pytestmark = pytest.mark.mpms("event")
OWNER, OTHER = 33, 65534  # www-data, nobody


def become(user: int) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def ctl(httpd: Httpd, user: int, *words: str
        ) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*become(user), str(CTL), "--dir", str(httpd.runtime), *words],
        text=True, capture_output=True, timeout=60)


def owner_of(pid: int) -> int:
    return os.stat(f"/proc/{pid}").st_uid


@pytest.fixture(autouse=True)
def not_root(httpd: Httpd) -> None:
    httpd.wrapper = become(OWNER)
    for place, _, names in os.walk(httpd.dir):
        for name in ("", *names):
            shutil.chown(os.path.join(place, name), OWNER, OWNER)


def test_everything_belongs_to_the_user(httpd: Httpd) -> None:
    """It serves, and its owner may do what otherwise only root may do."""
    app = httpd.app("shop", "MinInstances 1")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    assert {owner_of(one) for one in (
        pid, httpd.pid, httpd.helper("watchdog"), httpd.helper("spawner"),
        *httpd.children())} == {OWNER}
    for words in (("status",), ("check",), ("restart", "shop", "--wait"),
                  ("why", "shop"), ("doctor",)):
        done = ctl(httpd, OWNER, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "unknown" not in done.stdout and "-t finds nothing" in done.stdout
    new, = httpd.pids(app)
    assert new != pid and httpd.get("/pid", "shop").text == str(new)
    assert ctl(httpd, OTHER, "restart", "shop").returncode != 0
    assert httpd.pids(app) == [new]
    httpd.graceful()
    assert httpd.get("/pid", "shop").text == str(new)


def test_no_other_user(httpd: Httpd) -> None:
    """No application runs as another user, and httpd -t says so."""
    httpd.app("shop", "AppUser nobody")
    done = httpd.test()
    assert done.returncode != 0
    assert ('AppUser: "nobody" is not possible: httpd was not started as '
            'root, so applications run as "www-data"') in done.stdout


def test_store(httpd: Httpd) -> None:
    """The store runs as that user, too."""
    httpd.directives.append("AppStoreSave Off")
    store = Store(httpd)
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    started = store.wait_for("start")
    assert started["uid"] == OWNER
    assert not (httpd.runtime / "store.save").is_symlink()
    assert started["table"]["spaces"][0]["uids"] == [OWNER]
    environment = httpd.get("/process", "shop").json()["environment"]
    assert environment["APPPOOL_STORE"].startswith("unix:")
    httpd.stop()
    assert store.wait_for("stop")["spawner"] is False


def test_user_of_the_store(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.directives.append("AppStoreUser games")
    done = httpd.test()
    assert done.returncode != 0
    assert "AppStoreUser: \"games\" is not possible: httpd was not " \
        "started as root" in done.stdout
