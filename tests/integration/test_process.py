# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What a process of an app gets, and what happens to its output."""
import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import cgroups, procs, sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.procs import alive
from harness.starts import another
from harness.threads import Threads
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner makes it")

# 32 and 33 belong to libc.
NOT_OURS = 1 << 31 | 1 << 32


def process(httpd: Httpd, host: str = "shop") -> dict[str, Any]:
    response = httpd.get("/process", host)
    assert response.status == 200
    return response.json()


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


def test_clean_process(httpd: Httpd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is inherited from httpd or the spawner."""
    monkeypatch.setenv("APPPOOL_TEST_SECRET", "not for apps")
    monkeypatch.setenv("TZ", "UTC")  # for the times in the log
    httpd.app("shop", "AppSetEnv MINE 'a value'")
    httpd.start()
    seen = process(httpd)
    environment = seen["environment"]
    assert "APPPOOL_TEST_SECRET" not in environment
    assert "TZ" not in environment
    helper = procs.environment(httpd.helper("spawner"))
    assert "APPPOOL_TEST_SECRET" not in helper
    assert helper["TZ"] == "UTC"
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


@pytest.mark.parametrize("own, lang", [
    ("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("", "C.UTF-8"),
    ("de_DE.UTF-8", "de_DE.UTF-8")])
def test_text_is_utf_8(httpd: Httpd, monkeypatch: pytest.MonkeyPatch, own: str,
                       lang: str) -> None:
    """Debian starts httpd with LANG=C. Nothing else of httpd says where files and
    sockets are. AppSetEnv wins."""
    for name, value in (("LANG", own), ("LC_ALL", "C"), ("TMPDIR", "/var/tmp"),
                        ("XDG_RUNTIME_DIR", "/nowhere")):
        monkeypatch.setenv(name, value)
    httpd.app("shop")
    httpd.app("blog", "AppSetEnv LANG C", "AppSetEnv PYTHONUNBUFFERED ''")
    httpd.start()
    shop, blog = (process(httpd, name)["environment"] for name in ("shop", "blog"))
    assert (shop["LANG"], shop["PYTHONUNBUFFERED"]) == (lang, "1")
    assert not {"LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR"} & set(shop)
    assert (blog["LANG"], blog["PYTHONUNBUFFERED"]) == ("C", "")


def test_environment_name(httpd: Httpd) -> None:
    httpd.app("shop", "AppEnvironment staging")
    httpd.app("blog")
    httpd.start()
    shop = process(httpd)["environment"]
    blog = process(httpd, "blog")["environment"]
    for name in ("APPPOOL_ENV", "RACK_ENV", "RAILS_ENV", "NODE_ENV",
                 "MOJO_MODE"):
        assert shop[name] == "staging"
        assert blog[name] == "production"


@pytest.mark.mpms("event")
def test_never_root_by_another_name(httpd: Httpd) -> None:
    """AppUser and its group, by number and by an alias of uid 0"""
    passwd = httpd.dir / "passwd"
    passwd.write_text(Path("/etc/passwd").read_text()
                      + "toor:x:0:0::/root:/bin/sh\n"
                      "rooty:x:4243:0::/:/bin/sh\n")
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private", "sh",
                     "-c", f'mount --bind {passwd} /etc/passwd && exec "$@"',
                     "sh"]
    app = httpd.app("shop")
    for user, case in cases(("root", "#0", "#00", "toor", "nobody root",
                             "nobody #0", "rooty", "#4243")):
        app.directives = [f"AppUser {user}"]
        checked = httpd.test()
        with case:
            assert checked.returncode != 0
            assert "AppUser" in checked.stdout and "root" in checked.stdout


@pytest.mark.mpms("event")
@pytest.mark.parametrize("words, ours", [
    ("#4711", "name its group as well: AppUser #4711 GROUP"),
    ("#4294967296", "there is no user"),
    ("nobody #4294967296", "there is no group")])
def test_no_guess_of_a_group(httpd: Httpd, words: str, ours: str) -> None:
    """A number without an entry in the user database has no group."""
    httpd.app("shop", f"AppUser {words}")
    checked = httpd.test()
    assert checked.returncode != 0
    assert "AppUser" in checked.stdout and ours in checked.stdout


@pytest.mark.mpms("event")
def test_a_number_with_a_group(httpd: Httpd) -> None:
    """The advice that httpd -t gives works."""
    httpd.app("shop", "AppUser #4711 #4712")
    httpd.start()
    seen = process(httpd)
    assert seen["uid"] == [4711] * 3 and seen["gid"] == [4712] * 3
    assert seen["groups"] == [4712]


@pytest.mark.mpms("event")
@pytest.mark.parametrize("value,group", [("On", "www-data"), ("Off", "daemon")])
def test_no_new_privileges(httpd: Httpd, value: str, group: str) -> None:
    """A setgid program, such as Postfix's postdrop, gets its group only where
    the administrator allows it."""
    program = httpd.dir / "postdrop"
    shutil.copy("/usr/bin/id", program)
    shutil.chown(program, "root", "daemon")
    program.chmod(0o2755)
    httpd.app("shop", f"AppNoNewPrivileges {value}", "AppPreStart On",
              "MinInstances 1",
              command=f"sh -c '{program} -g -n; exec {httpd.command}'")
    httpd.log.expect("first: do that once")
    httpd.start()
    httpd.log.wait_for(rf"shop\[\d+\]> {group}$")


@pytest.mark.mpms("event")
def test_root_is_missing(httpd: Httpd) -> None:
    """Only during a reload. Its process stays, and other processes start."""
    httpd.log.expect(sentences.DIED)
    app = httpd.app("shop")
    blog = httpd.app("blog")
    app.public = httpd.dir / "htdocs"
    httpd.start()
    pid, old = (httpd.get("/pid", name).text for name in ("shop", "blog"))
    app.root.rename(httpd.dir / "away")
    blog.directives.append("AppSetEnv NEW new")
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "blog").text != old,
               "the new configuration is in force")
    httpd.log.wait_for(f"AppRoot {app.root} .* cannot be used")
    (httpd.dir / "away").rename(app.root)
    assert httpd.get("/pid", "shop").text == pid
    another(httpd, "shop")
    assert not httpd.log.matching(rf"shop\[{pid}\] will be replaced")


@pytest.mark.mpms("event")
def test_httpds_own_user(httpd: Httpd) -> None:
    """httpd -t warns what the app may do then."""
    httpd.app("shop")
    httpd.app("blog", "AppUser nobody nogroup")
    warnings = httpd.test().stdout
    assert warnings.count("runs as httpd's own user") == 1
    assert f"{httpd.dir}/shop (" in warnings


@pytest.mark.mpms("event")
def test_a_user_without_a_name(httpd: Httpd) -> None:
    """The process has only the user's own group: not the groups of another
    user with that name, and never root's."""
    group = httpd.dir / "group"
    passwd = httpd.dir / "passwd"
    passwd.write_text(Path("/etc/passwd").read_text()
                      + "4242:x:4243:65534::/:/bin/sh\n")
    group.write_text(Path("/etc/group").read_text().replace(
        "root:x:0:", "root:x:0:4242") + "extra:x:4244:4242\n")
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private", "sh",
                     "-c", f"mount --bind {passwd} /etc/passwd && "
                     f'mount --bind {group} /etc/group && exec "$@"', "sh"]
    app = httpd.app("shop", "AppUser 4242")
    httpd.start()
    seen = process(httpd)
    assert seen["uid"] == [4243] * 3
    assert set(seen["groups"]) == {65534, 4244}
    # The same user as a number without an entry.
    app.directives[app.directives.index("AppUser 4242")] = \
        "AppUser #4242 #4245"
    httpd.graceful()
    wait_until(lambda: process(httpd)["uid"] == [4242] * 3, "the new user")
    assert process(httpd)["groups"] == [4245]


