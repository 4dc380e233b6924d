# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What each framework knows about a request over https: scheme, host, the path
at which it is mounted, and the client's address. The lines that doc/apps.md
says it needs are in place."""
import re
import subprocess
import textwrap
from typing import Optional

import pytest

from harness.config import App, SLOW_START
from harness.httpd import USER, Httpd
from harness.places import TOP
from harness.tls import TlsHost
from harness.visitor import PATIENCE

pytestmark = pytest.mark.mpms("event")

DJANGO = """
import os
from django.conf import settings
from django.core.KIND import get_KIND_application
from django.http import HttpResponse
from django.urls import path, reverse

def here(request):
    return HttpResponse(request.build_absolute_uri(reverse("here")) + " "
                        + request.META["REMOTE_ADDR"])

urlpatterns = [path("here", here, name="here")]
FORCE_SCRIPT_NAME = None
SETTINGS
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"],
                   FORCE_SCRIPT_NAME=FORCE_SCRIPT_NAME)
application = get_KIND_application()
"""
FLASK = """
from flask import Flask, request, url_for
application = Flask(__name__)
SETTINGS
@application.route("/here")
def here():
    return url_for("here", _external=True) + " " + request.remote_addr
"""


def filled(text: str, kind: str, settings: str = "") -> str:
    return text.replace("KIND", kind).replace("SETTINGS", settings)


# File and program. LINES stands for the lines of doc/apps.md, and MORE for
# those that belong at the end.
FRAMEWORKS: dict[str, tuple[str, str]] = {
    "Django": ("wsgi.py", filled(DJANGO, "wsgi")),
    "Django with gunicorn": ("wsgi.py",
                             filled(DJANGO, "wsgi", "LINES") + "MORE"),
    "Django with asgi.py": ("asgi.py", filled(DJANGO, "asgi")),
    "Flask": ("wsgi.py", filled(FLASK, "")),
    "Flask with gunicorn": ("wsgi.py", filled(FLASK, "", "LINES")),
    "FastAPI and other ASGI applications": ("asgi.py", """
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
application = FastAPI()
@application.get("/here")
async def here(request: Request):
    return PlainTextResponse(f'{request.url_for("here")} {request.client.host}')
"""),
    "Sinatra and other Rack applications": ("config.ru", """
require "rack/request"
run ->(env) {
  r = Rack::Request.new(env)
  [200, {"content-type" => "text/plain"},
   ["#{r.base_url}#{r.script_name}/here #{r.ip}"]]
}
"""),
    "Rails": ("config.ru", """
require "action_controller/railtie"
class Shop < Rails::Application
  config.eager_load = true
  config.logger = Logger.new($stdout)
  routes.append { get "here", to: "hello#here", as: "here" }
end
class HelloController < ActionController::Base
  include Rails.application.routes.url_helpers
  def here = render(plain: "#{here_url} #{request.remote_ip}")
end
Shop.initialize!
run Shop
"""),
    "Node": ("app.js", """
const http = require("http");
LINES
http.createServer((request, response) => response.end(
    `${scheme(request)}://${request.headers.host}${base}/here ` +
    client(request))).listen({ fd: 3 });
"""),
    "Express": ("app.js", """
const express = require("express");
const app = express();
LINES
app.get("/here", (request, response) => response.send(
    `${request.protocol}://${request.hostname}${base}/here ${request.ip}`));
app.listen({ fd: 3 });
"""),
    "PHP": ("public/index.php", """<?php
echo ($_SERVER["HTTPS"] ?? "") == "on" ? "https" : "http", "://",
     $_SERVER["HTTP_HOST"], dirname($_SERVER["SCRIPT_NAME"] . "x") == "/"
     ? "" : dirname($_SERVER["SCRIPT_NAME"]), "/here ",
     $_SERVER["REMOTE_ADDR"];
"""),
    "Perl": ("app.psgi", """
