# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Virtual environments of Python: whichever way its command is found, an
application has the Python and the packages of its own one."""
import json
import platform
import re
import subprocess
from pathlib import Path

import pytest

from harness import sentences, template
from harness.config import App
from harness.httpd import Httpd

APP = """
import os
import sys
import only_here

LOADER = os.getpid()
ours = sys.prefix, os.environ["PATH"], os.environ["VIRTUAL_ENV"], only_here.NAME

def application(environ, start_response):
    start_response("200 OK", [])
    return [repr((*ours, os.getpid() != LOADER)).encode()]
"""
# `python` is in no package of Debian that is needed, so it is that of venv/.
LOADER = 'python "$APPPOOL_HELPERS/python/wsgi.py" wsgi'


def make(httpd: Httpd, name: str, where: str, *directives: str) -> App:
    app = httpd.app(name, *directives, command=None)
    (app.root / "wsgi.py").write_text(APP)
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip",
                    app.root / where], check=True)
    package, = (app.root / where).glob("lib/python*/site-packages")
    (package / "only_here.py").write_text(f"NAME = {name!r}\n")
    return app


def first_in_path(place: Path) -> str:
    return f"{place}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:" \
        "/sbin:/bin"


@pytest.mark.mpms("event")
def test_each_way(httpd: Httpd) -> None:
    """Detected, as a template, by a Procfile, and by AppCommand"""
    detected = make(httpd, "detected", "env")
    forked = make(httpd, "forked", ".venv", "AppPreload On")
    procfile = make(httpd, "procfile", "venv")
    (procfile.root / "Procfile").write_text(f"web: {LOADER}\n")
    given = make(httpd, "given", "venv")
    given.command = LOADER
    own = make(httpd, "own", "venv", "AppSetEnv PATH /usr/bin")
    own.command = LOADER.replace("python", "venv/bin/python", 1)
    httpd.start()
    for app, where, path in (
            (detected, "env", None), (forked, ".venv", None),
            (procfile, "venv", None), (given, "venv", None),
            (own, "venv", "/usr/bin")):
        place = app.root / where
        assert httpd.get("/", app.name).text == repr(
            (str(place), path or first_in_path(place), str(place), app.name,
             app is forked)), app.name
    assert template.ready(httpd, forked)["forked"] == 1
    place = procfile.root / "venv"
    told = json.loads(httpd.ctl("detect", "--json", str(procfile.root)).stdout)
    assert told["environment"] == {"PATH": first_in_path(place),
                                   "VIRTUAL_ENV": str(place)}
    said = httpd.ctl("detect", str(forked.root)).stdout
    place = forked.root / ".venv"
    assert f"\n  PATH={first_in_path(place)}\n  VIRTUAL_ENV={place}\n  " \
        ".venv/bin/python " in said
    httpd.check()


PLAIN = """
import sys

def application(environ, start_response):
    start_response("200 OK", [])
    return [sys.prefix.encode()]
"""


def gone(place: Path) -> None:
    """As after an upgrade of the host."""
    for python in (place / "bin").glob("python*"):
        python.unlink()
    (place / "bin" / "python").symlink_to("/usr/bin/python3.1")


def of_another(place: Path, version: str) -> None:
    """It was made for this version. The host has replaced its Python since."""
    made, = (place / "lib").glob("python*")
    config = place / "pyvenv.cfg"
    config.write_text(re.sub(r"(?m)^version = .*$", f"version = {version}",
                             config.read_text()))
    if not version.startswith(made.name.removeprefix("python") + "."):
        made.rename(made.with_name("python3.1"))


@pytest.mark.mpms("event")
def test_broken(httpd: Httpd) -> None:
    """A Python that is gone, or another one, is an error with path and remedy.
    The Python of the host runs nothing without a word."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    on = "AppFriendlyErrors On"
    dead = make(httpd, "dead", "venv", on)
    gone(dead.root / "venv")
    served = make(httpd, "served", ".venv", on)
    gone(served.root / ".venv")
    (served.root / "Procfile").write_text(f"web: {LOADER}\n")
    other = make(httpd, "other", "env", on)
    of_another(other.root / "env", "3.1.9")
    patch = make(httpd, "patch", "venv")
    of_another(patch.root / "venv", platform.python_version() + "9")
    given = make(httpd, "given", "venv")
    gone(given.root / "venv")
    given.command = LOADER.replace("python", "python3", 1)
    conda = make(httpd, "conda", "env")
    gone(conda.root / "env")
    (conda.root / "env" / "pyvenv.cfg").unlink()
    for app in (given, conda):
        (app.root / "wsgi.py").write_text(PLAIN)
    httpd.start()
    for app, where, why in (
            (dead, "venv", "cannot be executed (it is /usr/bin/python3.1: No "
                           "such file or directory)"),
            (served, ".venv", "cannot be executed (it is /usr/bin/python3.1: "),
            (other, "env", "is /usr/bin/python3.")):
        response = httpd.get("/", app.name)
        assert response.status == 503, app.name
        assert f"{where}/bin/python {why}" in response.text, response.text
        assert f"python3 -m venv --clear {where}" in response.text
        told = httpd.ctl("detect", str(app.root))
        assert f"{where}/bin/python {why}" in told.stdout + told.stderr
    assert "packages of Python 3.1," in httpd.get("/", "other").text
    assert "'patch'" in httpd.get("/", "patch").text
    for app in (given, conda):
        assert httpd.get("/", app.name).text == "/usr", app.name
