# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl doctor: it finds the httpd that runs and has it test its own
configuration, looks at its programs, and changes nothing."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from harness import sentences
from harness.errorlog import SUNK
from harness.httpd import Httpd
from harness.places import CTL, httpd_program
from harness.procs import children, kill9, read
from harness.users import as_user
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

OWNER = "games"


def findings(done: "subprocess.CompletedProcess[str]") -> dict[str, str]:
    """CHECK: RESULT, the worst of each check."""
    ranks = ["ok", "unknown", "wrong"]
    found: dict[str, str] = {}
    for one in json.loads(done.stdout)["findings"]:
        found[one["check"]] = max(one["result"],
                                  found.get(one["check"], "ok"),
                                  key=ranks.index)
        assert (one["advice"] is not None) == (one["result"] == "wrong"), one
    return found


def traces(httpd: Httpd) -> tuple[object, ...]:
    """The files, with their sizes; the error log, without lines about a process
    of another test; and the counters."""
    files = {(str(path), path.lstat().st_size)
             for path in httpd.dir.rglob("*") if path != httpd.log.path}
    lines = [line for line in httpd.log.lines() if not re.search(SUNK, line)]
    return files, lines, httpd.status()["counters"]


def owned(httpd: Httpd, name: str, *directives: str) -> None:
    """An app that does not run as httpd's user, which is a finding."""
    httpd.app(name, f"AppUser {OWNER}", *directives)


def test_all_is_well(httpd: Httpd) -> None:
    """As root it makes every check. It changes nothing."""
    owned(httpd, "shop", "AppStore 8M")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    before = traces(httpd)
    done = httpd.ctl("--json", "doctor")
    assert done.returncode == 0, done.stdout
    assert findings(done) == {
        name: "ok" for name in (
            "configuration", "httpd", "watchdog", "spawner", "store", "memory",
            "disk", "descriptors", "applications")}
    done = httpd.ctl("doctor")
    assert done.stdout.endswith("\nnothing is wrong\n")
    assert f"{httpd_program()} -DFOREGROUND -f {httpd.dir}/httpd.conf -t " \
        "finds nothing" in done.stdout
    assert traces(httpd) == before


