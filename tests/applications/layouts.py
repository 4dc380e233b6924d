# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications as generators and tutorials lay them out, each with as few lines
as possible. The text of a page is the name of the layout.

A framework that Debian has is the real one. Where a framework is a stand-in
(`stands_in`), a few lines behave as its server does, and the layout shows that
the command is found and takes its socket."""
# In the order of the table of doc/apps.md.
from python_layouts import APP, FLASK
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

# What is not found: the framework, the files, and the AppCommand to write.
MISSED: dict[str, tuple[str, dict[str, str], str]] = {
    "streamlit": ("Streamlit", {"app.py": "import streamlit as st\n\n"
                                "st.title('x')\n"}, "streamlit run app.py"),
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
