# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The servers of tests/bench/layouts: one httpd each, in which every layout of
tests/applications is a virtual host. Each class is one way to tell the server
what to run. The stand-ins for frameworks are files of the layouts, so all ways
have the same ones."""
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

import commands
import layouts
import table
from harness.config import SLOW_START
from harness.httpd import USER
from harness.visitor import PATIENCE
from layouts import Layout
from rows import Passenger, PhpFpm
from servers import Server

AT_ONCE = 6  # first requests, each of which starts a process
POOL = 12
# Of Passenger, in seconds. It waits for this time if a program listens on another
# port than $PORT.
START_TIMEOUT = 30
PHP_PLACES = ("public", ".", "web", "htdocs", "webroot", "docroot", "pub", "www",
              "public_html", "httpdocs", "Web")


class Way(Server):
    """To be mixed into a server."""

    def configure(self) -> None:
        self.layouts = list(filter(self.can, layouts.ALL))
        self.install()
        for one in self.layouts:
            root = self.httpd.dir / one.name
            table.put(root, one.files)
            (root / "public").mkdir(exist_ok=True)
            self.site(one, root)
            subprocess.run(["chown", "-R", USER, root], check=True)

    def install(self) -> None:
        """What all layouts need."""

    def can(self, one: Layout) -> bool:
        """Is there anything to configure for it?"""
        return True

    def site(self, one: Layout, root: Path) -> None:
        """The virtual host of a layout."""
        self.httpd.directives += [
            f"<VirtualHost *:{self.httpd.port}>", f"ServerName {one.name}",
            f'DocumentRoot "{self.document_root(one, root)}"',
            *(line.replace("ROOT", str(root)) for line in one.directives),
            *self.lines(one, root), "</VirtualHost>"]

    def document_root(self, one: Layout, root: Path) -> Path:
        return root / "public"

    def lines(self, one: Layout, root: Path) -> list[str]:
        return []

    def serves_requests(self) -> bool:
        return self.httpd.listening()

    def runs(self) -> set[str]:
        """The layouts whose request gets its answer."""
        def is_answered(one: Layout) -> bool:
            try:
                response = self.httpd.get(one.path, one.name, timeout=PATIENCE)
                return (response.status, response.text) == (200, one.name)
            except (OSError, ValueError):
                return False

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answered = list(pool.map(is_answered, self.layouts))
        return {one.name for one, good in zip(self.layouts, answered) if good}


class Ours(Way):
    name = "mod_apppool"

    def install(self) -> None:
        self.httpd.directives += [f"MaxPoolSize {POOL}", *SLOW_START]

    def site(self, one: Layout, root: Path) -> None:
        self.httpd.app(one.name, *(line.replace("ROOT", str(root))
                                   for line in one.directives), command=None)


class Alone(Way, Passenger):
    """PassengerAppRoot says where it is; its files say what it is."""
    name, processes = "Passenger", POOL

    def install(self) -> None:
        Passenger.install(self)
        self.httpd.directives += ["PassengerNodejs /usr/bin/node",
                                  f"PassengerUser {USER}",
                                  f"PassengerStartTimeout {START_TIMEOUT}",
                                  "PassengerFriendlyErrorPages off"]

    def lines(self, one: Layout, root: Path) -> list[str]:
        return [f"PassengerAppRoot {root}"]


class Startup(Alone):
    """The two directives for an application whose file has another name."""
    name = "Passenger, AppType and StartupFile"

    def can(self, one: Layout) -> bool:
        return startup(one) is not None

    def lines(self, one: Layout, root: Path) -> list[str]:
        kind, file = startup(one) or ("", "")
        return [*super().lines(one, root), f"PassengerAppType {kind}",
                f"PassengerStartupFile {file}"]


class Command(Alone):
    """The command that an administrator writes. It corresponds to AppCommand."""
    name = "Passenger, AppStartCommand"

    def can(self, one: Layout) -> bool:
        return start_command(one) is not None

    def lines(self, one: Layout, root: Path) -> list[str]:
        command = (start_command(one) or "").replace("\\", "\\\\")
        command = command.replace('"', '\\"')
        return [*super().lines(one, root),
                f'PassengerAppStartCommand "{command}"']


class Fpm(Way, PhpFpm):
    """DocumentRoot is the directory of index.php, and a path that is no file is
    that of index.php, as the .htaccess of most applications has it."""
    name = "php-fpm"

    def install(self) -> None:
        PhpFpm.configure(self)

    def can(self, one: Layout) -> bool:
        return one.kind == "PHP"

    def document_root(self, one: Layout, root: Path) -> Path:
        return root / next((place for place in PHP_PLACES
                            if str(Path(place, "index.php")) in one.files), ".")

    def lines(self, one: Layout, root: Path) -> list[str]:
        return ["DirectoryIndex index.php", "FallbackResource /index.php",
                *self.handler()]


# ---- what an administrator writes


def without_path(one: Layout) -> tuple[str, str]:
    """The command, and what adds to PYTHONPATH before it."""
    match = re.match(r'PYTHONPATH="[^"]*" ', one.command)
    before = match[0] if match else ""
    return before, one.command[len(before):]


def python_file(one: Layout) -> Optional[str]:
    """The file of MODULE, MODULE:NAME, 'MODULE:NAME()', ./NAME.wsgi or FILE."""
    word = shlex.split(one.command)[-1]
    place = word.partition(":")[0].replace(".", "/")
    return next((file for file in (
        word, word[2:], f"{place}.py", f"{place}/__init__.py",
        f"src/{place}/__init__.py") if file in one.files), None)


def node_file(one: Layout) -> Optional[str]:
    """The last word that names a file, as node finds it."""
    words = [word.removeprefix("./").rstrip("/")
             for word in shlex.split(one.command)]
    return next((file for word in reversed(words)
                 for file in (word, f"{word}.js", f"{word}/index.js",
                              "index.js" if word == "." else "")
                 if file in one.files), None)


def ruby_file(one: Layout) -> Optional[str]:
    return next((file for file in one.files
                 if file == "config.ru" or f"APPPOOL_APP={file}" in one.command),
                None)


TYPES = {"Python": ("wsgi", python_file), "Node": ("node", node_file),
         "Ruby": ("rack", ruby_file)}


def startup(one: Layout) -> Optional[tuple[str, str]]:
    """PassengerAppType and PassengerStartupFile. None: there is no such type,
    or the program needs arguments."""
    kind, file_of = TYPES.get(one.kind, ("", lambda one: None))
    file = file_of(one)
    return (kind, file) if file else None


def start_command(one: Layout) -> Optional[str]:
    """PassengerAppStartCommand: a server that listens on $PORT. A command that
    needs no option for that is the one that mod_apppool has found. None: no
    server speaks HTTP."""
    at = "127.0.0.1:$PORT"
    path, command = without_path(one)
    last = shlex.quote(shlex.split(command)[-1])
    if one.kind in ("PHP", "FastCGI"):
        return None
    if command.startswith(commands.WSGI("")):
        command = f"gunicorn -b {at} {last}"
    elif command.startswith(commands.LISTEN("")):
        command = f"python3 {last}"
    elif command.startswith(asgi := commands.ASGI("")):
        command = f"uvicorn --port $PORT {command[len(asgi):]}"
    elif command.startswith(commands.PSGI("")):
        command = f"starman --listen {at} {last}"
    elif command.endswith(" daemon"):
        file = shlex.split(command)[-2]
        command = f"perl {file} daemon -l http://{at}"
    elif command.startswith("env -u NOTIFY_SOCKET"):
        file = ruby_file(one)
        command = f"puma -b tcp://{at}" if file == "config.ru" \
            else f"ruby {file} -p $PORT"
    elif ";" in command:
        return f"sh -c {shlex.quote(command)}"
    return f"env {path}{command}" if path else command
