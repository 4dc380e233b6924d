# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The owner of AppRoot, if no AppUser names the user that runs the app. No
state of a tenant's files is an error of the configuration: only that app
fails. When the files are mended, the app works again without a reload, if that
is safe."""
import os
import pwd
import shutil
from pathlib import Path
from typing import Any, Callable

import pytest

from harness import sentences
from harness.cases import cases
from harness.config import App
from harness.httpd import USER, Httpd
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

WWW = pwd.getpwnam(USER)


def process(httpd: Httpd, host: str = "shop") -> dict[str, Any]:
    response = httpd.get("/process", host)
    assert response.status == 200
    return response.json()


def hand_back(app: App) -> None:
    shutil.chown(app.root, USER, USER)


def lead(link: Path, to: str) -> None:
    """From now on the link leads there."""
    fresh = link.parent / "fresh"
    fresh.symlink_to(to)
    fresh.rename(link)


def away(app: App) -> None:
    app.root.rename(f"{app.root}.away")


def come_back(app: App) -> None:
    if app.root.is_symlink() or app.root.is_file():
        app.root.unlink()
    Path(f"{app.root}.away").rename(app.root)


def replace(app: App, make: Callable[[Path], object]) -> None:
    away(app)
    make(app.root)


# A state of a tenant's files, the error that it causes, and how it is mended.
STATES: dict[str, tuple[Callable[[App], object], str,
                        Callable[[App], object]]] = {
    "root's": (lambda app: shutil.chown(app.root, 0, 0), "belongs to root",
               hand_back),
    "of a user that was deleted": (
        lambda app: os.chown(app.root, 4711, 4711),
        "belongs to user 4711, which has no entry", hand_back),
    "missing": (away, "cannot be used: No such file", come_back),
    "a file": (lambda app: replace(app, Path.touch), "is not a directory",
               come_back),
    "a link to root's": (
        lambda app: replace(app, lambda path: path.symlink_to("/etc")),
        "belongs to root", come_back),
    "a link to nowhere": (
        lambda app: replace(app, lambda path: path.symlink_to("nowhere")),
        "cannot be used: No such file", come_back),
    "a link to itself": (
        lambda app: replace(app, lambda path: path.symlink_to(path)),
        "cannot be used: Too many levels", come_back),
    "closed": (lambda app: app.root.chmod(0), "may not be entered by",
               lambda app: app.root.chmod(0o755)),
}


def test_no_state_of_files_is_an_error(httpd: Httpd) -> None:
    """httpd starts and reloads. Only these apps do not work, until their files
    are mended."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.directives.append(f"MaxPoolSize {len(STATES) + 1}")
    httpd.app("blog")
    apps = {state: httpd.app(f"shop{n}") for n, state in enumerate(STATES)}
    for state, app in apps.items():
        app.public = httpd.dir / "htdocs"
        STATES[state][0](app)
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    for state, case in cases(apps):
        with case:
            warning, = [line for line in done.stdout.splitlines()
                        if f"{apps[state].root} " in line
                        and STATES[state][1] in line]
            assert "AppRoot" in warning and "line " in warning
    httpd.start()
    for _ in range(2):
        assert httpd.get("/pid", "blog").status == 200
        for state, case in cases(apps):
            with case:
                response = httpd.get("/pid", apps[state].name)
                assert response.status == 503
                assert int(response.headers["Retry-After"]) >= 1
                assert not httpd.pids(apps[state])
        httpd.graceful()
    for state, case in cases(apps):
        app = apps[state]
        with case:
            httpd.log.wait_for(f"{app.name}.* could not be started: .*AppRoot")
            STATES[state][2](app)
            wait_until(lambda: httpd.get("/pid", app.name).status == 200,
                       "it works")
            assert process(httpd, app.name)["uid"] == [WWW.pw_uid] * 3


