# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications of npm (applications/npm.py) as they are installed, built and
deployed: with AppRoot alone, they take the socket of the pool."""
import json
import re
import subprocess
from pathlib import Path

import pytest

from harness import npm, procs
from harness.config import App, SLOW_START
from harness.httpd import Httpd, USER
from harness.npm import Project
from harness.places import can_mount, mounted
from harness.visitor import PATIENCE, Visitor
import layouts  # in applications/, as npm
from npm import PROJECTS, Way

pytestmark = pytest.mark.in_long("it installs packages of npm")
LOCAL = "127.0.0.1"


def lay_out(httpd: Httpd, made: Path, way: Way) -> App:
    """The application as it is deployed."""
    root = httpd.dir / way.name
    root.mkdir()
    npm.run(f"cp -al {way.copied}", made, ROOT=str(root))
    npm.put(root, way.files)
    subprocess.run(["chown", "-R", USER, root], check=True)
    if way.says:
        httpd.log.expect(way.says)
    # Some keep what they have compiled in /tmp.
    return httpd.app(way.name, f'AppSetEnv TMPDIR "{root}/tmp"',
                     *way.directives, command=None, root=root)


def ports_of(pid: int) -> set[str]:
    """The TCP ports on which it listens."""
    own = procs.sockets(pid)
    lines = [line.split() for name in ("tcp", "tcp6")
             for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return {words[1] for words in lines
            if words[3] == "0A" and f"socket:[{words[9]}]" in own}


def check(httpd: Httpd, app: App, project: Project) -> None:
    home = httpd.get("/", app.name, timeout=PATIENCE)
    assert (home.status, "Hello" in home.text) == (200, True), home.text
    assert httpd.get("/missing", app.name).status == project.missing
    pids = httpd.pids(app)
    assert pids
    if "AppListen tcp" not in app.directives:
        assert not set().union(*map(ports_of, pids))
    if project.who:
        said = httpd.get("/who", app.name).text
        answered = re.fullmatch(r"pid=(\d+)( client=(\S+))?", said)
        assert answered and int(answered[1]) in pids, said
        assert answered[3] in (None, LOCAL)
    if project.form:
        visitor = Visitor(httpd.port, app.name)
        visitor.opener.addheaders = [("Accept", "text/html")]
        page = visitor.submit(visitor.get("/"), name="Ada")
        assert "Ada" in page.text + visitor.get("/").text


def test_stand_ins() -> None:
    """Each command that the short test finds for a stand-in is found here, too."""
    found = [(one.framework, way.command) for one in PROJECTS.values()
             for way in one.ways]
    frameworks = {framework for framework, _ in found}
    assert [one.name for one in layouts.ALL if one.stands_in
            and one.of in frameworks and (one.of, one.command) not in found
            ] == []


@pytest.mark.mpms("event")
@pytest.mark.bound(3000)
@pytest.mark.parametrize("name", list(PROJECTS))
def test_with_approot_alone(httpd: Httpd, name: str) -> None:
    if not can_mount():
        pytest.skip("nothing can be mounted over the node of this machine")
    npm.need_registry()
    project, made = PROJECTS[name], httpd.dir / "made"
    npm.build(project, made)
    httpd.directives += [*SLOW_START]
    for way in project.ways:
        lay_out(httpd, made, way)
    for version in project.nodes:
        httpd.wrapper = mounted(f"mount --bind {npm.node(version)} "
                                "/usr/bin/node")
        httpd.start()
        for way, app in zip(project.ways, httpd.apps):
            found = json.loads(httpd.ctl(
                "detect", "--json", str(app.root)).stdout or "{}")
            assert not way.command or found["command"] == way.command
            check(httpd, app, project)
        httpd.stop()


@pytest.mark.mpms("event")
@pytest.mark.bound(3000)
def test_built_site(httpd: Httpd) -> None:
    """What a front end has built needs no application. It says so."""
    npm.need_registry()
    made = httpd.dir / "made"
    npm.build(PROJECTS["vite"], made)
    done = httpd.ctl("detect", str(made))
    assert "dist/index.html is a built site, which httpd serves without an " \
        "AppRoot" in done.stderr
    httpd.directives += [f"<VirtualHost *:{httpd.port}>", "ServerName shop",
                         f'DocumentRoot "{made}/dist"',
                         "FallbackResource /index.html", "</VirtualHost>"]
    httpd.start()
    for path in "/", "/users/7":
        response = httpd.get(path, "shop")
        assert (response.status, "Hello" in response.text) == (200, True)
