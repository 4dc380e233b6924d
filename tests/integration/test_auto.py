# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppProtocol auto and AppConcurrency auto: what is found in AppRoot decides,
so AppRoot is all that is said."""
import shutil

import pytest

from harness.config import App
from harness.httpd import Httpd
from harness.procs import kill9
from harness.segment import RECORDS, Segment
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

# Answers when so many requests are at it.
MEET = """<?php $here = '%s/';
touch($here . getmypid());
for ($i = 0; $i < 4000 && count(glob($here . '*')) < 5; $i++) usleep(5000);
echo $i < 4000 ? 'met' : 'alone';"""

NODE = """const http = require("http");
const fs = require("fs");
let waiting = [];
function answer() {
  for (const one of waiting.splice(0)) one.end(String(process.pid));
}
http.createServer((request, response) => {
  if (waiting.push(response) == 9) answer();
}).listen({ fd: 3 });
setInterval(() => fs.existsSync("go") && answer(), 50);
"""

PYTHON = """
def application(environ, start_response):
    start_response("200 OK", [])
    return [b"python"]
"""


def bare(httpd: Httpd, files: dict[str, str]) -> App:
    """An app of which nothing is said but AppRoot."""
    app = httpd.app("shop", command=None)
    for name, text in files.items():
        (app.root / name).write_text(text)
    return app


@pytest.mark.parametrize("name", ["index.php", "public/index.php"])
def test_php(httpd: Httpd, name: str) -> None:
    """Five requests at once, in one process of the pool"""
    httpd.modules.append("proxy_fcgi")
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
    assert httpd.group(app)["concurrency"] == 5


def test_node(httpd: Httpd) -> None:
    """As many requests as there are, more than MaxPoolSize"""
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


def test_what_is_said_holds(httpd: Httpd) -> None:
    app = bare(httpd, {"app.js": NODE})
    app.directives.append("AppConcurrency 1")
    httpd.start()
    pending = [httpd.get_async("/", "shop") for _ in range(2)]
    wait_until(lambda: len(httpd.pids(app)) == 2, "two processes")
    (app.root / "go").touch()
    assert len({one.result().text for one in pending}) == 2


def test_a_deployment_changes_it(httpd: Httpd) -> None:
    """From PHP to Python and back; processes of both serve meanwhile"""
    httpd.modules.append("proxy_fcgi")
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    httpd.start()
    assert httpd.get("/", "shop").text == "php"
    (app.root / "wsgi.py").write_text(PYTHON)
    app.touch()
    wait_until(lambda: httpd.get("/", "shop").text == "python", "new code")
    assert httpd.group(app)["concurrency"] == 1
    (app.root / "wsgi.py").unlink()
    shutil.rmtree(app.root / "__pycache__", ignore_errors=True)
    app.touch()
    wait_until(lambda: httpd.get("/", "shop").text == "php", "old code")
    httpd.check()


@pytest.mark.parametrize("name", ["app.js", "index.php"])
def test_source_of_php_is_never_shown(httpd: Httpd, name: str) -> None:
    """Whatever the app turns out to be: httpd does not know that yet when it
    is asked for a file"""
    httpd.modules.append("proxy_fcgi")
    app = bare(httpd, {"public/old.php": "<?php echo 'ran'; // secret",
                       name: "require('http').createServer((q, a) => a.end("
                             "'asked for ' + q.url)).listen({ fd: 3 });"})
    httpd.start()
    for _ in range(2):
        assert httpd.get("/old.php", "shop").text \
            == ("ran" if name == "index.php" else "asked for /old.php")


def test_a_module_is_missing(httpd: Httpd) -> None:
    """httpd -t names it, as a warning: it is the tenant's file that needs it"""
    httpd.log.expect("shop")
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    wish = 'AppProtocol fcgi needs mod_proxy_fcgi: add "LoadModule ' \
        "proxy_fcgi_module"
    done = httpd.test()
    assert done.returncode == 0
    assert f"{app.root} (" in done.stdout
    assert f"): as index.php is there, {wish}" in done.stdout
    httpd.start()
    assert httpd.get("/", "shop").status == 500
    httpd.log.wait_for(f"shop: {wish}")


def test_a_path_that_is_asked_for(httpd: Httpd) -> None:
    """AppReady is HTTP"""
    httpd.log.expect("shop")
    httpd.modules.append("proxy_fcgi")
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    app.directives.append("AppReady /up")
    assert httpd.test().returncode == 0
    httpd.start()
    assert httpd.get("/", "shop").status == 503
    httpd.log.wait_for("index.php is there, and that is spoken to over "
                       "FastCGI: AppReady /up is asked for over HTTP")


def test_the_spawner_dies_while_one_boots(httpd: Httpd) -> None:
    """A process whose report is lost is not spoken to in a wrong way"""
    httpd.log.expect("shop", "spawner", "1 processes of the pool are none of "
                     "ours: forgotten")  # killed before it was on record
    httpd.modules.append("proxy_fcgi")
    app = bare(httpd, {"index.php": "<?php echo 'php';"})
    httpd.start()
    for _ in range(6):
        pending = httpd.get_async("/", "shop")
        kill9(httpd.helper("spawner"))
        assert pending.result().text == "php"
        for pid in httpd.pids(app):
            kill9(pid)


# Where apl_group_t has options.concurrency (shm/format.h).
CONCURRENCY = 16 + 5 * 4


def test_a_hostile_child_changes_what_was_found(httpd: Httpd) -> None:
    """The table says nothing of it; what the process found stands in the
    registry, also for the next spawner"""
    httpd.log.expect("spawner")
    app = bare(httpd, {"wsgi.py": PYTHON})
    httpd.start()
    assert httpd.get("/", "shop").text == "python"
    found = httpd.group(app)["concurrency"]
    with Segment(httpd) as segment:
        # The first group; slot 0 of a table is never used.
        at = segment.tables["groups"] + RECORDS["groups"][0] + CONCURRENCY
        assert segment.word(at) == found
        segment.write_word(at, 50)
        wait_until(lambda: segment.word(at) == found, "it is put right")
        kill9(httpd.helper("spawner"))
        segment.write_word(at, 0)
        wait_until(lambda: segment.word(at) == found, "and by the next one")
    httpd.check()


def test_a_start_that_fails_changes_nothing(httpd: Httpd) -> None:
    """The old code serves on, with the number that is its own"""
    httpd.log.expect("shop")
    app = bare(httpd, {"wsgi.py": PYTHON})
    app.directives.append("AppRestartMode rolling")
    httpd.start()
    assert httpd.get("/", "shop").text == "python"
    found = httpd.group(app)["concurrency"]
    assert found != 0
    (app.root / "wsgi.py").unlink()
    (app.root / "app.js").write_text("process.exit(1)")
    app.touch()
    assert httpd.get("/", "shop").text == "python"
    httpd.log.wait_for("ended with .* while it started")
    assert httpd.group(app)["concurrency"] == found
    assert httpd.get("/", "shop").text == "python"
