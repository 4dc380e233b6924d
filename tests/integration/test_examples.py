# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The examples of doc/apps.md and of the pages doc/from-*.md do what they say.
Each example is installed where it says, and its front page is requested."""
import os
import re
import subprocess
import textwrap

import pytest

from harness.config import App, SLOW_START
from harness.httpd import Httpd, USER
from harness.places import TOP
from harness.visitor import PATIENCE

# The examples whose packages Debian has, and the expected text of the page.
EXAMPLES = {
    "Flask": "Hello", "Flask with gunicorn": "Hello",
    "Django": "Django administration",
    "Django with gunicorn": "Django administration",
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


def put(app: App, section: str, user: str = USER) -> None:
    """The files of an example of doc/apps.md, with the owner that it says."""
    for path, text in blocks(section, r"`/srv/shop/([^`]*)`"):
        (app.root / path).write_text(text)
    for _, command in blocks(section, "(Made by)"):
        # Debian's python3 is the one that has Django.
        subprocess.run(command.replace("/srv/shop", str(app.root)),
                       shell=True, check=True,
                       env={**os.environ, "PATH": f"/usr/bin:{os.defpath}"})
    subprocess.run(["chown", "-R", user, app.root], check=True)


@pytest.mark.mpms("event")
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_example(httpd: Httpd, name: str) -> None:
    section = sections()[name]
    of = {"uWSGI": "Flask"}.get(name, name.replace(" with gunicorn", ""))
    if of != name:
        section = sections()[of].replace("Configuration", "") + section
    httpd.directives.append("DirectoryIndex index.php index.html")
    # Django responds to no other name.
    app = httpd.app("shop.example", command=None)
    directives = blocks(section, "(Configuration)")[0][1]
    app.directives += [line.replace("/srv/shop", str(app.root))
                       for line in directives.splitlines() if line]
    if name == "Express":
        app.directives.append("AppSetEnv NODE_PATH /usr/share/nodejs")
    put(app, section)
    httpd.directives += SLOW_START
    httpd.start()
    path = "/admin/login/" if of == "Django" else "/"
    response = httpd.get(path, "shop.example", timeout=PATIENCE)
    assert response.status == 200
    assert EXAMPLES[name] in response.text
    if of == "Django":
        assert httpd.get("/static/admin/css/base.css",
                         "shop.example").status == 200


# Page, and the example whose files its virtual host serves.
PAGES = {
    "from-passenger": "Sinatra and other Rack applications",
    "from-mod_wsgi": "Flask", "from-uwsgi": "Flask",
    "from-nginx-unit": "FastAPI and other ASGI applications",
    "from-php-fpm": "PHP", "from-mod_fcgid": "C",
}


def after(page: str) -> str:
    """The configuration at the end of a page."""
    text = (TOP / "doc" / f"{page}.md").read_text().split("\n## After\n")[1]
    found = re.match(r"\n((?:    [^\n]*\n|\n)+)", text)
    assert found, f"{page} has no configuration"
    return textwrap.dedent(found[1])


def test_each_page_is_here() -> None:
    assert set(PAGES) == {page.stem
                          for page in (TOP / "doc").glob("from-*.md")}


@pytest.mark.mpms("event")
@pytest.mark.parametrize("page", list(PAGES))
def test_after_a_move(httpd: Httpd, page: str) -> None:
    """Its virtual host causes no warning, and serves the application and its
    files."""
    user = "nobody"  # httpd's own would be a warning
    httpd.modules += ["alias"]
    app = httpd.app("shop", command=None)
    httpd.apps.clear()
    put(app, sections()[PAGES[page]], user)
    for name in ("public", "static"):
        (app.root / name).mkdir(exist_ok=True)
        (app.root / name / "style.css").write_text(f"{name} style")
    text = re.sub(r"(AppUser +)shop.*", rf"\1{user}", after(page))
    httpd.directives += text.replace("/srv/shop", str(app.root)).replace(
        "*:80", f"*:{httpd.port}").splitlines()
    done = httpd.test()
    assert (done.returncode, done.stdout) == (0, "Syntax OK\n")
    httpd.directives += SLOW_START
    httpd.start()
    response = httpd.get("/", "shop.example", timeout=PATIENCE)
    assert (response.status, response.text) == (200, "Hello")
    assert httpd.get("/style.css", "shop.example").text == "public style"
    if "/static" in text:
        assert httpd.get("/static/style.css", "shop.example").text \
            == "static style"
