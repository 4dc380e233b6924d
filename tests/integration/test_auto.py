# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppProtocol auto and AppConcurrency auto: the files in AppRoot decide, so
AppRoot is the only directive."""
import os
import shutil

import pytest

from harness import config, procs, sentences
from harness.config import App
from harness.httpd import Httpd
from harness.procs import kill9
from harness.segment import RECORDS, Segment
from harness.tracer import injected
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# Responds when this many requests have arrived.
MEET = """<?php $here = '%s/';
touch($here . getmypid());
for ($i = 0; $i < 4000 && count(glob($here . '*')) < 5; $i++) usleep(5000);
echo $i < 4000 ? 'met' : 'alone';"""

NODE = """const http = require("http");
const fs = require("fs");
let waiting = [];
function respond() {
  for (const one of waiting.splice(0)) one.end(String(process.pid));
}
http.createServer((request, response) => {
  if (waiting.push(response) == 9) respond();
}).listen({ fd: 3 });
setInterval(() => fs.existsSync("go") && respond(), 50);
"""

PYTHON = """
def application(environ, start_response):
    start_response("200 OK", [])
    return [b"python"]
"""


def bare(httpd: Httpd, files: dict[str, str]) -> App:
    """An app with no other directive than AppRoot."""
    app = httpd.app("shop", command=None)
    for name, text in files.items():
        (app.root / name).write_text(text)
    return app


def made_for(httpd: Httpd, app: App) -> list[int]:
    """The number of requests at a time that its processes take."""
    return [process["concurrency"]
            for process in httpd.group(app)["processes"]
            if process["state"] in ("idle", "busy")]


@pytest.mark.parametrize("name", ["index.php", "public/index.php"])
def test_php(httpd: Httpd, name: str) -> None:
    """One process of the pool serves five requests at once."""
    httpd.directives.append("MaxPoolSize 1")
    app = bare(httpd, {name: MEET % (httpd.dir / "hold"),
                       "public/style.css": "static"})
    assert "needs mod_proxy" not in httpd.test().stdout
    httpd.start()
    pending = [httpd.get_async("/a/b", "shop") for _ in range(5)]
    assert [one.result().text for one in pending] == ["met"] * 5
    assert len(httpd.pids(app)) == 1
    assert httpd.get("/style.css", "shop").text == "static"
    httpd.graceful()
    assert httpd.get("/", "shop").text == "met"
    assert made_for(httpd, app) == [5]


def test_php_children_share_their_opcode_cache(httpd: Httpd) -> None:
    """One of them has compiled a script, and all of them have it."""
    httpd.directives.append("MaxPoolSize 1")
    app = bare(httpd, {
        "index.php": MEET % (httpd.dir / "hold")
        + "echo ' ', getmypid(), ' ', "
        "opcache_is_script_cached(__DIR__ . '/public/compiled.php');",
        "public/compiled.php": "<?php echo getmypid();"})
    # PHP does not keep a script that has just changed.
    os.utime(app.public / "compiled.php", (10**9, 10**9))
    httpd.start()
    compiler = httpd.get("/compiled.php", "shop").text
    pending = [httpd.get_async("/", "shop") for _ in range(5)]
    said = [one.result().text.split() for one in pending]
    assert [words[::2] for words in said] == [["met", "1"]] * 5
    assert compiler in (pids := {words[1] for words in said})
    assert len(pids) == 5


def test_node(httpd: Httpd) -> None:
    """One process takes any number of requests, more than MaxPoolSize."""
    httpd.directives.append("MaxPoolSize 2")
    bare(httpd, {"app.js": NODE})
    httpd.start()
    pending = [httpd.get_async("/", "shop") for _ in range(9)]
    assert len({one.result().text for one in pending}) == 1


def test_a_command_of_node(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 2")
    app = httpd.app("shop", command="node app.js")
    (app.root / "app.js").write_text(NODE)
    httpd.start()
    pending = [httpd.get_async("/", "shop") for _ in range(9)]
    assert len({one.result().text for one in pending}) == 1


def test_directives_override_the_files(httpd: Httpd) -> None:
    app = bare(httpd, {"app.js": NODE})
    app.directives.append("AppConcurrency 1")
    httpd.start()
    pending = [httpd.get_async("/", "shop") for _ in range(2)]
    wait_until(lambda: len(httpd.pids(app)) == 2, "two processes")
    (app.root / "go").touch()
    assert len({one.result().text for one in pending}) == 2


def test_a_deployment_changes_it(httpd: Httpd) -> None:
    """From PHP to Python and back. Meanwhile processes of both serve
    requests."""
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    httpd.start()
    assert httpd.get("/", "shop").text == "php"
    (app.root / "wsgi.py").write_text(PYTHON)
    app.touch()
    wait_until(lambda: httpd.get("/", "shop").text == "python", "new code")
    assert httpd.group(app)["concurrency"] is None
    assert made_for(httpd, app) == [1]
    (app.root / "wsgi.py").unlink()
    shutil.rmtree(app.root / "__pycache__", ignore_errors=True)
    app.touch()
    wait_until(lambda: httpd.get("/", "shop").text == "php", "old code")
    httpd.check()


@pytest.mark.parametrize("name", ["app.js", "index.php"])
def test_source_of_php_is_never_shown(httpd: Httpd, name: str) -> None:
    """This holds for every kind of app, because httpd does not know the kind
    yet when a client requests a file."""
    app = bare(httpd, {"public/old.php": "<?php echo 'ran'; // secret",
                       name: "require('http').createServer((q, a) => a.end("
                             "'asked for ' + q.url)).listen({ fd: 3 });"})
    httpd.start()
    for _ in range(2):
        assert httpd.get("/old.php", "shop").text \
            == ("ran" if name == "index.php" else "asked for /old.php")


def test_a_module_is_missing(httpd: Httpd,
                             monkeypatch: pytest.MonkeyPatch) -> None:
    """httpd -t names the module in a warning, because only a file of the
    tenant needs it."""
    httpd.log.expect(sentences.OWN_STATUS, sentences.MODULE_MISSING)
    app = bare(httpd, {"app.js": NODE})
    monkeypatch.setattr(config, "MODULES", [
        name for name in config.MODULES if name != "proxy_http"])
    wish = 'AppProtocol http needs mod_proxy_http: add "LoadModule ' \
        "proxy_http_module"
    done = httpd.test()
    assert done.returncode == 0
    assert f"{app.root} (" in done.stdout
    assert f"): because app.js is there, {wish}" in done.stdout
    httpd.start()
    assert httpd.get("/", "shop").status == 500
    httpd.log.wait_for(f"shop: {wish}")


def test_ready_path_needs_http(httpd: Httpd) -> None:
    """AppReady /path needs HTTP."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    app.directives.append("AppReady /up")
    assert httpd.test().returncode == 0
    httpd.start()
    assert httpd.get("/", "shop").status == 503
    httpd.log.wait_for("index.php is there, and the protocol is fcgi: "
                       "AppReady /up needs AppProtocol http")


