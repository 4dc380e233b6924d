# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The buttons of the status page, and users that may not use them."""
import base64
import hashlib
import re
import urllib.parse
from typing import Any, Optional

import pytest

from harness import sentences
from harness.browser import PATIENT, Browser
from harness.client import Response
from harness.errorlog import KILLED
from harness.httpd import STATUS, App, Httpd
from harness.procs import alive
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("both read the form in the same way")

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def allow(httpd: Httpd) -> App:
    httpd.directives.append(f'<Location "{STATUS}">\n'
                            "AppStatusAllowActions On\n</Location>")
    return httpd.app("shop", "AppGroupName shop", "MaxInstances 2")


def token(httpd: Httpd, **more: Any) -> str:
    found: str = httpd.get(f"{STATUS}?list", **more).json()["token"]
    return found


def press(httpd: Httpd, action: str, name: str,
          with_token: Optional[str] = None,
          headers: Optional[dict[str, str]] = None) -> Response:
    if with_token is None:
        with_token = token(httpd, headers=headers)
    form = {"token": with_token, "do": action, "name": name}
    return httpd.post(STATUS, "status", urllib.parse.urlencode(form),
                      headers={**FORM, **(headers or {})})


def process_id(httpd: Httpd, app: App) -> str:
    return httpd.group(app)["processes"][0]["id"]


def test_detach(httpd: Httpd) -> None:
    """As apppoolctl does it. The second time, there is nothing to detach."""
    app = allow(httpd)
    httpd.start()
    held = httpd.hold("shop", "a")
    one = process_id(httpd, app)
    response = press(httpd, "detach", one)
    assert response.status == 303
    assert response.headers["Location"] == "./apppool-status"
    assert [p["state"] for p in httpd.group(app)["processes"]] == ["leaving"]
    response = press(httpd, "detach", one)
    assert response.status == 412 and "already leaving" in response.text
    assert held.release().status == 200
    wait_until(lambda: not httpd.group(app)["processes"], "it ends")
    assert press(httpd, "detach", one).status == 412
    assert len(httpd.events("detached")) == 1
    lines = httpd.log.matching(r"shop\[\d+\] is detached: somebody without a "
                               "login asked for that on the status page")
    assert len(lines) == 1 and "[client 127.0.0.1:" in lines[0]


def test_restart(httpd: Httpd) -> None:
    app = allow(httpd)
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert press(httpd, "restart", "shop").status == 303
    wait_until(lambda: httpd.get("/pid", "shop").text != pid, "new code")
    assert httpd.group(app)["restarts"] == 1
    httpd.log.wait_for("shop is restarted: somebody without a login")
    response = press(httpd, "restart", "blog")
    assert response.status == 412 and "has had a request" in response.text


def test_resume(httpd: Httpd) -> None:
    """The button Resume ends a drain. The button Restart does not."""
    app = allow(httpd)
    httpd.start()
    httpd.get("/pid", "shop")
    httpd.log.expect("shop is drained: GET /pid is refused")
    assert press(httpd, "drain", "shop").status == 303
    httpd.log.wait_for("shop is drained: somebody without a login asked")
    assert httpd.group(app)["state"] == "drained"
    assert httpd.get("/pid", "shop").status == 503
    response = press(httpd, "drain", "shop")
    assert response.status == 412 and "drained already" in response.text
    response = press(httpd, "drain", "blog")
    assert response.status == 412 and "is configured" in response.text
    response = press(httpd, "restart", "shop")
    assert response.status == 412 and "drained now" in response.text
    assert press(httpd, "resume", "shop").status == 303
    assert httpd.get("/pid", "shop").status == 200
    assert press(httpd, "resume", "shop").status == 412
    assert httpd.group(app)["state"] == "running"


@pytest.mark.mpms("prefork", "worker", "event")
def test_kill(httpd: Httpd) -> None:
    """P26: the button names a request. Only the process that works on this
    request ends."""
    app = allow(httpd)
    httpd.log.expect(*KILLED, sentences.SLOW, sentences.KILLED_NO_RESPONSE)
    httpd.start()
    first, second = httpd.hold("shop", "a"), httpd.hold("shop", "b")
    group = httpd.group(app)
    process = {one["pid"]: one["id"] for one in group["processes"]}
    request = {one["pid"]: one["id"] for one in group["requests"]}
    mine = f"{process[first.pid]}-{request[first.pid]}"
    for other in (f"{process[first.pid]}-{request[second.pid]}",
                  f"{process[first.pid]}-0", f"{process[first.pid]}-",
                  f"{process[first.pid]}-{2**64 - 1}", process[first.pid],
                  f"{'0' * 16}-{request[first.pid]}", f"-{first.pid}"):
        response = press(httpd, "kill", other)
        assert response.status == 412
        assert "That request is over" in response.text
    assert httpd.pids(app, "busy") == sorted([first.pid, second.pid])
    assert press(httpd, "kill", mine).status == 303
    assert first.pending.result().status == 504
    wait_until(lambda: not alive(first.pid), "it ends")
    lines, = httpd.log.wait_for("asked for that on the status page")
    assert f"shop[{first.pid}] is killed because of GET /hold: " in lines
    assert "key=" not in lines
    httpd.log.wait_for(rf"shop\[{first.pid}\] report")
    assert press(httpd, "kill", mine).status == 412
    assert second.release().status == 200
    assert [one["pid"] for one in httpd.events("killed")] == [first.pid]
    httpd.check()


