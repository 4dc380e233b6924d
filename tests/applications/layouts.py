# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications as generators and tutorials lay them out, each with as few lines
as possible. The text of a page is the name of the layout.

A framework that Debian has is the real one. Where a framework is a stand-in
(`stands_in`), a few lines behave as its server does, and the layout shows that
the command is found and takes its socket."""
from typing import NamedTuple

from commands import (ASGI, MOJO, NODE, NPM, PHP, PSGI, PUMA, SINATRA,
                      WSGI)


class Layout(NamedTuple):
    kind: str  # the language, or what it is
    of: str  # the framework
    name: str
    files: dict[str, str]
    command: str
    path: str = "/"  # what is requested
    directives: tuple[str, ...] = ()
    stands_in: bool = False


ALL: list[Layout] = []


def add(kind: str, of: str, name: str, files: dict[str, str], command: str,
        **more: object) -> None:
    """A layout; NAME in a file is the name of the layout."""
    assert name not in {one.name for one in ALL}, name
    files = {path: text.replace("NAME", name) for path, text in files.items()}
    ALL.append(Layout(kind, of, name, files, command, **more))  # type: ignore


# ---- Python

FLASK = "from flask import Flask\n"
ROUTE = """
@app.route("/")
def hello():
    return "NAME"
"""
APP = f"{FLASK}app = Flask(__name__)\n{ROUTE}"
RUN = '\nif __name__ == "__main__":\n    app.run(debug=True)\n'
FACTORY = (f"{FLASK}\ndef create_app(test_config=None):\n"
           "    app = Flask(__name__, instance_relative_config=True)\n"
           + "\n".join("    " + line for line in ROUTE.splitlines())
           + "\n    return app\n")
PLAIN = """def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"NAME"]
"""
PLAIN_ASGI = """async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"NAME"})
"""
FAST = """from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

app = FastAPI()


@app.get("/", response_class=PlainTextResponse)
async def root():
    return "NAME"
"""
# A module that stands in for a framework: its constructor gives an application.
WSGI_CLASS = f"""class App:
    def __init__(self, *words, **named):
        self.server = self

    def __call__(self, environ, start_response):
        return answer(environ, start_response)

    def __getattr__(self, name):
        return lambda *words, **named: self


{PLAIN.replace("def application", "def answer")}"""
ASGI_CLASS = f"""class App:
    def __init__(self, *words, **named):
        pass

    async def __call__(self, scope, receive, send):
        await answer(scope, receive, send)

    def get(self, path):
        return lambda function: function


