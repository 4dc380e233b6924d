# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Commands as people write them into a Procfile, into AppCommand and into
package.json: lists, variables, $PORT, scripts and lines within them. The program at
their end gets the socket, and is the process of the pool."""
import json
import subprocess

import pytest

from harness import sentences, starts
from harness.cases import cases
from harness.client import Response
from harness.config import App, SLOW_START
from harness.httpd import Httpd

pytestmark = pytest.mark.one_mpm("what is run does not depend on httpd")

# In a process that multiprocessing has executed, as is usual from Python 3.14 on
SPAWN = """import concurrent.futures, multiprocessing, os
def here():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        return pool.submit(os.getcwd).result()
"""
WSGI = """import os, spawn
def app(environ, start_response):
    if environ["PATH_INFO"] == "/spawn":
        spawn.here()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{os.getcwd()} {os.getppid()} A={os.environ.get('A')}".encode()]
"""
ASGI = """import os, spawn
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    if scope["path"] == "/spawn":
        spawn.here()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    text = f"{os.getcwd()} {os.getppid()} A={os.environ.get('A')}"
    await send({"type": "http.response.body", "body": text.encode()})
"""
NODE = """const e = process.env;
require("http").createServer((q, s) => s.end(
  `${process.cwd()} ${process.ppid} A=${e.A} ${e.npm_package_version}` +
  ` ${process.argv.slice(2)} ${e.NODE_OPTIONS}`)).listen(e.PORT || 3000);