def test_no_state_of_the_files_below(httpd: Httpd) -> None:
    """The same for restart.txt, its directory, and the program of the app."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", command=None)
    httpd.app("blog")
    (app.root / "tmp").rmdir()
    (app.root / "tmp").symlink_to("tmp")
    (app.root / "Procfile").symlink_to("/dev/zero")
    (app.root / "package.json").write_text('{"scripts": [')
    done = httpd.test()
    assert done.returncode == 0, done.stdout
    httpd.start()
    assert httpd.get("/pid", "shop").status in (502, 503)
    assert httpd.get("/pid", "blog").status == 200
    httpd.graceful()
    assert httpd.get("/pid", "blog").status == 200


def test_root_takes_it_away(httpd: Httpd) -> None:
    """The owner changes while httpd runs. A new process refuses to start, and
    starts again when the owner is back. A reload does not end httpd."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    assert process(httpd)["uid"][0] == WWW.pw_uid
    shutil.chown(app.root, "root", "root")
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
    assert httpd.get("/pid", "shop").status == 503
    httpd.log.wait_for("could not be started: user root, which is to run the "
                       "app of AppRoot .*give the directory to the user")
    assert not httpd.pids(app)
    httpd.graceful()
    httpd.log.wait_for("AppRoot .*belongs to root, and no application runs")
    assert httpd.get("/pid", "blog").status == 200
    assert httpd.get("/pid", "shop").status in (502, 503)
    assert not httpd.pids(app)
    hand_back(app)
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "the right owner is back")


def test_root_gives_it_away(httpd: Httpd) -> None:
    """Another user becomes the owner, and runs the app from the next start on.
    A running process is not replaced because of that: not at once, not by the
    next spawner, and not by a reload."""
    app = httpd.app("shop")
    httpd.start()
    assert process(httpd)["uid"][0] == WWW.pw_uid
    shutil.chown(app.root, "nobody", "nogroup")
    httpd.trace.chmod(0o666)
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
    seen = process(httpd)
    assert seen["uid"][0] == 65534
    # The next spawner does not see this as another configuration.
    kill9(httpd.helper("spawner"))
    httpd.log.wait_for(rf"shop\[{seen['pid']}\] is adopted")
    assert httpd.ctl("check").returncode == 0
    assert process(httpd)["pid"] == seen["pid"]
    httpd.graceful()
    assert httpd.ctl("check").returncode == 0
    assert process(httpd)["pid"] == seen["pid"]
    assert not httpd.log.matching(
        rf"shop\[{seen['pid']}\] will be replaced")


@pytest.mark.parametrize("keeper", ["www-data", "everybody"])
def test_a_link_to_another_users_directory(httpd: Httpd, keeper: str) -> None:
    """AppRoot is a link, and a user other than root can make it lead to
    another user's directory. Nothing of that user is run. A link to another
    directory of the same owner is a deployment."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    yard = httpd.dir / "yard"
    yard.mkdir()
    if keeper == "everybody":
        yard.chmod(0o777)
    else:
        shutil.chown(yard, keeper)
    app = httpd.app("shop", root=yard / "shop")
    app.public = httpd.dir / "htdocs"
    app.root.rename(yard / "first")
    app.root.symlink_to("first")
    other = yard / "victim"
    other.mkdir()
    os.chown(other, 65534, 65534)
    httpd.start()
    assert process(httpd)["cwd"] == str(yard / "first")
    assert process(httpd)["uid"][0] == WWW.pw_uid
    lead(app.root, "victim")
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for(
        "could not be started: AppRoot .* belongs to user 65534 now, .*"
        "or set AppUser")
    assert not httpd.pids(app)
    (yard / "second" / "tmp").mkdir(parents=True)
    shutil.chown(yard / "second", USER, USER)
    lead(app.root, "second")
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "the app is back")
    assert process(httpd)["cwd"] == str(yard / "second")
    # A reload means that the administrator has seen the new owner.
    httpd.trace.chmod(0o666)
    lead(app.root, "victim")
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200
               and process(httpd)["uid"][0] == 65534, "the new owner runs it")


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_root_that_comes_later(httpd: Httpd, mode: int) -> None:
    """AppRoot did not exist when httpd read its configuration, so its owner
    was unknown. If any user may have created it, httpd must read the
    configuration again."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    yard = httpd.dir / "yard"
    yard.mkdir()
    yard.chmod(mode)
    app = httpd.app("shop", root=yard / "shop")
    away(app)
    app.public = httpd.dir / "htdocs"
    httpd.start()
    come_back(app)
    if mode == 0o777:
        assert httpd.get("/pid", "shop").status in (502, 503)
        httpd.log.wait_for("had no owner that could run the app, .*reload")
        httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "the app is there")