{PLAIN_ASGI.replace("def app", "def answer")}"""


def python(of: str, name: str, files: dict[str, str], command: str,
           **more: object) -> None:
    add("Python", of, name, {"requirements.txt": of.lower(), **files}, command,
        **more)


python("Flask", "flask-wsgi", {"wsgi.py": APP.replace("app =", "application =")
                               .replace("@app", "@application")},
       WSGI("wsgi"))
python("Flask", "flask-wsgi-app", {"wsgi.py": APP}, WSGI("wsgi:app"))
python("Flask", "flask-wsgi-imports",
       {"wsgi.py": "from shop import app\n" + RUN, "shop.py": APP},
       WSGI("wsgi:app"))
python("Flask", "flask-wsgi-renames",
       {"wsgi.py": "from shop import app as application\n", "shop.py": APP},
       WSGI("wsgi"))
python("Flask", "flask-wsgi-factory",
       {"wsgi.py": "from app import create_app\n\napp = create_app()\n" + RUN,
        "app/__init__.py": FACTORY}, WSGI("wsgi:app"))
python("Flask", "flask-passenger",
       {"passenger_wsgi.py": "import os\nimport sys\n\n"
        "sys.path.insert(0, os.path.dirname(__file__))\n"
        "from app import app as application\n", "app.py": APP},
       WSGI("passenger_wsgi"))
python("Flask", "flask-quickstart", {"app.py": APP}, WSGI("app:app"))
python("Flask", "flask-hello", {"hello.py": APP + RUN}, WSGI("hello:app"))
python("Flask", "flask-app-factory", {"app.py": FACTORY + RUN.replace(
    "app.run", "create_app().run")}, WSGI("'app:create_app()'"))
python("Flask", "flask-typed-factory",
       {"main.py": FACTORY.replace("test_config=None):", ") -> Flask:")},
       WSGI("'main:create_app()'"))
python("Flask", "flask-tutorial",
       {"flaskr/__init__.py": FACTORY, "flaskr/db.py": "import sqlite3\n",
        "flaskr/auth.py": "from flask import Blueprint\n\n"
        'bp = Blueprint("auth", __name__)\n',
        "tests/conftest.py": "from flaskr import create_app\n",
        "pyproject.toml": '[project]\nname = "flaskr"\n'},
       WSGI("'flaskr:create_app()'"))
python("Flask", "flask-package",
       {"shop/__init__.py": APP + "\nimport shop.views\n",
        "shop/views.py": "from shop import app\n",
        "run.py": "from shop import app\n" + RUN}, WSGI("run:app"))
python("Flask", "flask-mega-tutorial",
       {"microblog.py": "from app import create_app\n\napp = create_app()\n",
        "config.py": "class Config:\n    pass\n", "app/__init__.py": FACTORY},
       WSGI("'app:create_app()'"))
python("Flask", "flask-beanstalk",
       {"application.py": APP.replace("app =", "application =")
        .replace("@app", "@application") + RUN.replace("app.run",
                                                       "application.run")},
       WSGI("application:application"))
python("Flask", "flask-app-engine",
       {"main.py": APP + RUN, "app.yaml": "runtime: python311\n"},
       WSGI("main:app"))
python("Flask", "flask-mod-wsgi",
       {"shop.wsgi": "import os\nimport sys\n\n"
        "sys.path.insert(0, os.path.dirname(__file__))\n"
        "from shop import app as application\n", "shop/__init__.py": APP},
       WSGI("./shop.wsgi"))
python("Flask", "flask-vercel", {"api/index.py": APP, "vercel.json": "{}"},
       WSGI("api.index:app"))
python("Flask", "flask-and-webpack",
       {"app.py": APP, "package.json": '{"scripts": {"start": '
        '"webpack --watch", "build": "webpack"}}'}, WSGI("app:app"))
python("Flask", "flask-and-browser",
       {"app.py": APP, "app.js": "document.title = 'x';\n"}, WSGI("app:app"))
python("Flask", "flask-below",
       {"shop/__init__.py": "", "shop/app.py": APP}, WSGI("shop.app:app"))
python("Flask", "flask-annotated",
       {"app.py": APP.replace("app =", "app: Flask =")}, WSGI("app:app"))
python("Flask", "flask-procfile",
       {"Procfile": "web: gunicorn app:app\n", "app.py": APP},
       "gunicorn app:app")
python("WSGI", "wsgi-plain", {"wsgi.py": PLAIN}, WSGI("wsgi"))
python("WSGI", "wsgi-application", {"application.py": PLAIN},
       WSGI("application:application"))
DJANGO_URLS = """from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("", lambda request: HttpResponse("NAME"))]
"""


def django(site: str, settings: str = "settings.py", more: str = ""
           ) -> dict[str, str]:
    """What `django-admin startproject` makes, without its comments."""
    module = f"{site}.{settings[:-3].replace('/', '.')}"
    text = ('import os\n\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", '
            f'"{module}")\n')
    return {
        "manage.py": text + "\nif __name__ == '__main__':\n    from django.core"
        ".management import execute_from_command_line\n",
        f"{site}/__init__.py": "",
        f"{site}/{settings}": "SECRET_KEY = 'x'\nALLOWED_HOSTS = ['*']\n"
        f"ROOT_URLCONF = '{site}.urls'\n"
        f"WSGI_APPLICATION = '{site}.wsgi.application'\n{more}",
        f"{site}/urls.py": DJANGO_URLS,
        f"{site}/wsgi.py": text + "from django.core.wsgi import "
        "get_wsgi_application\n\napplication = get_wsgi_application()\n",
        f"{site}/asgi.py": text + "from django.core.asgi import "
        "get_asgi_application\n\napplication = get_asgi_application()\n"}


python("Django", "django-startproject", django("shop"), WSGI("shop.wsgi"))
python("Django", "django-config",
       {**django("config", "settings/production.py"),
        "config/settings/__init__.py": "",
        "shop/__init__.py": "", "shop/models.py": ""}, WSGI("config.wsgi"))
python("Django", "django-channels",
       django("shop", more="ASGI_APPLICATION = 'shop.asgi.application'\n"),
       ASGI("shop.asgi:application"))
python("Django", "django-and-vite",
       {**django("shop"), "package.json": '{"scripts": {"start": "vite"}}'},
       WSGI("shop.wsgi"))
python("FastAPI", "fastapi-tutorial", {"main.py": FAST}, ASGI("main:app"))
python("FastAPI", "fastapi-bigger",
       {"app/__init__.py": "", "app/main.py": FAST,
        "app/routers/__init__.py": ""}, ASGI("app.main:app"))
python("FastAPI", "fastapi-app", {"app.py": FAST}, ASGI("app:app"))
python("FastAPI", "fastapi-asgi", {"asgi.py": FAST}, ASGI("asgi:app"))
python("FastAPI", "fastapi-backend",
       {"backend/__init__.py": "", "backend/main.py": FAST,
        "frontend/index.html": ""}, ASGI("backend.main:app"))
python("FastAPI", "fastapi-imports",
       {"main.py": "import uvicorn\nfrom shop.api import app\n\n"
        "if __name__ == '__main__':\n    uvicorn.run(app)\n",
        "shop/__init__.py": "", "shop/api.py": FAST}, ASGI("main:app"))
python("FastAPI", "fastapi-factory",
       {"main.py": "from fastapi import FastAPI\n"
        "from fastapi.responses import PlainTextResponse\n\n\n"
        "def create_app() -> FastAPI:\n    made = FastAPI()\n"
        "    made.get('/', response_class=PlainTextResponse)(\n"
        "        lambda: 'NAME')\n    return made\n"},
       ASGI("--factory main:create_app"))
python("FastAPI", "fastapi-procfile",
       {"main.py": FAST, "Procfile": "web: gunicorn -k uvicorn.workers."
        "UvicornWorker main:app\n"},
       "gunicorn -k uvicorn.workers.UvicornWorker main:app")
python("Starlette", "starlette",
       {"main.py": "from starlette.applications import Starlette\n"
        "from starlette.responses import PlainTextResponse\n"
        "from starlette.routing import Route\n\n"
        "async def home(request):\n    return PlainTextResponse('NAME')\n\n"
        "app = Starlette(debug=True, routes=[Route('/', home)])\n"},
       ASGI("main:app"))
python("Quart", "quart",
       {"app.py": "from quart import Quart\n\napp = Quart(__name__)\n\n"
        "@app.route('/')\nasync def hello():\n    return 'NAME'\n\n"
        "if __name__ == '__main__':\n    app.run()\n"}, ASGI("app:app"))
python("Bottle", "bottle",
       {"app.py": "from bottle import Bottle, run\n\napp = Bottle()\n\n"
        "@app.route('/')\ndef hello():\n    return 'NAME'\n\n"
        "if __name__ == '__main__':\n    run(app, port=8080)\n"},
       WSGI("app:app"))
python("Bottle", "bottle-default",
       {"app.py": "import bottle\n\n@bottle.route('/')\ndef hello():\n"
        "    return 'NAME'\n\napplication = bottle.default_app()\n"},
       WSGI("app:application"))
python("Falcon", "falcon",
       {"app.py": "import falcon\n\n\nclass Hello:\n"
        "    def on_get(self, req, resp):\n        resp.text = 'NAME'\n\n\n"
        "app = falcon.App()\napp.add_route('/', Hello())\n"}, WSGI("app:app"))
python("Falcon", "falcon-asgi",
       {"main.py": "import falcon\nimport falcon.asgi\n\n\nclass Hello:\n"
        "    async def on_get(self, req, resp):\n        resp.text = 'NAME'\n"
        "\n\napp = falcon.asgi.App()\napp.add_route('/', Hello())\n"},
       ASGI("main:app"))
python("ASGI", "asgi-plain", {"main.py": PLAIN_ASGI}, ASGI("main:app"))
python("ASGI", "asgi-named",
       {"asgi.py": PLAIN_ASGI.replace("def app", "def application")},
       ASGI("asgi:application"))
for of, constructor, module, text, file in (
        ("Dash", "Dash", "dash", "app = Dash(__name__)\nserver = app.server\n",
         "app.py"),
        ("web.py", "application", "web",
         "application = web.application((), globals()).wsgifunc()\n",
         "main.py"),
        ("Pyramid", "Configurator", "pyramid",
         "config = pyramid.Configurator()\napp = config.make_wsgi_app()\n",
         "app.py")):
    how = f"import {module}\n" if module != "dash" else "from dash import Dash\n"
    python(of, of.lower().replace(".", "-"),
           {file: how + "\n" + text,
            f"{module}.py": WSGI_CLASS.replace("App:", f"{constructor}:")},
           WSGI({"Dash": "app:server", "Pyramid": "app:app",
                 "web.py": "main:application"}[of]), stands_in=True)
for of, constructor, text, file in (
        ("Sanic", "Sanic", 'app = Sanic("shop")\n', "server.py"),
        ("Litestar", "Litestar", "app = Litestar([])\n", "app.py"),
        ("BlackSheep", "Application", "app = Application()\n", "main.py")):
    python(of, of.lower(),
           {file: f"from {of.lower()} import {constructor}\n\n{text}",
            f"{of.lower()}.py": ASGI_CLASS.replace("App:", f"{constructor}:")},
           ASGI(f"{file[:-3]}:app"), stands_in=True)

# ---- Node

SERVE = ("http.createServer((request, response) => response.end('NAME'))"
         ".listen(process.env.PORT || 3000);\n")
CJS = "const http = require('http');\n" + SERVE
ESM = "import http from 'node:http';\n" + SERVE
BIN = "#!/usr/bin/env node\n" + CJS  # a program of node_modules/.bin
EXPRESS = """const express = require("express");
const app = express();

