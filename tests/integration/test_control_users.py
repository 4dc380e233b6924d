# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl as a user that runs apps: it shows and changes the apps of this
user, and no others."""
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from pwd import getpwnam

import pytest

from harness import sentences
from harness.config import App
from harness.httpd import Httpd
from harness.procs import kill9, threads
from harness.users import as_user
from harness.wait import wait_until
from test_control import FLOOD

pytestmark = pytest.mark.mpms("event")

# Users that every Debian has and that no person uses.
OWNER, NEIGHBOUR, STRANGER = "games", "news", "uucp"
TRIES = 5  # on a slow machine


def own(httpd: Httpd, user: str) -> Path:
    """The socket of the user."""
    return httpd.runtime / "c" / str(getpwnam(user).pw_uid)


def connected(path: Path, user: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    os.seteuid(getpwnam(user).pw_uid)
    try:
        client.connect(str(path))
    finally:
        os.seteuid(0)
    return client


def received(client: socket.socket) -> bytes:
    """The response to `status`; b"" if the spawner does not read it"""
    try:
        client.send(b"status\n")
        return client.recv(65536)
    except (BrokenPipeError, ConnectionResetError):
        return b""


def two_tenants(httpd: Httpd) -> tuple[App, App]:
    shop = httpd.app("shop", f"AppUser {OWNER}")
    blog = httpd.app("blog", f"AppUser {NEIGHBOUR}")
    httpd.start()
    for name in ("shop", "blog"):
        assert httpd.get("/pid", name).status == 200
    return shop, blog


def test_own_app(httpd: Httpd) -> None:
    """The user sees, restarts and starts its own app, and sees no other
    app."""
    shop, blog = two_tenants(httpd)
    old = httpd.pids(shop)
    seen = as_user(httpd, OWNER, "--json", "status")
    assert seen.returncode == 0, seen
    report = json.loads(seen.stdout)
    assert set(report) == {"version", "groups", "configured"}
    [configured] = report["configured"]
    assert configured["app_root"] == str(shop.root)
    assert configured["user"] == OWNER and configured["used"] is True
    assert [g["app_root"] for g in report["groups"]] == [str(shop.root)]
    assert "blog" not in seen.stdout
    done = as_user(httpd, OWNER, "restart", "shop", "--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert not set(httpd.pids(shop)) & set(old)
    uid = getpwnam(OWNER).pw_uid
    httpd.log.wait_for(rf"shop is restarted.*\(apppoolctl, user {uid}\)")
    assert as_user(httpd, OWNER, "start", "shop").returncode == 0
    shown = as_user(httpd, OWNER, "status", str(shop.root))
    assert shown.returncode == 0 and shown.stdout.startswith(str(shop.root))


def test_app_of_another_user(httpd: Httpd) -> None:
    """The refusal is the same as for an app that does not exist"""
    shop, blog = two_tenants(httpd)
    old = httpd.pids(blog)
    for words in (("restart", "blog"), ("start", "blog"), ("status", "blog"),
                  ("restart", str(blog.root))):
        done = as_user(httpd, OWNER, *words)
        nothing = as_user(httpd, OWNER, *words[:1], "nothing")
        assert done.returncode == nothing.returncode == 1
        assert done.stderr.replace(words[1], "nothing") == nothing.stderr
    for words in (("check",), ("drain", "shop"), ("detach", "0123"),
                  ("kill", "0123")):
        done = as_user(httpd, OWNER, *words)
        assert done.returncode == 1
        assert f"only root may use {words[0]}" in done.stderr
    assert httpd.pids(blog) == old


def test_whole_pool(httpd: Httpd) -> None:
    """The refusal for a user of apps says who may see the whole pool, and what
    to use instead."""
    two_tenants(httpd)
    for command in ("top -n 1", "--json top -n 1", "events", "events -f"):
        done = as_user(httpd, OWNER, *command.split())
        assert (done.returncode, done.stdout, done.stderr) == (
            1, "", "apppoolctl: only root and the user of httpd may see the "
            "whole pool; apppoolctl status shows your applications\n")
    for command in ("top -n 1", "events"):
        done = as_user(httpd, "www-data", *command.split())
        assert (done.returncode, done.stderr) == (0, "")


def test_stranger(httpd: Httpd) -> None:
    """The kernel lets no other user connect. That user can neither list the
    sockets nor use the socket of another user"""
    two_tenants(httpd)
    for words in (("status",), ("restart", "shop")):
        done = as_user(httpd, STRANGER, *words)
        assert done.returncode == 1
        assert "only root, the user of httpd, and users that run its applications" \
            in done.stderr
    script = ("import os, socket, sys\n"
              "for path in sys.argv[1:]:\n"
              "    try:\n"
              "        socket.socket(socket.AF_UNIX).connect(path)\n"
              "    except PermissionError:\n"
              "        print('refused')\n"
              "try:\n"
              "    print(os.listdir(os.path.dirname(path)))\n"
              "except PermissionError:\n"
              "    print('refused')\n")
    done = subprocess.run(
        ["setpriv", f"--reuid={STRANGER}", "--regid=nogroup",
         "--clear-groups", "/usr/bin/python3", "-IS", "-c", script,
         str(httpd.runtime / "control.sock"), str(own(httpd, OWNER)),
         str(own(httpd, NEIGHBOUR))], text=True, stdout=subprocess.PIPE,
        check=True, timeout=20)
    assert done.stdout.split() == ["refused"] * 4


def test_owner_opens_the_socket(httpd: Httpd) -> None:
    """The owner makes the socket writable for everybody. Other users still get
    no response."""
    two_tenants(httpd)
    sockets = [own(httpd, OWNER), httpd.runtime / "control.sock"]
    for path in sockets:
        path.chmod(0o666)
        for user in (STRANGER, NEIGHBOUR):
            with connected(path, user) as client:
                assert received(client) == b"", (path, user)
    with connected(sockets[0], OWNER) as client:
        assert b'"groups"' in received(client)
    httpd.check()


def test_root_is_served_first(httpd: Httpd) -> None:
    """Even if users have sent their commands before. On a slow machine the
    others may have their responses before this test looks."""
    shop, blog = two_tenants(httpd)
    known = httpd.group(shop)["processes"][0]["id"]
    for _ in range(TRIES):
        readable = first_response(httpd, known)
        assert "root" in readable
        if readable == ["root"]:
            return
    raise AssertionError("root was never the only one")


def first_response(httpd: Httpd, known: str) -> list[str]:
    """Who has a response when there is one."""
    spawner = httpd.helper("spawner")
    os.kill(spawner, signal.SIGSTOP)
    try:
        wait_until(lambda: threads(spawner) == {"T"}, "it has stopped")
        with connected(own(httpd, OWNER), OWNER) as first, \
                connected(own(httpd, NEIGHBOUR), NEIGHBOUR) as second, \
                connected(httpd.runtime / "control.sock", "root") as root:
            first.send(b"report\t" + known.encode() + b"\n")
            second.send(b"status\n")
            root.send(b"check\n")
            os.kill(spawner, signal.SIGCONT)
            names = {first: "first", second: "second", root: "root"}
            readable, _, _ = select.select(list(names), [], [], 20)
            assert b'"lines"' in first.recv(65536)
            assert b'"groups"' in second.recv(65536)
            return [names[one] for one in readable]
    finally:
        os.kill(spawner, signal.SIGCONT)


def test_user_ends_no_drain(httpd: Httpd) -> None:
    """root has drained the app in order to work on it. Neither command starts
    it."""
    httpd.log.expect("shop is drained")
    shop, _ = two_tenants(httpd)
    assert httpd.ctl("drain", "shop", "--wait").returncode == 0
    for verb in ("restart", "start"):
        done = as_user(httpd, OWNER, verb, "shop")
        assert done.returncode == 1
        assert "shop is drained: root can put it back into service" in done.stderr
    assert httpd.group(shop)["state"] == "drained"
    assert httpd.ctl("restart", "shop").returncode == 0
    assert httpd.get("/pid", "shop").status == 200


def test_user_does_not_end_the_pause_at_once(httpd: Httpd) -> None:
    """An app that fails is tried once a second, however often its user asks
    for it."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken = httpd.dir / "broken"
    broken.touch()
    shop = httpd.app("shop", f"AppUser {OWNER}",
                     f"AppSetEnv BOOT_FAIL_IF {broken}")
    httpd.start()
    wait_until(lambda: as_user(httpd, OWNER, "start", "shop").returncode == 0,
               "it responds")
    refused = wait_until(
        lambda: [done for done in [as_user(httpd, OWNER, "start", "shop")]
                 if done.returncode != 0], "it failed")[0]
    assert "failed to start less than a second ago" in refused.stderr
    began = time.monotonic()
    before = httpd.group(shop)["start_failures"]
    wait_until(lambda: as_user(httpd, OWNER, "start", "shop") and
               httpd.group(shop)["start_failures"] >= before + 3, "it fails")
    assert time.monotonic() - began > 2
    broken.unlink()
    wait_until(lambda: as_user(httpd, OWNER, "start", "shop") and
               httpd.pids(shop), "it starts")


