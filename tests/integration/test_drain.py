# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppoolctl drain: an administrator works on an application. Its open
requests are finished, no other request reaches it, and nothing starts it until
apppoolctl restart."""
import json
import subprocess

import pytest

from harness import sentences
from harness.client import Response
from harness.config import App
from harness.httpd import Httpd
from harness.places import CTL
from harness.procs import alive, kill9
from harness.threads import Threads
from harness.users import as_user
from harness.wait import wait_until


@pytest.fixture(autouse=True)
def refusals(httpd: Httpd) -> None:
    httpd.log.expect(r"shop is drained: \w+ /\w+ is refused")


def drained(httpd: Httpd, app: App) -> bool:
    """The app has no process and no request."""
    group = httpd.group(app)
    return group["state"] == "drained" and group["processes"] == []


def refused(response: Response) -> bool:
    return response.status == 503 and response.headers["Retry-After"] == "30"


class Waiting:
    """apppoolctl drain shop --wait."""

    def __init__(self, httpd: Httpd, *words: str) -> None:
        self.process = subprocess.Popen(
            [str(CTL), "--dir", str(httpd.runtime), "drain", "shop", "--wait",
             *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=40)
        return self.process.returncode, out, err


def status_or_refused(response: Response) -> str:
    return "refused" if refused(response) else str(response.status)


def all_get(clients: Threads, what: str) -> None:
    """From now on, each client gets this status three times, with no other
    status in between."""
    seen = [len(responses) for responses in clients.responses]
    wait_until(lambda: all(
        len(responses) > n + 3 and set(responses[-3:]) == {what}
        for n, responses in zip(seen, clients.responses)),
        f"all get {what}")


def test_under_load(httpd: Httpd) -> None:
    """No open request fails. At one moment the refusals begin. At a later
    moment they end, and all requests are served."""
    app = httpd.app("shop", "MinInstances 2", "MaxInstances 3",
                    "AppQueueTimeout 60s")
    httpd.start()
    with Threads(httpd, "shop", 6, name=status_or_refused) as clients:
        all_get(clients, "200")
        old = httpd.pids(app)
        code, _, error = Waiting(httpd).end()
        assert (code, error) == (0, "")
        assert not any(alive(pid) for pid in old)
        all_get(clients, "refused")
        assert drained(httpd, app)
        httpd.check()
        assert httpd.ctl("restart", "shop").returncode == 0
        all_get(clients, "200")
    for responses in clients.responses:
        turns = [a for a, b in zip(responses, [""] + responses) if a != b]
        assert turns == ["200", "refused", "200"]
    assert not set(httpd.pids(app)) & set(old)
    wait_until(lambda: httpd.group(app)["spawning"] == 0
               and httpd.counts() == (0, len(httpd.pids(app)), 0),
               "it settles, with its minimum")
    httpd.check()


@pytest.mark.mpms("event")
def test_requests_inside_and_requests_in_the_queue(httpd: Httpd) -> None:
    """--wait returns when the last process is gone, and prints a line."""
    app = httpd.app("shop", "MaxInstances 1")
    httpd.start()
    held = httpd.hold("shop", "a")
    pid = held.pid
    queue = [httpd.get_async("/pid", "shop") for _ in range(3)]
    wait_until(lambda: httpd.group(app)["queue"] == 3, "three wait")
    waiting = Waiting(httpd)
    for one in queue:
        assert refused(one.result())
    assert refused(httpd.get("/pid", "shop"))
    assert len(httpd.log.wait_for("shop is drained: GET /pid", 4)) == 4
    assert httpd.pids(app, "leaving") == [pid]
    assert httpd.group(app)["state"] == "drained"
    assert waiting.process.poll() is None
    assert held.release().status == 200
    code, out, error = waiting.end()
    assert (code, error) == (0, "")
    first, last = out.splitlines()
    assert first.startswith("shop is drained: it gets no more requests")
    assert last == f"no process of {app.root} (production) is left"
    assert not alive(pid) and drained(httpd, app)
    assert [e.get("pid") for e in httpd.events("drained")] == [None, pid]
    assert f"{app.root} (production): drained" in httpd.ctl("status").stdout
    httpd.check()


@pytest.mark.mpms("event")
def test_restart_puts_it_back(httpd: Httpd) -> None:
    """apppoolctl prints that, and MinInstances processes start again."""
    app = httpd.app("shop", "MinInstances 2")
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.settles(active=0, count=2)
    response = json.loads(
        httpd.ctl("--json", "drain", "shop", "--wait").stdout)
    assert (response["ok"], response["app"]) == \
        (True, f"{app.root} (production)")
    assert drained(httpd, app)
    done = httpd.ctl("restart", "shop")
    assert (done.returncode, done.stdout) == (0, "shop is put back into service\n")
    httpd.log.wait_for("shop is put back into service")
    httpd.settles(active=0, count=2)
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.group(app)["state"] == "running"
    assert [e.get("pid") for e in httpd.events("restart")] == [None]
    again = json.loads(httpd.ctl("--json", "restart", "shop").stdout)
    assert again["drained"] is False


@pytest.mark.mpms("event")
def test_nothing_starts_it(httpd: Httpd) -> None:
    """MinInstances, AppPreStart, a deployment, a graceful restart and the
    deaths of our helpers do not start it."""
    httpd.log.expect("apppool: (spawner|watchdog) \\d+ ended",
                     sentences.DRAINED)
    app = httpd.app("shop", "MinInstances 2", "AppPreStart On")
    httpd.start()
    httpd.settles(active=0, count=2)
    assert Waiting(httpd).end()[0] == 0
    app.touch()
    assert refused(httpd.get("/pid", "shop"))
    for name in ("spawner", "watchdog"):
        old = httpd.helper(name)
        kill9(old)
        wait_until(lambda: httpd.helpers(name) not in ([], [old]),
                   f"{name} is back")
        wait_until(lambda: httpd.ctl("check").returncode == 0, "it responds")
        assert refused(httpd.get("/pid", "shop"))
    app.directives.append("AppSetEnv CHANGED yes")
    httpd.graceful()
    assert refused(httpd.get("/pid", "shop"))
    before = len(httpd.status()["history"])
    wait_until(lambda: len(httpd.status()["history"]) > before,
               "the spawner has looked at all of it some times")
    assert drained(httpd, app)
    assert httpd.status()["counters"]["spawned"] == 2
    assert httpd.ctl("restart", "shop").returncode == 0
    httpd.settles(active=0, count=2)
    assert httpd.get("/process", "shop").json()["environment"]["CHANGED"]


@pytest.mark.mpms("event")
def test_spawner_is_killed_with_requests_inside(httpd: Httpd) -> None:
    """The requests are finished, and the next spawner ends the processes."""
    httpd.log.expect("apppool: spawner \\d+ ended")
    app = httpd.app("shop", "MinInstances 2")
    httpd.start()
    held = httpd.hold("shop", "a")
    httpd.settles(active=1, count=2)
    pids = httpd.pids(app)
    waiting = Waiting(httpd)
    wait_until(lambda: httpd.group(app)["state"] == "drained", "it drains")
    httpd.check()  # The spawner has responded to the command before it.
    kill9(httpd.helper("spawner"))
    assert refused(httpd.get("/pid", "shop"))
    assert held.release().status == 200
    code, _, error = waiting.end()
    assert (code, error) == (0, "")
    assert not any(alive(pid) for pid in pids)
    httpd.check()


@pytest.mark.mpms("event")
def test_hard_restart_of_httpd(httpd: Httpd) -> None:
    """The app then works again."""
    app = httpd.app("shop")
    httpd.start()
    for again in (httpd.restart, lambda: (httpd.stop(), httpd.start())):
        assert httpd.get("/pid", "shop").status == 200
        assert Waiting(httpd).end()[0] == 0
        assert refused(httpd.get("/pid", "shop"))
        assert drained(httpd, app)
        again()
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.mpms("event")
def test_before_the_first_request(httpd: Httpd) -> None:
    app = httpd.app("shop")
    httpd.app("blog")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    assert Waiting(httpd).end()[0] == 0
    assert refused(httpd.get("/pid", "shop"))
    assert httpd.get("/pid", "blog").status == 200
    assert drained(httpd, app)
    assert httpd.ctl("restart", "shop").stdout == "shop is put back into service\n"
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.mpms("event")
def test_put_back_while_it_is_waited_for(httpd: Httpd) -> None:
    """The command fails, so a script does not continue."""
    app = httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "a")
    waiting = Waiting(httpd)
    wait_until(lambda: httpd.group(app)["state"] == "drained", "it drains")
    assert httpd.ctl("restart", "shop").returncode == 0
    code, _, error = waiting.end()
    assert code == 1 and "is not drained any more" in error
    assert httpd.get("/pid", "shop").text != str(held.pid)
    assert held.release().status == 200


@pytest.mark.mpms("event")
def test_what_is_refused(httpd: Httpd) -> None:
    """An unknown app, a wrong user, wrong usage."""
    app = httpd.app("shop")
    httpd.app("blog", "AppGroupName weblog")
    httpd.start()
    wait_until(lambda: httpd.ctl("status").returncode == 0, "it is up")
    wrong = httpd.ctl("drain", "shoq", "--wait")
    assert wrong.returncode == 1
    assert (f'no app has the name shoq: there is "{app.root} (production)", '
            '"weblog"') in wrong.stderr
    for words in (("drain",), ("drain", "shop", "blog"),
                  ("drain", "shop", "--rolling"),
                  ("drain", "shop", "--timeout", "5"), ("status", "--wait"), ("events", "--wait")):
        assert httpd.ctl(*words).returncode == 2, words
    user = as_user(httpd, "www-data", "drain", "shop")
    assert user.returncode == 1
    assert "only root may use drain" in user.stderr
    assert httpd.get("/pid", "shop").status == 200