app.get("/", (request, response) => response.send("NAME"));
app.listen(3000);
"""
# Debian's Express, where npm would install it. Only Debian's node finds by itself
# what that needs; any other one reads this variable when it starts.
EXPRESS_OF_DEBIAN = {"node_modules/express/index.js": """
process.env.NODE_PATH = '/usr/share/nodejs';
require('module')._initPaths();
module.exports = require('/usr/share/nodejs/express');
"""}


def package(start: str = "", **more: str) -> str:
    """The text of a package.json."""
    import json
    scripts = {"build": "x", **({"start": start} if start else {})}
    return json.dumps({"name": "shop", "scripts": scripts, **more})


def node(of: str, name: str, files: dict[str, str], command: str,
         **more: object) -> None:
    if of == "Express":
        files = {**files, **EXPRESS_OF_DEBIAN}
    add("Node", of, name, files, command, **more)


node("Node", "node-app", {"app.js": CJS}, NODE("app.js"))
node("Node", "node-server", {"server.js": CJS}, NODE("server.js"))
node("Node", "node-index", {"index.js": CJS}, NODE("index.js"))
node("Node", "node-server-mjs", {"server.mjs": ESM}, NODE("server.mjs"))
node("Node", "node-index-mjs", {"index.mjs": ESM}, NODE("index.mjs"))
node("Node", "node-module",
     {"index.js": ESM, "package.json": package(type="module")},
     NODE("index.js"))
node("Node", "node-npm-init",
     {"index.js": CJS, "package.json": package(main="index.js")},
     NODE("index.js"))
node("Node", "node-main",
     {"lib/start.js": CJS, "package.json": package(main="./lib/start")},
     NODE("lib/start.js"))
node("Node", "node-src", {"src/index.js": CJS}, NODE("src/index.js"))
node("Node", "node-server-directory",
     {"server/index.js": CJS, "client/index.js": "document.x = 1;\n"},
     NODE("server/index.js"))
node("Node", "node-start",
     {"main.js": CJS, "package.json": package("node main.js")},
     NPM("node main.js"))
node("Node", "node-start-dot",
     {"index.js": CJS, "package.json": package("node .", main="index.js")},
     NPM("node ."))
node("Node", "node-cross-env",
     {"app.js": CJS,
      "package.json": package("cross-env NODE_ENV=production node app.js")},
     NPM("NODE_ENV=production node app.js"))
node("Node", "node-list",
     {"app.js": CJS, "package.json": package("true && node app.js")},
     'export PATH="$PWD/node_modules/.bin:$PATH"; true && node app.js')
node("Node", "node-procfile",
     {"app.js": CJS, "Procfile": "web: node app.js\n"}, "node app.js")
node("Node", "node-procfile-npm",
     {"app.js": CJS, "package.json": package("node app.js"),
      "Procfile": "web: npm start\n"}, NPM("node app.js"))
# What Yarn writes in place of node_modules: hooks for require() and for import.
PNP = {".pnp.cjs": """const Module = require('module');
const find = Module._resolveFilename;
Module._resolveFilename = (name, ...more) => name === 'shop'
  ? `${__dirname}/cache/shop.js` : find(name, ...more);
