# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppFriendlyErrors: what the client sees when an app does not start
(acceptance B6)."""
import os
import re
from pathlib import Path
from typing import Callable, Optional

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Connection, Response
from harness.config import App
from harness.httpd import Httpd
from harness.page import Page
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm(
    "a page is made of a file that the spawner writes")

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FRIENDLY = "AppFriendlyErrors On"


@pytest.fixture(autouse=True)
def failures(httpd: Httpd) -> None:
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.DIED_OTHERWISE)


def broken(httpd: Httpd, command: str, *directives: str) -> App:
    app = httpd.app("shop", FRIENDLY, "AppStopTimeout 1", *directives,
                    command=command)
    httpd.start()
    return app


def page_of(response: Response) -> Page:
    """The page of a well-formed response that loads nothing."""
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    text = response.body.decode("utf-8")
    assert text.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag in ("html", "head", "meta", "title", "style", "body", "h1",
                       "dl", "dt", "dd", "h2", "pre", "p", "footer"), tag
        assert not {"src", "href", "onerror", "style"} & set(attributes)
    assert "url(" not in page.text["style"]
    assert "@import" not in page.text["style"]
    names = [attributes.get("name") for _, attributes in page.elements]
    assert "viewport" in names, "a phone can read it"
    return page


def paused(fetch: Callable[[], Response]) -> Response:
    """The response while the app is not tried again. It has to come soon,
    because each try makes the pause longer."""
    def response_in_a_pause() -> Optional[Response]:
        response = fetch()
        assert response.status in (502, 503)
        return response if response.status == 503 else None

    return wait_until(response_in_a_pause, "there is a pause", 60)


# Command: step, words of the failure, words of the advice, last output.
FAILURES = {
    "/bin/sh -c 'echo first; echo last words; exit 3'":
        ("Starting up", "exit code 3", "foreground", "first\nlast words\n"),
    "/bin/sh -c 'kill -SEGV $$'":
        ("Starting up", "signal 11 (SIGSEGV)", "foreground", None),
    "/bin/sh -c 'kill -KILL $$'":
        ("Starting up", "signal 9 (SIGKILL)", "because memory ran out", None),
    "/nonexistent/command":
        ("Running the command", "exit code 127", "installed", "not found"),
    "{root}/orphan":
        ("Running the command", "exit code 127", "interpreter", "not found"),
    "{root}/plain":
        ("Running the command", "exit code 126", "execute", "denied"),
    "/bin/sh -c 'echo hanging; exec sleep 1000'":
        ("Becoming ready", "within 8 s", "AppStartTimeout", "hanging\n"),
    # An unfinished last line counts as a line.
    "/bin/sh -c 'echo first; printf last; exit 4'":
        ("Starting up", "exit code 4", "foreground", "first\nlast\n"),
    "/bin/sh -c 'printf connecting...; exec sleep 1000'":
        ("Becoming ready", "within 8 s", "AppStartTimeout",
         "connecting...\n"),
}


def add_broken(httpd: Httpd, name: str, command: str, step: str) -> App:
    app = httpd.app(name, FRIENDLY, "AppStopTimeout 1", *["AppStartTimeout 8"] * (
        step == "Becoming ready"))
    app.command = command.format(root=app.root)
    (app.root / "plain").write_text("#!/bin/sh\n")
    (app.root / "orphan").write_text("#!/usr/bin/no-such-python\n")
    (app.root / "orphan").chmod(0o755)
    return app


def test_says_what_failed(httpd: Httpd) -> None:
    apps = {command: add_broken(httpd, f"shop{n}", command, FAILURES[command][0])
            for n, command in enumerate(FAILURES)}
    httpd.directives.append(f"MaxPoolSize {len(apps)}")
    httpd.start()
    for command, case in cases(apps):
        step, failure, advice, output = FAILURES[command]
        app = apps[command]
        with case:
            response = httpd.get("/pid", app.name, headers=HTML)
            assert response.status == 502
            page = page_of(response)
            assert page.text["h1"] == f"{app.name} could not be started"
            assert page.rows["Step"] == step
            assert failure in page.rows["Failure"]
            assert page.rows["Command"] == app.command
            assert page.rows["Directory"] == str(app.root)
            assert page.rows["User"] == "www-data"
            httpd.log.wait_for(f"error id {page.rows['Error']}")
            assert advice in page.text["p"]
            assert (output or "") in page.text.get("pre", "")
            assert output or "pre" not in page.text
            again = paused(lambda: httpd.get("/pid", app.name, headers=HTML))
            assert int(again.headers["Retry-After"]) >= 1
            assert page_of(again).rows["Next try"] \
                == f"in {again.headers['Retry-After']} s"
            assert failure in page_of(again).rows["Failure"]


def test_directory(httpd: Httpd) -> None:
    app = broken(httpd, "/bin/true")
    app.public.rmdir()
    (app.root / "tmp").rmdir()
    app.root.rmdir()
    page = page_of(httpd.get("/pid", "shop", headers=HTML))
    assert page.rows["Directory"] == str(app.root)
    assert str(app.root) in page.rows["Failure"]
    assert "No such file" in page.rows["Failure"]
    assert page.rows["Step"] == "Entering the application's directory"
    assert "User" not in page.rows  # it would be the owner of AppRoot


def test_root_is_a_file(httpd: Httpd) -> None:
    app = httpd.app("shop", FRIENDLY, "AppUser www-data", command="/bin/true",
                    location="/app")
    app.root = httpd.dir / "file"
    app.root.touch()
    httpd.start()
    page = page_of(httpd.get("/app/", "status", headers=HTML))
    assert page.rows["Step"] == "Entering the application's directory"
    assert f"AppRoot {app.root} cannot be entered" in page.rows["Failure"]
    assert "Not a directory" in page.rows["Failure"]


def test_directory_of_a_user(httpd: Httpd) -> None:
    app = httpd.app("shop", FRIENDLY, "AppUser www-data", command="/bin/true")
    app.public = httpd.dir / "htdocs"  # httpd itself must not refuse this
    httpd.start()
    os.chown(app.root, 0, 0)
    app.root.chmod(0)
    page = page_of(httpd.get("/pid", "shop", headers=HTML))
    assert page.rows["Step"] == "Entering the application's directory"
    assert "Permission denied" in page.rows["Failure"]


def test_no_command(httpd: Httpd) -> None:
    httpd.app("shop", FRIENDLY, command=None)
    httpd.start()
    page = page_of(httpd.get("/pid", "shop", headers=HTML))
    assert page.rows["Step"] == "Running the command"
    assert "AppCommand" in page.rows["Failure"]
    assert "Command" not in page.rows


def test_ends_as_soon_as_it_is_ready(httpd: Httpd) -> None:
    """It serves nothing. That is a failed start, and the log has its
    number."""
    app = broken(httpd, httpd.command_of("quitter.py"), "MinInstances 1",
                 "AppPreStart On")
    wait_until(lambda: httpd.group(app)["state"] == "failing",
               "that counts as a failure")

    def seen() -> Optional[Response]:
        response = httpd.get("/pid", "shop", headers=HTML)
        assert response.status in (502, 503)
        return response if b"Staying alive" in response.body else None

    # A spawner that is delayed has not seen that the process was ready.
    page = page_of(wait_until(seen, "it was ready", 30))
    assert page.rows["Step"] == "Staying alive"
    assert "exit code 7" in page.rows["Failure"]
    assert "as soon as it was ready" in page.rows["Failure"]
    httpd.log.wait_for(rf"died: exit code 7.*{page.rows['Error']}")
    assert "I give up" in page.text["pre"]


EVIL = """<script>alert(1)</script>"'&amp;</pre><img src=x onerror=alert(2)>"""


