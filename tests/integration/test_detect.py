# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl detect: how an application would be run. No httpd is needed."""
import json
import os
import shutil
from threading import Thread

import pytest

from harness.httpd import Httpd


@pytest.mark.mpms("event")
def test_what_would_be_run(httpd: Httpd) -> None:
    """It also says why."""
    root = httpd.program("web")
    done = httpd.ctl("detect", str(root))
    assert done.returncode == 0
    assert f"{root}: config.ru is there\n  AppProtocol http\n  " \
        "AppConcurrency 1\n  " in done.stdout
    assert '\n  AppPreload auto: SCRIPT_NAME="$APPPOOL_BASE_URL" ruby ' \
        in done.stdout
    (root / "Procfile").write_text("web: ./run \033[2J\n")
    found = json.loads(httpd.ctl("detect", "--json", str(root)).stdout)
    assert {"file": "Procfile", "wins": True,
            "why": "has a web: line"} in found.pop("candidates")
    assert found == {"directory": str(root), "protocol": "http",
                     "concurrency": 1, "counted": "",
                     "file": "Procfile", "why": "Procfile has a web: line",
                     "command": "./run ?[2J", "preload": None,
                     "template": None, "environment": {
                         "RUBYOPT": "-r$APPPOOL_HELPERS/ruby/stop.rb"}}
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
        found = json.loads(missing.stdout)
        assert found["directory"] == str(where)
        assert found["error"].startswith(why)
    assert httpd.ctl("detect").returncode == 2


@pytest.mark.mpms("event")
def test_names_do_not_command_the_terminal(httpd: Httpd) -> None:
    """Neither by ESC, nor by U+009B, nor by what is no UTF-8. And JSON is
    JSON."""
    root = os.fsencode(httpd.dir) + b"/\xc2\x9b2J"
    os.mkdir(root)
    for name in (b"caf\xc3\xa9.php", b"\xe9\x1b\xc2\x9b2J\x9b.php"):
        open(root + b"/" + name, "w").close()
    with open(root + b"/Procfile", "wb") as file:
        file.write(b"web: ./a\xc2\x9b2J \xff '\xc3\xa9'")
    said = httpd.ctl("detect", os.fsdecode(root)).stdout
    assert f"{httpd.dir}/??2J: Procfile has" in said
    assert "  ./a??2J ? '\u00e9'\n" in said
    assert "  lost  caf\u00e9.php: Procfile comes first\n" in said
    assert "  lost  ????2J?.php: " in said
    found = json.loads(
        httpd.ctl("detect", "--json", os.fsdecode(root)).stdout)
    assert found["command"] == "./a??2J ? '\u00e9'"
    assert found["directory"] == f"{httpd.dir}/??2J"


@pytest.mark.mpms("event")
def test_node(httpd: Httpd) -> None:
    """Node gets its helper by a variable."""
    root = httpd.dir / "shop"
    root.mkdir()
    (root / "app.js").touch()
    option = '--require "$APPPOOL_HELPERS/node/listen.cjs"'
    said = httpd.ctl("detect", str(root)).stdout
    assert f"\n  NODE_OPTIONS={option}\n  node app.js\n" in said
    found = json.loads(httpd.ctl("detect", "--json", str(root)).stdout)
    assert found["environment"] == {"NODE_OPTIONS": option}


@pytest.mark.mpms("event")
def test_rbenv(httpd: Httpd) -> None:
    """For all users: the application has RBENV_ROOT, by AppEnvFile or
    AppSetEnv."""
    shims = httpd.dir / "rbenv" / "shims"
    shims.mkdir(parents=True)
    (shims / "ruby").symlink_to("/bin/true")
    (httpd.dir / "env").write_text(f"RBENV_ROOT={shims.parent}\n")
    for name, *how in (("set", f"AppSetEnv RBENV_ROOT {shims.parent}"),
                       ("file", f"AppEnvFile {httpd.dir / 'env'}"),
                       ("both", f"AppEnvFile {httpd.dir / 'env'}",
                        "AppSetEnv RBENV_ROOT /nonexistent")):
        app = httpd.app(name, *how)
        (app.root / ".ruby-version").touch()
    httpd.start()
    found = {app.name: json.loads(httpd.get("/process", app.name).text)
             ["environment"]["PATH"].startswith(f"{shims}:")
             for app in httpd.apps}
    assert found == {"set": True, "file": True, "both": False}


@pytest.mark.mpms("event")
def test_it_has_the_owners_rights(httpd: Httpd) -> None:
    """Who asks may have more rights."""
    root = httpd.dir / "shop"
    root.mkdir()
    (root / "Procfile").write_text("web: secret\n")
    (root / "Procfile").chmod(0o600)
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
    os.mkfifo(root / ".nvmrc")
    os.chown(root, 4711, 4711)
    writer = Thread(target=(root / ".nvmrc").write_text, args=[""])
    writer.start()
    done = httpd.ctl("detect", str(root))
    was_opened = not writer.is_alive()
    reader = os.open(root / ".nvmrc", os.O_RDONLY | os.O_NONBLOCK)
    writer.join()
    os.close(reader)
    (root / ".nvmrc").unlink()
    assert not was_opened
    assert done.returncode == 1 and done.stdout == ""
    assert "AppUser #4711 GROUP" in done.stderr
