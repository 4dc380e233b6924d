# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl logs and report: what an app has printed, and what one of its
processes does. They also work for the user that runs the app."""
import json
import os
import signal
import subprocess

import pytest

from harness.httpd import Httpd
from harness.places import CTL
from harness.procs import alive, freeze, kill9
from harness.users import as_user
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

OWNER, NEIGHBOUR = "games", "news"


def prints(httpd: Httpd, name: str, text: str) -> None:
    assert httpd.get(f"/print?text={text}", name).status == 200


def says(httpd: Httpd, text: str, user: str = OWNER) -> None:
    wait_until(lambda: text in as_user(httpd, user, "logs", "shop").stdout,
               f"it says {text}")


@pytest.mark.parametrize("where", ["", "AppLog {}/shop.log",
                                   'AppLog "|$cat >/dev/null"',
                                   "AppLogFormat raw\nAppLog {}/shop.log"])
def test_logs(httpd: Httpd, where: str) -> None:
    """It does not matter where the lines go. Only lines of this app are
    shown."""
    httpd.app("shop", f"AppUser {OWNER}", where.format(httpd.dir))
    httpd.app("blog", f"AppUser {NEIGHBOUR}")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    prints(httpd, "shop", "hello")
    prints(httpd, "blog", "other")
    says(httpd, f"shop[{pid}]> hello\n")
    done = as_user(httpd, OWNER, "logs", "shop")
    assert done.returncode == 0 and "other" not in done.stdout
    assert done.stdout.startswith("[")
    assert as_user(httpd, OWNER, "logs", "blog").returncode == 1
    response = json.loads(httpd.ctl("--json", "logs", "shop").stdout)
    assert response["next"] - response["first"] == len(response["lines"])


def test_follow(httpd: Httpd) -> None:
    """Each line is printed once, also after a restart of the spawner."""
    httpd.log.expect(r"spawner \d+ ended")
    httpd.app("shop")
    httpd.start()
    prints(httpd, "shop", "line-1-")
    wait_until(lambda: "line-1-" in httpd.ctl("logs", "shop").stdout, "it says")
    out = httpd.dir / "followed"
    with out.open("w") as file:
        ctl = subprocess.Popen([str(CTL), "--dir", str(httpd.runtime), "logs",
                                "-f", "shop"], stdout=file)
    try:
        for n in (2, 3):
            prints(httpd, "shop", f"line-{n}-")
            wait_until(lambda: f"line-{n}-" in out.read_text(), "it follows")
        kill9(httpd.helper("spawner"))
        wait_until(lambda: httpd.ctl("logs", "shop").returncode == 0, "again")
        prints(httpd, "shop", "line-4-")
        wait_until(lambda: "line-4-" in out.read_text(), "it follows")
        assert ctl.poll() is None
    finally:
        ctl.kill()
        ctl.wait()
    lines = out.read_text().splitlines()
    assert [line.split("> ")[1] for line in lines[::2]] == [
        f"line-{n}-" for n in (1, 2, 3, 4)]


def test_follow_when_there_is_too_much_output(httpd: Httpd) -> None:
    """Lines that come while the command does not read, and that are not kept,
    are counted."""
    httpd.app("shop", f"AppLog {httpd.dir}/shop.log")
    httpd.start()
    assert httpd.get("/lines?n=1", "shop").status == 200
    out = httpd.dir / "followed"
    with out.open("w") as file:
        ctl = subprocess.Popen([str(CTL), "--dir", str(httpd.runtime), "logs",
                                "-f", "shop"], stdout=file, text=True,
                               stderr=subprocess.PIPE)
    try:
        wait_until(lambda: "line 000000" in out.read_text(), "it follows")
        freeze(ctl.pid)
        assert httpd.get("/lines?n=3000", "shop").status == 200
        wait_until(lambda: "line 002999" in httpd.ctl("logs", "shop").stdout,
                   "all came")
        kept = len(httpd.ctl("logs", "shop").stdout.splitlines())
        os.kill(ctl.pid, signal.SIGCONT)
        wait_until(lambda: "line 002999" in out.read_text(), "it goes on")
    finally:
        ctl.kill()
        printed = ctl.communicate()[1]
    assert f"{3000 - kept} lines were missed" in printed
    assert len(out.read_text().splitlines()) == 1 + kept


def test_only_the_last_lines_are_kept(httpd: Httpd) -> None:
    """The last 16 KB, in order, and only whole lines."""
    httpd.app("shop", f"AppLog {httpd.dir}/shop.log")
    httpd.start()
    assert httpd.get("/lines?n=3000", "shop").status == 200
    wait_until(lambda: "line 002999" in httpd.ctl("logs", "shop").stdout,
               "all came")
    lines = httpd.ctl("logs", "shop").stdout.splitlines()
    assert 10000 < sum(map(len, lines)) < 16384
    numbers = [int(line.split("> line ")[1].split()[0]) for line in lines]
    assert numbers == list(range(3000 - len(lines), 3000))


def test_report(httpd: Httpd) -> None:
    """It says what the process does. The process continues, and nothing is
    logged. Only root sees stacks of the kernel."""
    app = httpd.app("shop", f"AppUser {OWNER}")
    httpd.app("blog", f"AppUser {NEIGHBOUR}")
    httpd.start()
    assert httpd.get("/pid", "blog").status == 200
    held = httpd.hold("shop", "a")
    known = httpd.group(app)["processes"][0]["id"]
    printed = httpd.ctl("report", known)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert f"shop[{held.pid}] report: 1 process" in printed.stdout
    assert f"process {held.pid} (" in printed.stdout
    assert f"command {httpd.command}" in printed.stdout
    own = as_user(httpd, OWNER, "report", known[:6])
    assert own.returncode == 0
    assert f"process {held.pid} (" in own.stdout
    for secret in ("kernel stack", "; syscall ", "wchan"):
        assert secret not in own.stdout
    assert as_user(httpd, NEIGHBOUR, "report", known).returncode == 1
    assert not httpd.log.matching(" report: ")
    assert alive(held.pid) and held.release().status == 200
    assert httpd.ctl("report", "0123").returncode == 1


def test_app_gets_another_user(httpd: Httpd) -> None:
    """The new user reads neither what the app printed for the old one, nor
    what the old one's processes do."""
    app = httpd.app("shop", f"AppUser {OWNER}")
    httpd.app("blog", f"AppUser {NEIGHBOUR}")
    httpd.start()
    prints(httpd, "shop", "secret")
    says(httpd, "secret")
    held = httpd.hold("shop", "a")
    known = httpd.group(app)["processes"][0]["id"]
    app.directives = [f"AppUser {NEIGHBOUR}" if d.startswith("AppUser") else d
                      for d in app.directives]
    httpd.graceful()
    wait_until(lambda: as_user(httpd, NEIGHBOUR, "logs", "shop").returncode == 0,
               "it may ask")
    assert "secret" not in as_user(httpd, NEIGHBOUR, "logs", "shop").stdout
    assert as_user(httpd, NEIGHBOUR, "report", known).returncode == 1
    assert httpd.ctl("report", known).returncode == 0
    assert held.release().status == 200
    prints(httpd, "shop", "hello")
    says(httpd, "hello", NEIGHBOUR)
    assert "secret" not in httpd.ctl("logs", "shop").stdout
