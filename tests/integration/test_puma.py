# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Rack applications with other versions of puma than the installed one. The tests
with Ruby 3.3 see how puma ends, too."""
import re
import shutil
import subprocess
from pathlib import Path
from typing import Optional

import pytest

from harness import pumas, sentences, template
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd
from harness.places import APPS, TOP

pytestmark = pytest.mark.one_mpm("what is run does not depend on httpd")

# Puma calls the last of these at its end. In a trap, no mutex can be locked.
SETTINGS = """
$stdout.sync = true
log_requests
plugin :tmp_restart
single { $read += 10 } if respond_to?(:single)
on_booted { puts "booted" }
on_stopped { Mutex.new.synchronize { puts "stopped outside of a trap" } }
"""
UNKNOWN = "> apppool: puma 99.0 is not as this loader knows puma"


@pytest.fixture(autouse=True)
def log(httpd: Httpd) -> None:
    httpd.directives.append("LogLevel apppool:info")


def add(httpd: Httpd, name: str, *directives: str,
        command: Optional[str] = None) -> App:
    app = httpd.app(name, "AppRestartMode blocking", *directives,
                    command=command)
    shutil.copytree(APPS / "rack", app.root, dirs_exist_ok=True)
    template.deploy(app, "1")
    return app


@pytest.mark.parametrize("name", list(pumas.RELEASES))
def test_release(httpd: Httpd, name: str) -> None:
    """With a template and without, by puma's own command and by ours, in a
    cluster, with the gem rack and without it. Each process ends outside of a
    trap."""
    root = pumas.release(name)
    path, bare = (pumas.of_release(root, httpd.dir / place, rack)
                  for place, rack in (("all", True), ("bare", False)))
    apps = [add(httpd, "forked", f"AppSetEnv PATH {path}"),
            add(httpd, "notify", f"AppSetEnv PATH {path}", "MaxInstances 1",
                "AppReady notify"),
            add(httpd, "puma", f"AppSetEnv PATH {path}", "AppPreload Off",
                "AppSetEnv RUBYOPT -W1"),
            add(httpd, "bare", f"AppSetEnv PATH {bare}"),
            add(httpd, "alone", f"AppSetEnv PATH {bare}", "AppPreload Off"),
            add(httpd, "asked", f"AppSetEnv PATH {path}",
                command="puma -b tcp://0.0.0.0:3000")]
    for app in apps:
        config = app.root / "config" / "puma.rb"
        config.write_text(config.read_text() + SETTINGS)
    httpd.start()
    for app in apps:
        forked = app.name in ("forked", "bare")
        one = template.who(httpd, host=app.name)
        assert one["forked"] == str(int(forked)), app.name
        assert one["puma"] == (f"before/{one['loader']},boot/{one['pid']}"
                               if forked else ""), app.name
        if forked:
            assert one["mark"] == f"APPPOOL_ID={one['id']}"
        if app.name not in ("puma", "alone", "asked"):
            assert one["read"] in ("1", "11"), app.name
        process = rf" {app.name}\[{one['pid']}\]> "
        httpd.log.wait_for(process + "booted")
        httpd.log.wait_for(process + '.*"GET / HTTP/1.1" 200')
        template.deploy(app, "2")
        app.touch()
        assert template.who(httpd, host=app.name)["version"] == "2"
        httpd.log.wait_for(process + "stopped outside of a trap")
        assert len(template.logged(httpd, process + ".*GET /")) == 1
    assert not template.logged(httpd, "> apppool: "), "Ruby has nothing of its own"
    wrong = r"> (Warning: .*will not|.*clamped)"
    assert not template.logged(httpd, f" (forked|bare).*{wrong}")
    assert template.logged(httpd, f" notify.*{wrong}"), "they do not run there"
    assert template.who(httpd, host="puma")["options"].startswith("-W1 -r")
    httpd.check()


def test_future(httpd: Httpd) -> None:
    """Puma's own command is executed, and the log says why. An error of the
    application is not taken for another puma."""
    gems = f"AppSetEnv GEM_PATH {pumas.of_the_future(httpd.dir / 'gems')}"
    add(httpd, "shop", gems)
    ours = add(httpd, "ours", gems, command=(
        'ruby "$APPPOOL_HELPERS/ruby/preload.rb" -t 1:2 -C own.rb own.ru'))
    (ours.root / "config.ru").rename(ours.root / "own.ru")
    (ours.root / "config" / "puma.rb").rename(ours.root / "own.rb")
    httpd.start()
    for name in ("shop", "ours"):
        assert template.who(httpd, host=name)["forked"] == "0"
        httpd.log.wait_for(rf" {name}.*{UNKNOWN}, so puma's own command is "
                           r"executed: uninitialized constant Puma::Launcher "
                           r"\(NameError\)")
    assert template.who(httpd, host="ours")["read"] == "1"
    httpd.log.wait_for(r" ours\[\d+\]> .*Max threads: 2")
    assert template.logged(httpd, f"{template.EXECUTED}.*exit code 69")
    assert not template.logged(httpd, " could not be started")
    httpd.check()


def test_error_of_the_application(httpd: Httpd) -> None:
    """A NameError of config.ru or of config/puma.rb is no other puma."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     ": no template, its command is executed: ")
    for name, file in (("code", "config.ru"), ("config", "config/puma.rb")):
        app = add(httpd, name)
        (app.root / file).write_text("Puma::Launcher.nonsense_of_the_shop\n")
    httpd.start()
    for name in ("code", "config"):
        assert httpd.get("/", name).status == 502
        assert not template.logged(httpd, "is not as this loader knows puma")
        for way in rf" {name}:.* while it loaded", rf" {name}\[.* while it started":
            httpd.log.wait_for(way + ".*undefined method .nonsense_of_the_shop")