def test_modes(httpd: Httpd) -> None:
    two_tenants(httpd)
    directory = (httpd.runtime / "c").stat()
    assert stat.S_IMODE(directory.st_mode) == 0o711
    assert directory.st_uid == 0
    for user in (OWNER, NEIGHBOUR):
        is_ = own(httpd, user).stat()
        assert stat.S_IMODE(is_.st_mode) == 0o600
        assert is_.st_uid == getpwnam(user).pw_uid


def test_httpds_user(httpd: Httpd) -> None:
    """The user of httpd sees all apps, and may not change them"""
    two_tenants(httpd)
    report = json.loads(as_user(httpd, "www-data", "--json", "status").stdout)
    assert len(report["groups"]) == 2 and "pool" in report
    assert as_user(httpd, "www-data", "status", "shop").returncode == 0
    done = as_user(httpd, "www-data", "restart", "shop")
    assert done.returncode == 1 and "no app has the name shop" in done.stderr


def test_reload(httpd: Httpd) -> None:
    """Another configuration lets other users ask, also after the spawner has
    died."""
    httpd.log.expect("apppool: spawner \\d+ ended")
    two_tenants(httpd)
    httpd.apps.pop()
    httpd.graceful()
    wait_until(lambda: not own(httpd, NEIGHBOUR).exists(), "it is removed")
    assert as_user(httpd, NEIGHBOUR, "status").returncode == 1
    assert as_user(httpd, OWNER, "status").returncode == 0
    before = httpd.helper("spawner")
    kill9(before)
    wait_until(lambda: httpd.spawner_now() not in (0, before), "there is a "
               "new one")
    wait_until(lambda: as_user(httpd, OWNER, "status").returncode == 0,
               "it responds")


