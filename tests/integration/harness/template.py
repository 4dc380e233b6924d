# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Apps that a template forks: the program apps/template.c, and what it
prints."""
import re
import shutil
from pathlib import Path
from typing import Callable, Optional

from harness import procs, registry
from harness.client import Response
from harness.compiled import put_built
from harness.config import App
from harness.httpd import USER, Httpd
from harness.wait import wait_until

READY = r"shop template\[(\d+)\] ready after"
FORKED = r"shop\[(\d+)\] is forked from template\[(\d+)\] after \d+ ms"
ENDS = r"shop template\[(\d+)\] is stopped: "
FOR_NOW = "shop: no template, its command is executed: "
GIVEN_UP = ("shop: no template, its command is executed until its code or its "
            "configuration changes: ")
EXECUTED = f"({FOR_NOW}|{GIVEN_UP})"
KILLED = r"shop template\[\d+\] is killed: "
DIED = r"shop template\[\d+\] died: "


def program(httpd: Httpd) -> Path:
    where = httpd.dir / "template"
    if not where.exists():
        put_built(where, "template.c")
    return where


def add(httpd: Httpd, way: str = "", *directives: str, name: str = "shop",
        preload: str = "On") -> App:
    """An app with a template that goes wrong in this way; "": it is right."""
    app = httpd.app(name, f"AppPreload {preload}", *directives,
                    command=f"{program(httpd)} {way}")
    deploy(app, "1")
    return app


def deploy(app: App, version: str) -> None:
    """New code; the old one stays until a restart."""
    file = app.root / "version.new"
    file.write_text(version + "\n")
    shutil.chown(file, USER, USER)
    file.rename(app.root / "version")


def who(httpd: Httpd, path: str = "/", host: str = "shop") -> dict[str, str]:
    """What the process that serves this request says about itself."""
    return told(httpd.get(path, host))


def told(response: Response) -> dict[str, str]:
    assert response.status == 200, response.text
    return dict(line.split("=", 1) for line in response.text.splitlines())


def logged(httpd: Httpd, pattern: str) -> list[re.Match[str]]:
    """Lines of the error log that contain this."""
    return [found for line in httpd.log.lines()
            if (found := re.search(pattern, line))]


def of(httpd: Httpd, app: App) -> Optional[dict[str, object]]:
    """The template as the status shows it."""
    found = httpd.group(app)["template"]
    assert found is None or isinstance(found, dict)
    return found


def ready(httpd: Httpd, app: App) -> dict[str, object]:
    """The template, once it is ready."""
    def look() -> Optional[dict[str, object]]:
        found = of(httpd, app)
        return found if found and found["state"] == "ready" else None
    return wait_until(look, "the template is ready")


def prints_through_loggers(httpd: Httpd, app: App) -> None:
    """The app was added with LOGS and a short AppPreloadIdleTime. Each line of
    three loggers that it made while it loaded is in the log, and names the
    process, although the template has ended."""
    httpd.start()
    one = who(httpd)
    assert one["forked"] == "1"
    httpd.log.wait_for(ENDS + "nothing was forked for AppPreloadIdleTime")
    wait_until(lambda: registry.templates(httpd) == [], "it is gone")
    texts = [f"text-{n:02}" for n in range(40)]
    for text in texts:
        assert who(httpd, f"/log/{text}")["pid"] == one["pid"]
    pattern = rf"shop\[{one['pid']}\]> (text-\d+) x{{2000}}$"
    httpd.log.wait_for(pattern, 3 * len(texts))
    assert sorted(found[1] for found in logged(httpd, pattern)) == \
        sorted(3 * texts)
    assert of(httpd, app) is None


def memory_of_four(httpd: Httpd, app: App) -> int:
    """KB of its four processes after some requests, and of their template if it
    has one. This starts and stops httpd, and removes the app."""
    httpd.start()
    for _ in range(20):
        who(httpd, host=app.name)
    pids = wait_until(lambda: len(httpd.pids(app)) == 4 and httpd.pids(app),
                      "there are four")
    if "AppPreload On" in app.directives:
        pids = [*pids, int(str(ready(httpd, app)["pid"]))]
    used = procs.pss(pids)
    httpd.stop()
    httpd.apps.remove(app)
    return used


def saves_memory(httpd: Httpd, make: Callable[[str], App]) -> None:
    """Four processes and their template use less than four that have loaded the
    code themselves.
    @param make adds the app, with this AppPreload"""
    executed, forked = (memory_of_four(httpd, make(preload))
                        for preload in ("Off", "On"))
    print(f"{forked} KB forked, {executed} KB executed")
    assert forked < 0.75 * executed, f"{forked} KB, {executed} KB"
