# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Applications in Perl, as the generators and the examples of their frameworks
make them, with AppRoot alone."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import packaged
from harness.cases import cases
from harness.config import SLOW_START
from harness.deploy import broken_under_load, restart_under_load
from harness.httpd import Httpd, USER
from harness.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.mpms("event"), pytest.mark.usefixtures("debian")]

# How an application called Shop is made, its directory, a file with code, and a
# part of its front page
GENERATED = {
    "mojolicious-lite": ("mojo generate lite-app", ".", "myapp.pl",
                         "real-time web framework"),
    "mojolicious": ("mojo generate app Shop", "shop", "lib/Shop.pm",
                    "real-time web framework"),
    "dancer": ("dancer2 gen -a Shop", "Shop", "lib/Shop.pm",
               "Your application's environment"),
    "catalyst": ("catalyst.pl Shop", "Shop", "lib/Shop.pm",
                 "Welcome to the  world of Catalyst"),
}


@pytest.mark.parametrize("name", list(GENERATED))
def test_generated(httpd: Httpd, name: str) -> None:
    command, directory, code, text = GENERATED[name]
    place = httpd.dir / "place"
    place.mkdir()
    packaged.run(place, "sh", "-c", command, PATH=os.defpath, HOME=str(place),
                 USER="ada")
    app = httpd.app("shop", *SLOW_START, command=None, root=place / directory)
    subprocess.run(["chown", "-R", USER, place], check=True)
    app.directives.append("DirectoryIndex disabled")  # that of Mojolicious
    httpd.start()
    ada = Visitor(httpd.port, "shop", named=False)

    def read() -> None:
        assert text in ada.get("/").text

    read()
    missing = ada.open("/nothing")
    assert missing.status == 404 and "development" not in missing.text
    restart_under_load(httpd, app, read)
    broken_under_load(httpd, app, app.root / code, "}", read)


# Where the documentation has it, what is requested, and a part of the page
EXAMPLES = {
    "libmojolicious-perl/examples/hello.pl": ("/", "Hello World!"),
    "libmojolicious-perl/examples/hello-template.pl":
        ("/hello", "Hello World!"),
    "libmojolicious-perl/examples/login": ("/", 'name="pass"'),
    "libdancer2-perl/examples/single/hello_world.psgi": ("/", "Hello World"),
    "libdancer2-perl/examples/single/simple_calculator.psgi":
        ("/add/2/3", "5"),
    "libplack-perl/examples/dot-psgi/Hello.psgi": ("/", "Hello World"),
    "libplack-perl/examples/dot-psgi/plack-req.psgi": ("/?name=Ada", "Hello"),
    "libplack-perl/examples/dot-psgi/Dumper.psgi": ("/", "psgi.version"),
}


def test_examples(httpd: Httpd) -> None:
    httpd.directives += ["MaxPoolSize 20", *SLOW_START]
    for n, where in enumerate(EXAMPLES):
        root = httpd.app(f"example{n}", command=None).root
        path = Path("/usr/share/doc") / where
        if path.is_dir():
            shutil.copytree(path, root, dirs_exist_ok=True)
        else:
            shutil.copy(path, root)
    subprocess.run(["chown", "-R", USER, *(app.root for app in httpd.apps)],
                   check=True)
    httpd.start()
    for (n, where), case in cases(enumerate(EXAMPLES)):
        path, text = EXAMPLES[where]
        with case:
            response = httpd.get(path, f"example{n}", timeout=PATIENCE)
            assert response.status == 200 and text in response.text, \
                response.text