""", ".pnp.loader.mjs": """export const resolve = (name, context, next) =>
  name !== 'shop' ? next(name, context) : {
    shortCircuit: true, url: new URL('cache/shop.js', import.meta.url).href};
"""}
node("Yarn", "yarn-pnp",
     {"app.js": "require('shop');\n", "cache/shop.js": CJS,
      "package.json": package("node app.js"), **PNP}, NPM("node app.js"),
     stands_in=True)
node("Yarn", "yarn-pnp-module",
     {"app.mjs": "import 'shop';\n", "cache/shop.js": CJS,
      "package.json": package("node app.mjs"), **PNP}, NPM("node app.mjs"),
     stands_in=True)
node("Express", "express", {"app.js": EXPRESS}, NODE("app.js"))
node("Express", "express-index",
     {"index.js": EXPRESS, "package.json": package(main="index.js")},
     NODE("index.js"))
node("Express", "express-generator",
     {"app.js": EXPRESS.replace("app.listen(3000)", "module.exports = app"),
      "bin/www": "#!/usr/bin/env node\nrequire('http').createServer("
      "require('../app')).listen(3000);\n",
      "package.json": package("node ./bin/www")},
     NPM("node ./bin/www"))
node("Express", "express-typescript",
     {"src/index.ts": "import express from 'express';\n",
      "dist/index.js": EXPRESS,
      "package.json": package("node dist/index.js"), "tsconfig.json": "{}"},
     NPM("node dist/index.js"))
node("Express", "express-dist",
     {"src/server.ts": "", "dist/server.js": EXPRESS,
      "package.json": package(), "tsconfig.json": "{}"},
     NODE("dist/server.js"))
TSX = {"node_modules/tsx/package.json":
       '{"name": "tsx", "exports": "./index.mjs"}',
       "node_modules/tsx/index.mjs": """import {register} from 'node:module';
register('data:text/javascript,' + encodeURIComponent(`
import {readFile} from 'node:fs/promises';
export const load = async (url, context, next) => url.endsWith('.ts')
  ? {format: 'module', shortCircuit: true,
     source: await readFile(new URL(url))}
  : next(url, context);`));