"""
PACKAGE = {"name": "shop", "version": "1.2.3", "scripts": {
    "start": "node server.js", "prod": "NODE_OPTIONS=--no-warnings npm start",
    "both": "node -e 'process.exit(0)'; npm run prod -- 7",
    "local": "serve-it 8", "stamp": "A=$(printf 'x%s%%' y) node server.js",
    "api": "npm --prefix api start"}}
# The line; how the response begins, or what it contains
PYTHON = {
    "cd": ("cd src && A=1 gunicorn main:app", "/src", "A=1"),
    "unset": ("unset PORT && gunicorn main:app", "", "A=None"),
    "source": (". ./env.sh && gunicorn main:app", "", "A=from env"),
    "export": ("export A='x; y'; gunicorn main:app", "", "A=x; y"),
    "migrate": ("python3 -c 'print(1)' && exec gunicorn main:app", "", "A="),
    "port": ("gunicorn --bind 0.0.0.0:$PORT main:app", "", "A="),
    "uvicorn": ("A=2 uvicorn asgi_:app --host 0.0.0.0 --port ${PORT:-80}", "",
                "A=2"),
    "inside": ("A=3 bash -lc \"cd src && gunicorn main:app\"", "/src", "A=3"),
    "percent": ("gunicorn main:app --access-logformat '%(m)s %(U)s'", "", "A="),
}
SCRIPTS = {
    "npm": ("npm start", "", "A=undefined 1.2.3"),
    "nested": ("A=3 npm run both", "", "A=3 1.2.3 7 "),
    "options": ("npm run prod", "", ' --require "'),
    "local": ("npm run local", "", "1.2.3 8 "),
    "bin": ("serve-it 9", "", "A=undefined undefined 9 "),
    "prefix": ("npm run api", "/api", "A=undefined 2.0.0"),
    "stamp": ("npm run stamp", "", "A=xy% 1.2.3"),
    "script": ("A=4 ./start.sh 1", "", "A=4 undefined 1 "),
    "program": ("bin/www 2", "", "A=undefined undefined 2 "),
    "started": ("env A=5 npm run both", "", "A=5 1.2.3 7 "),
    "numbers": ("npm start -- --port $PORT", "", "--port,5000"),
}


def add(httpd: Httpd, name: str, line: str, is_file: bool) -> App:
    """As a line of a Procfile, or as AppCommand"""
    app = httpd.app(name, command=None if is_file else line)
    app.put({
        "env.sh": "A='from env'; export A\n", "main.py": WSGI,
        "src/main.py": WSGI, "spawn.py": SPAWN,
        "src/spawn.py": SPAWN, "asgi_.py": ASGI, "server.js": NODE,
        "api/server.js": NODE, "package.json": json.dumps(PACKAGE),
        "api/package.json": json.dumps({
            "version": "2.0.0", "scripts": {"start": "node server.js"}}),
        "start.sh": "#!/bin/sh\nexec node server.js \"$@\"\n",
        "bin/www": "#!/usr/bin/env node\nrequire('../server.js')\n",
        "node_modules/.bin/serve-it": "#!/usr/bin/env node\n" + NODE})
    if is_file:
        app.put({"Procfile": f"release: false\r\nweb: {line}\r\n"})
    return app


def start(httpd: Httpd) -> dict[str, Response]:
    httpd.directives += [f"MaxPoolSize {len(httpd.apps)}", *SLOW_START]
    httpd.start()
    return starts.first(httpd)


@pytest.mark.parametrize("rows", [PYTHON, SCRIPTS], ids=["python", "node"])
def test_lines(httpd: Httpd, rows: dict[str, tuple[str, str, str]]) -> None:
    """The parent of the program is the spawner, so no shell stays above it."""
    httpd.log.expect("first: do that once")
    for name, (line, _, _) in rows.items():
        for is_file in (True, False):
            add(httpd, f"{name}{int(is_file)}", line, is_file)
    responses = start(httpd)
    spawner = 0
    for app, case in cases(httpd.apps):
        _, place, has = rows[app.name[:-1]]
        with case:
            response = responses[app.name]
            assert response.status == 200, response.text
            where, parent, rest = response.text.split(" ", 2)
            assert where == f"{app.root}{place}" and has in rest
            if "npm " in rows[app.name[:-1]][0]: # as npm itself
                (process,) = httpd.group(app)["processes"]
                assert process["concurrency"] == 0
            if "gunicorn" not in rows[app.name[:-1]][0]: # it has a worker
                spawner = spawner or int(parent)
                assert int(parent) == spawner


# Each with the socket of the pool, whatever its options say.
SERVERS = {
    "hypercorn": "hypercorn --bind 0.0.0.0:$PORT asgi_:app",
    "module": "python3 -m hypercorn asgi_:app --bind 0.0.0.0:${PORT:-80}",
    "daphne": "daphne -b 0.0.0.0 -p $PORT asgi_:app",
    "waitress": "waitress-serve --listen=*:$PORT --threads=2 main:app",
    "thin": "thin start -p $PORT -e production",
    "mojo": "perl mojo.pl daemon -l http://*:$PORT",
    "npx": "npx serve-it -p $PORT",
    "percent": "A=$(printf '1%s%%' 2) uvicorn asgi_:app",
}


def test_servers(httpd: Httpd) -> None:
    for name, line in SERVERS.items():
        app = add(httpd, name, line, True)
        app.put({
            "config.ru": "run ->(_) { [200, {}, ['it is A=1']] }\n",
            "mojo.pl": "use Mojolicious::Lite; get '/' => "
                       "sub { shift->render(text => 'it is A=1') }; app->start;\n"})
    responses = start(httpd)
    for name, case in cases(SERVERS):
        with case:
            response = responses[name]
            assert response.status == 200 and " A=" in response.text, name
            assert name != "percent" or " A=12%" in response.text
    for name in ("daphne", "waitress"): # a helper of ours is their main module
        assert httpd.get("/spawn", name).status == 200, name
    assert not [line for line in httpd.log.lines() if "listens on" in line]


def test_thin_of_bundler(httpd: Httpd) -> None:
    """config.ru cannot have another server, and no command is written."""
    app = httpd.app("thin", "AppListen fd", command=None)
    app.put({"Gemfile": 'gem "thin"\ngem "rack"\n',
             "config.ru": 'require "bundler/setup"\n'
                          "run ->(_) { [200, {}, [$0]] }\n"})
    subprocess.run(["bundle", "install", "--local", "--quiet"],
                   cwd=app.root, check=True)
    httpd.start()
    assert httpd.get("/", "thin").text.endswith("/thin")


def test_what_is_said(httpd: Httpd) -> None:
    """Once, however often a process starts."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     "first: do that once", "may not take the socket",
                     "is for development", "listens on TCP port",
                     "without exec", "other programs as its child processes",
                     "cannot be read and count 1")
    builds = add(httpd, "builds", "./migrate && gunicorn main:app", True)
    builds.put({"migrate": "#!/bin/sh\n",
                "gunicorn.conf.py": "threads = 2 * 2\n"})
    pipe = add(httpd, "pipe", "gunicorn main:app | cat", False)
    watch = add(httpd, "watch", "node --watch server.js", False)
    stays = add(httpd, "stays", "./stays.sh", False)
    stays.put({"stays.sh": "#!/bin/sh\ngunicorn main:app\n"})
    many = add(httpd, "many", "concurrently 'node server.js'", False)
    calm = add(httpd, "calm", "node --watch server.js", False)
    calm.directives.append("AppEnvironment development")
    for app in (pipe, watch, calm, stays, many): # "builds" has what it needs
        app.directives.append("AppStartTimeout 2")
    checked = httpd.test().stdout
    assert f"{httpd.dir}/watch" in checked and "leave out --watch" in checked
    assert f"{httpd.dir}/calm" not in checked
    httpd.start()
    pending = {app.name: httpd.get_async("/", app.name) for app in httpd.apps}
    status = {name: one.result().status for name, one in pending.items()}
    builds.touch()
    assert httpd.get("/", "builds").status == status.pop("builds") == 200
    assert status.pop("watch") in (200, 502) and status.pop("calm") in (200, 502)
    assert set(status.values()) == {502}
    for said in ('builds.*"./migrate" first: do that once',
                 "builds.*the threads of gunicorn.conf.py cannot be read and "
                 "count 1: AppConcurrency sets the number",
                 "pipe.*the program may not take the socket",
                 "stays.*stays.sh runs gunicorn without exec",
                 "many.*concurrently starts other programs as its child",
                 "watch.*node is for development, and AppEnvironment is "
                 "production: leave out --watch"):
        httpd.log.wait_for(said)
        assert len([1 for line in httpd.log.lines()
                    if said.split(".*", 1)[1] in line]) == 1
    done = httpd.ctl("detect", str(builds.root))
    assert '\n  note: each start of a process runs "./migrate" first' in done.stdout
