# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The runtime directory is removed while httpd runs: by an administrator, or
with the package. The next graceful restart makes it again, and the store has
its items."""
import os
import shutil
import signal

import pytest

from harness.config import App
from harness.httpd import SERVES, Httpd
from harness.plain import strip
from harness.procs import alive
from harness.sessions import store_of
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

LOST = "the runtime directory .* was removed while httpd ran"


def running(httpd: Httpd, app: App) -> list[int]:
    return [*httpd.pids(app), httpd.helper("watchdog"),
            httpd.helper("spawner"), httpd.helper("store")]


def start(httpd: Httpd, save: str = "Off") -> App:
    httpd.directives.append(f"AppStoreSave {save}")
    app = httpd.app("shop", "MinInstances 1", "AppStore 16M")
    httpd.start()
    store_of(httpd).set("kept", b"value")
    return app


def check(httpd: Httpd, old: list[int]) -> None:
    assert store_of(httpd).get("kept") == b"value"
    httpd.log.wait_for(LOST)
    assert not any(map(alive, old))
    assert httpd.ctl("status").returncode == 0
    httpd.check()


def test_while_the_pool_runs(httpd: Httpd) -> None:
    """And again. Then httpd has no application any more."""
    httpd.log.expect(LOST)
    app = start(httpd)
    for _ in range(2):
        old = running(httpd, app)
        shutil.rmtree(httpd.runtime)
        httpd.graceful()
        check(httpd, old)
    old = running(httpd, app)
    shutil.rmtree(httpd.runtime)
    httpd.apps.clear()
    httpd.graceful()
    assert not any(map(alive, old))
    assert httpd.ctl("status").returncode == 0
    httpd.stop()
    assert not httpd.runtime.exists()


def unload(httpd: Httpd) -> None:
    strip(httpd.configure())
    before = len(httpd.log.matching(SERVES))
    os.kill(httpd.pid, signal.SIGUSR1)
    wait_until(lambda: len(httpd.log.matching(SERVES)) > before,
               "httpd runs without the module", 40)


def test_while_the_module_is_unloaded(httpd: Httpd) -> None:
    """As by apt remove, and apt install after it."""
    httpd.log.expect(LOST)
    app = start(httpd)
    old = running(httpd, app)
    unload(httpd)
    os.kill(httpd.helper("watchdog"), signal.SIGTERM)
    wait_until(lambda: not any(map(alive, old)), "all have ended", 40)
    shutil.rmtree(httpd.runtime)
    httpd.graceful()
    check(httpd, old)


def test_before_an_upgrade(httpd: Httpd) -> None:
    """Another build of the module comes, and the pool is a new one."""
    httpd.log.expect(LOST)
    other_build()  # takes long
    httpd.libexec = httpd.dir / "lib"
    httpd.module = httpd.libexec / "mod_apppool.so"
    install(httpd.libexec, this_build())
    app = start(httpd, f"{httpd.dir}/saved")
    old = running(httpd, app)
    shutil.rmtree(httpd.runtime)
    install(httpd.libexec,
            {name: other_build() / name for name in this_build()})
    httpd.graceful()
    check(httpd, old)
    httpd.log.wait_for("the old instance in .* has ended")
