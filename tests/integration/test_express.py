# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application in Express: a visitor logs in, uploads a file through busboy
and downloads it, and a new version is deployed under load."""
import secrets
import shutil
from typing import Optional

import pytest

from harness.config import App
from harness.deploy import restart_under_load
from harness.httpd import Httpd, USER
from harness.visitor import Visitor


def express(httpd: Httpd, location: Optional[str] = None) -> App:
    """Its secrets are in the configuration. Its libraries are from Debian."""
    app = httpd.app("files", 'AppSetEnv PASSWORD "a secret"',
                    f"AppSetEnv SECRET {secrets.token_hex(16)}",
                    "AppSetEnv NODE_PATH /usr/share/nodejs", command=None,
                    location=location)
    shutil.copy(httpd.program("express") / "app.js", app.root)
    (app.root / "files").mkdir()
    shutil.chown(app.root / "files", USER)
    return app


def an_hour_of_filing(httpd: Httpd, app: App, mount: str) -> None:
    ada = Visitor(httpd.port, "files", mount)
    login = ada.get("/")
    assert login.url.endswith("/login")
    again = ada.submit(login, user="ada", password="a guess")
    assert again.url.endswith("/login")
    home = ada.submit(again, user="ada", password="a secret")
    assert "Hello, ada" in home.text

    data = secrets.token_bytes(3 << 20)
    home = ada.submit(home, file=("plan.bin", data))
    assert "<li>plan.bin" in home.text
    response = ada.get("/files/plan.bin")
    assert response.body == data
    assert response.headers["Content-Disposition"] == \
        'attachment; filename="plan.bin"'
    stranger = Visitor(httpd.port, "files", mount)
    assert stranger.get("/files/plan.bin").url.endswith("/login")

    def work() -> None:
        name = f"{secrets.token_hex(8)}.bin"
        home = ada.submit(ada.get("/"), file=(name, data[:100000]))
        assert f"<li>{name}" in home.text
        assert ada.get(f"/files/{name}").body == data[:100000]

    restart_under_load(httpd, app, work)


@pytest.mark.mpms("event")
def test_site(httpd: Httpd) -> None:
    app = express(httpd)
    httpd.start()
    an_hour_of_filing(httpd, app, "")


@pytest.mark.mpms("event")
def test_below_a_path(httpd: Httpd) -> None:
    app = express(httpd, "/papers")
    httpd.start()
    an_hour_of_filing(httpd, app, "/papers")
