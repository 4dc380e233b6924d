# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl detect: how an application would be run. No httpd is needed."""
import json
import os
import shutil

import pytest

from harness.httpd import Httpd


@pytest.mark.mpms("event")
def test_what_would_be_run(httpd: Httpd) -> None:
    """It also says why."""
    root = httpd.program("web")
    said = httpd.ctl("detect", str(root))
    assert said.returncode == 0
    assert f"{root}: config.ru is there\n  AppProtocol http\n  " \
        "AppConcurrency 1\n  " in said.stdout
    (root / "Procfile").write_text("web: ./run \033[2J\n")
    told = json.loads(httpd.ctl("detect", "--json", str(root)).stdout)
    assert told == {"directory": str(root), "protocol": "http",
                    "concurrency": 1,
                    "file": "Procfile", "why": "Procfile has a web: line",
                    "command": "./run ?[2J"}
    nothing = httpd.ctl("detect", str(httpd.dir / "hold"))
    assert nothing.returncode == 1
    assert "files exists: Procfile, config.ru" in nothing.stderr
    missing = httpd.ctl("detect", "/nonexistent")
    assert missing.returncode == 1
    assert "/nonexistent: No such file" in missing.stderr
    for where, why in ((httpd.dir / "hold",
                        "none of these files exists: Procfile, "),
                       ("/nonexistent", "No such file or directory")):
        missing = httpd.ctl("detect", "--json", str(where))
        assert (missing.returncode, missing.stderr) == (1, "")
        told = json.loads(missing.stdout)
        assert told["directory"] == str(where)
        assert told["error"].startswith(why)
    assert httpd.ctl("detect").returncode == 2


@pytest.mark.mpms("event")
def test_it_has_the_owners_rights(httpd: Httpd) -> None:
    """The files of an app may be links to anywhere."""
    root = httpd.dir / "shop"
    root.mkdir()
    (httpd.dir / "secret").write_text("web: secret\n")
    (httpd.dir / "secret").chmod(0o600)
    (root / "Procfile").symlink_to(httpd.dir / "secret")
    assert "web: line" in httpd.ctl("detect", str(root)).stdout
    shutil.chown(root, "www-data")
    assert httpd.ctl("detect", str(root)).returncode == 1


@pytest.mark.mpms("event")
def test_owner_without_an_entry(httpd: Httpd) -> None:
    """If the owner has no entry in the user database, root does not read that
    owner's files as root."""
    root = httpd.dir / "shop"
    root.mkdir()
    (root / "Procfile").write_text("web: true\n")
    os.chown(root, 4711, 4711)
    said = httpd.ctl("detect", str(root))
    assert said.returncode == 1 and said.stdout == ""
    assert "AppUser #4711 GROUP" in said.stderr
