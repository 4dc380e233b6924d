# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl show: what holds for an app, and which line has said it."""
import json
import re
import subprocess
from typing import Any

import pytest

from harness.httpd import Httpd
from harness.places import CTL
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def shown(httpd: Httpd, name: str) -> dict[str, list[dict[str, Any]]]:
    answer = json.loads(httpd.ctl("--json", "show", name).stdout)
    found: dict[str, list[dict[str, Any]]] = {}
    for setting in answer["settings"]:
        found.setdefault(setting["directive"], []).append(setting)
    return found


def line_of(httpd: Httpd, text: str) -> str:
    """Where it stands, the last time"""
    file = httpd.dir / "httpd.conf"
    number = max(n for n, line in enumerate(file.read_text().splitlines(), 1)
                 if line.strip() == text)
    return f"line {number} of {file}"


def test_show(httpd: Httpd) -> None:
    """Said in the main server, in the virtual host, twice, and not at all"""
    httpd.directives += ["AppStopTimeout 7", "AppMaxQueue 5"]
    app = httpd.app("shop", "AppMaxQueue 6", "AppMaxQueue 8",
                    "AppSetEnv A one", "AppSetEnv B two", "AppSetEnv A three",
                    "AppTimeout 3s")
    httpd.app("blog", location="/blog")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    got = shown(httpd, "shop")
    for name, text in (("AppRoot", f'AppRoot "{app.root}"'),
                       ("AppStopTimeout", "AppStopTimeout 7"),
                       ("AppMaxQueue", "AppMaxQueue 8"),
                       ("AppTimeout", "AppTimeout 3s")):
        [one] = got[name]
        assert one["value"] == text.partition(" ")[2]
        assert one["place"] == line_of(httpd, text)
    said = {one["value"] for one in got["AppSetEnv"]}
    assert {"A three", "B two"} <= said and "A one" not in said
    for name, value in (("AppStartTimeout", "90s"), ("MinInstances", "0"),
                        ("AppPreStart", "Off"), ("AppRestartMode", "rolling"),
                        ("AppNotify", None), ("AppQueueTimeout", None)):
        [one] = got[name]
        assert (one["value"], one["place"]) == (value, None)
    assert "MaxPoolSize" not in got
    assert shown(httpd, "blog")["AppMaxQueue"][0]["value"] == "5"
    lines = httpd.ctl("show", "shop").stdout
    assert re.search(r"^AppMaxQueue +8  \(line \d+ of .*/httpd.conf\)$", lines,
                     re.M)
    assert re.search(r"^AppStartTimeout +90s  \(default\)$", lines, re.M)


def test_app_below_another(httpd: Httpd) -> None:
    """It does not have the other's command and variables"""
    httpd.app("shop", "AppSetEnv OUTER yes", "MaxInstances 3")
    inner = httpd.dir / "inner"
    inner.mkdir()
    httpd.apps[0].directives += [
        '<Location "/inner">', f'AppRoot "{inner}"', "AppGroupName inner",
        "</Location>"]
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    got = shown(httpd, "inner")
    assert [one["place"] for one in got["AppCommand"]] == [None]
    assert [one["value"] for one in got["AppSetEnv"]] == [None]
    assert [one["value"] for one in got["MaxInstances"]] == ["3"]
    assert [one["value"] for one in got["AppRoot"]] == [f'"{inner}"']


def test_who_may(httpd: Httpd) -> None:
    """Root: what stands in the configuration may be secret"""
    httpd.app("shop", "AppUser games")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    done = subprocess.run(
        ["setpriv", "--reuid=games", "--regid=nogroup", "--clear-groups",
         str(CTL), "--dir", str(httpd.runtime), "show", "shop"], text=True,
        capture_output=True, timeout=60)
    assert done.returncode == 1
    assert "only root may ask for show" in done.stderr
