# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Lines about an app, such as "shop[4711] died", are in the error log of the
main server, and in the log of the app."""
import json
import re
import shutil
from pathlib import Path

import pytest

from harness import sentences
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

DIED = r"shop\[\d+\] died: signal 9 \(SIGKILL\)"


def dies(httpd: Httpd) -> int:
    httpd.log.expect(*KILLED)
    assert httpd.get("/print?text=hello", "shop").status == 200
    pid = int(httpd.get("/pid", "shop").text)
    kill9(pid)
    httpd.log.wait_for(DIED)
    return pid


def lines(file: Path, pattern: str) -> list[str]:
    """The lines of the file that match, as soon as there are any."""
    def found() -> list[str]:
        text = file.read_text() if file.exists() else ""
        return [line for line in text.splitlines() if re.search(pattern, line)]
    return wait_until(found, f"{pattern} is in {file.name}")


def about(file: Path) -> list[str]:
    """The lines about processes of shop."""
    return [re.sub(r"^\S+ \S+ \S+ [\d:.]+ ", "", line)
            for line in lines(file, r"shop\[\d+\] ")]


def test_error_log_of_the_virtual_host(httpd: Httpd) -> None:
    """The same lines with the same level, and none of another app."""
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f"ErrorLog {file}")
    httpd.app("blog")
    httpd.start()
    assert httpd.get("/pid", "blog").status == 200
    pid = dies(httpd)
    line, = lines(file, DIED)
    assert re.match(r"\[[^]]+\] \[apppool:error\] \[pid \d+\] apppool: "
                    rf"shop\[{pid}\] died", line)
    assert about(file) == about(httpd.log.path)
    assert len(about(file)) == 3  # it starts, is ready, died
    assert "blog" not in file.read_text()
    httpd.log.wait_for(r"blog\[\d+\] ready")


def test_failed_start(httpd: Httpd) -> None:
    """With the reason, so the administrator of the virtual host needs no other
    log."""
    httpd.log.expect("could not be started")
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f"ErrorLog {file}", command="echo no database; exit 7")
    httpd.start()
    assert httpd.get("/", "shop").status >= 500
    line, = lines(file, r"shop\[\d+\] could not be started: .*no database$")
    assert "[apppool:error]" in line
    assert lines(file, r"shop\[\d+\]> no database$")


@pytest.mark.parametrize("log", ["{}", "|$cat >>{}"])
def test_own_log(httpd: Httpd, log: str) -> None:
    """Our lines have a time. Lines of the app have a > ."""
    place = httpd.dir / "logs"
    place.mkdir()
    shutil.chown(place, "games")
    file = place / "shop.log"
    httpd.app("shop", f'AppLog "{log.format(file)}"', "AppUser games")
    httpd.start()
    pid = dies(httpd)
    line, = lines(file, DIED)
    assert re.match(rf"\[[^]]+\] shop\[{pid}\] died: ", line)
    assert lines(file, rf"^\[[^]]+\] shop\[{pid}\]> hello$")
    if log == "{}":
        assert file.owner() == "games"


def test_raw_log(httpd: Httpd) -> None:
    """It has only what the app prints, because it may be JSON."""
    file = httpd.dir / "shop.log"
    printed = json.dumps({"text": "hello"})
    program = httpd.dir / "app.sh"
    program.write_text(f"#!/bin/sh\necho '{printed}'; exec {httpd.command}\n")
    program.chmod(0o755)
    httpd.app("shop", f"AppLog {file}", "AppLogFormat raw",
              command=str(program))
    httpd.start()
    pid = dies(httpd)
    assert int(httpd.get("/pid", "shop").text) != pid
    wait_until(lambda: file.read_text().count(printed) == 2, "it said so again")
    assert set(file.read_text().splitlines()) == {printed, "hello"}


def test_app_without_a_process(httpd: Httpd) -> None:
    """The actions of an administrator."""
    file = httpd.dir / "vhost.log"
    httpd.app("shop", f"ErrorLog {file}")
    httpd.start()
    assert httpd.ctl("drain", "shop").returncode == 0
    line, = lines(file, r"apppool: shop is drained \(apppoolctl\)$")
    assert "[apppool:notice]" in line
    httpd.log.wait_for("shop is drained")


def test_slow_and_killed(httpd: Httpd) -> None:
    """Without the report: it has stacks of the kernel, which only root may
    see."""
    httpd.log.expect(*KILLED, sentences.SLOW, sentences.KILLED_NO_RESPONSE,
                     sentences.NO_BACKEND)
    file = httpd.dir / "shop.log"
    httpd.app("shop", f"AppLog {file}", "AppHungAfter 1s", "AppKillAfter 2s")
    httpd.start()
    httpd.hold_async("shop", "a")
    assert lines(file, r"shop\[\d+\] is hung and is killed: GET /hold")
    assert lines(file, r"shop\[\d+\] ended: ")
    httpd.log.wait_for(r"shop\[\d+\] report: 1 process")
    assert "report:" not in file.read_text()
