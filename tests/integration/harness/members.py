# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Sites with sessions in the store, by the recipes of doc/store.md, and members
who stay logged in."""
import queue
import re
import subprocess
import textwrap

from harness.config import App, SLOW_START
from harness.httpd import Httpd, USER
from harness.places import TOP
from harness.visitor import Visitor

DOC = TOP / "doc" / "store.md"
# Each recipe with the file of the app that gets it, and the place of this file.
APPS = {
    "Django": ("urls.py", "shop/urls.py"),
    "Flask": ("wsgi.py", "wsgi.py"),
    "Rails": ("rails.ru", "config.ru"),
    "Sinatra and other Rack applications": ("rack.ru", "config.ru"),
    "PHP": ("index.php", "public/index.php"),
    "Express": ("app.js", "app.js"),
}


def recipe(name: str) -> dict[str, str]:
    """The files that a recipe names, with the lines for each of them."""
    section = DOC.read_text().split(f"\n### {name}\n")[1]
    section = re.split(r"^##", section, flags=re.M)[0]
    found = re.findall(r"^In `/srv/shop/([^`]+)`:\n\n((?:    .*\n|\n)+)",
                       section, re.M)
    assert found, f"{name}: the recipe names no file"
    return {file: textwrap.dedent(lines) for file, lines in found}


def site(httpd: Httpd, name: str, *directives: str) -> App:
    """An app with two processes or more, made by this recipe."""
    source, goal = APPS[name]
    httpd.directives.append("DirectoryIndex index.php index.html")
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    # Django responds to no other name.
    app = httpd.app("localhost", "AppGroupName shop", "MinInstances 2",
                    *SLOW_START, *directives, command=None)
    if name == "Express":
        app.directives.append("AppSetEnv NODE_PATH /usr/share/nodejs")
    if name == "Django":
        subprocess.run(["django-admin", "startproject", "shop", app.root],
                       check=True)
    program = (httpd.program("sessions") / source).read_text()
    for file, lines in recipe(name).items():
        if file == goal:
            assert "# RECIPE\n" in program, source
            program = re.sub("^( *)# RECIPE$", lambda at: textwrap.indent(
                lines, at[1]), program, flags=re.M)
        else:
            with open(app.root / file, "a") as ours:
                ours.write("\n" + lines)
    (app.root / goal).write_text(program)
    subprocess.run(["chown", "-R", USER, app.root], check=True)
    return app


class Member:
    """Somebody who logs in once. The site counts the visits in the session, so
    a lost session and a lost change are both seen."""

    def __init__(self, httpd: Httpd, name: str) -> None:
        self.name = name
        self.visitor = Visitor(httpd.port, "localhost")
        self.visitor.post("/login", f"name={name}".encode(),
                          Content_Type="application/x-www-form-urlencoded")
        self.count, self.failures = 0, 0

    def visit(self) -> None:
        """A visit that must succeed."""
        self.sees(self.visitor.get("/").text)

    def sees(self, text: str) -> None:
        self.count += 1
        assert text == f"Hello, {self.name}, {self.count}", \
            f"{text}, not {self.count}"

    def try_visit(self) -> bool:
        """A visit whose response may be an error. Then it is unknown whether it
        was counted. @return was there no error?"""
        page = self.visitor.open("/")
        if page.status == 200:
            found = re.fullmatch(rf"Hello, {self.name}, (\d+)", page.text)
            assert found, page.text
            assert 1 <= int(found[1]) - self.count <= 1 + self.failures, \
                f"{page.text} after {self.count}"
            self.count = int(found[1])
            self.failures = 0
        else:
            assert page.status in (500, 502, 503), page.text
            self.failures += 1
        return self.failures == 0


class Club:
    """Members who visit by turns. A visit of one member is over before the
    next one of this member begins."""

    def __init__(self, httpd: Httpd, count: int = 3) -> None:
        self.members = [Member(httpd, f"m{n}") for n in range(count)]
        self.free: queue.SimpleQueue[Member] = queue.SimpleQueue()
        self.failures = 0
        for member in self.members:
            self.free.put(member)

    def visit(self) -> None:
        member = self.free.get()
        try:
            member.visit()
        finally:
            self.free.put(member)

    def try_visit(self) -> None:
        member = self.free.get()
        try:
            self.failures += not member.try_visit()
        finally:
            self.free.put(member)
