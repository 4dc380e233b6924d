# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppPreload with the template for Rack applications (helpers/ruby)."""
import re
import shutil
import subprocess
from contextlib import suppress
from typing import Optional

import pytest

from harness import procs, sentences, template
from harness.config import App
from harness.httpd import USER, Httpd
from harness.places import APPS, TOP
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

HELPER = TOP / "helpers" / "ruby" / "preload.rb"


@pytest.fixture(autouse=True)
def log(httpd: Httpd) -> None:
    httpd.directives.append("LogLevel apppool:info")


def add(httpd: Httpd, *directives: str, name: str = "shop",
        preload: Optional[str] = None, command: Optional[str] = None) -> App:
    """It is detected, unless there is a command."""
    wanted = [f"AppPreload {preload}"] if preload else []
    app = httpd.app(name, *wanted, *directives, command=command)
    shutil.copytree(APPS / "rack", app.root, dirs_exist_ok=True)
    template.deploy(app, "1")
    return app


def kept(pid: int) -> set[str]:
    """Its descriptors, without those that Ruby's threads use."""
    found = set()
    for fd in procs.Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            if not fd.readlink().name.startswith(("anon_inode", "pipe:")):
                found.add(fd.name)
    return found


def test_forked(httpd: Httpd) -> None:
    """Its variables, session and mark are its own. Hooks and the blocks of
    config/puma.rb run where they have to, and `workers` has no effect. A
    connection to a database is closed before the fork."""
    # Rails 7 writes a journal beside it.
    place = httpd.dir / "data"
    place.mkdir()
    place.chmod(0o777)
    database = place / "shop.sqlite3"
    app = add(httpd, "AppReady /warm%20up?a=b", "AppSetEnv THREAD cleaner",
              f"AppSetEnv DATABASE {database}", "AppSetEnv WORKERS 3",
              "MaxRequests 1")
    database.touch()
    database.chmod(0o666)
    httpd.start()
    one = template.who(httpd)
    is_now = template.ready(httpd, app)
    loader = str(is_now["pid"])
    assert one["forked"] == "1" and one["loader"] == loader
    assert one["pid"] == one["session"]
    assert (one["fork"], one["asked"], one["listen"]) == ("", "", "")
    assert one["notify"] == "", "puma would say there that it is ready"
    assert one["threads"] == "" or "cleaner" not in one["threads"]
    assert one["database"] == "0"
    assert one["mark"] == f"APPPOOL_ID={one['id']}"
    assert re.match(r"puma \d\S+ \[long", one["title"])
    assert one["program"] == "puma", "as without a template"
    assert procs.command(int(loader)).endswith("ruby/preload.rb -t 1:1")
    httpd.log.wait_for(
        rf"shop template\[{loader}\]> apppool: the thread cleaner of the "
        "template will not be in the processes")
    assert one["warm"].split(",") == [f"{loader}@shop/warm%20up?a=b",
                                      f"{one['pid']}@shop/warm%20up?a=b"]
    # It closes those of a fork after the fork, which may serve before.
    wait_until(lambda: kept(int(loader)) == {"0", "1", "2", "3"},
               "the template keeps no descriptor")
    two = template.who(httpd, "/say/hello")
    assert two["pid"] != one["pid"]
    httpd.log.wait_for(rf"shop\[{two['pid']}\]> hello")
    assert one["random"] != two["random"]
    for who in (one, two):
        assert (who["before"], who["after"]) == (loader, who["pid"])
        assert who["puma"] == f"before/{loader},boot/{who['pid']}"
        assert who["read"] == "1", "config/puma.rb is read once"
    httpd.check()


def test_auto(httpd: Httpd) -> None:
    """There is no template where it is of no use, and none for other files.
    Nothing is said about that."""
    for name, *directives in (
            ("one", "MaxInstances 1"), ("off", "AppPreload Off"),
            ("test", "AppEnvironment test"), ("tcp", "AppListen tcp"),
            ("development", "AppEnvironment development")):
        add(httpd, *directives, name=name)
    loader = httpd.app("python", command=None)
    (loader.root / "wsgi.py").write_text(
        'application = lambda environ, start: start("200 OK", []) and [b"x"]')
    httpd.start()
    for app in httpd.apps[:-1]:
        assert template.who(httpd, host=app.name)["forked"] == "0", app.name
    assert httpd.get("/", "python").status == 200
    assert not httpd.log.lines() or not template.logged(httpd, "template")
    assert httpd.group(loader)["template"] is None
    httpd.check()


def test_idle_time_without_a_template(httpd: Httpd) -> None:
    """httpd -t warns where no template can be."""
    app = httpd.app("shop", "AppPreloadIdleTime 9", command=None)
    warning = "AppPreloadIdleTime has no effect"
    assert warning not in httpd.test().stdout
    for off in ("MaxInstances 1", "AppPreload Off", "AppListen tcp",
                "AppProtocol fcgi", "AppEnvironment test"):
        app.directives[1:] = [off]
        done = httpd.test()
        assert done.returncode == 0 and warning in done.stdout, off
    app.directives[1:] = []
    app.command = "/bin/true"
    assert warning in httpd.test().stdout
    app.directives[1:] = ["AppPreload On"]
    assert warning not in httpd.test().stdout


def test_other_files(httpd: Httpd) -> None:
    """The files of the present code decide."""
    app = add(httpd, "AppRestartMode blocking")
    (app.root / "config.ru").rename(app.root / "config.later")
    (app.root / "wsgi.py").write_text(
        'application = lambda environ, start: start("200 OK", []) and [b"x"]')
    httpd.start()
    assert httpd.get("/", "shop").text == "x"
    (app.root / "config.later").rename(app.root / "config.ru")
    app.touch()
    assert template.who(httpd)["forked"] == "1"
    httpd.check()


