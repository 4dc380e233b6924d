# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app of one process over FastCGI or uwsgi, which records its requests:
apps/fcgi.py, apps/uwsgi.py."""
from pathlib import Path

from harness.config import App
from harness.httpd import Httpd


def add(httpd: Httpd, protocol: str, name: str, *directives: str) -> App:
    return httpd.app(name, f"AppProtocol {protocol}", "MaxInstances 1",
                     f"AppSetEnv SEEN {httpd.dir}/hold/seen",
                     f"AppSetEnv GATE {httpd.dir}/hold/gate", *directives,
                     program=f"{protocol}.py")


def app_of(httpd: Httpd, protocol: str, *directives: str) -> App:
    """Start httpd with this app."""
    app = add(httpd, protocol, "shop", *directives)
    httpd.start()
    return app


def seen(httpd: Httpd) -> list[str]:
    """The requests that its apps have got: METHOD and query."""
    file = Path(httpd.dir / "hold" / "seen")
    return file.read_text().splitlines() if file.exists() else []
