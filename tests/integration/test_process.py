# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a process of an app is given, and what becomes of its output."""
import os
import pwd
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.httpd import Httpd
from harness.procs import alive
from harness.threads import Threads
from harness.wait import wait_until

# Python itself ignores SIGPIPE and SIGXFSZ; 32 and 33 are libc's own.
NOT_OURS = 1 << 12 | 1 << 24 | 1 << 31 | 1 << 32


def process(httpd: Httpd, host: str = "shop") -> dict[str, Any]:
    answer = httpd.get("/process", host)
    assert answer.status == 200
    return answer.json()


def test_privileges(httpd: Httpd) -> None:
    app = httpd.app("shop", "AppUser nobody nogroup")
    httpd.start()
    seen = process(httpd)
    nobody = pwd.getpwnam("nobody")
    assert seen["uid"] == [nobody.pw_uid] * 3
    assert seen["gid"] == [nobody.pw_gid] * 3
    assert set(seen["groups"]) == {nobody.pw_gid}
    assert seen["no_new_privs"] == "1"
    assert seen["cwd"] == str(app.root)
    assert seen["sid"] == seen["pgid"] == seen["pid"]


def test_clean_process(httpd: Httpd) -> None:
    """Nothing of httpd's or the spawner's comes along."""
    os.environ["APPPOOL_TEST_SECRET"] = "not for apps"
    try:
        httpd.app("shop", "AppSetEnv MINE 'a value'")
        httpd.start()
        seen = process(httpd)
    finally:
        del os.environ["APPPOOL_TEST_SECRET"]
    environment = seen["environment"]
    assert "APPPOOL_TEST_SECRET" not in environment
    assert environment["MINE"] == "a value"
    assert environment["LISTEN_FDS"] == "1"
    assert environment["HOME"] == pwd.getpwnam("www-data").pw_dir
    assert environment["USER"] == "www-data"
    assert environment["PATH"]
    assert set(seen["fds"]) == {"0", "1", "2", "3"}
    assert seen["fds"]["0"] == "/dev/null"
    assert seen["umask"] == 0o022
    assert int(seen["sigmask"], 16) == 0
    assert int(seen["sigignore"], 16) & ~NOT_OURS == 0


def test_environment_name(httpd: Httpd) -> None:
    httpd.app("shop", "AppEnvironment staging")
    httpd.app("blog")
    httpd.start()
    shop = process(httpd)["environment"]
    blog = process(httpd, "blog")["environment"]
    for name in ("APPPOOL_ENV", "RACK_ENV", "RAILS_ENV", "NODE_ENV"):
        assert shop[name] == "staging"
        assert blog[name] == "production"


def test_never_root(httpd: Httpd) -> None:
    """An AppRoot of root's without AppUser is refused, in one way or other"""
    httpd.log.expect("shop", "apppool")
    app = httpd.app("shop")
    httpd.app("blog")
    shutil.chown(app.root, "root", "root")
    checked = httpd.test()
    if checked.returncode == 0:
        httpd.start()
        assert httpd.get("/pid", "shop").status in (502, 503)
        httpd.log.wait_for("root")
        assert httpd.get("/pid", "blog").status == 200
    else:
        assert "AppUser" in checked.stdout


@pytest.mark.mpms("event")
@pytest.mark.parametrize("user", ["root", "#0", "#00", "toor", "#4294967296",
                                  "nobody root", "nobody #0"])
def test_never_root_by_another_name(httpd: Httpd, user: str) -> None:
    """AppUser and its group, by number and by an alias of uid 0"""
    passwd = httpd.dir / "passwd"
    passwd.write_text(Path("/etc/passwd").read_text()
                      + "toor:x:0:0::/root:/bin/sh\n")
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private", "sh",
                     "-c", f'mount --bind {passwd} /etc/passwd && exec "$@"',
                     "sh"]
    httpd.app("shop", f"AppUser {user}")
    checked = httpd.test()
    assert checked.returncode != 0
    assert "AppUser" in checked.stdout and "root" in checked.stdout