def test_the_spawner_dies_while_one_boots(httpd: Httpd) -> None:
    """If the report of a process is lost, httpd does not use a wrong protocol
    for it."""
    httpd.log.expect("1 processes of the pool are none of " "ours: forgotten",
                     sentences.DIED, sentences.DIES_OFTEN)
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    httpd.start()
    for _ in range(6):
        pending = httpd.get_async("/", "shop")
        kill9(httpd.helper("spawner"))
        assert pending.result().text == "php"
        for pid in httpd.pids(app):
            kill9(pid)
        # Its children would serve the next request until it is forgotten.
        wait_until(lambda: not httpd.pids(app), "no process is left")


def test_the_spawner_is_slow(httpd: Httpd) -> None:
    """The process starts and accepts connections after the spawner has looked
    for events, and before it checks whether the process is ready. Its first
    request gets the protocol that was found."""
    bare(httpd, {"index.php": "<?php echo 'php';"})
    httpd.start()
    with injected(httpd.helper("spawner"), "?epoll_wait,epoll_pwait",
                  "delay_exit=500000"):
        assert httpd.get("/", "shop").text == "php"
    httpd.log.wait_for(r"shop\[\d+\] ready")
    first, second = httpd.log.matching(r"shop\[\d+\] (starts|ready)")
    assert " starts " in first and " ready " in second
    httpd.check()


# Where apl_group_t has options.concurrency, and apl_process_t its wire
# (shm/format/format.h): the first word is listen and, above it, protocol.
CONCURRENCY = 16 + 5 * 4
WIRE = 116
MADE_FOR = WIRE + 8
AUTO = 0xffffffff