def test_nothing_of_the_app_is_markup(httpd: Httpd) -> None:
    """XSS: output, command, and bytes that are not UTF-8 arrive as text"""
    file = httpd.dir / "evil"
    file.write_bytes(EVIL.encode() + b"\n\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xff\xfe \x1b[31mred\0\n\xc3\xa9\n")
    name = httpd.dir / "<b>\"&'"
    name.mkdir()
    app = httpd.app("shop", FRIENDLY, root=name,
                    command=f"/bin/sh -c 'cat {file}; exit 1 # <i>'")
    quoted = str(name).replace('"', '\\"')
    app.lines = lambda: [  # type: ignore[method-assign]
        f'AppRoot "{quoted}"', f'AppCommand "{app.command}"', FRIENDLY,
        'AppGroupName "<u>shop"']
    app.public = httpd.dir / "htdocs"
    httpd.start()
    page = page_of(httpd.get("/pid", "shop", headers=HTML))
    first, second, third = page.text["pre"].splitlines()
    assert first == EVIL
    assert second.replace("\ufffd", "") == " [31mred "
    assert third == "\u00e9"
    assert page.rows["Directory"] == str(name)
    assert page.rows["Command"].endswith("# <i>'")
    assert page.text["h1"].startswith("<u>shop")


def test_plain_text(httpd: Httpd) -> None:
    """For curl and for scripts."""
    broken(httpd, f"/bin/sh -c 'echo \"{'<b>'}\"; exit 3'")
    for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        response = httpd.get("/pid", "shop", headers=accept)
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.text.startswith("shop could not be started\n\n")
        assert re.search(r"^Failure +it ended with exit code 3", response.text,
                         re.M)
        assert "\nLast output:\n<b>\n" in response.text
        assert "\nWhat to try:\n" in response.text
    response = httpd.request("HEAD", "/pid", "shop", headers=HTML)
    assert response.status in (502, 503) and response.body == b""


