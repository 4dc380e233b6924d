# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Full disks."""
import errno
import os
import re
from contextlib import ExitStack
from pathlib import Path
from pwd import getpwnam

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.places import can_mount, mounted
from harness.procs import kill9
from harness.wait import wait_until

OWNER = "games"  # every Debian has this user, and no person uses it
USER = f"c/{getpwnam(OWNER).pw_uid}"  # its control socket
pytestmark = pytest.mark.skipif(not can_mount(), reason="mount is denied")


@pytest.mark.parametrize("room", [0, 40])
def test_full_shared_memory(httpd: Httpd, room: int) -> None:
    """The segment needs no room in /dev/shm, so no process ends by SIGBUS."""
    httpd.wrapper = mounted(  # the test's own files may be in /dev/shm
        f"mount --bind {httpd.dir} /mnt && "
        "mount -t tmpfs -o size=64k none /dev/shm && "
        f"mkdir -p {httpd.dir} && mount --bind /mnt {httpd.dir} && "
        f"head -c {64 - room}k /dev/zero >/dev/shm/full")
    httpd.app("shop")
    httpd.start()
    held = [httpd.hold("shop", str(n)) for n in range(3)]
    for one in held:
        assert one.release().status == 200
    httpd.check()


# ---- the runtime directory's disk

class Disk:
    """A small file system for this httpd, which holds the runtime
    directory."""

    def __init__(self, httpd: Httpd, before: str = "true") -> None:
        self.httpd = httpd
        self.path = httpd.dir / "disk"
        self.path.mkdir()
        self.runtime = self.path / "p"
        httpd.directives[0] = f'AppPoolRuntimeDir "{self.runtime}"'
        httpd.runtime = self.runtime
        httpd.wrapper = mounted("mount -t tmpfs -o size=64k,nr_inodes=60,"
                                f"mode=755 none {self.path} && {before}")

    def see(self, path: Path) -> Path:
        """The path as httpd sees it."""
        return Path(f"/proc/{self.httpd.pid}/root{path}")

    def fill(self) -> None:
        """Leave no byte free."""
        with open(self.see(self.path / "full"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def fill_inodes(self) -> None:
        """Leave no inode free."""
        try:
            for n in range(1000):
                self.see(self.path / f"full{n}").touch()
        except OSError as error:
            assert error.errno == errno.ENOSPC

    def free(self) -> None:
        for file in self.see(self.path).glob("full*"):
            file.unlink()


START = {
    "bytes": ("head -c 64k /dev/zero >{}/full", "cannot write .*/p/table"),
    "directory": ("while touch {}/full$((n = n + 1)); do :; done",
                  "cannot make the runtime directory"),
    "files": ("mkdir {0}/p && while touch {0}/full$((n = n + 1)); do :; done",
              "cannot open .*/p/lock"),
}


@pytest.mark.mpms("event")
@pytest.mark.parametrize("what", list(START))
def test_full_at_start(httpd: Httpd, what: str) -> None:
    """httpd does not start, and says why in one sentence."""
    httpd.log.expect(sentences.NO_TABLE, sentences.CONFIGURATION_FAILED,
                     sentences.NO_RUNTIME, sentences.NO_LOCK)
    command, sentence = START[what]
    command = command.format(httpd.dir / "disk")
    Disk(httpd, f"{{ {command}; true; }} 2>/dev/null")
    httpd.app("shop")
    httpd.launch()
    assert httpd.process is not None
    assert httpd.process.wait(20) != 0
    lines = [line for line in httpd.log.bad()
             if re.search(r"\[apppool:(error|emerg)\]", line)]
    assert len(lines) == 1
    assert re.search(f"{sentence}.*No space left on device|"
                     f"No space left on device.*{sentence}", lines[0])


def test_full_while_it_runs(httpd: Httpd) -> None:
    """Running processes continue. A new configuration waits for room."""
    httpd.log.expect("apppool.*(No space left|cannot write|not configured|"
                     "could not be started|refused)", sentences.START_ERROR,
                     sentences.NOT_STARTED)
    disk = Disk(httpd)
    app = httpd.app("shop")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    disk.fill()
    httpd.app("blog")
    httpd.graceful()
    httpd.log.wait_for("No space left on device.*cannot write .*/table")
    assert httpd.get("/pid", "shop").text == str(pid)
    wait_until(lambda: httpd.get("/pid", "blog").status in (502, 503),
               "the new configuration")
    kill9(httpd.helper("watchdog"))
    kill9(httpd.helper("spawner"))
    httpd.log.expect(r"(spawner|watchdog) \d+ (ended|died)")
    assert httpd.get("/pid", "shop").text == str(pid)
    wait_until(lambda: httpd.helpers("watchdog") and httpd.helpers("spawner"),
               "both are back")
    disk.free()
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "blog").status == 200, "new app")
    assert httpd.pids(app) == [pid]
    assert not httpd.log.matching("again and again")
    httpd.check()


