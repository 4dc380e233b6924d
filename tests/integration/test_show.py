# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl show: the settings of an app, and the lines that set them."""
import json
import re
from typing import Any, Optional

import pytest

from harness.httpd import Httpd
from harness.places import TOP
from harness.upgrade import other_build
from harness.users import as_user
from harness.wait import wait_until

MANUAL = TOP / "doc" / "directives.md"

pytestmark = pytest.mark.mpms("event")


def shown(httpd: Httpd, name: str) -> dict[str, list[dict[str, Any]]]:
    response = json.loads(httpd.ctl("--json", "show", name).stdout)
    found: dict[str, list[dict[str, Any]]] = {}
    for setting in response["settings"]:
        found.setdefault(setting["directive"], []).append(setting)
    return found


def line_of(httpd: Httpd, text: str) -> str:
    """The last line of the configuration that matches."""
    file = httpd.dir / "httpd.conf"
    number = max(n for n, line in enumerate(file.read_text().splitlines(), 1)
                 if line.strip() == text)
    return f"line {number} of {file}"


def test_show(httpd: Httpd) -> None:
    """Settings from the main server, from the virtual host, set twice, and not
    set."""
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
    values = {one["value"] for one in got["AppSetEnv"]}
    assert {"A three", "B two"} <= values and "A one" not in values
    for name, value in (("AppStartTimeout", "90s"), ("MinInstances", "0"),
                        ("AppPreStart", "Off"), ("AppRestartMode", "rolling"),
                        ("AppNotify", None), ("AppQueueTimeout", "30s")):
        [one] = got[name]
        assert (one["value"], one["place"]) == (value, None)
    assert "MaxPoolSize" not in got
    assert shown(httpd, "blog")["AppMaxQueue"][0]["value"] == "5"
    lines = httpd.ctl("show", "shop").stdout
    assert re.search(r"^AppMaxQueue +8  \(line \d+ of .*/httpd.conf\)$", lines,
                     re.M)
    assert re.search(r"^AppStartTimeout +90s  \(default\)$", lines, re.M)
    assert re.search(r"^AppNotify +none  \(default\)$", lines, re.M)


def documented() -> dict[str, tuple[str, str]]:
    """Directives of apps, with syntax and default, as in the manual."""
    parts = re.split(r"^## (App\w+|M\w+|PoolIdleTime)$", MANUAL.read_text(),
                     flags=re.M)[1:]
    found = {}
    for name, section in zip(parts[::2], parts[1::2]):
        facts = {key: " ".join(value.split()) for key, value in
                 re.findall(r"^\*\*(\w+):\*\* ((?:.+\n)+?)(?=\*\*|\n)",
                            section, re.M)}
        if "Context" not in facts:
            found[name] = facts["Syntax"], facts["Default"]
    return found


def in_words(syntax: str, default: str) -> Optional[str]:
    """A default of the manual in the words of show."""
    words = re.sub(r" \(.*", "", default).replace("`", "")
    if words == "none":
        return "none" if "|none" in syntax else None
    if words == "0" and " TIME" in syntax:
        return f"{words}s"
    return words