"""}
node("TypeScript", "typescript-tsx", {"server.ts": ESM, **TSX},
     NODE("--import tsx server.ts"), stands_in=True)
node("TypeScript", "typescript-src", {"src/index.ts": ESM, **TSX},
     NODE("--import tsx src/index.ts"), stands_in=True)
STANDALONE = ("process.chdir(__dirname);\n"
              "require('next/dist/server/lib/start-server');\n" + CJS)
NEXT = {"node_modules/next/dist/server/lib/start-server.js": ""}
node("Next.js", "next-standalone",
     {"server.js": STANDALONE, "package.json": package("next start"),
      ".next/BUILD_ID": "x", **NEXT}, NODE("server.js"), stands_in=True)
node("Next.js", "next-standalone-below",
     {".next/standalone/server.js": STANDALONE,
      ".next/standalone/node_modules/next/dist/server/lib/start-server.js": "",
      "package.json": package("next start")},
     NODE(".next/standalone/server.js"), stands_in=True)
node("Next.js", "next-start",
     {"node_modules/.bin/next": BIN, "package.json": package("next start")},
     NPM("next start"), stands_in=True)
node("Next.js", "next-not-installed",
     {"server.js": CJS, "package.json": package("next start")},
     NODE("server.js"), stands_in=True)
node("Nuxt", "nuxt-output",
     {"server/index.mjs": "import './chunks/nitro.mjs';\n",
      "server/chunks/nitro.mjs": ESM, "nitro.json": "{}"},
     NODE("server/index.mjs"), stands_in=True)
node("Nuxt", "nuxt",
     {".output/server/index.mjs": ESM, ".output/nitro.json": "{}",
      "package.json": package()}, NODE(".output/server/index.mjs"),
     stands_in=True)
node("Nuxt", "nuxt-start",
     {".output/server/index.mjs": ESM, "package.json": package("nuxt start")},
     NODE(".output/server/index.mjs"), stands_in=True)
node("Nuxt", "nuxt-preview",
     {".output/server/index.mjs": ESM, "node_modules/.bin/nuxt": BIN,
      "package.json": package("nuxt preview")},
     NODE(".output/server/index.mjs"), stands_in=True)
node("SvelteKit", "sveltekit",
     {"build/index.js": ESM, "build/handler.js": "", "package.json":
      package(type="module")}, NODE("build/index.js"), stands_in=True)
node("Astro", "astro",
     {"dist/server/entry.mjs": ESM, "dist/client/index.html": "",
      "node_modules/.bin/astro": BIN,
      "package.json": package("astro dev", type="module")},
     NODE("dist/server/entry.mjs"), stands_in=True)
node("Nest", "nest",
     {"dist/main.js": "const { NestFactory } = require('@nestjs/core');\n" + CJS,
      "node_modules/@nestjs/core/index.js": "", "src/main.ts": "",
      "node_modules/.bin/nest": BIN, "package.json": package("nest start")},
     NODE("dist/main.js"), stands_in=True)
node("Nest", "nest-start",
     {"dist/main.js": "const { NestFactory } = require('@nestjs/core');\n" + CJS,
      "node_modules/@nestjs/core/index.js": "",
      "package.json": package("node dist/main")}, NPM("node dist/main"),
     stands_in=True)
node("Angular", "angular",
     {"dist/shop/server/server.mjs": ESM, "dist/shop/browser/index.html": "",
      "node_modules/.bin/ng": BIN, "package.json": package("ng serve")},
     NODE("dist/shop/server/server.mjs"), stands_in=True)
node("React Router", "react-router",
     {"node_modules/.bin/react-router-serve": BIN, "build/server/index.js": "",
      "package.json": package("react-router-serve ./build/server/index.js")},
     NPM("react-router-serve ./build/server/index.js"), stands_in=True)
node("Strapi", "strapi",
     {"node_modules/.bin/strapi": BIN, "package.json":
      package("strapi start")}, NPM("strapi start"), stands_in=True)
node("Vite", "vite",
     {"node_modules/.bin/vite": BIN, "index.html": "", "package.json":
      package("vite")}, NPM("vite"), stands_in=True)
node("Koa", "koa",
     {"index.js": "const Koa = require('koa');\nnew Koa().listen(3000);\n",
      "node_modules/koa/index.js": "const http = require('http');\n"
      "module.exports = class { listen(port) { http.createServer("
      "(request, response) => response.end('NAME')).listen(port); } };\n"},
     NODE("index.js"), stands_in=True)
node("Fastify", "fastify",
     {"server.js": "const fastify = require('fastify')();\n"
      "fastify.listen({ port: 3000 });\n",
      "node_modules/fastify/index.js": "const http = require('http');\n"
      "module.exports = () => http.createServer((request, response) => "
      "response.end('NAME'));\n"}, NODE("server.js"), stands_in=True)

# ---- Ruby

RACK = ('run ->(env) { [200, { "content-type" => "text/plain" }, ["NAME"]] }\n')
CLASSIC = 'require "sinatra"\n\nget "/" do\n  "NAME"\nend\n'
MODULAR = ('require "sinatra/base"\n\nclass Shop < Sinatra::Base\n'
           '  get("/") { "NAME" }\nend\n')
RODA = {"roda.rb": 'class Roda\n  def self.app = ->(env) { '
        '[200, { "content-type" => "text/plain" }, ["NAME"]] }\nend\n'}
ROUTES = 'require_relative "roda"\n\nclass Shop < Roda\nend\n'


def ruby(of: str, name: str, files: dict[str, str], command: str,
         **more: object) -> None:
    add("Ruby", of, name, files, command, **more)


ruby("Rack", "rack", {"config.ru": RACK}, PUMA())
ruby("Rack", "rack-gemfile",
     {"config.ru": RACK, "Gemfile": "source 'https://rubygems.org'\n"
      "gem 'puma'\ngem 'rack'\n"}, PUMA("bundle exec puma"))
ruby("Rack", "rack-binstub",
     {"config.ru": RACK, "bin/puma": "#!/usr/bin/env ruby\nload "
      "Gem.bin_path('puma', 'puma')\n"}, PUMA("bin/puma"))
ruby("Rails", "rails",
     {"config.ru": 'require_relative "config/environment"\n\n'
      "run Rails.application\n", "Rakefile": "",
      "config/environment.rb": """require "action_controller/railtie"

