# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd -t names what the first request would run into: files, users, and
numbers that mean something else. These are warnings, because a site may be
configured before it is deployed. No httpd is started."""
import os
from typing import Callable

import pytest

from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

OWNER = 2  # bin: it is not httpd's user


def nothing(app: App) -> None:
    """The site is complete."""


def close_home(app: App) -> None:
    """As adduser makes a home."""
    app.public.chmod(0o700)
    os.chown(app.public, OWNER, OWNER)


def write_env(app: App) -> None:
    (app.root / "env").write_text("A=b\n")
    (app.root / "env").chmod(0o666)


def add_file(name: str) -> Callable[[App], None]:
    def add(app: App) -> None:
        (app.root / name).parent.mkdir(exist_ok=True)
        (app.root / name).touch()
    return add


RUN = "/bin/true"
EACH = "each process of the pool starts "

# (what is prepared, AppCommand, other directives, what is said; "": nothing)
ROWS: list[tuple[Callable[[App], None], str | None, list[str], str]] = [
    (nothing, None, [], "there is nothing to run: none of these files exists: "
     "Procfile, config.ru, "),
    (add_file("app.py"), None, [], "there is nothing to run: app.py has no "
     "application that its text shows; none of these files exists: "),
    (add_file("wsgi.py"), None, [], ""),
    (add_file("site/wsgi.py"), None, [], "there is nothing to run: "
     "site/wsgi.py needs a manage.py in AppRoot; none of these files exists: "),
    (add_file("wsgi.py"), None, ["AppProtocol fcgi"],
     "there is nothing to run: none of these files exists: Procfile, *.fcgi, "
     "index.php, public/index.php; wsgi.py is for another AppProtocol"),
    (nothing, RUN, ["AppEnvFile {root}/env"],
     "AppEnvFile {root}/env cannot be used: No such file or directory"),
    (write_env, RUN, ["AppEnvFile {root}/env"],
     "AppEnvFile {root}/env may be written by others than its owner "
     "(mode 666)"),
    (nothing, RUN, ["AppEnvFile {root}"],
     "AppEnvFile {root} is not a plain file"),
    (nothing, RUN, ["AppLog {root}/no/app.log"],
     "the directory of AppLog {root}/no/app.log cannot be used: No such file "
     "or directory"),
    (nothing, RUN, ["AppLog {root}"], "AppLog {root} is a directory"),
    (nothing, RUN, ["AppLog {root}/app.log"], ""),
    (nothing, RUN, ["AppLog '|/bin/cat'"], ""),
    (close_home, RUN, [], "DocumentRoot {root}/public: all requests get 403, "
     "because the user of httpd, www-data, may not enter {root}/public: "),
    (nothing, "gunicorn --workers 4 wsgi", [], EACH + "4 processes of its own "
     "(--workers): leave --workers out"),
    (nothing, "gunicorn --workers 4 wsgi", ["AppConcurrency 1"],
     EACH + "4 processes of its own (--workers), and gets 1 request at a time "
     "(AppConcurrency): "),
    (nothing, "sh -c 'exec venv/bin/gunicorn -w4 wsgi'", [], EACH + "4"),
    (nothing, "bundle exec puma --workers=2", [], EACH + "2"),
    (nothing, "puma -t 5:5", ["AppSetEnv WEB_CONCURRENCY 3"],
     EACH + "3 processes of its own (WEB_CONCURRENCY)"),
    (nothing, "uwsgi -p 8", ["AppConcurrency 4"], EACH + "8 processes of its "
     "own (--processes), and gets 4 requests at a time"),
    (nothing, "uwsgi -p 8", ["AppConcurrency 8"], ""),
    (nothing, "gunicorn --workers 1 wsgi", [], ""),
    (nothing, "gunicorn --workers $N wsgi", [], ""),
    (nothing, "gunicorn wsgi --worker-class gthread", [], ""),
    (nothing, "node server.js --workers 4", [], ""),
]


def test_said(httpd: Httpd) -> None:
    """One sentence with the place of AppRoot, and nothing else."""
    for n, ((prepare, command, directives, said), case) in enumerate(
            cases(ROWS)):
        httpd.apps.clear()
        app = httpd.app(f"site{n}", command=command)
        os.chown(app.root, OWNER, OWNER)
        app.directives = [one.format(root=app.root) for one in directives]
        prepare(app)
        done = httpd.test()
        with case:
            assert done.returncode == 0, done.stdout
            lines = [line for line in done.stdout.splitlines()
                     if "apppool: " in line]
            if said:
                assert len(lines) == 1
                assert f"apppool: {app.root} (line " in lines[0]
                assert said.format(root=app.root) in lines[0]
            else:
                assert not lines


def test_closed_home(httpd: Httpd) -> None:
    """The directory above DocumentRoot that is closed is named, and not one
    that groups of httpd's user may enter."""
    app = httpd.app("shop", command=RUN)
    home = httpd.dir / "home"
    app.root = app.public = home / "shop"
    app.root.mkdir(parents=True)
    os.chown(app.root, OWNER, OWNER)
    home.chmod(0o700)
    assert f"may not enter {home}: " in httpd.test().stdout
    home.chmod(0o710)
    os.chown(home, 0, 33)
    assert "may not enter" not in httpd.test().stdout


