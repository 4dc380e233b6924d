# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications as generators and tutorials lay them out, each with as few lines
as possible. The text of a page is the name of the layout.

A framework that Debian has is the real one. Where a framework is a stand-in
(`stands_in`), a few lines behave as its server does, and the layout shows that
the command is found and takes its socket. npm.py has the real ones of node."""
from typing import NamedTuple

# In the order of the table of doc/apps.md.
from python_layouts import APP, FAST, FLASK
from node_layouts import package
from ruby_layouts import RACK
import php_layouts  # noqa: F401
from layout import ALL, Layout

__all__ = ["ALL", "Layout"]

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
    "jekyll": ({"_site/index.html": "", "_config.yml": "", "index.md": ""},
               "_site/index.html is a built site"),
    "yii-advanced": ({"frontend/web/index.php": "", "backend/web/index.php": "",
                      "yii": ""},
                     "backend/web/index.php is there: is its directory"),
    "fastapi-template": ({"backend/app/main.py": FAST, "backend/app/__init__.py":
                          "", "frontend/package.json": package()},
                         "frontend/package.json is there: is its directory"),
    "aiohttp-no-server": ({"main.py": "from aiohttp import web\n"},
                          "main.py imports aiohttp, but does not show how it "
                          "listens"),
    "uvloop": ({"main.py": "import uvloop\nfrom aiohttp import web\n\n"
                "uvloop.install()\nweb.run_app(web.Application())\n"},
               "main.py imports uvloop, which does not take the socket"),
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



class Missed(NamedTuple):
    kind: str
    of: str
    files: dict[str, str]
    command: str  # the AppCommand that the error says, besides AppListen tcp


SPRING = " --server.address=127.0.0.1 --server.port=$PORT"
# Programs that take no socket, or have a name that only their author knows.
MISSED: dict[str, Missed] = {
    "streamlit": Missed(
        "Python", "Streamlit",
        {"app.py": "import streamlit as st\n\nst.title('x')\n"},
        "streamlit run app.py --server.headless true "
        "--server.address 127.0.0.1 --server.port $PORT"),
    "deno": Missed("JavaScript", "Deno",
                   {"deno.json": "{}", "main.ts": "Deno.serve(() => 1);\n"},
                   "deno run -A NAME.ts"),
    "bun": Missed("JavaScript", "Bun",
                  {"bun.lock": "", "server/app.tsx": "Bun.serve({});\n"},
                  "bun server/app.tsx"),
    "go": Missed("compiled", "Go",
                 {"go.mod": "module shop\n", "main.go": "package main\n"},
                 "./NAME"),
    "rust": Missed("compiled", "Rust",
                   {"Cargo.toml": "", "src/main.rs": "fn main() {}\n"},
                   "target/release/NAME"),
    "crystal": Missed("compiled", "Crystal",
                      {"shard.yml": "", "src/shop.cr": "require \"kemal\"\n"},
                      "bin/NAME --port $PORT"),
    "vapor": Missed("compiled", "Vapor",
                    {"Package.swift": "", "Sources/App/entrypoint.swift": ""},
                    ".build/release/NAME serve --hostname 127.0.0.1 "
                    "--port $PORT"),
    "java": Missed("Java", "Spring Boot", {"target/shop.jar": "", "pom.xml": ""},
                   "java -jar target/shop.jar" + SPRING),
    "gradle": Missed("Java", "Spring Boot with Gradle",
                     {"build.gradle.kts": "", "src/main/java/Shop.java": ""},
                     "java -jar build/libs/NAME.jar" + SPRING),
    "dotnet": Missed(".NET", ".NET",
                     {"Shop.dll": "", "Shop.runtimeconfig.json": "{}"},
                     "dotnet NAME.dll --urls http://127.0.0.1:$PORT"),
    "elixir": Missed("Elixir", "Phoenix",
                     {"bin/shop": "#!/bin/sh\n", "releases/COOKIE": ""},
                     "PHX_SERVER=true bin/NAME start"),
    "phoenix": Missed("Elixir", "Phoenix, not built",
                      {"mix.exs": "", "lib/shop_web/router.ex": ""},
                      "PHX_SERVER=true _build/prod/rel/NAME/bin/NAME start"),
}