def test_root_gives_it_away(httpd: Httpd) -> None:
    """From the next start on, the app belongs to the new owner, without a
    reload. It stays so after the spawner has died, and after a reload."""
    httpd.log.expect("apppool: spawner \\d+ ended")
    app = httpd.app("shop")
    shutil.chown(app.root, OWNER, "nogroup")
    httpd.trace.chmod(0o666)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200

    def belongs_to(user: str, other: str) -> None:
        wait_until(lambda: as_user(httpd, user, "status", "shop").returncode
                   == 0, f"it is that of {user}")
        assert as_user(httpd, other, "status", "shop").returncode != 0
        assert as_user(httpd, other, "restart", "shop").returncode != 0
        wait_until(lambda: not own(httpd, other).exists(), "it is removed")

    belongs_to(OWNER, NEIGHBOUR)
    shutil.chown(app.root, NEIGHBOUR, "nogroup")
    assert httpd.ctl("restart", "shop", "--wait").returncode == 0
    belongs_to(NEIGHBOUR, OWNER)
    assert as_user(httpd, NEIGHBOUR, "restart", "shop").returncode == 0
    before = httpd.helper("spawner")
    kill9(before)
    wait_until(lambda: httpd.spawner_now() not in (0, before), "there is a "
               "new one")
    belongs_to(NEIGHBOUR, OWNER)
    httpd.graceful()
    belongs_to(NEIGHBOUR, OWNER)


def test_flood_of_one_user(httpd: Httpd) -> None:
    """A user has two places, so another user and root still get responses."""
    two_tenants(httpd)
    flood = subprocess.Popen(
        ["setpriv", f"--reuid={OWNER}", "--regid=nogroup", "--clear-groups",
         "/usr/bin/python3", "-IS", "-c", FLOOD, str(own(httpd, OWNER))],
        stdout=subprocess.PIPE)
    try:
        assert flood.stdout is not None
        flood.stdout.readline()
        for _ in range(10):
            # The spawner closes a connection that sends nothing for five
            # seconds.
            with socket.socket(socket.AF_UNIX) as idle:
                idle.connect(str(httpd.runtime / "control.sock"))
                assert as_user(httpd, NEIGHBOUR, "status").returncode == 0
                idle.send(b"check\n")
                assert b'"ok"' in idle.recv(100)
            httpd.check()
        assert flood.poll() is None
    finally:
        flood.kill()
        flood.wait()
