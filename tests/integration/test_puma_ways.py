# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Puma as it is started in all ways, with the config/puma.rb that `rails new`
makes: it takes the socket of the pool, and does not restart itself."""
import pytest

from harness import starts, template
from harness.cases import cases
from harness.config import App, SLOW_START
from harness.httpd import Httpd
from harness.long import lasts
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("what is run does not depend on httpd")

CONFIG = """threads 1, 1
port ENV.fetch("PORT", 3000)
plugin :tmp_restart
"""
# What the plugin that puma has found does, and what has started puma
TELL = """run lambda { |_|
  plugin = defined?(Puma::Plugins) && Puma::Plugins.find("tmp_restart")
  [200, { "content-type" => "text/plain" },
   ["does=#{plugin.instance_methods(false).inspect}\\n" \\
    "program=#{File.basename($0)}\\npid=#{Process.pid}\\n"]]
}
"""
RAILS = """require "rails"
require "action_controller/railtie"
class Shop < Rails::Application
  config.eager_load = false
  config.secret_key_base = "x" * 30
  config.logger = Logger.new($stdout)
end
"""
SINATRA = """require "sinatra"
set :server, "puma"
get("/") { "does=[]\\nprogram=#{File.basename($0)}\\npid=#{Process.pid}\\n" }
"""
# How puma is started: the directives, the web: line of a Procfile, the program
WAYS = {
    "loader": ("AppPreload Off", "", "puma"),
    "template": ("", "", "puma"),
    "notify": ("AppReady notify", "", "puma"),
    "procfile": ("", "puma -C config/puma.rb", "puma"),
    "binds": ("", "puma -b tcp://0.0.0.0:3000 -p 3000", "puma"),
    "bundle": ("", "bundle exec puma -C config/puma.rb", "puma"),
    "rackup": ("", "rackup -s puma -E production -p 3000", "rackup"),
    "rails": ("MinInstances 2", "bin/rails server -p 3000 -b 0.0.0.0", "rails"),
    "sinatra": ("", "ruby app.rb -p 3000 -o 0.0.0.0", "app.rb"),
}


def add(httpd: Httpd, name: str, directive: str, line: str) -> App:
    app = httpd.app(name, directive, "AppRestartMode blocking", command=None)
    files = {"config.ru": TELL, "config/puma.rb": CONFIG}
    if line:
        files["Procfile"] = f"web: {line}\n"
    if name == "bundle":
        files["Gemfile"] = 'gem "puma"\ngem "rack"\n'
    if name == "rails":
        files |= {"config/boot.rb": "", "config/application.rb": RAILS,
                  "config/environment.rb":
                      'require_relative "application"\nShop.initialize!\n',
                  "bin/rails": "#!/usr/bin/env ruby\nAPP_PATH = File.expand_path("
                               '"../config/application", __dir__)\n'
                               'require "rails/commands"\n',
                  "config.ru": 'require_relative "config/environment"\n' + TELL}
    if name == "sinatra":
        files["app.rb"] = SINATRA
    app.put(files)
    return app


def test_ways(httpd: Httpd) -> None:
    """A touch of restart.txt is a restart by the pool alone. Whether it is does not
    depend on what has started puma."""
    httpd.directives += ["MaxPoolSize 20", *SLOW_START]
    for name, (directive, line, _) in WAYS.items():
        add(httpd, name, directive, line)
    httpd.start()
    responses = starts.first(httpd)
    for (name, (_, _, program)), case in cases(WAYS.items()):
        with case:
            one = template.told(responses[name])
            assert (one["does"], one["program"]) == ("[]", program)
    apps = {app.name: app for app in httpd.apps}
    wait_until(lambda: len(httpd.pids(apps["rails"])) == 2,
               "each has its own pid file")
    for name in lasts(("template", "procfile"), tuple(apps)):
        old = template.who(httpd, host=name)["pid"]
        apps[name].touch()
        assert template.who(httpd, host=name)["pid"] != old, name
    assert not template.logged(httpd, "Listening on http"), "nothing but the socket"
    assert not template.logged(httpd, "Restarting")
    httpd.check()