def test_no_secrets(httpd: Httpd) -> None:
    """The environment is not shown, nor readable for other users"""
    app = broken(httpd, "/bin/sh -c 'exit 3'",
                 "AppSetEnv DATABASE_PASSWORD opensesame")
    for headers in (HTML, {}):
        response = httpd.get("/pid", "shop", headers=headers)
        assert b"opensesame" not in response.body
        assert b"DATABASE" not in response.body
    place = httpd.runtime / "e"
    assert place.stat().st_mode & 0o7777 == 0o710
    file, = place.iterdir()
    assert file.stat().st_mode & 0o7777 == 0o440
    assert (file.owner(), file.group()) == ("root", "www-data")
    assert "opensesame" not in file.read_text()
    assert httpd.group(app)["last_error"]


@pytest.mark.parametrize("environment, directive, shown", [
    ("production", None, False), ("development", None, True),
    ("production", "On", True), ("development", "Off", False)])
def test_default(httpd: Httpd, environment: str, directive: str,
                 shown: bool) -> None:
    """It is off in production. The page then has a number that is in the
    log."""
    app = httpd.app("shop", f"AppEnvironment {environment}",
                    command="/bin/sh -c 'echo secrets; exit 3'")
    if directive:
        app.directives.append(f"AppFriendlyErrors {directive}")
    httpd.start()

    def fetch() -> Response:
        return httpd.get("/pid", "shop", headers=HTML)

    first = fetch()
    assert first.status == 502
    for response in (first, paused(fetch)):
        assert (b"secrets" in response.body) == shown
        page_of(response)
        found = re.search(rb"\b[0-9a-f]{16}\b", response.body)
        assert found
        number = found[0].decode()
        httpd.log.wait_for(rf"could not be started.*{number}")
        httpd.log.wait_for(rf"(does|did) not start: error {number}")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("protocol", ["fcgi", "scgi", "uwsgi"])
def test_any_protocol(httpd: Httpd, protocol: str) -> None:
    broken(httpd, "/bin/sh -c 'echo last words; exit 3'",
           f"AppProtocol {protocol}")
    for fetch in (lambda call: call(), paused):
        response = fetch(lambda: httpd.get("/pid", "shop", headers=HTML))
        assert "last words" in page_of(response).text["pre"]
    response = paused(lambda: httpd.post("/pid", "shop", b"x" * 100000))
    assert "last words" in response.text


@pytest.mark.mpms("event")
def test_a_body_that_is_not_stored(httpd: Httpd) -> None:
    """The part of the body that the client has sent is not the next
    request."""
    broken(httpd, "/bin/sh -c 'exit 3'", "AppBufferRequest Off")
    connection = Connection(httpd.port)
    for size in (10, 100000, 3000000):
        response = connection.request("POST", "/pid", "shop", b"x" * size)
        assert response.status in (502, 503)
        assert "could not be started" in response.text
    connection.close()