def test_descriptors_under_load(httpd: Httpd) -> None:
    """Each request gets a new process, while httpd and the spawner have many
    descriptors open. None of these is inherited."""
    app = httpd.app("shop", "AppQueueTimeout 60s")
    httpd.app("blog", "MinInstances 2")
    httpd.app("unix", "AppListen unix")
    httpd.directives.append("MaxPoolSize 12")
    httpd.start()
    app.touch("always_restart.txt")
    seen = []
    with Threads(httpd, "blog", 6) as clients:
        for _ in range(12):
            responses = [httpd.get_async("/process", "shop") for _ in range(4)]
            seen += [response.result(30).json() for response in responses]
        clients.more(1)
    assert clients.failed == []
    assert len({one["pid"] for one in seen}) > 40
    for one in seen:
        assert set(one["fds"]) == {"0", "1", "2", "3"}, one["fds"]
        assert one["fds"]["1"] == one["fds"]["2"]
        assert one["fds"]["3"].startswith("socket:")
    assert set(process(httpd, "unix")["fds"]) == {"0", "1", "2"}


def open_files(pid: int) -> set[str]:
    try:
        return set(os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:
        return set()


@pytest.mark.mpms("event")
def test_descriptors_while_the_users_are_asked_for(httpd: Httpd) -> None:
    """The user database does not respond. The child that waits for it has no
    descriptors of the spawner except its own socket, output and report."""
    fifo = httpd.dir / "fifo"
    os.mkfifo(fifo, 0o644)
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.wrapper = ["unshare", "--mount", "--propagation", "private"]
    httpd.app("shop", "AppStartTimeout 60")
    httpd.app("blog")
    httpd.start()
    assert httpd.get("/pid", "blog").status == 200
    spawner = httpd.helper("spawner")
    inside = ["nsenter", f"--mount=/proc/{spawner}/ns/mnt"]
    subprocess.run([*inside, "mount", "--bind", fifo, "/etc/passwd"],
                   check=True)
    known = set(procs.children(spawner))
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(httpd.runtime / "control.sock"))
        pending = httpd.get_async("/pid", "shop")
        try:
            child, = wait_until(lambda: set(procs.children(spawner)) - known,
                                "it is forked")
            wait_until(lambda: open_files(child) == set("01234"),
                       "it has closed what is not its own")
            assert alive(child) and not pending.done()
        finally:
            subprocess.run([*inside, "umount", "--lazy", "/etc/passwd"],
                           check=True)
            os.close(os.open(fifo, os.O_WRONLY))
    # It contained no user. The next start asks again.
    assert pending.result(30).status in (502, 503)
    # libc cannot seek in it, which only the last service of nsswitch.conf says.
    httpd.log.wait_for("has no entry in the user database|"
                       'look-up of user "[^"]+" failed: Illegal seek')
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")
    fifo.unlink()


