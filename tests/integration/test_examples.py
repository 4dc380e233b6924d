# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The examples of doc/apps.md do what they say: each is put where it says,
and asked for its front page."""
import re
import subprocess
import textwrap

import pytest

from harness.httpd import Httpd, USER
from harness.places import TOP

# Those whose packages Debian has, and what the page says.
EXAMPLES = {
    "Flask": "Hello", "Django": "The install worked successfully",
    "FastAPI and other ASGI applications": "Hello",
    "Rails": "Hello", "Sinatra and other Rack applications": "Hello",
    "Node": "Hello", "Express": "Hello",
    "PHP": "Hello", "Perl": "Hello", "C": "Hello", "uWSGI": "Hello",
}


def sections() -> dict[str, str]:
    text = (TOP / "doc" / "apps.md").read_text().split("## Examples")[1]
    parts = re.split(r"^##+ (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(section: str, before: str) -> list[tuple[str, str]]:
    """What a line like this names, and the text that follows it."""
    found = re.findall(rf"{before}[^\n]*:\n\n((?:    [^\n]*\n|\n)+)", section)
    return [(name, textwrap.dedent(text)) for name, text in found]


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_example(httpd: Httpd, name: str) -> None:
    section = sections()[name]
    if name == "uWSGI":
        section = sections()["Flask"].replace("Configuration", "") + section
    httpd.modules += ["proxy_fcgi", "proxy_uwsgi"]
    httpd.directives.append("DirectoryIndex index.php index.html")
    # Django answers to no other name.
    app = httpd.app("localhost", command=None)
    for path, text in blocks(section, r"`/srv/shop/([^`]*)`"):
        (app.root / path).write_text(text)
    for _, command in blocks(section, "(Made by)"):
        subprocess.run(command.replace("/srv/shop", str(app.root)),
                       shell=True, check=True)
    (_, directives), = blocks(section, "(Configuration)")
    app.directives += [line.replace("/srv/shop", str(app.root))
                       for line in directives.splitlines() if line]
    if name == "Express":
        app.directives.append("AppSetEnv NODE_PATH /usr/share/nodejs")
    subprocess.run(["chown", "-R", USER, app.root], check=True)
    httpd.start()
    answer = httpd.get("/", "localhost", timeout=60)
    assert answer.status == 200
    assert EXAMPLES[name] in answer.text
