# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The web app of apps/web in several languages, in a virtual host of its own
and below a path of another one."""
import shutil
from dataclasses import dataclass
from typing import Any, Iterator

from harness import sentences
from harness.client import Response
from harness.compiled import put_built
from harness.httpd import Httpd


@dataclass
class Server:
    """How an app server is run."""
    file: str  # of apps/web
    command: str
    protocol: str = "http"
    listen: str = "fd"
    options: tuple[str, ...] = ()  # of the compiler, for a file in C


UWSGI = ("uwsgi --plugin python3 --wsgi-file wsgi.py --need-app "
         "--die-on-term --disable-logging")

LOADER = 'python3 "$APPPOOL_HELPERS/python/wsgi.py"'

SERVERS = {
    "wsgi": Server("wsgi.py", f"{LOADER} wsgi"),
    "wsgi-unix": Server("wsgi.py", f"{LOADER} --listen %s wsgi", listen="unix"),
    "wsgi-tcp": Server("wsgi.py", f"{LOADER} --listen %s wsgi:application",
                       listen="tcp"),
    "gunicorn": Server("wsgi.py", "gunicorn --threads 1 wsgi"),
    "gunicorn-unix": Server("wsgi.py", "gunicorn -b unix:%s wsgi",
                            listen="unix"),
    "uvicorn": Server("asgi.py", "uvicorn --fd 3 asgi:application"),
    "puma": Server("config.ru", "puma -t 1:1 "
                   "--bind-to-activated-sockets only"),
    "node": Server("app.js", "node app.js"),
    "node-unix": Server("app.js", "node app.js", listen="unix"),
    "starman": Server("app.psgi", "starman --workers 1 --listen %s app.psgi",
                      listen="unix"),
    "static": Server("static.c", "./web", listen="tcp",
                     options=("-static",)),
    "php": Server("index.php", "PHP_FCGI_CHILDREN=0 php-cgi", "fcgi"),
    "php-tcp": Server("index.php", "PHP_FCGI_CHILDREN=0 php-cgi -b %s", "fcgi",
                      "tcp"),
    "libfcgi": Server("fcgi.c", "./web", "fcgi", options=("-lfcgi",)),
    "uwsgi": Server("wsgi.py", f"{UWSGI} --protocol uwsgi", "uwsgi"),
    "uwsgi-unix": Server("wsgi.py", f"{UWSGI} --socket %s", "uwsgi", "unix"),
    "uwsgi-scgi": Server("wsgi.py", f"{UWSGI} --protocol scgi", "scgi"),
    "uwsgi-fcgi": Server("wsgi.py", f"{UWSGI} --protocol fastcgi", "fcgi"),
    "uwsgi-tcp": Server("wsgi.py", f"{UWSGI} --fastcgi-socket %s", "fcgi",
                        "tcp"),
}

# The log lines when an app is killed during a request.
BROKEN = ("End of script output before headers", "AH00860",
          sentences.CUT_OFF)


@dataclass
class Place:
    """The place where the app is reached."""
    httpd: Httpd
    server: Server
    host: str
    mount: str

    def request(self, method: str, path: str, body: Any = None,
                **more: Any) -> Response:
        return self.httpd.request(method, self.mount + path, self.host, body,
                                  **more)

    def get(self, path: str, **headers: str) -> Response:
        return self.request("GET", path, headers=headers)

    def post(self, body: Any, **more: Any) -> Response:
        return self.request("POST", "/up", body, **more)


def mount(httpd: Httpd, server: Server, *directives: str) -> Iterator[Place]:
    """Add the app, twice."""
    for host, location in (("web", None), ("status", "/mnt/web")):
        root = httpd.dir / f"root{len(location or '')}"
        root.mkdir()
        if server.file.endswith(".c"):
            put_built(root / "web", f"web/{server.file}", *server.options)
        else:
            shutil.copy(httpd.program("web") / server.file, root)
        httpd.app(host, f"AppProtocol {server.protocol}",
                  f"AppListen {server.listen}", "MaxInstances 1",
                  "AppSetEnv GREETING hello",
                  f"AppSetEnv HOLD_DIR {httpd.dir}/hold", *directives,
                  command=server.command, location=location, root=root)
        yield Place(httpd, server, host, location or "")