def test_a_hostile_child_changes_what_was_found(httpd: Httpd) -> None:
    """The values are restored: those of the app from the app table, those of
    the process from the registry. The next spawner does so, too."""
    httpd.log.expect("had lost its place in the pool")
    app = bare(httpd, {"wsgi.py": PYTHON})
    httpd.start()
    assert httpd.get("/", "shop").text == "python"
    assert made_for(httpd, app) == [1]
    with Segment(httpd) as segment:
        # The first of each. Slot 0 of an array is never used.
        group = segment.tables["groups"] + RECORDS["groups"][0] + CONCURRENCY
        process = segment.tables["processes"] + RECORDS["processes"][0] \
            + MADE_FOR
        assert segment.word(group) == AUTO and segment.word(process) == 1
        segment.write_word(group, 50)
        wait_until(lambda: segment.word(group) == AUTO, "it is put right")
        kill9(httpd.helper("spawner"))
        segment.write_word(group, 0)
        segment.write_word(process, 50)
        wait_until(lambda: segment.word(group) == AUTO,
                   "and by the next one")
    httpd.log.wait_for("had lost its place in the pool")
    wait_until(lambda: made_for(httpd, app) == [1], "the number of before")
    assert httpd.get("/", "shop").text == "python"
    httpd.check()


@pytest.mark.parametrize("protocol", [4, 5, 0xffff])
def test_a_hostile_child_removes_the_protocol(httpd: Httpd,
                                              protocol: int) -> None:
    """4: auto, as for a process that starts. The process gets no request, and
    the child of httpd lives."""
    httpd.log.expect("had lost its place in the pool")
    bare(httpd, {"wsgi.py": PYTHON})
    httpd.start()
    assert httpd.get("/", "shop").text == "python"
    children = httpd.children()
    with Segment(httpd) as segment:
        wire = segment.tables["processes"] + RECORDS["processes"][0] + WIRE
        with procs.traced(httpd.helper("spawner")):
            segment.write_word(wire, segment.word(wire) & 0xffff
                               | protocol << 16)
            pending = httpd.get_async("/", "shop")
            httpd.log.wait_for(r"shop\[\d+\] refuses the connection; trying")
    assert pending.result().text == "python"
    assert httpd.children() == children
    httpd.check()


# The second process becomes ready only when the test allows it.
SLOW_NODE = """const fs = require("fs");
const slow = fs.existsSync("first");
fs.writeFileSync("first", "");
const server = require("http").createServer((request, response) =>
  setInterval(() => fs.existsSync("go") && response.end("node"), 50));
const begin = setInterval(() => {
  if (slow && !fs.existsSync("go")) return;
  clearInterval(begin);
  server.listen({ fd: 3 });
}, 50);
"""

SLOW_PYTHON = """
import os, time

def application(environ, start_response):
    with open("held", "a") as file:
        file.write(f"{os.getpid()}\\n")
    while not os.path.exists("go"):
        time.sleep(0.05)
    start_response("200 OK", [])
    return [b"python"]
"""


def test_old_processes_stay_serial(httpd: Httpd) -> None:
    """In the middle of a deployment: the old code takes one request at a time,
    the new code takes any number."""
    app = bare(httpd, {"wsgi.py": SLOW_PYTHON})
    app.directives += ["AppRestartMode rolling", "MaxInstances 2"]
    held, go = app.root / "held", app.root / "go"
    held.touch()
    held.chmod(0o666)
    httpd.start()
    pending = [httpd.get_async("/", "shop") for _ in range(2)]
    wait_until(lambda: len(held.read_text().split()) == 2, "two serve")
    (app.root / "wsgi.py").unlink()
    (app.root / "app.js").write_text(SLOW_NODE)
    app.touch()
    pending.append(httpd.get_async("/", "shop"))
    wait_until(lambda: sorted(made_for(httpd, app)) == [0, 1],
               "one of each takes requests")
    pending += [httpd.get_async("/", "shop") for _ in range(6)]
    wait_until(lambda: sum(process["sessions"] for process in
                           httpd.group(app)["processes"]) == 9,
               "all have a process")
    assert sorted(process["sessions"] for process in
                  httpd.group(app)["processes"]
                  if process["state"] == "busy") == [1, 7]
    go.touch()
    responses = [one.result().text for one in pending]
    assert sorted(responses) == ["node"] * 7 + ["python"] * 2
    httpd.check()


def test_a_start_that_fails_changes_nothing(httpd: Httpd) -> None:
    """The old code still serves, with its own number of requests at a time."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = bare(httpd, {"wsgi.py": PYTHON})
    app.directives.append("AppRestartMode rolling")
    httpd.start()
    assert httpd.get("/", "shop").text == "python"
    assert made_for(httpd, app) == [1]
    (app.root / "wsgi.py").unlink()
    (app.root / "app.js").write_text("process.exit(1)")
    app.touch()
    assert httpd.get("/", "shop").text == "python"
    httpd.log.wait_for("ended with .* while it started")
    assert made_for(httpd, app) == [1]
    assert httpd.get("/", "shop").text == "python"