def test_each_default(httpd: Httpd) -> None:
    """An app without any setting has the defaults of the manual."""
    httpd.directives.append("ProxyTimeout 17")
    httpd.app("shop", command=None, location="/shop")
    (httpd.dir / "shop" / "app.py").touch()
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    root = httpd.dir / "shop"
    mode = (httpd.dir / "httpd.conf").read_text()
    workers = re.search(r"^MaxRequestWorkers (\d+)", mode, re.M)
    assert workers
    others = {
        "AppRoot": f'"{root}"',
        "AppCommand": "found from the files",
        "AppGroupName": f"{root} (production)",
        "AppUser": "www-data",
        "AppMaxLongLived": str((int(workers[1]) + 1) // 2),
        "AppTimeout": "17s",
        "AppStopSignal": "TERM",
        "AppFriendlyErrors": "Off",
        "AppRestartDir": f"{root}/tmp",
        "AppRestartMode": "rolling",
        "AppRestartCheckInterval": "10ms",
        "AppLog": f"{httpd.dir}/error.log",
        "AppStoreSpace": f"{root} (production)",
    }
    wanted = {name: others.get(name, in_words(*values))
              for name, values in documented().items()}
    assert len(wanted) > 40
    got = {name: values["value"] for name, [values] in shown(httpd, str(root))
           .items()}
    assert got == wanted


def test_jitter_belongs_to_its_number(httpd: Httpd) -> None:
    """MaxRequests of a section is not mixed with that of the section around
    it."""
    httpd.directives.append("MaxRequests 1000 1000")
    app = httpd.app("shop", "MaxRequests 2")
    httpd.start()
    for _ in range(4):
        assert httpd.get("/", "shop").status == 200
    assert shown(httpd, "shop")["MaxRequests"][0]["value"] == "2"
    pids = {line.split()[1] for line in httpd.requests_seen()}
    assert len(pids) == 2, app


def test_app_below_another(httpd: Httpd) -> None:
    """It does not get the command and the variables of the other app."""
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


def test_the_user_of_the_app(httpd: Httpd) -> None:
    """It sees the values for its app. It sees no file of the configuration, no
    command that runs as root, and nothing of another app."""
    httpd.directives += ["AppStopTimeout 7"]
    httpd.app("shop", "AppUser games", "AppMaxQueue 8", "AppSetEnv A one",
              'AppLog "|/bin/cat - hidden"')
    httpd.app("blog", "AppUser games", "AppLog /var/log/blog")
    httpd.app("other", "AppUser irc")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    done = as_user(httpd, "games", "--json", "show", "shop")
    got = {one["directive"]: (one["value"], one["place"])
           for one in json.loads(done.stdout)["settings"]}
    place = "set by the administrator"
    assert got["AppMaxQueue"] == ("8", place)
    assert got["AppStopTimeout"] == ("7", place)
    assert '"value": "A one"' in done.stdout
    assert got["AppLog"] == ("a command", place)
    assert got["AppStartTimeout"] == ("90s", None)
    assert "httpd.conf" not in done.stdout and "hidden" not in done.stdout
    assert re.search(r"^AppLog +/var/log/blog  \(set by",
                     as_user(httpd, "games", "show", "blog").stdout, re.M)
    assert "hidden" in httpd.ctl("show", "shop").stdout
    done = as_user(httpd, "games", "show", "other")
    assert done.returncode == 1
    assert "no app has the name other" in done.stderr


def test_new_directive(httpd: Httpd) -> None:
    """The row of doc/new-directive.md, in another build, is all that a directive
    needs: httpd knows its values, sections inherit it, both sides of the app
    table have it, and show prints it."""
    httpd.libexec = other_build()
    httpd.module = httpd.libexec / "mod_apppool.so"
    httpd.directives.append("AppExample 500ms")
    httpd.app("shop")
    httpd.app("blog", "AppExample 2min")
    wrong = httpd.configure().read_text() + "AppExample 25h\n"
    assert 'AppExample: "25h" is not a time from 0 to 86400s' \
        in httpd.test(wrong).stdout
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    for name, value, us in (("shop", "500ms", 0.5), ("blog", "2min", 120)):
        assert shown(httpd, name)["AppExample"][0]["value"] == value
        table = (httpd.runtime / "table").read_text().splitlines()[1:]
        [app] = [app for app in map(json.loads, table) if app["label"] == name]
        assert app["example_time"] == us
    httpd.directives.remove("AppExample 500ms")
    httpd.graceful()
    wait_until(lambda: shown(httpd, "shop")["AppExample"][0] ==
               {"directive": "AppExample", "value": "7s", "place": None},
               "it is the default")