def test_kill_of_a_request_that_is_over(httpd: Httpd) -> None:
    """412: the same process already works on another request."""
    app = allow(httpd)
    httpd.start()
    held = httpd.hold("shop", "a")
    group = httpd.group(app)
    name = f"{group['processes'][0]['id']}-{group['requests'][0]['id']}"
    assert held.release().status == 200
    assert press(httpd, "kill", name).status == 412
    held = httpd.hold("shop", "b")
    assert press(httpd, "kill", name).status == 412
    assert held.release().status == 200
    assert httpd.events("killed") == []


def test_off(httpd: Httpd) -> None:
    """The default: no buttons, and no other way to use them."""
    app = httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert httpd.get(f"{STATUS}?list").json()["token"] is None
    response = press(httpd, "detach", process_id(httpd, app), "0-0")
    assert response.status == 403 and "AppStatusAllowActions" in response.text
    assert httpd.get("/pid", "shop").text == pid


@pytest.mark.mpms("prefork", "event")
def test_bad_tokens(httpd: Httpd) -> None:
    app = allow(httpd)
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    one = process_id(httpd, app)
    good = token(httpd)
    step, mac = good.split("-")
    older = f"{int(step, 16) - 1:x}-{mac}"
    newer = f"{int(step, 16) + 1:x}-{mac}"
    for bad in ("", "-", "0", older, newer, good[:-1], good + "0",
                good.upper() + "x", step, "-" + mac, "9" * 4000,
                "%00" + good):
        assert press(httpd, "detach", one, bad).status in (400, 403, 413), bad
    httpd.graceful()  # the key is another one
    assert press(httpd, "detach", one, good).status == 403
    assert httpd.pids(app) == [int(pid)]
    assert httpd.events("detached") == []


def test_token_of_somebody_else(httpd: Httpd) -> None:
    httpd.modules += ["authn_core", "authn_file", "authz_user", "auth_basic"]
    users = httpd.dir / "users"
    secret = base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
    users.write_text("".join(f"{user}:{{SHA}}{secret}\n"
                             for user in ("alice", "bob")))
    app = allow(httpd)
    httpd.directives.append(
        f'<Location "{STATUS}">\nAuthType Basic\nAuthName status\n'
        f'AuthUserFile "{users}"\nRequire valid-user\n</Location>')
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    login = {user: {"Authorization": "Basic " + base64.b64encode(
        f"{user}:secret".encode()).decode()} for user in ("alice", "bob")}
    page = httpd.get(f"{STATUS}?json", headers=login["alice"]).json()
    one = page["groups"][0]["processes"][0]["id"]
    hers = token(httpd, headers=login["alice"])
    assert press(httpd, "detach", one, hers, login["bob"]).status == 403
    assert press(httpd, "detach", one, hers, {}).status == 401
    assert press(httpd, "detach", one, hers, login["alice"]).status == 303
    httpd.log.wait_for("is detached: alice asked for that")
    assert app


def test_odd_forms(httpd: Httpd) -> None:
    """A request that is not a form of the page changes nothing, and costs
    little."""
    app = allow(httpd)
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    one, good = process_id(httpd, app), token(httpd)

    def send(body: Any, kind: str = FORM["Content-Type"],
             query: str = "") -> int:
        return httpd.post(STATUS + query, "status", body,
                          headers={"Content-Type": kind}).status

    form = urllib.parse.urlencode(
        {"token": good, "do": "detach", "name": one})
    assert send(b"") == 403
    assert send(form, "text/plain") == 403
    assert send(form, "multipart/form-data; boundary=x") == 403
    assert send("x" * (1 << 20)) == 413
    assert send("x=1&" * 5000) == 413
    assert send(form + "&a" * 100) in (400, 413)
    assert send(b"\xff\xfe%%%=&&&") in (400, 403)
    assert send("", query="?" + form) == 403
    assert press(httpd, "explode", one, good).status == 400
    for name in ("", one[:-1], "X" + one[1:], one + "0", "0" * 16, "x" * 1000,
                 "../..", "\r\nX: y"):
        assert press(httpd, "detach", name, good).status in (412, 413), name
        assert press(httpd, "restart", name, good).status in (400, 412), name
    for method in ("PUT", "DELETE", "PATCH"):
        response = httpd.request(method, STATUS)
        assert response.status == 405 and "GET" in response.headers["Allow"]
    assert httpd.pids(app) == [int(pid)] and httpd.events("detached") == []