def test_what_is_wrong(httpd: Httpd) -> None:
    """A mistake of the configuration, an application that does not start, and
    a closed AppRoot; as root and as the user of the applications."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    owned(httpd, "shop", f"AppEnvFile {httpd.dir}/none")
    owned(httpd, "closed")
    (httpd.dir / "closed").chmod(0o700)
    httpd.start()
    assert httpd.get("/pid", "shop").status == 503
    done = httpd.ctl("doctor")
    assert done.returncode == 4
    assert re.search(r"^wrong +configuration: .*AppEnvFile .*/none cannot be "
                     r"used: .*\n +correct it, and reload httpd", done.stdout,
                     re.M)
    assert re.search(r"^wrong +application: shop: it does not start: .*\n +put "
                     "the file there", done.stdout, re.M)
    assert re.search(rf"^wrong +rights: closed: the user {OWNER} may not enter "
                     rf".*/closed\n +allow it, .* -m u:{OWNER}:x .*/closed",
                     done.stdout, re.M)
    assert re.search(r"^\d things are wrong$", done.stdout, re.M)
    done = as_user(httpd, OWNER, "--json", "doctor")
    assert done.returncode == 4
    found = findings(done)
    assert {name for name in found if found[name] == "unknown"} == {
        "configuration", "httpd", "memory"}
    assert found["rights"] == found["application"] == "wrong"
    # A configuration that httpd would not load any more.
    with open(httpd.dir / "httpd.conf", "a") as file:
        file.write("NoSuchDirective On\n")
    done = httpd.ctl("doctor")
    assert "Invalid command 'NoSuchDirective'" in done.stdout
    assert "httpd would not start" in done.stdout


def test_httpd_is_stopped(httpd: Httpd) -> None:
    """The configuration can be tested by a command."""
    owned(httpd, "shop")
    conf = httpd.configure()
    done = subprocess.run(
        [str(CTL), "--json", "--dir", str(httpd.runtime), "doctor",
         f"{httpd_program()} -f {conf}"], capture_output=True, text=True,
        timeout=60)
    assert done.returncode == 4
    found = findings(done)
    assert found["configuration"] == "ok" and found["httpd"] == "wrong"
    assert set(found) <= {"configuration", "httpd", "disk"}
    done = subprocess.run(
        [str(CTL), "--dir", str(httpd.runtime), "doctor",
         "/nonexistent/httpd"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 4 and "/nonexistent/httpd" in done.stdout


def test_spawner_is_dead(httpd: Httpd) -> None:
    """While nobody starts another one, httpd is found by its lock."""
    httpd.log.expect(sentences.SPAWNER_KILLED)
    owned(httpd, "shop")
    httpd.start()
    watchdog, spawner = httpd.helper("watchdog"), httpd.helper("spawner")
    os.kill(watchdog, signal.SIGSTOP)
    try:
        kill9(spawner)
        at = time.time() + 86400  # somebody has set the clock back
        os.utime(httpd.runtime / "watchdog.beat", (at, at))
        done = httpd.ctl("--json", "doctor")
        found = findings(done)
        assert done.returncode == 4
        assert found["spawner"] == found["watchdog"] == "wrong"
        assert found["httpd"] == found["configuration"] == "ok"
    finally:
        os.kill(watchdog, signal.SIGCONT)
    wait_until(lambda: httpd.ctl("doctor").returncode == 0, "another one")


def test_clock_that_is_set(httpd: Httpd) -> None:
    """The last heartbeats seem to be a day old, or of the next day."""
    owned(httpd, "shop", "AppStore 8M")
    httpd.start()
    names = ["watchdog", "spawner", "store"]
    wait_until(lambda: httpd.ctl("doctor").returncode == 0, "all are there")
    for step in -86400, 86400:
        at = time.time() + step
        for name in names:
            os.utime(httpd.runtime / f"{name}.beat", (at, at))
        found = findings(httpd.ctl("--json", "doctor"))
        assert [found[name] for name in names] == ["ok"] * 3


SHELL = ["/bin/sh", "-c", "/bin/sh -c 'sleep 20; :' & wait"]
# A tenant's process that looks as if it had the module.
FORGED = [
    "setpriv", f"--reuid={OWNER}", "--clear-groups", "/usr/bin/python3", "-IS",
    "-c", "import mmap, subprocess, sys; f = open(sys.argv[1], 'rb'); "
    "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); "
    "subprocess.run(['/bin/sh', '-c', 'sleep 20; :'])"]


@pytest.mark.parametrize("words", [SHELL, FORGED], ids=["shell", "forged"])
def test_not_our_httpd(httpd: Httpd, words: list[str]) -> None:
    """Files of a directory name a process that is no httpd of ours: it is not
    run. Root would run the program of a stranger."""
    module = httpd.dir / "mod_apppool.so"
    module.write_text("x")
    module.chmod(0o755)
    stranger = subprocess.Popen([*words, str(module)], start_new_session=True)
    try:
        child = wait_until(lambda: children(stranger.pid), "its child")[0]
        leaf = wait_until(lambda: children(child), "a child of that")[0]
        start = read(leaf, "stat").rpartition(b")")[2].split()[19].decode()
        (httpd.dir / "spawner.pid").write_text(f"{leaf} {start}\n")
        done = subprocess.run(
            [str(CTL), "--dir", str(httpd.dir), "doctor"],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 4
        for program in ("/bin/sh", "dash", "python"):
            assert program not in done.stdout
        assert "there is no httpd with the runtime directory" in done.stdout
    finally:
        os.killpg(stranger.pid, signal.SIGTERM)
        stranger.wait(20)