use Plack::Request;
my $app = sub {
    my $request = Plack::Request->new(shift);
    my $base = $request->base;
    $base =~ s{/$}{};
    [200, ["Content-Type" => "text/plain"],
     ["$base/here " . $request->address]];
};
LINES
"""),
    "C": ("shop.c", """
#include <fcgi_stdio.h>
#include <stdlib.h>

int main(void)
{
    while (FCGI_Accept() >= 0)
        printf("Content-Type: text/plain\\r\\n\\r\\n%s://%s%s/here %s",
               getenv("HTTPS") ? "https" : "http", getenv("HTTP_HOST"),
               getenv("SCRIPT_NAME"), getenv("REMOTE_ADDR"));
    return 0;
}
"""),
    "uWSGI": ("wsgi.py", filled(FLASK, "")),
}


def lines_of(section: str) -> list[str]:
    """The lines that doc/apps.md says such an application needs for that, and
    those for its end."""
    text = (TOP / "doc" / "apps.md").read_text().split("\n## Examples\n")[1]
    block = r"\n((?:    [^\n]*\n|\n)+)"
    found = re.search(r"The application knows scheme, host, path and client "
                      r"(?:by itself|with"
                      fr"[^\n]*\n(?:[^\n]+\n)*{block}(?:and [^\n]*\n{block})?)",
                      text.split(f"\n### {section}\n")[1].split("\n### ")[0])
    assert found, f"{section} does not say it"
    return [textwrap.dedent(lines).strip() for lines in found.groups("")]


# ---- what else each of them needs

def use_starman(app: App) -> None:
    app.directives.append("AppListen unix")
    app.command = "starman --workers 1 --listen %s app.psgi"


def compile_c(app: App) -> None:
    subprocess.run(["cc", "-o", app.root / "shop.fcgi", app.root / "shop.c",
                    "-lfcgi"], check=True)


def use_uwsgi(app: App) -> None:
    app.directives.append("AppProtocol uwsgi")
    app.command = ("uwsgi --plugin python3 --protocol uwsgi --die-on-term "
                   "--wsgi-file wsgi.py")


def use_threads(app: App) -> None:
    app.directives.append("AppConcurrency 2")


MORE = {"Perl": use_starman, "C": compile_c, "uWSGI": use_uwsgi,
        "Flask with gunicorn": use_threads, "Django with gunicorn": use_threads}


def make(httpd: Httpd, name: str, host: str, location: Optional[str]) -> App:
    file, program = FRAMEWORKS[name]
    app = httpd.app(host, command=None, location=location)
    lines, more = lines_of(name.replace(" with asgi.py", ""))
    assert ("LINES" in program) == bool(lines)
    (app.root / file).write_text(program.replace("LINES", lines)
                                 .replace("MORE", more))
    if name in MORE:
        MORE[name](app)
    app.directives += [*SLOW_START, "AppSetEnv NODE_PATH /usr/share/nodejs",
                       "AppSetEnv SECRET_KEY_BASE " + 64 * "x"]
    subprocess.run(["chown", "-R", USER, app.root], check=True)
    return app


def fetch(host: TlsHost, path: str) -> str:
    with host.connect() as client:
        client.sock.settimeout(PATIENCE)
        client.send(f"GET {path} HTTP/1.1\r\nHost: shop.example\r\n"
                    "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: http\r\n"
                    "X-Forwarded-Host: evil.example\r\n\r\n".encode())
        response = client.response()
    assert response.status == 200, response.text
    return response.text


# Here, each framework and each server is there once.
AGAIN = ("Django with gunicorn", "Django with asgi.py")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.in_long("other rows have the same")]
                 if name in AGAIN else []) for name in FRAMEWORKS])
def test_over_https(httpd: Httpd, name: str) -> None:
    host = TlsHost(httpd, make(httpd, name, "shop", None))
    make(httpd, name, "below", "/mnt")
    httpd.start()
    try:
        for path in ("/here", "/mnt/here"):
            assert fetch(host, path) == f"https://shop.example{path} 127.0.0.1"
    finally:
        host.close()
