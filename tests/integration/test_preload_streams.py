# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What an application makes of its standard output while it loads: its template
forks in any case, and nothing is printed twice."""
import pytest

from harness import template
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd

pytestmark = pytest.mark.one_mpm("what is run does not depend on httpd")

PYTHON = {
    "closed": "sys.stdout.close(); sys.stderr.close()",
    "none": "sys.stdout = sys.stderr = None",
    "writes": "del Out.flush; sys.stdout = sys.stderr = Out()",
    "fails": "sys.stdout = sys.stderr = Out()",
    "thread": "sys.stderr.close()\n"
              "threading.Thread(target=time.sleep, args=[900], daemon=True)"
              ".start()"}
WSGI = """
import os, sys, threading, time
class Out:
    def write(self, text):
        return len(text)
    def flush(self):
        raise OSError(5, "gone")
print("left", end="")
%s
def application(environ, start):
    start("200 OK", [])
    return [str(os.getpid()).encode()]
"""

RUBY = {
    "fails": "class Out\n"
             "  def write(*texts) = texts.sum(&:size)\n"
             "  def flush = raise(IOError, 'gone')\n"
             "end\n"
             "$stdout = Out.new",
    "again": "AppPool.after_fork do\n"
             "  STDERR.reopen('/dev/stderr', 'w')\n"
             "  Logger.new('/dev/stdout').warn('a logger')\n"
             "end"}
# "again" opens its output a second time, as puma does for this.
PUMA = "stdout_redirect '/dev/stdout', '/dev/stderr', true\n"
RACK = """
require "logger"
$stdout.print "left"
%s
run ->(_) { [200, {}, [$$.to_s]] }
"""


def check(httpd: Httpd, apps: dict[str, App]) -> None:
    """Each template has forked the process that responds."""
    httpd.directives += ["LogLevel apppool:info", "MaxPoolSize 20"]
    httpd.start()
    for (name, app), case in cases(list(apps.items())):
        with case:
            pid = int(httpd.get("/", name).text)
            is_now = template.ready(httpd, app)
            assert (is_now["forked"], httpd.pids(app)) == (1, [pid])
    httpd.stop()
    lines = [line for line in httpd.log.lines() if "> left" in line]
    assert len(lines) == len(apps) and all("template[" in one for one in lines)


def test_python(httpd: Httpd) -> None:
    buffered = 'AppSetEnv PYTHONUNBUFFERED ""'  # so that something is left
    apps = {name: httpd.app(name, "AppPreload On", buffered, command=None)
            for name in PYTHON}
    for name, app in apps.items():
        (app.root / "wsgi.py").write_text(WSGI % PYTHON[name])
    check(httpd, apps)


def test_ruby(httpd: Httpd) -> None:
    apps = {name: httpd.app(name, command=None) for name in RUBY}
    for name, app in apps.items():
        (app.root / "config.ru").write_text(RACK % RUBY[name])
    (apps["again"].root / "config").mkdir()
    (apps["again"].root / "config/puma.rb").write_text(PUMA)
    check(httpd, apps)
    assert [line for line in httpd.log.lines() if "]> W, " in line]