def test_memory_limit_without_unit(httpd: Httpd) -> None:
    """Passenger's limit is in megabytes."""
    app = httpd.app("shop", command=RUN)
    for (limit, good), case in cases([
            ("500", False), ("1048575", False), ("1048576", True),
            ("0", True), ("512K", True), ("500M", True)]):
        app.directives = [f"AppMemoryLimit {limit}"]
        done = httpd.test()
        with case:
            assert (done.returncode == 0) == good, done.stdout
            if not good:
                assert f'AppMemoryLimit: "{limit}" is a number of bytes, and ' \
                    f"less than any process uses: {limit}M would be " \
                    "megabytes" in done.stdout


def test_no_room(httpd: Httpd) -> None:
    """The directives are said that AppMaxLongLived needs, once, for the
    application for which most is written. The default says nothing."""
    httpd.directives += [
        "ServerLimit 6", "ThreadsPerChild 25", "MaxRequestWorkers 150",
        "MinSpareThreads 25", "MaxSpareThreads 75", "AsyncRequestWorkerFactor 2"]
    app = httpd.app("shop", command=RUN)
    few = httpd.app("few", "AppMaxLongLived 300", command=RUN)
    httpd.app("php", "AppMaxLongLived 5000", "AppProtocol fcgi", command=RUN)
    for one in httpd.apps:
        os.chown(one.root, OWNER, OWNER)
    wide = ["AsyncRequestWorkerFactor 27", "StartServers 6",
            "MaxSpareThreads 150"]
    rows: list[tuple[list[str], list[str], str]] = [
        (["AppMaxLongLived 1000"], [], "AsyncRequestWorkerFactor 27, "
         "StartServers 6, MaxSpareThreads 150, and let each child of httpd have "
         "2672 files"),
        ([], [], "AsyncRequestWorkerFactor 8, "),
        (["AppMaxLongLived 10000"], [], "AsyncRequestWorkerFactor 267, "),
        (["AppMaxLongLived 150"], [], "AsyncRequestWorkerFactor 8, "),
        ([], wide, ""),
        (["AppMaxLongLived 4000"], wide, "AsyncRequestWorkerFactor 107, "),
    ]
    for (own, more, said), case in cases(rows):
        app.directives = own
        before = list(httpd.directives)
        httpd.directives += more
        lines = [line for line in httpd.test().stdout.splitlines()
                 if "apppool: " in line]
        httpd.directives = before
        with case:
            assert len(lines) == (said != ""), lines
            assert all(said in line for line in lines)
            names = few if own in ([], ["AppMaxLongLived 150"]) else app
            assert all(f"apppool: {names.root} (line " in line
                       for line in lines)


def test_http2(httpd: Httpd) -> None:
    """Its event streams hold a worker each. It is said where somebody counts
    on many connections, and where HTTP/2 is offered."""
    httpd.directives += ["ServerLimit 1", "ThreadsPerChild 25",
                         "MaxRequestWorkers 25", "MaxSpareThreads 75",
                         "AsyncRequestWorkerFactor 40"]
    if httpd.mpm == "event":
        httpd.modules.append("http2")
    app = httpd.app("shop", command=RUN)
    os.chown(app.root, OWNER, OWNER)
    many, h2 = "AppMaxLongLived 300", "Protocols h2 http/1.1"
    rows = [([many, h2], httpd.mpm == "event"), ([many], False), ([h2], False),
            ([many, "Protocols h2c http/1.1"], False)]
    for (own, said), case in cases(rows):
        app.directives = own
        with case:
            assert ("each of these holds a worker, and counts for "
                    "AppMaxLongLived" in httpd.test().stdout) == said


def test_once_for_many(httpd: Httpd) -> None:
    """A warning that is true for 2,000 virtual hosts is printed once."""
    httpd.directives += ["AppMaxQueue 0", "MaxInstances 9",
                         "<Directory />", "Require all denied",
                         "</Directory>"]
    for n in range(2000):
        app = App(f"site{n}", httpd.dir / f"site{n}", (), RUN, None)
        app.public.mkdir(parents=True)
        os.chown(app.root, OWNER, OWNER)
        httpd.apps.append(app)
    lines = [line for line in httpd.test().stdout.splitlines()
             if "apppool: " in line]
    first = f"{httpd.apps[0].root} (line "
    assert len(lines) == 3
    assert all(first in line for line in lines)
    denied, *others = lines
    assert f"all requests below {httpd.apps[0].public} get 403" in denied
    assert denied.endswith("; the same is so for 1999 more applications")
    assert all(" and 1999 other applications: " in line for line in others)
    assert "AppMaxQueue 0 is no limit: " in "".join(others)
    assert "MaxInstances 9 is above MaxPoolSize 6" in "".join(others)


def test_ten_of_many(httpd: Httpd) -> None:
    """The first AppRoots that are missing are named, and the others counted."""
    for n in range(12):
        httpd.apps.append(App(f"site{n}", httpd.dir / f"no{n}", (), RUN, None))
    lines = [line for line in httpd.test().stdout.splitlines()
             if "cannot be used: No such file" in line]
    assert len(lines) == 10
    for (n, line), case in cases(list(enumerate(lines))):
        with case:
            assert f"AppRoot {httpd.dir}/no{n} (line " in line
            assert line.endswith("for 2 more applications") == (n == 9)