# What another puma might change, and what the loader says then.
CHANGES = (
    ("nothing", "nothing", ""),
    ("Configuration", "Settings", "uninitialized constant Puma::Configuration"),
    ("def clamp", "def settle", "no superclass method .clamp"),
    ("def before_fork", "def before_all", "undefined method .before_fork"),
    ("@file_dsl._load", "DSL.new(@options.file_options, self)._load",
     "its configuration has another place for blocks"),
    ("def on_booted", "def when_booted", "undefined method .on_booted"),
    ("def run\n", "def run(how)\n", "its launcher wants arguments"),
    ("def stop\n", "def end\n", "undefined method .stop"),
)
TRIAL = """
require "{helpers}/template"
require "puma"
begin
  require "{helpers}/trial"
  puts AppPool::Trial.difference
rescue NameError => e
  puts AppPool.short(e)
end
p ENV["NOTIFY_SOCKET"], ENV["RACK_ENV"]
"""


def test_trial(tmp_path: Path) -> None:
    """A trial tells what is different, and leaves the environment alone."""
    ruby = TRIAL.format(helpers=TOP / "helpers" / "ruby" / "apppool")
    for n, ((old, new, said), case) in enumerate(cases(CHANGES)):
        gems = pumas.of_the_future(tmp_path / str(n), old, new)
        with case:
            done = subprocess.run(
                ["ruby", "-e", ruby], text=True, check=True,
                stdout=subprocess.PIPE, env={
                    "PATH": "/usr/bin:/bin", "GEM_PATH": gems,
                    "NOTIFY_SOCKET": "/nonsense", "WEB_CONCURRENCY": "nonsense"})
            # puma itself may warn before that.
            first, *rest = done.stdout.splitlines()[-3:]
            assert re.search(said, first) and bool(said) == bool(first)
            assert rest == ['"/nonsense"', "nil"]


def test_plugin() -> None:
    """The plugin that restarts puma does nothing."""
    done = subprocess.run(
        ["ruby", "-r", TOP / "helpers" / "ruby" / "stop.rb", "-e",
         'require "puma"; require "puma/plugin"\n'
         'p Puma::Plugins.find("tmp_restart").instance_methods(false)'], check=True,
        capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]"]


# What sets a trap, and what it says at the signal. In a trap, no mutex can be locked.
TRAPS = """
def where
  Mutex.new.synchronize { puts "outside" }
rescue ThreadError
  puts "in a trap"
end

class Base
  def go
    Signal.trap("%(signal)s") { where }
    yield self if block_given?
    Process.kill("%(signal)s", $$)
    sleep 0.001 until Thread.list.size == 1
  end
end
module Puma
  class Events
    def %(booted)s(&block) = @block = block
    def fire = @block.call
  end
  class %(launcher)s < Base
    attr_reader :events
    def initialize = @events = Events.new
    def stop = [where, puts("stop")]
  end
  class Cluster
    class Worker < Base
    end
  end
end
Base.new.go
Puma::Cluster::Worker.new.go
Puma::%(launcher)s.new.go
Puma::%(launcher)s.new.go { |one| one.events.fire }
Signal.trap(:TERM, "IGNORE")
Process.kill("TERM", $$)
"""


@pytest.mark.parametrize("launcher, booted, signal", [
    ("Launcher", "on_booted", "TERM"), ("Launcher", "after_booted", "SIGINT"),
    ("Starter", "after_booted", "TERM")])
def test_traps(launcher: str, booted: str, signal: str) -> None:
    """Only the traps of puma change, and that of a launcher only when it serves:
    before that, SIGTERM has to end its start."""
    done = subprocess.run(
        ["ruby", "-r", TOP / "helpers" / "ruby" / "stop.rb", "-e",
         TRAPS % {"launcher": launcher, "booted": booted, "signal": signal}],
        check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["in a trap", "outside", "in a trap",
                                        "outside", "stop"]