class Shop < Rails::Application
  config.eager_load = true
  config.secret_key_base = "x"
  config.hosts.clear
  config.logger = Logger.new($stdout)
  routes.append { root to: "hello#index" }
end

class HelloController < ActionController::Base
  def index = render(plain: "NAME")
end

Shop.initialize!
"""}, PUMA())
ruby("Sinatra", "sinatra-rackup",
     {"config.ru": 'require "./app"\n\nrun Sinatra::Application\n',
      "app.rb": CLASSIC}, PUMA())
ruby("Sinatra", "sinatra-modular-rackup",
     {"config.ru": 'require_relative "app"\n\nrun Shop\n', "app.rb": MODULAR},
     PUMA())
ruby("Sinatra", "sinatra", {"app.rb": CLASSIC}, SINATRA("app.rb"))
ruby("Sinatra", "sinatra-modular",
     {"app.rb": MODULAR + "\nShop.run! if $0 == __FILE__\n"},
     SINATRA("app.rb:Shop"))
ruby("Sinatra", "sinatra-myapp", {"myapp.rb": CLASSIC, "config.rb": ""},
     SINATRA("myapp.rb"))
ruby("Roda", "roda-rackup",
     {"config.ru": 'require_relative "app"\n\nrun Shop.app\n',
      "app.rb": ROUTES, **RODA}, PUMA(), stands_in=True)
ruby("Roda", "roda", {"app.rb": ROUTES, **RODA}, SINATRA("app.rb:Shop"),
     stands_in=True)
ruby("Hanami", "hanami",
     {"config.ru": 'require "./hanami_boot"\n\nrun Hanami.app\n',
      "hanami_boot.rb": "module Hanami\n  def self.app = ->(env) { "
      '[200, { "content-type" => "text/plain" }, ["NAME"]] }\nend\n',
      "config/app.rb": ""}, PUMA(), stands_in=True)

# ---- Perl

CODE = ('sub { [200, ["Content-Type" => "text/plain"], ["NAME"]] };\n')
LITE = ("use Mojolicious::Lite -signatures;\n\nget '/' => sub ($c) {\n"
        "  $c->render(text => 'NAME');\n};\n\napp->start;\n")
add("Perl", "PSGI", "psgi", {"app.psgi": CODE}, PSGI("app.psgi"))
add("Perl", "Dancer2", "dancer",
    {"bin/app.psgi": "use FindBin;\nuse lib \"$FindBin::Bin/../lib\";\n"
     "use Shop;\nShop->to_app;\n", "lib/Shop.pm": "package Shop;\n"
     f"sub to_app {{ {CODE.strip()} }}\n1;\n"}, PSGI("bin/app.psgi"),
    stands_in=True)
add("Perl", "Catalyst", "catalyst",
    {"shop.psgi": CODE, "script/shop_server.pl": "", "lib/Shop.pm": ""},
    PSGI("shop.psgi"), stands_in=True)
add("Perl", "Mojolicious", "mojolicious-lite", {"myapp.pl": LITE},
    MOJO("myapp.pl"))
add("Perl", "Mojolicious", "mojolicious",
    {"script/shop": "use Mojo::Base -strict;\nuse Mojo::File qw(curfile);\n"
     "use lib curfile->dirname->sibling('lib')->to_string;\n"
     "use Mojolicious::Commands;\n\n"
     "Mojolicious::Commands->start_app('Shop');\n",
     "lib/Shop.pm": "package Shop;\nuse Mojo::Base 'Mojolicious', -signatures;"
     "\nsub startup ($self) {\n  $self->routes->get('/' => sub ($c) {\n"
     "    $c->render(text => 'NAME');\n  });\n}\n1;\n"},
    MOJO("script/shop"))

# ---- PHP

PAGE = "<?php echo 'NAME';\n"


def php(of: str, name: str, files: dict[str, str], **more: object) -> None:
    add("PHP", of, name, files, PHP, **more)


php("PHP", "php", {"index.php": PAGE})
php("PHP", "php-public", {"public/index.php": PAGE, "src/a.php": ""})
php("PHP", "php-htdocs", {"htdocs/index.php": PAGE})
php("PHP", "php-pages", {"contact.php": PAGE}, path="/contact.php",
    directives=('DocumentRoot "ROOT"',))
php("PHP", "php-and-browser",
    {"index.php": PAGE, "app.js": "$(document).ready(() => {});\n"})
php("PHP", "php-and-webpack",
    {"index.php": PAGE, "package.json": package("webpack --watch"),
     "node_modules/.bin/webpack": BIN})
php("PHP", "php-and-vite",
    {"index.php": PAGE, "package.json": package("vite")})
php("PHP", "php-heroku",
    {"public/index.php": PAGE, "composer.json": "{}",
     "Procfile": "web: vendor/bin/heroku-php-apache2 public/\n"})
php("PHP", "php-heroku-nginx",
    {"web/index.php": PAGE, "composer.json": "{}",
     "Procfile": "web: heroku-php-nginx -C nginx.conf web/\n"})
php("Laravel", "laravel",
    {"artisan": "#!/usr/bin/env php\n", "composer.json": "{}", ".env": "",
     "bootstrap/app.php": "<?php return 'NAME';\n", "public/index.php":
     "<?php echo require __DIR__.'/../bootstrap/app.php';\n",
     "package.json": '{"private": true, "scripts": {"dev": "vite"}}',
     "vite.config.js": "", "resources/js/app.js": ""}, path="/users/7")
php("Symfony", "symfony",
    {"bin/console": "#!/usr/bin/env php\n", "composer.json": "{}",
     "config/bundles.php": "<?php\n", "src/Kernel.php": "<?php\n",
     "public/index.php": PAGE, "package.json":
     '{"scripts": {"dev-server": "encore dev-server"}}'}, path="/blog")
php("Drupal", "drupal",
    {"index.php": PAGE, "core/core.api.php": "", "update.php": "",
     "autoload.php": "", "sites/default/default.settings.php": ""},
    path="/node/1")
php("Drupal", "drupal-composer",
    {"web/index.php": PAGE, "web/core/core.api.php": "",
     "composer.json": "{}", "vendor/autoload.php": ""}, path="/node/1")
php("Drupal", "drupal-acquia", {"docroot/index.php": PAGE, "blt/blt.yml": ""})
php("WordPress", "wordpress",
    {"index.php": "<?php require __DIR__ . '/wp-blog-header.php';\n",
     "wp-blog-header.php": PAGE, "wp-load.php": "<?php\n",
     "wp-config-sample.php": "<?php\n", "wp-admin/index.php": "<?php\n",
     "wp-content/index.php": "<?php\n", "wp-includes/version.php": "<?php\n"},
    path="/2024/01/hello-world/")
php("WordPress", "bedrock",
    {"web/index.php": PAGE, "web/wp/wp-load.php": "", "web/wp-config.php": "",
     "config/application.php": "<?php\n", "composer.json": "{}"})
php("MediaWiki", "mediawiki",
    {"index.php": PAGE, "api.php": "<?php\n", "load.php": "<?php\n",
     "includes/WebStart.php": "<?php\n", "composer.json": "{}",
     "package.json": '{"scripts": {"test": "grunt lint", "doc": "jsdoc"}}',
     "Gruntfile.js": ""})
php("Nextcloud", "nextcloud",
    {"index.php": PAGE, "remote.php": "<?php\n", "console.php": "<?php\n",
     "occ": "#!/usr/bin/env php\n", "core/js/main.js": "",
     "config/CAN_INSTALL": "", "status.php": "<?php\n"})
php("phpMyAdmin", "phpmyadmin",
    {"index.php": PAGE, "config.sample.inc.php": "<?php\n",
     "composer.json": "{}",
     "package.json": '{"scripts": {"build": "webpack"}}'})
php("Joomla", "joomla",
    {"index.php": PAGE, "administrator/index.php": "<?php\n",
     "configuration.php-dist": "", "cli/joomla.php": "<?php\n"})
php("CakePHP", "cakephp",
    {"webroot/index.php": PAGE, "index.php":
     "<?php require 'webroot/index.php';\n", "bin/cake.php": "<?php\n",
     "config/app.php": "<?php\n"})
php("CakePHP", "cakephp-webroot",
    {"webroot/index.php": PAGE, "bin/cake.php": "<?php\n"})
php("Yii", "yii",
    {"web/index.php": PAGE, "yii": "#!/usr/bin/env php\n",
     "config/web.php": "<?php\n"})
php("Magento", "magento",
    {"pub/index.php": PAGE, "bin/magento": "#!/usr/bin/env php\n",
     "package.json.sample": "{}", "Gruntfile.js.sample": ""})
php("CodeIgniter", "codeigniter",
    {"public/index.php": PAGE, "spark": "#!/usr/bin/env php\n",
     "app/Config/App.php": "<?php\n"})
php("Slim", "slim", {"public/index.php": PAGE, "composer.json": "{}"},
    path="/hello/you")
php("DokuWiki", "dokuwiki",
    {"index.php": PAGE, "doku.php": "<?php\n", "bin/page.php": "<?php\n"})
php("Roundcube", "roundcube",
    {"index.php": PAGE, "program/include/iniset.php": "<?php\n",
     "public_html/index.php": "<?php\n"})

# ---- any other program

add("FastCGI", "FastCGI", "fcgi",
    {"shop.fcgi": "#!/bin/sh\nexec php-cgi\n", "public/index.php": PAGE},
    "./shop.fcgi")
add("Procfile", "any program", "procfile",
    {"Procfile": "worker: ./work\nweb: python3 serve.py\n",
     "serve.py": "import http.server\nimport os\nimport socket\n\n\n"
     "class Handler(http.server.BaseHTTPRequestHandler):\n"
     "    def do_GET(self):\n        self.send_response(200)\n"
     "        self.end_headers()\n        self.wfile.write(b'NAME')\n\n"
     "    def address_string(self):\n        return ''\n\n\n"
     "gets = 'LISTEN_FDS' in os.environ\n"
     "server = http.server.HTTPServer(('127.0.0.1', int(os.environ.get("
     "'PORT', 0))), Handler, not gets)\nif gets:\n"
     "    server.socket = socket.socket(fileno=3)\nserver.serve_forever()\n"},
    "python3 serve.py")

# Where nothing is run: the files, and what the error says.
NONE: dict[str, tuple[dict[str, str], str]] = {
    "front-end": ({"dist/index.html": "", "src/main.js": "",
                   "package.json": package()},
                  "dist/index.html is a built site, which httpd serves without "
                  "an AppRoot"),
    "flask-no-name": ({"app.py": FLASK + "def main():\n    pass\n"},
                      "app.py imports Flask, but binds no app or application at "
                      "the beginning of a line: AppCommand \"gunicorn "
                      "app:NAME\" would name another"),
    "typescript": ({"server.ts": ""}, "server.ts is TypeScript"),
    "two-apps": ({"a.py": APP, "b.py": APP},
                 "a.py and b.py both have an application: AppCommand has to name one"),
    "below": ({"backend/manage.py": ""},
              "backend/manage.py is there: is its directory the AppRoot?"),
    "rack-without-a-server": (
        {"config.ru": 'require "bundler/setup"\n' + RACK,
         "Gemfile": "gem 'rack'\n", "Gemfile.lock": "    rack (2.2)\n"},
        "config.ru requires Bundler, and the Gemfile names no server: bundle "
        "add puma"),
    "empty": ({}, "none of these files exists: Procfile, config.ru"),
}

# What is not found: the framework, the files, and the AppCommand to write.
MISSED: dict[str, tuple[str, dict[str, str], str]] = {
    "aiohttp": ("aiohttp", {"main.py": "from aiohttp import web\n\n"
                            "app = web.Application()\nweb.run_app(app)\n"},
                "python3 main.py"),
    "tornado": ("Tornado", {"main.py": "import tornado.web\n\n"
                            "app = tornado.web.Application()\n"}, "python3 main.py"),
    "streamlit": ("Streamlit", {"app.py": "import streamlit as st\n\n"
                                "st.title('x')\n"}, "streamlit run app.py"),
    "flask-src": ("Flask in src/", {"src/shop/__init__.py": APP},
                  "gunicorn --pythonpath src shop:app"),
    "bottle-implicit": ("Bottle without an object",
                        {"app.py": "from bottle import route, run\n\nrun()\n"},
                        "python3 app.py"),
    "deno": ("Deno", {"deno.json": "{}", "main.ts": "Deno.serve(() => 1);\n"},
             "deno run -A main.ts"),
    "bun": ("Bun", {"bun.lock": "", "server/app.tsx": "Bun.serve({});\n"},
            "bun server/app.tsx"),
    "go": ("Go", {"go.mod": "module shop\n", "main.go": "package main\n"},
           "./shop"),
    "java": ("Java", {"target/shop.jar": ""}, "java -jar target/shop.jar"),
    "dotnet": (".NET", {"Shop.dll": "", "Shop.runtimeconfig.json": "{}"},
               "dotnet Shop.dll"),
    "elixir": ("Phoenix", {"bin/shop": "#!/bin/sh\n", "releases/COOKIE": ""},
               "bin/shop start"),
}
