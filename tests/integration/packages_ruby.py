# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications in Ruby, as generators and tutorials make them, with AppRoot
alone."""
import os
import subprocess
from pathlib import Path

import pytest

from harness import packaged
from harness.config import App, SLOW_START
from harness.deploy import broken_under_load, restart_under_load
from harness.httpd import Httpd, USER
from harness.visitor import Visitor

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


# Of sinatrarb.com, and of Grape's README
TUTORIALS = {
    "sinatra": {"myapp.rb": """require 'sinatra'

get '/frank-says' do
  'Put this in your pipe & smoke it!'
end
"""},
}
