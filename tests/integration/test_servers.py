# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Real app servers, found by the app's files."""
import shutil

import pytest

from harness.client import Connection
from harness.config import App
from harness.httpd import Httpd
from harness.places import TOP
from harness.procs import alive, command
from harness.wait import wait_until

SERVERS = {"python": "gunicorn", "ruby": "puma", "node": "node"}


def demo(httpd: Httpd, language: str, *directives: str) -> App:
    app = httpd.app(language, *directives, command=None)
    for file in (TOP / "demo" / language).iterdir():
        shutil.copy(file, app.root)
    return app


@pytest.mark.mpms("prefork", "worker", "event")
@pytest.mark.parametrize("language", list(SERVERS))
def test_server(httpd: Httpd, language: str) -> None:
    """Start, serve, keep the client's connection, deploy, stop"""
    app = demo(httpd, language)
    httpd.start()
    client = Connection(httpd.port, 60)
    answers = [client.request("GET", "/hello", language) for _ in range(5)]
    client.close()
    assert [answer.status for answer in answers] == [200] * 5
    assert all("/hello" in answer.text for answer in answers)
    assert "request 5 here" in answers[-1].text
    (pid,) = httpd.pids(app)
    assert SERVERS[language] in command(pid)
    assert httpd.get("/a?b=c", language).status == 200
    assert httpd.request("HEAD", "/", language).body == b""
    assert httpd.post("/", language, b"x" * 1000).status == 200
    app.touch()
    wait_until(lambda: "request 1 here" in httpd.get("/hello", language).text,
               "the new process answers", 60)
    wait_until(lambda: not alive(pid), "the old process is gone", 10)


@pytest.mark.mpms("event")
def test_all_at_once(httpd: Httpd) -> None:
    httpd.directives.append("MaxPoolSize 6")
    for language in SERVERS:
        demo(httpd, language, "MaxInstances 2")
    httpd.start()
    pending = [httpd.get_async("/x", language, timeout=60)
               for language in SERVERS for _ in range(4)]
    assert {one.result(60).status for one in pending} == {200}
    httpd.check()


@pytest.mark.mpms("event")
def test_procfile(httpd: Httpd) -> None:
    """Its web: line wins over the other files"""
    app = httpd.app("shop", command=None)
    (app.root / "Procfile").write_text(
        f"worker: /bin/false\nweb: {httpd.command}\n")
    (app.root / "wsgi.py").write_text("this is not Python")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", ["app.js", "server.js"])
def test_node_entries(httpd: Httpd, name: str) -> None:
    app = httpd.app("shop", command=None)
    shutil.copy(TOP / "demo/node/app.js", app.root / name)
    httpd.start()
    assert "Node" in httpd.get("/", "shop").text


@pytest.mark.mpms("event")
def test_package_json(httpd: Httpd) -> None:
    """Its start script"""
    app = httpd.app("shop", command=None)
    shutil.copy(TOP / "demo/node/app.js", app.root / "main.js")
    (app.root / "package.json").write_text(
        '{"name": "shop", "scripts": {"start": "node main.js"}}')
    httpd.start()
    assert "Node" in httpd.get("/", "shop").text


@pytest.mark.mpms("event")
def test_detection_at_the_next_start(httpd: Httpd) -> None:
    """An app that is put there while httpd runs"""
    httpd.log.expect("shop", "apppool")
    app = httpd.app("shop", command=None)
    (app.root / "Procfile").write_text("web: /bin/false\n")
    httpd.start()
    assert httpd.get("/", "shop").status in (502, 503)
    (app.root / "Procfile").write_text(f"web: {httpd.command}\n")
    httpd.graceful()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200,
               "the new command", 10)