@pytest.mark.mpms("event")
def test_no_room_for_the_record(httpd: Httpd) -> None:
    """The reason of the failed start names the error and the directory."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    disk = Disk(httpd)
    httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("check").returncode == 0, "it is up")
    disk.fill()
    assert httpd.get("/", "shop").status in (502, 503)
    httpd.log.wait_for(r"shop\[\d+\] could not be started: the new process "
                       "could not be registered: No space left on device "
                       rf"\(runtime directory: {disk.runtime}\)")
    disk.free()
    wait_until(lambda: httpd.get("/", "shop").status == 200, "recovers")


@pytest.mark.mpms("event")
def test_no_room_for_the_pid_file(httpd: Httpd) -> None:
    """httpd ends at a reload that cannot write its PidFile. apachectl does not
    reload what `httpd -t` refuses."""
    full = httpd.dir / "disk/full"
    disk = Disk(httpd, f"head -c 64k /dev/zero >{full} 2>/dev/null; true")
    httpd.app("shop")
    assert httpd.test().returncode == 0
    httpd.directives.append(f"PidFile {disk.path}/httpd.pid")
    done = httpd.test()
    assert done.returncode != 0
    assert f"{disk.path} has no room for the PidFile: No space left on " \
        "device; a reload would end httpd" in done.stdout


def test_no_more_files(httpd: Httpd) -> None:
    """There is no room for a FIFO or a socket. That start fails with a reason.
    Running processes continue, also under the next spawner, and starts work
    again when there is room."""
    httpd.log.expect(r"(spawner|watchdog) \d+ (ended|died)",
                     "control.sock cannot be made", sentences.NOT_STARTED,
                     sentences.START_ERROR)
    disk = Disk(httpd)
    app = httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    disk.fill_inodes()
    assert httpd.get("/pid", "blog").status in (502, 503)
    httpd.log.wait_for("blog.*No space left on device")
    for _ in range(2):
        spawner = httpd.helper("spawner")
        kill9(spawner)
        wait_until(lambda: httpd.log.matching(
            rf"shop\[{pid}\] is adopted"), "the next one takes over")
        assert httpd.helper("spawner") != spawner
        assert httpd.get("/pid", "shop").text == str(pid)
    assert not httpd.log.matching("again and again")
    disk.free()
    wait_until(lambda: httpd.get("/pid", "blog").status == 200, "recovers")
    assert httpd.pids(app) == [pid]
    wait_until(lambda: httpd.ctl("check").returncode == 0, "ctl works")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("missing", [["control.sock", "c", USER], ["c", USER]])
def test_no_control_sockets(httpd: Httpd, missing: list[str]) -> None:
    """A spawner that begins has no room for its sockets. It makes them as soon
    as there is room, and the log has one line about each."""
    httpd.log.expect(r"spawner \d+ (ended|died)", "cannot be made")
    disk = Disk(httpd)
    httpd.app("shop", f"AppUser {OWNER}")
    httpd.start()
    wait_until(lambda: httpd.ctl("check").returncode == 0, "it is up")
    before = httpd.helper("spawner")
    with ExitStack() as kept:
        # An old file uses an inode as long as somebody has it open.
        for name in missing:
            path = disk.see(disk.runtime / name)
            kept.callback(os.close, os.open(path, os.O_PATH))
        disk.fill_inodes()
        kill9(before)
        httpd.log.wait_for(rf"/{USER} cannot be made: No space.*each second")
        works = "control.sock" not in missing
        assert (httpd.ctl("check").returncode == 0) == works
    disk.free()
    sockets = [name for name in missing if name != "c"]
    for name in sockets:
        httpd.log.wait_for(f"control socket .*/{name} is made")
    assert httpd.ctl("check").returncode == 0
    assert disk.see(disk.runtime / USER).stat().st_uid == getpwnam(OWNER).pw_uid
    assert len(httpd.log.matching("socket .* cannot be made")) == len(sockets)
