# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A start that lasts longer than a request waits. Its client, the log, the
status and apppoolctl learn what is known by then."""
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import sentences, template
from harness.client import Response
from harness.httpd import Httpd
from harness.page import Page
from harness.ports import reserve_port
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the spawner knows it, whoever asks")

HTML = {"Accept": "text/html"}
SLOW = ("AppStartTimeout 100", "AppStopTimeout 1")
SILENT = "/bin/sh -c 'echo first; echo waits for the database; sleep 1000'"
WAITS = "it did not accept connections"
# It listens on a port of its own.
OWN_PORT = """
import socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening on", sys.argv[1], flush=True)
time.sleep(1000)
"""


def check(httpd: Httpd, name: str, response: Response, missing: str,
          output: str) -> str:
    """The page and the log say it. @return the error id"""
    assert response.status == 503
    assert int(response.headers["Retry-After"]) >= 1
    page = Page(response.body.decode())
    assert page.text["h1"] == f"{name} is still starting"
    assert page.rows["Step"] == "Becoming ready"
    assert re.fullmatch(r"\d+ s", page.rows["Starting for"])
    assert re.search(missing, page.rows["So far"])
    assert "Failure" not in page.rows and "Next try" not in page.rows
    assert page.text.get("pre", "").endswith(output)
    assert "AppStartTimeout" in page.text["p"]
    number = page.rows["Error"]
    last = output.strip().rpartition("\n")[2]
    httpd.log.wait_for(
        rf"{name} is still starting after \d+ s: {missing}"
        rf"{'.*; last output: ' + last if last else ''}.*; the request has left "
        rf"the queue after \d+ ms \(AppQueueTimeout\): error {number}$")
    return number


def test_says_what_is_known(httpd: Httpd) -> None:
    httpd.log.expect(sentences.STILL_STARTING, sentences.WRONG_PORT,
                     sentences.QUEUE_LATE)  # before the spawner has seen it
    port, claim = reserve_port()
    starting = (*SLOW, "AppPreStart On", "MinInstances 1", "AppQueueTimeout 1")
    friendly = (*starting, "AppFriendlyErrors On")
    silent = httpd.app("silent", *friendly, command=SILENT)
    own = httpd.app("own", *friendly,
                    command=f"/usr/bin/python3 -IS own.py {port}")
    (own.root / "own.py").write_text(OWN_PORT)
    loading = template.add(httpd, "", *friendly, "AppSetEnv LOAD_MS 1000000",
                           name="loading")
    terse = httpd.app("terse", *starting, "AppFriendlyErrors Off",
                      command=SILENT)
    httpd.app("early", *SLOW, "AppQueueTimeout 200ms", "AppFriendlyErrors On",
              command=SILENT)
    httpd.start()
    httpd.get("/", "early")
    httpd.log.wait_for(r"early\[\d+\] starts as")
    early = httpd.get("/", "early", headers=HTML)
    page = Page(early.body.decode())
    assert early.status == 503 and early.headers["Retry-After"] == "1"
    assert page.text["h1"] == "early is still starting"
    assert "AppQueueTimeout" in page.text["p"] or "So far" in page.rows
    httpd.log.wait_for(r"early is still starting after \d+ s.*; the request has "
                       r"left the queue after 200 ms \(AppQueueTimeout\): error "
                       rf"{page.rows['Error']}$")
    silent_text = f"{WAITS}; last output: waits for the database"
    for app, text in ((silent, silent_text), (terse, silent_text),
                      (loading, "it did not say READY=1"),
                      (own, f"it listens on TCP port {port},.*; last output: "
                            f"listening on {port}")):
        wait_until(lambda: re.match(text, (httpd.group(app)["slow_start"]
                                           or {"text": ""})["text"]),
                   f"it is known of {app.name}")
    got = {name: httpd.get("/", name, headers=HTML)
           for name in ("silent", "own", "loading", "terse")}
    number = check(httpd, "silent", got["silent"], WAITS,
                   "first\nwaits for the database\n")
    check(httpd, "own", got["own"], f"it listens on TCP port {port},",
          f"listening on {port}\n")
    check(httpd, "loading", got["loading"], "it did not say READY=1", "")
    assert b"This site is still starting" in got["terse"].body
    assert b"database" not in got["terse"].body
    found = re.search(rb"error ([0-9a-f]{16}),", got["terse"].body)
    assert found
    httpd.log.wait_for(rf"terse is still starting .*: error {found[1].decode()}$")
    slow = httpd.group(silent)["slow_start"]
    assert slow["id"] == number and slow["age"] >= 1
    assert slow["text"] == silent_text
    assert f": {slow['text']} (error id {number})\n" in \
        httpd.ctl("status", "silent").stdout
    done = httpd.ctl("restart", "own", "--wait", "--timeout", "10")
    assert done.returncode == 1
    assert re.search(r"does not run its new code in all processes yet: a start "
                     rf"lasts for \d+ s: it listens on TCP port {port}, ",
                     done.stderr)
    claim.close()


def test_start_that_ends(httpd: Httpd) -> None:
    """When it is ready, nothing says that it is slow any more. A start of a
    second or less is not slow."""
    gate = httpd.dir / "gate"
    app = httpd.app("shop", *SLOW, f"AppSetEnv BOOT_IF {gate}")
    httpd.start()
    with ThreadPoolExecutor() as pool:
        response = pool.submit(httpd.get, "/pid", "shop")
        wait_until(lambda: httpd.group(app)["slow_start"], "it is slow")
        assert [file.suffix for file in (httpd.runtime / "e").iterdir()] == \
            [".slow"]
        gate.touch()
    assert response.result().status == 200
    assert httpd.group(app)["slow_start"] is None
    wait_until(lambda: not list((httpd.runtime / "e").iterdir()),
               "the file is gone")


@pytest.mark.mpms("event")
def test_busy_processes_are_no_slow_start(httpd: Httpd) -> None:
    """The app has a process, and another one starts slowly."""
    httpd.log.expect(sentences.QUEUE_LATE)
    gate = httpd.dir / "gate"
    gate.touch()
    app = httpd.app("shop", *SLOW, f"AppSetEnv BOOT_IF {gate}",
                    "AppQueueTimeout 3", "MaxInstances 2", "AppPreStart On",
                    "MinInstances 1")
    httpd.start()
    httpd.settles(active=0, count=1)
    held = httpd.hold("shop", "a")
    gate.unlink()
    response = httpd.get("/pid", "shop")
    assert response.status == 503
    httpd.log.wait_for("shop: no process was free; the request has left the "
                       r"queue after 3000 ms")
    wait_until(lambda: httpd.group(app)["slow_start"], "it is slow")
    gate.touch()
    held.release()