def test_bundler(httpd: Httpd) -> None:
    """The Gemfile names puma. What it does not name cannot be loaded, in the
    template and without it."""
    for name, way in (("forked", "auto"), ("executed", "Off")):
        app = add(httpd, name=name, preload=way)
        (app.root / "Gemfile").write_text('gem "puma"\ngem "rack"\n')
        config = app.root / "config.ru"
        config.write_text(config.read_text() + """
            begin
              require "redcarpet"
              raise "the Gemfile was not used"
            rescue LoadError
            end""")
        shutil.chown(app.root, USER)
    httpd.start()
    for name, forked in (("forked", "1"), ("executed", "0")):
        assert template.who(httpd, host=name)["forked"] == forked
    assert template.logged(httpd, "starts as .* ruby -rbundler/setup ")
    assert template.logged(httpd, "starts as .* bundle exec puma ")
    httpd.check()


def test_command(httpd: Httpd) -> None:
    """The same command serves without a template. It says itself that it is
    ready, with a template and without."""
    command = 'ruby "$APPPOOL_HELPERS/ruby/preload.rb" -t 1:2'
    for preload, forked in (("Off", "0"), ("On", "1")):
        add(httpd, "AppReady notify", preload=preload, name=preload,
            command=command)
    httpd.start()
    for preload, forked in (("Off", "0"), ("On", "1")):
        assert template.who(httpd, host=preload)["forked"] == forked
    httpd.check()


def test_executed_and_says_ready(httpd: Httpd) -> None:
    """AppReady notify needs no template, where a config.ru is found."""
    add(httpd, "AppReady notify", "MaxInstances 1", name="one")
    add(httpd, "AppReady notify", preload="Off", name="off")
    tcp = add(httpd, "AppReady notify", "AppListen tcp", name="tcp")
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.start()
    for name in ("one", "off"):
        assert template.who(httpd, host=name)["forked"] == "0"
    assert httpd.get("/", "tcp").status == 503
    httpd.log.wait_for("config.ru is there, and the server that runs it does "
                       r"not say READY=1 \(AppReady accept does not need that")
    assert httpd.group(tcp)["start_failures"] == 1
    httpd.check()


def test_memory(httpd: Httpd) -> None:
    template.saves_memory(httpd, lambda preload: add(
        httpd, "MinInstances 4", "AppSetEnv BALLAST 20", name=preload,
        preload=preload))


def test_new_code(httpd: Httpd) -> None:
    """It is loaded by a restart only. Code that does not load is a failed
    start. The exit code of a process is in the log."""
    app = add(httpd, "AppRestartMode blocking")
    httpd.log.expect(template.FOR_NOW, sentences.NOT_STARTED,
                     sentences.START_ERROR, sentences.DIED,
                     sentences.NO_BACKEND, sentences.NO_RESPONSE,
                     r"shop\[\d+\] died: exit code 7")
    httpd.start()
    one = template.who(httpd)
    template.deploy(app, "2")
    httpd.get("/exit/7", "shop")
    httpd.log.wait_for(rf"shop\[{one['pid']}\] died: exit code 7")
    again = template.who(httpd)
    assert (again["version"], again["loader"]) == ("1", one["loader"])
    app.touch()
    two = template.who(httpd)
    assert (two["version"], two["forked"]) == ("2", "1")
    for version, code in ("broken", 1), ("exits", 3):
        template.deploy(app, version)
        app.touch()
        assert httpd.get("/", "shop").status == 502
        for way in "while it loaded", "while it started":
            assert template.logged(httpd, f"it ended with exit code {code} {way}")
    assert template.logged(httpd, "> .*this does not load")


def test_warm_fails(httpd: Httpd) -> None:
    """That alone is no reason not to serve."""
    app = add(httpd, "AppReady /raise", "AppStartTimeout 12")
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.DIED)
    httpd.start()
    httpd.get("/", "shop")
    assert template.ready(httpd, app)
    httpd.log.wait_for(r"> apppool: the template got no response for /raise")
    httpd.log.wait_for(r"template\[\d+\]> .*asked for \(RuntimeError\)")


def test_spawner_killed(httpd: Httpd) -> None:
    """The template ends. Its process serves on."""
    app = add(httpd)
    httpd.log.expect(sentences.SPAWNER_KILLED)
    httpd.start()
    one = template.who(httpd)
    old = int(str(template.ready(httpd, app)["pid"]))
    kill9(httpd.helper("spawner"))
    wait_until(lambda: not procs.alive(old), "it has ended")
    assert template.who(httpd)["pid"] == one["pid"]
    httpd.check()


def test_loggers(httpd: Httpd) -> None:
    template.prints_through_loggers(httpd, add(
        httpd, "AppSetEnv LOGS 1", "AppPreloadIdleTime 200ms"))


@pytest.mark.parametrize("version, words, code, said", [
    ("2", [], 69, "version of the protocol is not known"),
    (None, ["--no-such-option"], 1, "invalid option")])
def test_alone(version: Optional[str], words: list[str], code: int,
               said: str) -> None:
    """Not as a template of the spawner"""
    done = subprocess.run(
        ["ruby", HELPER, *words], cwd="/", capture_output=True, text=True,
        env={"PATH": "/usr/bin", **({"APPPOOL_FORK": version}
                                    if version else {})})
    assert done.returncode == code
    assert said in done.stderr
