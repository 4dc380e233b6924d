# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Virtual environments of Python: whichever way its command is found, an
application has the Python and the packages of its own one."""
import json
import subprocess
from pathlib import Path

import pytest

from harness import template
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