def test_per_directory(httpd: Httpd) -> None:
    """In a <Location> below the app"""
    app = httpd.app("shop", command="/bin/sh -c 'echo secrets; exit 3'")
    app.directives += ["<Location /admin>", FRIENDLY, "</Location>"]
    httpd.start()
    assert b"secrets" not in httpd.get("/", "shop", headers=HTML).body
    assert b"secrets" in httpd.get("/admin/", "shop", headers=HTML).body


def test_error_document(httpd: Httpd) -> None:
    """The ErrorDocument of the administrator has precedence."""
    (httpd.dir / "htdocs" / "sorry.html").write_text("we are sorry")
    app = broken(httpd, "/bin/sh -c 'exit 3'",
                 "ErrorDocument 502 /sorry.html",
                 "ErrorDocument 503 \"later\"")
    (app.public / "sorry.html").write_text("we are sorry")
    response = httpd.get("/pid", "shop", headers=HTML)
    assert (response.status, response.text) == (502, "we are sorry")
    response = paused(lambda: httpd.get("/pid", "shop", headers=HTML))
    assert response.text == "later"
    assert int(response.headers["Retry-After"]) >= 1


def test_error_document_of_an_app_that_fails(httpd: Httpd) -> None:
    """An ErrorDocument must not be replaced by a page about another error."""
    httpd.app("shop", FRIENDLY, "ErrorDocument 404 /missing",
              command="/bin/sh -c 'exit 3'").directives += [
        "<Location /gone>", "Redirect 404", "</Location>"]
    httpd.modules.append("alias")
    httpd.start()
    response = httpd.get("/gone", "shop", headers=HTML)
    assert response.status == 404
    assert b"could not be started" not in response.body


def test_gone_once_it_starts(httpd: Httpd) -> None:
    """When the app starts, no trace of the failure is left."""
    stop = httpd.dir / "broken"
    stop.touch()
    httpd.app("shop", FRIENDLY, f"AppSetEnv BOOT_FAIL_IF {stop}")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 502
    assert list((httpd.runtime / "e").iterdir())
    stop.unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it is back")
    wait_until(lambda: not list((httpd.runtime / "e").iterdir()), "it stays")


@pytest.mark.mpms("event")
def test_the_spawner_dies(httpd: Httpd) -> None:
    """What it has found out is kept."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    broken(httpd, "/bin/sh -c 'echo last words; exit 3'")
    old = httpd.helper("spawner")
    for _ in range(5):  # so that the pause is long enough
        wait_until(lambda: httpd.get("/pid", "shop").status == 502, "a try")
    kill9(old)
    response = paused(lambda: httpd.get("/pid", "shop", headers=HTML))
    assert "last words" in page_of(response).text["pre"]


@pytest.mark.mpms("event")
def test_the_file_is_damaged(httpd: Httpd) -> None:
    """The page then says what is known without the file."""
    broken(httpd, "/bin/sh -c 'exit 3'")
    for _ in range(5):  # so that the pause is long enough
        wait_until(lambda: httpd.get("/pid", "shop").status == 502, "a try")
    file, = (httpd.runtime / "e").iterdir()
    good = file.read_bytes()
    for damaged in (b"", b"\n", b"output\n", b"id 1\n", good[:-9], b"\0" * 9,
                    good.replace(b"step boot", b"step \xff" + b"x" * 40000),
                    b"x" * 100000, b"id " + b"0" * 16 + b"\nfailure no\n"):
        def fetch() -> Response:
            rewrite(file, damaged)
            return httpd.get("/pid", "shop", headers=HTML)

        page = page_of(paused(fetch))
        assert re.fullmatch("[0-9a-f]{16}", page.rows["Error"])
        assert page.rows.get("Failure") != "no"


def rewrite(file: Path, data: bytes) -> None:
    """Replace the file by one that our programs would not write."""
    file.unlink(missing_ok=True)
    file.write_bytes(data)
    os.chown(file, 0, 33)
