# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The layouts of tests/applications: which command is found, and what it
answers with AppRoot alone."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import starts
from harness.config import SLOW_START
from harness.httpd import Httpd, USER
from harness.long import lasts
from harness.places import TOP
from harness.visitor import PATIENCE
from harness.wait import wait_until

sys.path.append(str(TOP / "tests" / "applications"))
import before  # noqa: E402
import layouts  # noqa: E402
import table  # noqa: E402
from table import put  # noqa: E402


def detected(httpd: Httpd, root: Path) -> dict[str, object]:
    return json.loads(httpd.ctl("detect", "--json", str(root)).stdout)


def differ() -> list[layouts.Layout]:
    """Without those that run what an earlier one runs, in the same way: the same
    command for the same framework, or for PHP or a stand-in."""
    return list({(one.command, one.path, *one.directives, "" if one.stands_in
                  or "php-cgi" in one.command else one.of): one
                 for one in reversed(layouts.ALL)}.values())


@pytest.mark.mpms("event")
def test_answers(httpd: Httpd) -> None:
    """One httpd has all of them. A process makes room for the next one."""
    httpd.directives += ["MaxPoolSize 12", *SLOW_START]
    httpd.log.expect("vite is for development")
    chosen = lasts(differ(), layouts.ALL)
    for one in chosen:
        root = httpd.dir / one.name
        put(root, one.files)
        httpd.app(one.name, *(line.replace("ROOT", str(root))
                              for line in one.directives), command=None)
    subprocess.run(["chown", "-R", USER, *(app.root for app in httpd.apps)],
                   check=True)
    httpd.start()
    responses = starts.first(httpd, {one.name: one.path for one in chosen})
    wrong = {name: (got.status, got.text) for name, got in responses.items()
             if (got.status, got.text) != (200, name)}
    assert wrong == {}


@pytest.mark.mpms("event")
def test_forked(httpd: Httpd) -> None:
    """A template names the application in the same way."""
    names = {"flask-app-factory", "flask-mod-wsgi", "fastapi-factory",
             "sinatra-modular"}
    for one in layouts.ALL:
        if one.name in names:
            put(httpd.dir / one.name, one.files)
            httpd.app(one.name, "AppPreload On", *SLOW_START, command=None)
            subprocess.run(["chown", "-R", USER, httpd.apps[-1].root],
                           check=True)
    httpd.start()
    for app in httpd.apps:
        assert httpd.get("/", app.name, timeout=PATIENCE).text == app.name
        (pid,) = httpd.pids(app)
        wait_until(lambda: httpd.group(app)["template"]["state"] == "ready",
                   "a template is ready")
        app.touch()
        wait_until(lambda: httpd.get("/", app.name).text == app.name
                   and pid not in httpd.pids(app), "a forked process serves")


@pytest.mark.mpms("event")
def test_commands(httpd: Httpd) -> None:
    """What is found. What an earlier build found is still found, unless it is
    one of the exceptions, each of which has a reason."""
    found = {}
    for one in layouts.ALL:
        put(httpd.dir / one.name, one.files)
        found[one.name] = detected(httpd, httpd.dir / one.name).get("command")
    assert found == {one.name: one.command for one in layouts.ALL}
    assert len(found) > 100
    changed = {name for name, command in before.COMMANDS.items()
               if found[name] != command}
    assert changed == set(before.CHANGED)


@pytest.mark.mpms("event")
def test_documents(httpd: Httpd) -> None:
    """They have all layouts, and their number: table.py --write."""
    def file_of(one: layouts.Layout) -> str:
        put(httpd.dir / one.name, one.files)
        return str(detected(httpd, httpd.dir / one.name)["file"])

    assert table.wrong(file_of) == []
    assert table.stale() == ""


@pytest.mark.mpms("event")
def test_nothing_is_found(httpd: Httpd) -> None:
    """The error names the nearest file, and what settles it."""
    for name, (files, text) in layouts.NONE.items():
        put(httpd.dir / name, files)
        assert text in detected(httpd, httpd.dir / name).get("error", ""), name
    for name, one in layouts.MISSED.items():
        put(httpd.dir / name, one.files)
        assert f'set AppListen tcp, and AppCommand "{one.command}"' in \
            detected(httpd, httpd.dir / name).get("error", ""), name


@pytest.mark.mpms("event")
def test_candidates(httpd: Httpd) -> None:
    """Each is listed with the reason why it won or lost."""
    put(httpd.dir / "shop",
        {"index.php": "", "app.js": "document.title = 1;\n",
         "main.py": "from fastapi import FastAPI\napp = FastAPI()\n",
         "package.json": '{"scripts": {"start": "webpack --watch"}}'})
    done = httpd.ctl("detect", str(httpd.dir / "shop"))
    for line in ("lost  package.json: its start script (webpack --watch) makes "
                 "files, and serves nothing",
                 "lost  app.js: is a script for a browser",
                 "won   main.py: has an ASGI application, app (FastAPI)",
                 "lost  index.php: main.py comes first"):
        assert f"\n  {line}\n" in done.stdout
    shutil.rmtree(httpd.dir / "shop")
    put(httpd.dir / "shop", {"app.py": "import flask\n"})
    done = httpd.ctl("detect", str(httpd.dir / "shop"))
    assert done.returncode == 1
    assert "\n  lost  app.py: imports Flask, but binds no app" in \
        "\n" + done.stderr


@pytest.mark.mpms("event")
def test_links_lead_nowhere_else(httpd: Httpd) -> None:
    """As root, too, no file is read to which a link leads out of AppRoot."""
    root = httpd.dir / "shop"
    put(root, {"real/Procfile": "web: ./serve\n"})
    (httpd.dir / "secret").write_text("web: ./secret\n")
    (root / "Procfile").symlink_to("real/Procfile")
    assert detected(httpd, root)["command"] == "./serve"
    (root / "Procfile").unlink()
    (root / "Procfile").symlink_to("../secret")
    assert "Procfile is a link that leads out of AppRoot, and is not read" in \
        str(detected(httpd, root)["error"])
