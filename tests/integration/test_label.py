# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The name of an application in the logs of httpd and of the spawner, and for
apppoolctl. It is the same everywhere, and no other application has it."""
import re

import pytest

from harness.errorlog import KILLED
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

# Host, AppRoot, directives, name.
APPS = [
    ("one", "shop/current", [], "shop"),
    ("two", "blog/current", [], "blog"),
    ("three", "alice/wiki", [], "alice/wiki"),
    ("four", "bob/wiki", [], None),
    ("five", "bob/wiki/current", [], None),
    ("six", "cart", [], "cart (production)"),
    ("seven", "cart", ["AppEnvironment staging"], "cart (staging)"),
    ("eight", "x/y", ["AppGroupName named"], "named"),
    ("nine", "z/named", [], "z/named"),
    ("ten", "current", [], None),
]


def test_one_name(httpd: Httpd) -> None:
    httpd.log.expect(*KILLED, r"gave no response: GET /crash")
    httpd.directives.append("MaxPoolSize 20")
    for host, root, directives, _ in APPS:
        place = httpd.dir / "srv" / root
        place.parent.mkdir(parents=True, exist_ok=True)
        httpd.app(host, *directives, root=place)
    httpd.start()
    names = {}
    for host, root, _, name in APPS:
        pid = int(httpd.get("/pid", host).text)
        line = httpd.log.wait_for(rf"\[{pid}\] ready after")[0]
        names[host] = line.split("apppool: ", 1)[1].split(f"[{pid}] ready")[0]
        assert names[host] == name or name is None
        assert httpd.get("/crash", host).status == 502
        assert httpd.log.wait_for(re.escape(f"apppool: {names[host]}[{pid}] "
                                            "gave no response: GET /crash"))
        done = httpd.ctl("restart", names[host])
        assert done.returncode == 0, done.stdout + done.stderr
        assert names[host] in done.stdout
    assert len(set(names.values())) == len(APPS)
