# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications of node that listen on a TCP port, as they are: the helper for
listen() gives them the socket of the pool (helpers/node)."""
import contextlib
import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.httpd import Httpd
from harness.places import APPS, TOP
from harness.ports import reserve_port
from harness.wait import wait_until

HELPER = TOP / "helpers" / "node" / "listen.cjs"

# It says what its server says of its port.
SERVE = """const http = require("http");
const server = http.createServer((request, response) =>
  response.end(JSON.stringify(server.address())));
"""
ESM = SERVE.replace('const http = require("http")', 'import http from "http"')
EXPRESS = """const app = express();
app.get("/", (request, response) => response.send(server.address()));
const server = app.listen(3000);
"""
MODULE = {"package.json": '{"type": "module"}'}
# They listen themselves, each on a port that is free.
INTERNAL = """const internal = require("http").createServer();
internal.listen(0, "127.0.0.1", () => {
  const port = internal.address().port;
  if (!(port > 0)) throw new Error("no port");
"""
THREAD = """const { Worker, isMainThread } = require("worker_threads");
if (isMainThread)
  new Worker(__filename).once("message", () => server.listen(3000));
else
  server.listen(0, "127.0.0.1", () =>
    require("worker_threads").parentPort.postMessage(server.address().port));
"""
CLUSTER = """const cluster = require("cluster");
if (cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
} else {
  server.listen(3000);
}
"""
# It opens a port first, and then asks for the socket.
KNOWS = """const metrics = http.createServer((request, response) =>
  response.end(request.socket.remoteAddress));
metrics.listen(%d, "127.0.0.1", () => server.listen({ fd: 3 }, () =>
  http.get(metrics.address(), (response) => response.on("data", (data) =>
    require("fs").writeFileSync("tmp/seen", data)))));
"""
# A server looks whether a port is free. The one that serves listens when a
# client is there: what has connected before "go" is known two turns later.
LOOKS = """const probe = require("net").createServer();
const go = () => setImmediate(() => setImmediate(() => server.listen(%s)));
probe.listen(3000, () => probe.close(() => {
  console.log(probe.address());
  process.stdin.once("data", go);
}));
"""
NEVER = """const probe = require("net").createServer();
probe.listen(3000, () => probe.close());
"""
ONCE = """server.listen(3000);
server.once("request", () => server.close());
"""


# As Fastify does it for `localhost`.
TWINS = SERVE + """const twin = http.createServer();
server.listen(%d, "127.0.0.1", () => twin.listen({ port: %d, host: "127.0.0.2" },
  () => console.log(twin.address())));
"""


# What a request says of its client, on the socket of the pool, and on a port of
# the app's own.
CLIENT = """const http = require("http");
const say = ({ socket: { remoteAddress, remoteFamily, encrypted } }, response) =>
  response.end(JSON.stringify([remoteAddress, remoteFamily, encrypted]));
const server = http.createServer(say), own = http.createServer(say);
server.on("upgrade", ({ socket }, same) =>
  same.end(`HTTP/1.1 101 Yes\\r\\n\\r\\n${socket.remoteAddress}`));
server.listen(3000, () => own.listen(0, "127.0.0.1",
  () => console.log(own.address().port)));
"""


class Case(NamedTuple):
    files: dict[str, str]
    directives: tuple[str, ...] = ()
    command: str | None = None
    says: str | None = '{"address":"::","family":"IPv6","port":3000}'


def app_js(text: str, *directives: str, **more: str | None) -> Case:
    return Case({"app.js": text}, directives, **more)


PORT_ONLY = SERVE + "server.listen(process.env.PORT);"
CASES = {
    "http": app_js(SERVE + "server.listen(3000);"),
    "none": app_js(PORT_ONLY, says='{"address":"::","family":"IPv6","port":0}'),
    "esm": Case({"app.js": ESM + "server.listen(3000);", **MODULE}),
    "express": app_js('const express = require("express");' + EXPRESS,
                      "AppSetEnv NODE_PATH /usr/share/nodejs"),
    "internal": app_js(SERVE + INTERNAL + "server.listen(3000); });"),
    "thread": app_js(SERVE + THREAD),
    "cluster": app_js(SERVE + CLUSTER),
    "script": Case({"main.js": SERVE + "server.listen({ port: 3000 });",
                    "package.json": '{"scripts": {"start": "node main"}}'}),
    "command": Case({"main.js": SERVE + "server.listen(3000);"},
                    command="node main.js"),
    "npm": Case({"Procfile": "web: npm start\n",
                 "main.js": SERVE + "server.listen(process.env.OWN);",
                 "package.json": '{"scripts": {"start": '
                 '"cd . && cross-env OWN=3000 node main.js"}}'}),
    "hand": Case({"main.js": SERVE + "server.listen(3000);"}, command='sh -c '
                 "'exec env NODE_OPTIONS=\"--require "
                 "$APPPOOL_HELPERS/node/listen.cjs\" node main.js'"),
    "options": app_js(
        SERVE + "if (require('http').maxHeaderSize !== 12345) throw new Error();"
        "server.listen(3000);",
        'AppSetEnv NODE_OPTIONS "--max-http-header-size=12345 --no-warnings"'),
}
# These open a TCP port before they have the socket. If a second passes until
# they have it, the log names that port.
EARLY = (r"apppool: (internal|thread|knows|named)\[\d+\] listens on TCP port "
         r"\d+, where httpd does not connect \(.*\), and did not accept "
         r"connections on descriptor 3 yet$")


@pytest.mark.mpms("event")
def test_as_they_are(httpd: Httpd) -> None:
    """One httpd, as it depends on nothing of httpd"""
    httpd.directives.append("MaxPoolSize 20")
    httpd.log.expect(EARLY)
    ports, claims = zip(*(reserve_port() for _ in range(2)))
    first = "require('http').createServer().listen(%d, '127.0.0.1');"
    cases = {**CASES, "knows": app_js(SERVE + KNOWS % ports[0], says="null"),
             "named": app_js(first % ports[1] + PORT_ONLY,
                             "AppSetEnv PORT 3000")}
    for name, case in cases.items():
        app = httpd.app(name, *case.directives, command=case.command)
        for file, text in case.files.items():
            (app.root / file).write_text(text)
    httpd.start()
    pending = {name: httpd.get_async("/", name) for name in cases}
    assert {name: one.result(60).text for name, one in pending.items()} == \
        {name: case.says for name, case in cases.items()}
    seen = httpd.dir / "knows" / "tmp" / "seen"
    wait_until(lambda: seen.exists() and seen.read_text() == "127.0.0.1",
               "the first port is served, too")
    for claim in claims:
        claim.close()


@contextlib.contextmanager
def node(text: str, place: Path) -> \
        Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A program in node, with a socket as descriptor 3, and a client of it"""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(40)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        fd = listener.fileno()
        program = subprocess.Popen(
            ["bash", "-c", f'exec 3<&{fd}; LISTEN_PID=$$ exec node "$@"', "-",
             "--require", HELPER, "-e", text], pass_fds=[fd], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with program, client:
        client.connect(str(place))
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        try:
            yield program, client
        finally:
            program.kill()


@pytest.mark.parametrize("asks", ["3000", "{ fd: 3 }"],
                         ids=["port", "socket"])
def test_looks_first(tmp_path: Path, asks: str) -> None:
    """A server closes before anybody has connected: the next listen() gets the
    socket, and serves a client that connected meanwhile"""
    with node(SERVE + LOOKS % asks, tmp_path / "s") as (program, client):
        assert program.stdout and program.stdin
        assert program.stdout.readline() == "null\n"
        program.stdin.write("go")
        program.stdin.flush()
        assert b"200 OK" in client.recv(4096)


def test_one_port_on_two_addresses(tmp_path: Path) -> None:
    """That works in each process"""
    port, claim = reserve_port()
    text = TWINS % (port, port)
    with node(text, tmp_path / "a") as (one, client), \
            node(text, tmp_path / "b") as (two, other):
        for program, asks in (one, client), (two, other):
            assert program.stdout
            assert program.stdout.readline() == \
                f"{{ address: '127.0.0.2', family: 'IPv4', port: {port} }}\n"
            assert b"200 OK" in asks.recv(4096)
    claim.close()


def test_client(tmp_path: Path) -> None:
    """A request names its client. Others may share its connection."""
    def ask(link: http.client.HTTPConnection, **headers: str) -> object:
        link.request("GET", "/", headers={
            f"X-Forwarded-{name}": value for name, value in headers.items()})
        return json.loads(link.getresponse().read())

    with node(CLIENT, tmp_path / "s") as (program, _):
        assert program.stdout
        own = http.client.HTTPConnection("127.0.0.1",
                                         int(program.stdout.readline()))
        link = http.client.HTTPConnection("shop.example")
        link.sock = socket.socket(socket.AF_UNIX)
        link.sock.connect(str(tmp_path / "s"))
        assert ask(link, For="192.0.2.1", Proto="https") == \
            ["192.0.2.1", "IPv4", True]
        assert ask(link, For="2001:db8::1", Proto="http") == \
            ["2001:db8::1", "IPv6", False]
        assert ask(link) == [None, None, False]
        assert ask(own, For="192.0.2.1", Proto="https") == \
            ["127.0.0.1", "IPv4", None]
        link.sock.sendall(b"GET / HTTP/1.1\r\nUpgrade: x\r\nConnection: "
                          b"Upgrade\r\nX-Forwarded-For: 192.0.2.2\r\n\r\n")
        said = b""
        while data := link.sock.recv(4096):
            said += data
        assert said.endswith(b"192.0.2.2")
        link.close()
        own.close()


@pytest.mark.mpms("event")
def test_client_of_httpd(httpd: Httpd) -> None:
    """A client cannot say who it is. Express needs no `trust proxy`, and
    SvelteKit learns which header has the scheme. A cluster is no exception."""
    app = httpd.app("shop", "AppSetEnv NODE_PATH /usr/share/nodejs",
                    command=None)
    (app.root / "app.js").write_text(
        'const app = require("express")();\n'
        "app.get('/', ({ ip, protocol }, response) => "
        "response.send(`${ip} ${protocol} ${process.env.PROTOCOL_HEADER}`));\n"
        "app.listen(3000);\n")
    workers = httpd.app("workers", command=None)
    (workers.root / "app.js").write_text(
        'const http = require("http");\n'
        "const server = http.createServer(({ socket }, response) =>\n"
        "  response.end(socket.remoteAddress));\n" + CLUSTER)
    httpd.start()
    forged = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}
    assert httpd.get("/", "shop", headers=forged).text == \
        "127.0.0.1 http x-forwarded-proto"
    assert httpd.get("/", "workers", headers=forged).text == "127.0.0.1"


@pytest.mark.parametrize("text", [NEVER, SERVE + ONCE], ids=["unused", "used"])
def test_ends(tmp_path: Path, text: str) -> None:
    """The socket that no server has any more does not keep the process"""
    with node(text, tmp_path / "s") as (program, _):
        assert program.wait(40) == 0


def test_arguments() -> None:
    """Which listen() gets the socket, and what address() says then"""
    done = subprocess.run(["node", APPS / "listen_arguments.js", HELPER],
                          check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert (done.returncode, done.stdout) == (0, "passed\n")
