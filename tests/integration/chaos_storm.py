# Licensed under the Apache License, Version 2.0; see LICENSE.
"""wrk sends requests to two apps of four processes each. Four times a second
one of the processes is killed. Only requests inside a killed process fail.

APPPOOL_STORM=SECONDS makes it shorter or longer."""
import os
import random
import re
import subprocess
from contextlib import suppress

from harness import procs
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.long import lasts
from harness.procs import alive, kill9
from harness.wait import wait_until

SECONDS = int(os.environ.get("APPPOOL_STORM", lasts(3, 60)))
CLIENTS = 32

# Enough workers from the start, so httpd does not close kept connections to
# get new ones.
READY = {
    "prefork": ["StartServers 64"],
    "event": ["StartServers 2", "ThreadsPerChild 64", "MinSpareThreads 64",
              "MaxSpareThreads 256", "MaxRequestWorkers 256"],
}

SCRIPT = """
local n = 0
local hosts = {"a", "b"}
request = function()
    n = n + 1
    wrk.headers["Host"] = hosts[n % 2 + 1]
    return wrk.format("GET", "/who")
end
"""


def test_storm_of_kills(httpd: Httpd) -> None:
    httpd.log.expect(*KILLED)
    httpd.directives += READY[httpd.mpm] + [
        "MaxPoolSize 8", "MaxKeepAliveRequests 0",
        'CustomLog failed.log "%>s %{Host}i %U" "expr=%{REQUEST_STATUS}'
        ' -ge 400"']
    apps = [httpd.app(name, "MinInstances 4", "MaxInstances 4")
            for name in ("a", "b")]
    httpd.start()
    for name in ("a", "b"):
        assert httpd.get("/who", name).status == 200
    httpd.settles(active=0, count=8)
    script = httpd.dir / "hosts.lua"
    script.write_text(SCRIPT)
    wrk = subprocess.Popen(
        ["wrk", "-t2", f"-c{CLIENTS}", f"-d{SECONDS}s", "--timeout", "30s",
         "-s", str(script), f"http://127.0.0.1:{httpd.port}/"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    kills = 0
    dice = random.Random(SECONDS)
    try:
        while True:
            try:
                wrk.wait(0.25)
                break
            except subprocess.TimeoutExpired:
                running = httpd.pids(dice.choice(apps))
                if running:
                    # Until the spawner notices, a dead one is listed.
                    with suppress(ProcessLookupError):
                        kill9(dice.choice(running))
                        kills += 1
    finally:
        if wrk.poll() is None:
            wrk.kill()
    assert wrk.stdout is not None
    output = wrk.stdout.read()
    print(output)
    served = re.search(r"(\d+) requests in", output)
    assert served and int(served[1]) > 100 * SECONDS, output
    assert "Socket errors" not in output, output
    # 499: wrk closes its connections when it ends.
    failed = [line for line in
              (httpd.dir / "failed.log").read_text().splitlines()
              if not line.startswith("499 ")]
    assert {line.split()[0] for line in failed} <= {"502"}, failed[:20]
    assert len(failed) <= kills, f"{len(failed)} failed of {kills} kills"
    assert kills >= SECONDS  # fewer, where the machine is slow
    # Afterwards everything is as before.
    wait_until(lambda: all(alive(pid) for app in apps
                           for pid in httpd.pids(app)), "no dead one is listed")
    httpd.settles(active=0, count=8)
    httpd.check()
    for app in apps:
        shown = httpd.pids(app)
        assert len(shown) == 4 and all(alive(pid) for pid in shown)
        running = sorted(
            pid for pid in procs.marked(str(httpd.dir))
            if procs.environment(pid).get("APP_NAME") == app.name)
        assert running == shown, "the status shows what runs"