@pytest.mark.mpms("event")
@pytest.mark.skipif(not cgroups.usable(), reason="no cgroup v2 to write to")
def test_no_start_without_a_cgroup(httpd: Httpd) -> None:
    """Where there are cgroups, an app does not start without one, so nothing
    that it starts leaves its cgroup."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop")
    httpd.start()
    line = httpd.log.wait_for("are found by cgroup, in /")[-1]
    most = Path(line.rpartition(", in ")[2]) / "cgroup.max.descendants"
    most.write_text("0")
    assert httpd.get("/pid", "shop").status in (502, 503)
    httpd.log.wait_for("could not be started: it cannot have a cgroup of its "
                       "own: Resource temporarily unavailable")
    assert not httpd.pids(app)
    most.write_text("max")
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")


def test_output_goes_to_the_log(httpd: Httpd) -> None:
    """Line by line, with app and pid: stdout and stderr."""
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
    """B4: a child that ignores SIGTERM, in a session of its own."""
    httpd.log.expect(sentences.NO_TERM)
    httpd.app("shop", "AppStopTimeout 1", "AppSetEnv IGNORE_TERM 1")
    httpd.start()
    daemon = int(httpd.get("/daemon", "shop").text)
    pid = int(httpd.get("/pid", "shop").text)
    assert alive(daemon)
    httpd.stop(bound=25)
    assert not alive(pid) and not alive(daemon)
    assert httpd.remains() == []
