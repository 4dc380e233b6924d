# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's Redmine, with SQLite: an administrator logs in, makes a project,
uploads a file and downloads it, and a new version is deployed under load."""
import re
import secrets
from pathlib import Path
from typing import Optional

import pytest

from harness import packaged, template
from harness.config import App, SLOW_START
from harness.deploy import restart_under_load
from harness.httpd import Httpd, USER
from harness.tls import TlsHost
from harness.visitor import Page, Visitor

DATABASE = """
production:
  adapter: sqlite3
  database: instances/default/db/redmine.sqlite3
  timeout: 40000
"""


def make_redmine(place: Path) -> None:
    """What its package does when it is installed."""
    packaged.unpacked("redmine", place)
    root, site = place / "usr/share/redmine", place / "var/lib/redmine/default"
    for name in ("db", "files", "log", "tmp", "public/plugin_assets"):
        (site / name).mkdir(parents=True)
    config = place / "etc/redmine/default"
    config.mkdir()
    (site / "config").symlink_to("/etc/redmine/default")
    (config / "database.yml").write_text(DATABASE)
    (config / "secret_key.txt").write_text(secrets.token_hex(16))
    # The Gemfile reads database.yml in /usr/share.
    (root / "Gemfile.local").write_text('gem "sqlite3"\n')
    packaged.relocate(place)
    packaged.run(root, "bundle", "exec", "rake", "db:migrate",
                 "redmine:load_default_data", SCHEMA="/dev/null",
                 REDMINE_LANG="en", HOME=str(place))
    # Debian writes it again when a library is replaced. So does Bundler.
    (site.parent / "Gemfile.lock").unlink()


def redmine(httpd: Httpd, location: Optional[str] = None,
            place: Optional[Path] = None) -> App:
    """What the administrator does: code of root, data of the user."""
    place = place or httpd.dir / "debian"
    packaged.kept("redmine", make_redmine, place)
    packaged.run(place, "chown", "-R", USER, "var/lib/redmine")
    app = App("redmine", place / "usr/share/redmine",
              [f"AppUser {USER}", "MaxInstances 2", *SLOW_START], None, location)
    httpd.apps.append(app)
    return app


def upload(admin: Visitor, page: Page, name: str, data: bytes) -> Page:
    """As the script of the page does it: first the bytes, and then the form
    with the token for these bytes."""
    csrf = re.search('name="csrf-token" content="([^"]+)"', page.text)
    assert csrf
    script = admin.post(f"/uploads.js?attachment_id=1&filename={name}", data,
                        Content_Type="application/octet-stream",
                        X_CSRF_Token=csrf[1])
    token = re.search(r"val\('(\d+\.[0-9a-f]+)'\)", script.text)
    assert token, script.text
    return admin.submit(page, **{"attachments[dummy][file]": ("", b""),
                                 "attachments[1][filename]": name,
                                 "attachments[1][token]": token[1]})


def log_in(admin: Visitor) -> None:
    wrong = admin.submit(admin.get("/login"), username="admin",
                         password="a guess")
    assert "Invalid user or password" in wrong.text
    first = admin.submit(wrong, username="admin", password="admin")
    assert first.url.endswith("/my/password")
    account = admin.submit(first, password="admin", new_password="a secret",
                           new_password_confirmation="a secret")
    assert "Password was successfully updated" in account.text


def file_a_plan(admin: Visitor) -> tuple[str, bytes]:
    """Path and bytes of a file in a new project called bridge"""
    project = admin.submit(admin.get("/projects/new"), **{
        "project[name]": "Bridge", "project[identifier]": "bridge"})
    assert project.url.endswith("/projects/bridge/settings")
    data = secrets.token_bytes(3 << 20)
    files = upload(admin, admin.get("/projects/bridge/files/new"),
                   "plan.bin", data)
    path = "/attachments/download/1/plan.bin"
    assert f'"{admin.mount}{path}"' in files.text
    assert admin.get(path).body == data
    return path, data


@pytest.mark.in_long("it takes 30 s of CPU time; Django is here, and rack")
@pytest.mark.bound(600)
@pytest.mark.mpms("event")
def test_site(httpd: Httpd) -> None:
    """Over TLS. A template forks the processes of each version."""
    app = redmine(httpd)
    host = TlsHost(httpd, app, f'DocumentRoot "{app.public}"')
    httpd.start()
    admin = Visitor(host.port, "redmine", scheme="https")
    log_in(admin)
    path, data = file_a_plan(admin)
    old = template.ready(httpd, app)
    assert old["forked"] == len(httpd.pids(app))

    def work() -> None:
        assert path in admin.get("/projects/bridge/files").text
        assert admin.get(path).body == data

    restart_under_load(httpd, app, work)
    new = template.ready(httpd, app)
    assert new["pid"] != old["pid"]
    assert int(str(new["forked"])) >= len(httpd.pids(app))
    host.close()


@pytest.mark.in_long("other applications are below a path, too")
@pytest.mark.bound(600)
@pytest.mark.mpms("event")
def test_below_a_path(httpd: Httpd) -> None:
    """The application's own configuration does not mention the path."""
    app = redmine(httpd, "/redmine")
    httpd.modules.append("alias")
    httpd.directives += [f'Alias "/redmine" "{app.public}"']
    httpd.start()
    admin = Visitor(httpd.port, "redmine", "/redmine")
    log_in(admin)
    file_a_plan(admin)
    paths = re.findall(r'(?:href|src|action)="(/[^"]*)"',
                       admin.get("/projects/bridge").text)
    assert paths
    assert [path for path in paths if not path.startswith("/redmine")] == []
    style, = [path for path in paths
              if re.search(r"/application(-\w+)?\.css", path)]
    assert "font-family" in admin.get(style.removeprefix("/redmine")).text
    # httpd serves the files of public. Redmine 6 serves its styles itself.
    assert admin.get("/404.html").headers["ETag"]
