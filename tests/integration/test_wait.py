# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl restart --wait and start: does the new code serve?"""
import json
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from harness import sentences
from harness.config import App
from harness.errorlog import time_of
from harness.httpd import Httpd
from harness.places import CTL
from harness.procs import alive, kill9
from harness.wait import wait_until

TRIES = 5  # on a slow machine, a process may be late


class Ctl:
    """apppoolctl, while it waits."""

    def __init__(self, httpd: Httpd, *words: str) -> None:
        self.process = subprocess.Popen(
            [str(CTL), "--dir", str(httpd.runtime), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def waits(self) -> bool:
        return self.process.poll() is None

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def two(httpd: Httpd, *directives: str) -> App:
    """An app with two processes."""
    app = httpd.app("shop", "MinInstances 2", *directives)
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    return app


@pytest.mark.one_mpm("the pool decides, whichever process asks it")
@pytest.mark.parametrize("how", ["--rolling", "--blocking"])
def test_new_code_serves(httpd: Httpd, how: str) -> None:
    """It returns as soon as no old process gets requests, and not earlier."""
    gate = httpd.dir / "boot"
    gate.touch()
    app = two(httpd, f"AppSetEnv BOOT_IF {gate}")
    old = httpd.pids(app)
    gate.unlink()
    ctl = Ctl(httpd, "restart", "shop", how, "--wait")
    wait_until(lambda: httpd.pids(app, "starting"), "new code starts")
    assert ctl.waits()
    gate.touch()
    code, out, error = ctl.end()
    assert (code, error) == (0, "")
    assert "of the new code serve" in out.splitlines()[-1]
    assert not set(httpd.pids(app)) & set(old)
    assert int(httpd.get("/pid", "shop").text) not in old


@pytest.mark.mpms("event")
@pytest.mark.parametrize("how", ["--rolling", "--blocking"])
def test_new_code_does_not_start(httpd: Httpd, how: str) -> None:
    """Exit 1 with the reason. In a rolling restart, the old code still
    serves."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken = httpd.dir / "broken"
    two(httpd, f"AppSetEnv BOOT_FAIL_IF {broken}")
    broken.touch()
    done = httpd.ctl("restart", "shop", how, "--wait")
    assert done.returncode == 1
    assert "did not start: " in done.stderr and "error id " in done.stderr
    assert ("the old code continues to serve requests" in done.stderr) == (how == "--rolling")
    if how == "--rolling":
        assert httpd.get("/pid", "shop").status == 200
    broken.unlink()
    done = httpd.ctl("restart", "shop", "--wait")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.mpms("event")
def test_process_dies_at_once(httpd: Httpd) -> None:
    """It listened, and died soon afterwards."""
    httpd.log.expect(sentences.DIED_OTHERWISE)
    app = httpd.app("shop", program="quitter.py")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    for n in range(TRIES):
        done = httpd.ctl("restart", "shop", "--wait")
        if done.returncode == 1:
            break
        # It was a success only because the process has lived for a second.
        httpd.log.wait_for("exit code 7", n + 1)
        ready, died = (time_of(httpd.log.matching(pattern)[-1]) for pattern in
                       ("ready after", "exit code 7"))
        assert died - ready > 0.95
    assert done.returncode == 1, done
    assert "did not start: " in done.stderr
    assert httpd.pids(app) == []


@pytest.mark.mpms("event")
def test_nothing_would_start_it(httpd: Httpd) -> None:
    """Without a minimum and without requests, the app is started
    nevertheless."""
    app = httpd.app("shop")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    done = httpd.ctl("restart", "shop", "--wait")
    assert (done.returncode, done.stderr) == (0, "")
    [first] = httpd.pids(app)
    done = httpd.ctl("restart", "shop", "--blocking", "--wait")
    assert (done.returncode, done.stderr) == (0, "")
    [second] = httpd.pids(app)
    assert first != second
    wait_until(lambda: not alive(first), "the old one ends")


def respond(server: socket.socket) -> None:
    """A spawner whose app has a process that survives SIGKILL"""
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client:
            command = client.recv(4096).split(b"\t")[0]
            report = {"groups": [{"name": "shop", "state": "unkillable"}]} \
                if command == b"status" else {"app": "shop", "old": []}
            client.sendall(json.dumps(report).encode())


def test_survivors_of_sigkill_keep_it_from_starting() -> None:
    """The wait ends with the reason. Only a broken disk makes such processes,
    so the test plays the spawner."""
    with tempfile.TemporaryDirectory(prefix="ap") as place, \
            socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{place}/control.sock")
        server.listen()
        spawner = threading.Thread(target=respond, args=(server,))
        spawner.start()
        done = subprocess.run([str(CTL), "--dir", place, "restart", "shop",
                               "--wait", "--timeout", "30"],
                              capture_output=True, text=True, check=False)
        server.shutdown(socket.SHUT_RDWR)
        spawner.join()
    assert done.returncode == 1
    assert done.stderr == ("apppoolctl: shop is not started: its processes "
                           "survive SIGKILL\n")


@pytest.mark.mpms("event")
def test_timeout(httpd: Httpd) -> None:
    gate = httpd.dir / "boot"
    httpd.app("shop", f"AppSetEnv BOOT_IF {gate}")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    done = httpd.ctl("restart", "shop", "--wait", "--timeout", "0.5")
    assert done.returncode == 1
    assert "after 0.5 s" in done.stderr and "new code" in done.stderr
    gate.touch()
    assert httpd.ctl("start", "shop", "--wait").returncode == 0
    for wrong in (("--timeout", "0", "--wait"), ("--timeout", "5"),
                  ("--timeout", "x", "--wait")):
        done = httpd.ctl("restart", "shop", *wrong)
        assert done.returncode == 2 and "--timeout" in done.stderr


@pytest.mark.mpms("event")
def test_spawner_is_killed_meanwhile(httpd: Httpd) -> None:
    httpd.log.expect("apppool: spawner \\d+ ended")
    gate = httpd.dir / "boot"
    gate.touch()
    app = two(httpd, f"AppSetEnv BOOT_IF {gate}")
    old = httpd.pids(app)
    gate.unlink()
    ctl = Ctl(httpd, "restart", "shop", "--wait")
    wait_until(lambda: httpd.pids(app, "starting"), "new code starts")
    httpd.check()  # The spawner has responded to the command before it.
    kill9(httpd.helper("spawner"))
    assert ctl.waits()
    gate.touch()
    code, _, error = ctl.end()
    assert (code, error) == (0, "")
    assert not set(httpd.pids(app)) & set(old)


@pytest.mark.mpms("event")
def test_start(httpd: Httpd) -> None:
    """It starts MinInstances processes, or one. A drained app is refused."""
    app = httpd.app("shop", "MinInstances 2")
    other = httpd.app("blog")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    for name in ("shop", "blog"):
        done = httpd.ctl("start", name, "--wait")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"{name} is being started")
    httpd.settles(active=0, count=3)
    assert (len(httpd.pids(app)), len(httpd.pids(other))) == (2, 1)
    done = httpd.ctl("start", "blog")
    assert done.stdout.startswith("blog has 1 process")
    assert httpd.ctl("drain", "blog", "--wait").returncode == 0
    done = httpd.ctl("start", "blog")
    assert done.returncode == 1 and "blog is drained" in done.stderr
    assert httpd.requests_seen() == []
    response = json.loads(httpd.ctl("--json", "start", "shop").stdout)
    assert (response["ok"], response["app"]) == \
        (True, f"{app.root} (production)")


@pytest.mark.mpms("event")
def test_start_of_one_that_failed(httpd: Httpd) -> None:
    """An earlier failure does not end the wait."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    gate, broken = httpd.dir / "boot", httpd.dir / "broken"
    app = httpd.app("shop", f"AppSetEnv BOOT_IF {gate}",
                    f"AppSetEnv BOOT_FAIL_IF {broken}")
    gate.touch()
    broken.touch()
    httpd.start()
    assert httpd.get("/pid", "shop").status in (502, 503)
    gate.unlink()
    broken.unlink()
    ctl = Ctl(httpd, "start", "shop", "--wait")
    wait_until(lambda: httpd.pids(app, "starting"), "it starts")
    gate.touch()
    code, _, error = ctl.end()
    assert (code, error) == (0, "")
    broken.touch()
    done = httpd.ctl("restart", "shop", "--blocking", "--wait")
    assert done.returncode == 1 and "did not start: " in done.stderr


@pytest.mark.mpms("event")
def test_start_in_a_full_pool(httpd: Httpd) -> None:
    """An idle process of another app makes room. A busy one does not."""
    httpd.directives.append("MaxPoolSize 1")
    app, other = httpd.app("shop"), httpd.app("blog")
    httpd.start()
    held = httpd.hold("blog", "a")
    done = httpd.ctl("start", "shop")
    assert done.returncode == 1 and "MaxPoolSize" in done.stderr
    ctl = Ctl(httpd, "restart", "shop", "--wait")
    assert held.release().status == 200
    assert ctl.end()[0] == 0
    assert len(httpd.pids(app)) == 1 and httpd.pids(other) == []


@pytest.mark.mpms("event")
def test_while_the_spawner_starts(httpd: Httpd) -> None:
    """apppoolctl waits a moment for a spawner that does not listen yet."""
    httpd.app("shop")
    for _ in range(TRIES):
        httpd.launch()
        wait_until(lambda: (httpd.runtime / "table").exists(), "it has begun")
        began = time.monotonic()
        done = httpd.ctl("status")
        took = time.monotonic() - began
        wait_until(httpd.listening, "httpd listens")
        if done.returncode == 0:
            break
        assert took >= 1, "it did not wait"
        wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
        httpd.stop()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.mpms("event")
def test_status_of_one_app(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    for name in ("shop", "blog"):
        httpd.get("/pid", name)
    done = httpd.ctl("status", "blog")
    assert done.returncode == 0
    assert "blog (production): running" in done.stdout
    assert "shop" not in done.stdout
    assert httpd.ctl("status", "shoq").returncode == 1
