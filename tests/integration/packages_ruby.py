# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications in Ruby, as generators and tutorials make them, with AppRoot
alone."""
import os
import subprocess
from pathlib import Path

import pytest

from harness import packaged
from harness.cases import cases
from harness.config import App, SLOW_START
from harness.deploy import broken_under_load, restart_under_load
from harness.httpd import Httpd, USER
from harness.listing import listing
from harness.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.mpms("event"), pytest.mark.usefixtures("debian")]

# How Rails is started: the web: line of a Procfile, and directives
WAYS = {"template": ("", ()), "loader": ("", ("AppPreload Off",)),
        "procfile": ("bundle exec puma -C config/puma.rb", ()),
        "server": ("bin/rails server", ())}


def rails_new(root: Path) -> None:
    """With config/puma.rb, the key and the libraries of the generator. webpacker
    would want libraries of npm."""
    def do(line: str) -> None:
        packaged.run(root, "sh", "-c", line, HOME=str(root.parent),
                     PATH=os.defpath, DISABLE_SPRING="1")

    root.mkdir()
    do("rails new . --skip-bundle --skip-javascript --skip-git")
    do("bundle install --local")
    do("bin/rails generate scaffold post title:string body:text")
    do("RAILS_ENV=production bin/rails db:migrate assets:precompile")


@pytest.mark.parametrize("way", list(WAYS))
def test_rails(httpd: Httpd, way: str) -> None:
    line, directives = WAYS[way]
    app = httpd.app("shop", *directives, *SLOW_START, command=None)
    packaged.kept("rails", rails_new, app.root)
    if line:
        (app.root / "Procfile").write_text(f"web: {line}\n")
    subprocess.run(["chown", "-R", USER, app.root], check=True)
    httpd.start()
    ada = Visitor(httpd.port, "shop", named=False)
    post = ada.submit(ada.get("/posts/new"), **{
        "post[title]": "Br\u00fccke", "post[body]": "of steel"})
    assert "successfully created" in post.text
    assert [path for path in ada.load(post) if "/assets/application-" in path]

    def read() -> None:
        assert "of steel" in ada.get("/posts/1").text

    restart_under_load(httpd, app, read)
    broken_under_load(httpd, app, app.root / "config/routes.rb", "end\n", read)
    restart_under_load(httpd, app, read)


# Where there is a program, its first line, the file as which it is saved, what is
# requested, and a part of the page
RACK = "/usr/share/rubygems-integration/all/gems/rack-2*/example/lobster.ru"
THIN = "/usr/lib/*/rubygems-integration/*/gems/thin-*/example/config.ru"
SINATRA = "/usr/share/doc/ruby-sinatra/README.md.gz"
PROGRAMS = {
    "sinatra": (((SINATRA, "# myapp.rb", "myapp.rb"),), "Hello world!"),
    "sinatra-rackup": (((SINATRA, "# app.rb", "app.rb"),
                        (SINATRA, "require './app'", "config.ru")),
                       "Hello world!"),
    "rack": (((RACK, "# frozen_string_literal: true", "config.ru"),),
             "Lobstericious"),
    "thin": (((THIN, "# Run with: rackup -s thin", "config.ru"),), "hi!"),
}


def test_programs(httpd: Httpd) -> None:
    httpd.directives += ["MaxPoolSize 20", *SLOW_START]
    for name, (files, _) in PROGRAMS.items():
        root = httpd.app(name, command=None).root
        for where, begin, file in files:
            (root / file).write_text(listing(where, begin))
    httpd.start()
    for name, case in cases(PROGRAMS):
        with case:
            response = httpd.get("/", name, timeout=PATIENCE)
            assert response.status == 200 and PROGRAMS[name][1] in \
                response.text, response.text
