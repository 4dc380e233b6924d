# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl store once: a command of cron runs on one host of the cluster."""
import signal
import subprocess
from pathlib import Path
from typing import Iterator

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.places import BUILD
from harness.procs import kill9
from harness.space import Space
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