def test_get_changes_nothing(httpd: Httpd) -> None:
    app = allow(httpd)
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    query = urllib.parse.urlencode({"token": token(httpd), "do": "detach",
                                    "name": process_id(httpd, app)})
    assert httpd.get(f"{STATUS}?{query}").status == 200
    assert httpd.request("HEAD", f"{STATUS}?{query}").status == 200
    assert httpd.get(f"{STATUS}?{'x' * 1000000}").status in (413, 414)
    assert httpd.pids(app) == [int(pid)]


@pytest.mark.mpms("event")
def test_a_megabyte_of_query(httpd: Httpd) -> None:
    """If httpd accepts it, it has no effect."""
    app = allow(httpd)
    httpd.directives.append("LimitRequestLine 2000000")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    one, good = process_id(httpd, app), token(httpd)
    form = urllib.parse.urlencode(
        {"token": good, "do": "detach", "name": one})
    for query in ("x" * (1 << 20), "json" + "%00" * 300000,
                  f"{form}&" * 8000, "json&" + "a=b&" * 250000):
        page = httpd.get(f"{STATUS}?{query}")
        assert page.status == 200
        assert ("<html" in page.text) != query.startswith("json&")
        assert len(page.body) < 100000
        assert httpd.post(f"{STATUS}?{query}", "status", b"",
                          headers=FORM).status == 403
    assert httpd.pids(app) == [pid] and httpd.events("detached") == []
    response = httpd.post(f"{STATUS}?{'x' * (1 << 20)}", "status", form,
                          headers=FORM)
    assert response.status == 303
    assert response.headers["Location"] == "./apppool-status"


@pytest.mark.mpms("event")
@pytest.mark.xdist_group("browser")
def test_buttons(httpd: Httpd) -> None:
    """In a browser: the page shows the result of a button, or why it
    failed."""
    app = allow(httpd)
    httpd.directives += PATIENT
    httpd.start()
    httpd.log.expect(*KILLED, sentences.SLOW, sentences.KILLED_NO_RESPONSE)
    held = httpd.hold("shop", "a")
    page = f"http://127.0.0.1:{httpd.port}{STATUS}#app=shop"
    note = "document.getElementById('notice').textContent"
    button = "document.querySelector('#drawer button[data-action={}]')"
    with Browser() as browser:
        browser.open(page)
        loads = browser.loads
        wait_until(lambda: "GET /hold" in browser.text(), "the drawer")
        httpd.graceful()  # the page has an old token now
        browser.run(button.format("detach") + ".click()")
        wait_until(lambda: "reload the page" in browser.run(note),
                   "it says why")

        def detached() -> bool:
            """With a new token."""
            browser.run(button.format("detach") + "?.click()")
            return bool(httpd.events("detached"))

        wait_until(detached, "the next document has a new token")
        wait_until(lambda: "1 leaving" in browser.text(), "it is seen")
        browser.run(button.format("restart") + ".click()")  # asks
        wait_until(lambda: httpd.group(app)["restarts"] == 1, "restarted")
        wait_until(lambda: browser.run(note) == "", "nothing is wrong")
        browser.run(button.format("kill") + ".click()")  # asks, too
        assert held.pending.result().status == 504
        wait_until(lambda: "killed" in browser.text(), "it is seen")
        browser.run(button.format("drain") + ".click()")
        wait_until(lambda: httpd.group(app)["state"] == "drained", "drained")
        wait_until(lambda: browser.run(f"!!{button.format('resume')}"), "seen")
        browser.run(button.format("resume") + ".click()")
        wait_until(lambda: httpd.group(app)["state"] != "drained", "resumed")
        assert browser.loads == loads
        assert [e for e in browser.errors
                if not re.search("40[13]|412", e)] == []


@pytest.mark.mpms("prefork", "event")
def test_queries(httpd: Httpd) -> None:
    """AppStatusDetail full shows them, and only on that page."""
    httpd.directives.append(
        '<Location "/all">\nSetHandler apppool-status\n'
        "AppStatusDetail full\n</Location>")
    httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "k3y")
    assert "k3y" not in httpd.get(f"{STATUS}?list").text
    assert "k3y" not in httpd.get(f"{STATUS}?json").text
    [request] = httpd.get("/all?json").json()["groups"][0]["requests"]
    assert (request["uri"], request["query"]) == ("/hold", "key=k3y")
    held.release()
    httpd.directives.pop()  # users may no longer see them
    httpd.graceful()
    held = httpd.hold("shop", "s3cret")
    assert "s3cret" not in httpd.ctl("status", "--json").stdout
    held.release()


def test_wrong_values(httpd: Httpd) -> None:
    httpd.app("shop")
    conf = httpd.configure().read_text()
    for line, why in (("AppStatusDetail most", "basic or full"),
                      ("AppStatusAllowActions maybe", "On or Off")):
        done = httpd.test(f'{conf}\n<Location "/x">\n{line}\n</Location>')
        assert done.returncode != 0 and line.split()[0] in done.stdout
        assert line.split()[1] in done.stdout, (done.stdout, why)
    done = httpd.test(f"{conf}\nAppStatusAllowActions On")
    assert done.returncode != 0 and "not allowed here" in done.stdout