@pytest.mark.mpms("event")
def test_never_root_later(httpd: Httpd) -> None:
    """The owner changes while httpd runs: the spawner refuses, too."""
    httpd.log.expect("shop")
    app = httpd.app("shop")
    httpd.start()
    assert process(httpd)["uid"][0] == pwd.getpwnam("www-data").pw_uid
    shutil.chown(app.root, "root", "root")
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for(
        "could not be started: AppRoot .* belongs to root and an app never "
        "runs as root: set AppUser")
    assert not httpd.pids(app)


@pytest.mark.mpms("event")
def test_a_user_without_a_name(httpd: Httpd) -> None:
    """No groups but his own, whatever a user of such a name has"""
    group = httpd.dir / "group"
    passwd = httpd.dir / "passwd"
    passwd.write_text(Path("/etc/passwd").read_text()
                      + "4242:x:4243:65534::/:/bin/sh\n")
    group.write_text(Path("/etc/group").read_text() + "extra:x:4244:4242\n")
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private", "sh",
                     "-c", f"mount --bind {passwd} /etc/passwd && "
                     f'mount --bind {group} /etc/group && exec "$@"', "sh"]
    app = httpd.app("shop", "AppUser 4242")
    httpd.start()
    seen = process(httpd)
    assert seen["uid"] == [4243] * 3
    assert set(seen["groups"]) == {65534, 4244}
    # The same number, but as the AppRoot's owner, after the start.
    app.directives.remove("AppUser 4242")
    httpd.graceful()
    os.chown(app.root, 4242, 4242)
    assert httpd.ctl("restart", "shop", "--blocking").returncode == 0
    wait_until(lambda: process(httpd)["uid"] == [4242] * 3, "the new owner")
    assert process(httpd)["groups"] == [4242]


def test_descriptors_under_load(httpd: Httpd) -> None:
    """A fresh process for each request, while httpd and the spawner have many
    descriptors open: none of them comes along."""
    app = httpd.app("shop", "AppQueueTimeout 60s")
    httpd.app("blog", "MinInstances 2")
    httpd.app("unix", "AppListen unix")
    httpd.directives.append("MaxPoolSize 12")
    httpd.start()
    app.touch("always_restart.txt")
    seen = []
    with Threads(httpd, "blog", 6) as clients:
        for _ in range(12):
            answers = [httpd.get_async("/process", "shop") for _ in range(4)]
            seen += [answer.result(30).json() for answer in answers]
        clients.more(1)
    assert clients.failed == []
    assert len({one["pid"] for one in seen}) > 40
    for one in seen:
        assert set(one["fds"]) == {"0", "1", "2", "3"}, one["fds"]
        assert one["fds"]["1"] == one["fds"]["2"]
        assert one["fds"]["3"].startswith("socket:")
    assert set(process(httpd, "unix")["fds"]) == {"0", "1", "2"}


def test_output_goes_to_the_log(httpd: Httpd) -> None:
    """Line by line, with app and pid: stdout and stderr"""
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert httpd.get("/print?text=hello-there", "shop").status == 200
    wait_until(lambda: len(httpd.log.matching(
        rf"shop.*\[{pid}\].*hello-there")) == 2, "both lines are in the log")


def test_output_goes_to_a_file(httpd: Httpd) -> None:
    """AppLog"""
    file = httpd.dir / "shop.log"
    httpd.app("shop", f"AppLog {file}")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert httpd.get("/print?text=hello-there", "shop").status == 200
    wait_until(lambda: file.exists() and file.read_text().count(
        "hello-there") == 2, "both lines are in the file")
    assert f"[{pid}]" in file.read_text()
    assert not httpd.log.matching("hello-there")


def test_background_child_ends_with_a_stop(httpd: Httpd) -> None:
    """B4: one that ignores SIGTERM, in a session of its own"""
    httpd.log.expect("shop", "apppool")
    httpd.app("shop", "AppStopTimeout 1", "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    daemon = int(httpd.get("/daemon", "shop").text)
    pid = int(httpd.get("/pid", "shop").text)
    assert alive(daemon)
    httpd.stop(bound=25)
    assert not alive(pid) and not alive(daemon)
    assert httpd.remains() == []
