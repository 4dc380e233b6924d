# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl store once: a command of cron runs on one host of the cluster."""
import glob
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Iterator, Optional

import pytest

from harness import sentences
from harness.false_store import FalseStore
from harness.httpd import Httpd
from harness.late import Late
from harness.places import BUILD, CTL
from harness.procs import kill9
from harness.space import Space
from harness.users import as_user
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("httpd's children do not use the store")


@pytest.fixture
def shop(httpd: Httpd) -> Iterator[Httpd]:
    httpd.directives.append("AppStoreSave Off")
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.start()
    Space(httpd, "shop").close()
    yield httpd


def begin(httpd: Httpd, *words: str) -> subprocess.Popen[str]:
    """A command that runs until its standard input ends."""
    one = subprocess.Popen(
        [BUILD / "apppoolctl", "--dir", httpd.runtime, "store", "once",
         *words, "--", "sh", "-c", "echo begun; read line; exit 7"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    assert one.stdout and one.stdout.readline() == "begun\n"
    return one


def test_one_of_many(shop: Httpd) -> None:
    """All begin in the same moment, and exactly one runs the command."""
    file = Path(shop.dir) / "runs"
    words = [BUILD / "apppoolctl", "--dir", shop.runtime, "store", "once",
             "nightly", "--", "sh", "-c", f"echo $$ >> {file}"]
    many = [subprocess.Popen(words) for _ in range(12)]
    assert [one.wait(60) for one in many] == [0] * 12
    assert len(file.read_text().splitlines()) == 1


def test_exit_status(shop: Httpd) -> None:
    once = ("store", "once", "a", "--every", "0")
    assert shop.ctl(*once, "--", "true").returncode == 0
    assert shop.ctl(*once, "--", "sh", "-c", "exit 9").returncode == 9
    assert shop.ctl(*once, "--", "sh", "-c", "kill -9 $$").returncode == 137
    missing = shop.ctl(*once, "--", "/no/such/command")
    assert missing.returncode == 127
    assert "/no/such/command cannot be run: No such file" in missing.stderr


def test_held(shop: Httpd) -> None:
    """Another one does not run, and says so if it is asked to."""
    one = begin(shop, "a", "--every", "0")
    again = ("store", "once", "a", "--every", "0")
    done = shop.ctl(*again, "--", "echo", "twice")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert shop.ctl(*again, "-E", "75", "--", "true").returncode == 75
    assert shop.ctl("store", "once", "b", "--", "echo", "b").stdout == "b\n"
    one.communicate("\n", 60)
    assert one.returncode == 7
    assert shop.ctl(*again, "--", "echo", "now").stdout == "now\n"


def test_every(shop: Httpd) -> None:
    """A run that has ended prevents the next one for some time."""
    assert shop.ctl("store", "once", "a", "--", "echo", "x").stdout == "x\n"
    assert shop.ctl("store", "once", "a", "--", "echo", "x").stdout == ""
    space = Space(shop, "shop")
    assert space.get("apppool:once:a:begun") != ""
    space.close()
    assert shop.ctl("store", "once", "a", "--every", "0", "--", "echo",
                    "x").stdout == "x\n"


def test_signal_is_passed_on(shop: Httpd) -> None:
    """The lock is held until the command has ended."""
    one = begin(shop, "a")
    one.send_signal(signal.SIGTERM)
    assert one.wait(60) == 128 + signal.SIGTERM


@pytest.mark.parametrize("kills", [False, True])
def test_store_dies(shop: Httpd, kills: bool) -> None:
    """The command goes on, and the lock is taken again; or it is ended."""
    shop.log.expect(sentences.STORE_KILLED)
    one = begin(shop, "a", *["--kill"] * kills)
    assert one.stderr
    kill9(shop.helper("store"))
    assert "the lock a is lost" in one.stderr.readline()
    if kills:
        assert one.wait(60) == 128 + signal.SIGTERM
        return
    assert "the lock a is held again" in one.stderr.readline()
    assert shop.ctl("store", "once", "a", "--every", "0", "--", "echo",
                    "x").stdout == ""
    one.communicate("\n", 60)
    assert one.returncode == 7


def test_no_store(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    done = httpd.ctl("store", "once", "a", "--", "echo", "x")
    assert (done.returncode, done.stdout) == (69, "")
    assert "the store has no space" in done.stderr
    done = httpd.ctl("store", "once", "a", "--space", "shop", "--", "true")
    assert done.returncode == 69
    assert "there is no space shop" in done.stderr


def test_which_space(httpd: Httpd) -> None:
    httpd.directives.append("AppStoreSave Off")
    httpd.app("shop", "AppGroupName shop", "AppStore 8M")
    httpd.app("blog", "AppGroupName blog", "AppStore 8M")
    httpd.start()
    wait_until(lambda: httpd.ctl("store").stdout.count("MB,") == 2,
               "there are two spaces")
    done = httpd.ctl("store", "once", "a", "--", "echo", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "name one with --space:" in done.stderr
    assert sorted(done.stderr.split()[-2:]) == ["blog", "shop"]
    Space(httpd, "blog").close()
    assert httpd.ctl("store", "once", "a", "--space", "blog", "--", "echo",
                     "x").stdout == "x\n"


def test_no_httpd(httpd: Httpd) -> None:
    """The status says that the command has not run, as with any store that gives
    no lock."""
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    httpd.stop()
    once = ("store", "once", "a", "--", "echo", "x")
    done = httpd.ctl(*once)
    assert (done.returncode, done.stdout) == (69, "")
    assert "no httpd with mod_apppool runs" in done.stderr
    help_text = httpd.ctl("--help").stdout
    where = re.search(r"the only one of\s+(\S+)", help_text)
    assert where
    if glob.glob(where[1]):
        pytest.skip(f"another httpd runs: {glob.glob(where[1])}")
    environment = {name: value for name, value in os.environ.items()
                   if name != "APPPOOL_RUNTIME_DIR"}
    none = subprocess.run([CTL, *once], env=environment, text=True,
                          capture_output=True)
    assert (none.returncode, none.stdout) == (69, "")
    assert "no httpd with mod_apppool runs: there is no " in none.stderr


def test_another_user(httpd: Httpd) -> None:
    """The user of an app may use the lock, but has to name the space."""
    httpd.directives.append("AppStoreSave Off")
    httpd.app("shop", "AppGroupName shop", "AppUser games", "AppStore 8M")
    httpd.start()
    Space(httpd, "shop").close()
    done = as_user(httpd, "games", "store", "once", "a", "--", "echo", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "name the space with --space: only root" in done.stderr
    done = as_user(httpd, "games", "store", "once", "a", "--space", "shop",
                   "--", "echo", "x")
    assert (done.returncode, done.stdout) == (0, "x\n"), done.stderr


# ---- a store that hangs

class Hangs:
    """A store that gives the lock. Then it is as a test wants."""
    says: Optional[bytes] = b""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, data: bytes) -> Optional[bytes]:
        self.asked += 1
        return b"OK\r\n" if data.startswith(b"lock") else \
            b"STORED\r\n" if self.asked < 4 else self.says


def begin_at(false: FalseStore, *command: str) -> subprocess.Popen[str]:
    one = subprocess.Popen(
        false.words("store", "once", "a", "--space", "shop", "--", *command),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    assert one.stdout and one.stdout.readline() == "begun\n"
    return one


@pytest.mark.parametrize("how", ["ends", "signal"])
def test_store_hangs(shop: Httpd, how: str) -> None:
    """The lock is lost, and the store says nothing to the one who asks for it
    again. The command ends, and gets signals, as if there were no store."""
    hangs = Hangs()
    with FalseStore(Path(Space(shop, "shop").path).name, hangs) as false:
        one = begin_at(false, "sh", "-c",
                       "trap 'exit 5' TERM; echo begun; read line; exit 7")
        assert one.stdin
        hangs.says = None
        false.cut()
        assert false.silent.wait(60), "the lock is asked for again"
        with Late(one.pid) as late:
            if how == "ends":
                one.stdin.write("\n")
                one.stdin.close()
            else:
                one.send_signal(signal.SIGTERM)
            assert one.wait(60) == (7 if how == "ends" else 5)
        late.within(30, "the end, which does not wait for the store,")


def test_the_loss_is_said_once(shop: Httpd) -> None:
    """A store that closes each connection does not fill the mail of cron."""
    hangs = Hangs()
    with FalseStore(Path(Space(shop, "shop").path).name, hangs) as false:
        one = begin_at(false, "sh", "-c", "echo begun; read line")
        false.cut()
        before = hangs.asked
        wait_until(lambda: hangs.asked >= before + 3, "it is asked again")
        errors = one.communicate("\n", 60)[1]
        assert "the lock a is lost" in errors.splitlines()[0]
        assert len(errors.splitlines()) == 1, errors


# ---- the command

KILLS_ITS_PARENT = """
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int prctl(int what, ...)
{
    pid_t parent = getppid();

    kill(parent, SIGKILL);
    while (getppid() == parent)
        usleep(1000);
    return (int)syscall(SYS_prctl, what, SIGTERM, 0, 0, 0);
}
"""


def test_killed_before_the_command_begins(shop: Httpd) -> None:
    """With --kill nothing runs without the lock: also if apppoolctl dies before
    the kernel knows that the command is to die with it."""
    library = shop.dir / "kills_its_parent.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c",
                    "-o", library, "-"], input=KILLS_ITS_PARENT, text=True,
                   check=True)
    one = subprocess.run(
        [CTL, "--dir", shop.runtime, "store", "once", "a", "--kill", "--",
         "echo", "x"], env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True, text=True, timeout=60)
    assert (one.returncode, one.stdout) == (-signal.SIGKILL, "")


def test_signals_that_the_caller_ignores(shop: Httpd) -> None:
    """The command ignores them, too, as after nohup or in a script."""
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    done = subprocess.run(
        [CTL, "--dir", shop.runtime, "store", "once", "a", "--", "sh", "-c",
         "kill -INT $$; echo alive"], preexec_fn=ignore, text=True,
        capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive\n")


def test_usage(shop: Httpd) -> None:
    for words in (["once"], ["once", "a"], ["once", "a b", "--", "true"],
                  ["once", "a", "--every", "-1", "--", "true"],
                  ["once", "a", "--every", "2592001", "--", "true"],
                  ["once", "a", "-E", "256", "--", "true"],
                  ["status", "--space", "shop"], ["ready", "--kill"]):
        done = shop.ctl("store", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith("apppoolctl: "), words
    assert shop.ctl("status", "--every", "1").returncode == 2
