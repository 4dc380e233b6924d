# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The part of an app's output that is shown when the app does not start: of a
stack trace, the line with the error, wherever it is. The whole sentence is
shown everywhere."""
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness import sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.notify import notifications, witness
from harness.page import Page

pytestmark = pytest.mark.mpms("event")

HTML = {"Accept": "text/html"}

# The lines above a long stack, its frames, the lines below, and what is shown.
STACKS = {
    "ruby": (["! no database (RuntimeError)"], "\tfrom file.rb", [],
             "! no database (RuntimeError)"),
    "python": (["Traceback:"], "  File", ["OSError: no database"],
               "Traceback: | OSError: no database"),
    "indented": (["  all of it"], "  in line", [], "  in line 99"),
}


@pytest.mark.parametrize("language", list(STACKS))
def test_reason_beside_the_stack(httpd: Httpd, language: str) -> None:
    above, frame, below, words = STACKS[language]
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    app = httpd.app("shop", "AppFriendlyErrors On",
                    command="cat said; exit 1")
    (app.root / "said").write_text("".join(f"{line}\n" for line in [
        *above, *(f"{frame} {n}" for n in range(100)), *below]))
    httpd.start()
    response = httpd.get("/", "shop", headers=HTML)
    shown = Page(response.text).text["pre"]
    reason = words.split(" | ")[-1]
    assert f"{reason}\n" in shown
    assert f"{frame} 99\n" in shown
    line, = httpd.log.wait_for("could not be started")
    assert line.endswith(words)
    before = ": " if language == "python" else "last output: "
    assert f"{before}{reason} (error id " in httpd.ctl("status").stdout


LONG = "no database " + "at any of these hosts " * 20 + "today"
# File and command of an app, and why it does not start.
PROGRAMS = {
    "python": ("app.py", "import nope", "python3 app.py",
               "ModuleNotFoundError: No module named 'nope'"),
    "python-long": ("app.py", f"raise OSError('{LONG}')", "python3 app.py",
                    f"OSError: {LONG}"),
    "ruby": ("app.rb", "def f(n) = n > 0 ? f(n - 1) : raise('no database')\n"
             "f(60)", "ruby app.rb", "no database (RuntimeError)"),
    "node": ("app.js", "require('nope')", "node app.js",
             "Error: Cannot find module 'nope'"),
    "php": ("app.php", "<?php throw new Exception('no database');",
            "php-cgi -q app.php",
            "PHP Fatal error:  Uncaught Exception: no database in "
            "{root}/app.php:1"),
    "missing": ("x", "", "bin/nope --port 80",
                "bin/nope was not found, or the interpreter of its first line "
                "(#!) was not"),
    "plain": ("x", "", "./x", "./x may not be executed"),
    "zero": ("x", "", "true", "it has to run on, in the foreground"),
    "waitress": ("x", "", "waitress-serve nope:app",
                 "exit code 1 while it started: 1. No module named 'nope'"),
    # The short lines take what the long ones leave of the token bucket.
    "flood": ("app.py", "print(('x' * 4999 + '\\n') * 300 + 'x\\n' * 99)\n"
              "raise OSError('no database')", "python3 app.py",
              "OSError: no database"),
}


def test_programs_say_why(httpd: Httpd) -> None:
    """In the log, in the status, in the notification, and on the page, where it
    is first."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     "flood.*prints too much")
    apps = {}
    for name, (file, text, command, _) in PROGRAMS.items():
        # A php-cgi with a script is no server that speaks FastCGI.
        apps[name] = httpd.app(name, "AppFriendlyErrors On",
                               "AppProtocol http", command=command)
        (apps[name].root / file).write_text(text + "\n")
    apps["python-long"].directives.append(witness(httpd))
    httpd.directives.append(f"MaxPoolSize {len(apps)}")
    httpd.start()
    for name, case in cases(apps):
        with case:
            why = PROGRAMS[name][3].format(root=apps[name].root)
            page = Page(httpd.get("/", name, headers=HTML).text)
            assert name == "zero" or page.text["p"].startswith(
                why.split(" started: ")[-1])
            text = httpd.group(apps[name])["last_error"]
            assert text.endswith(why)
            httpd.log.wait_for(re.escape(f"started: {text} (error id "))
            assert f" ago: {text} (error id " in httpd.ctl("status").stdout
    note, = notifications(httpd)
    assert note["object"]["text"].endswith(PROGRAMS["python-long"][3])
    done = httpd.ctl("restart", "python-long", "--wait")
    assert PROGRAMS["python-long"][3] in done.stderr


@contextmanager
def listener(user: str) -> Iterator[tuple[int, int]]:
    """A process of this user that listens. @return its port and pid"""
    program = ("import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
               "print(s.getsockname()[1], flush=True); sys.stdin.read()")
    with subprocess.Popen([sys.executable, "-c", program], user=user, cwd="/",
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdin and process.stdout
        yield int(process.stdout.readline()), process.pid
        process.stdin.close()


def test_port_is_in_use(httpd: Httpd) -> None:
    """The process that has it is named if the app's user may know it. The
    user is that of no other test: among the descriptors of all processes of
    www-data, the search would end early."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    with listener("backup") as own, listener("games") as other:
        owners = {"own": (own[0], rf"\S+, pid {own[1]}"),
                  "other": (other[0], "another user's process")}
        apps = {name: httpd.app(name, "AppUser backup", command=(
            "/bin/sh -c 'echo Error: listen EADDRINUSE: address already in "
            f"use :::{port}; exit 1'")) for name, (port, _) in owners.items()}
        httpd.start()
        for name, (port, owner) in owners.items():
            assert httpd.get("/", name).status == 502
            text = httpd.group(apps[name])["last_error"]
            assert re.search(rf" \(port {port} is used by {owner}\)$",
                             text), text
