# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of tests/bench/preload: an application, and what a template has to
gain for it. Each is made twice, to be executed and to be forked. AppConcurrency
is so small that CLIENTS need all of the processes."""
import shutil
from typing import Callable, NamedTuple

from harness import template
from harness.config import App
from harness.httpd import Httpd
from harness.places import APPS
from test_django_admin import append, make_project
from test_redmine import redmine

# More than there are processes, so that none of them is idle.
CLIENTS = 8


class Row(NamedTuple):
    name: str
    make: Callable[[Httpd, str], App]  # of this name; in a directory of its own
    path: str  # of the requests
    directives: tuple[str, ...] = ()
    memory: float = 0.75  # at most, of what the executed processes have
    start: float = 0.5
    first: float = 1.1
    request: float = 1.2


def django(httpd: Httpd, name: str) -> App:
    app = httpd.app(name, command=None)
    make_project(app.root)
    append(app.root / "shop/settings.py", 'ALLOWED_HOSTS = ["*"]\n')
    return app


def django_asgi(httpd: Httpd, name: str) -> App:
    app = django(httpd, name)
    (app.root / "asgi.py").write_text("from shop.asgi import application\n")
    return app


def redmine_of(httpd: Httpd, name: str) -> App:
    app = redmine(httpd, place=httpd.dir / f"debian-{name}")
    app.name = name
    return app


def small(httpd: Httpd, name: str) -> App:
    app = httpd.app(name, command=None)
    shutil.copy(APPS / "wsgi" / "forked.py", app.root / "wsgi.py")
    template.deploy(app, "1")
    return app


LOGIN = "/admin/login/"
WARM = f"AppReady {LOGIN}"

ROWS = [
    Row("Django, the loader for WSGI", django, LOGIN, (WARM,), 0.65, 0.35),
    Row("Django, gunicorn", django, LOGIN, ("AppConcurrency 2",), 0.65, 0.35),
    Row("Django, gunicorn, warm", django, LOGIN,
        ("AppConcurrency 2", WARM), 0.6, 0.35),
    Row("Django, uvicorn", django_asgi, LOGIN, ("AppConcurrency 2",),
        0.75, 0.5),
    Row("Redmine", redmine_of, "/login", (), 0.69, 0.1),
    Row("Redmine, warm", redmine_of, "/login", ("AppReady /login",), 0.6, 0.06),
]
