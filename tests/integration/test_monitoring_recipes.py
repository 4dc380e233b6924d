# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipes of the manual that tell somebody else: AppNotify by mail, to a
chat and to Sentry, and the access log for OpenTelemetry. The receivers are in
this process."""
import email
import json
import re
import socket
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Iterator

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.notify import break_it, start
from harness.places import TOP
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def section(page: str, title: str) -> str:
    text = (TOP / "doc" / page).read_text()
    return re.split(r"\n#{1,3} ", text.split(f"\n### {title}\n")[1])[0]


def programs() -> list[str]:
    """The three programs of doc/operations.md."""
    return [textwrap.dedent(block).lstrip() for block in re.findall(
        r"(?:^    .*\n|^\n(?=    ))+", section(
            "operations.md", "Mail, chat and Sentry"), re.M)
        if "#!/usr/bin/python3" in block]


class Received:
    """Mails, and what was posted: path, type and body."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.posts: list[tuple[str, str, bytes]] = []


@pytest.fixture
def web() -> Iterator[tuple[int, Received]]:
    """A receiver of webhooks."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.posts.append((self.path, self.headers["Content-Type"],
                                   body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server.server_port, received
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def smtp() -> Iterator[tuple[int, Received]]:
    """A mail server that takes everything."""
    received = Received()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # no mail
        with connection, connection.makefile("rw", newline="\r\n") as stream:
            def say(text: str) -> None:
                stream.write(text + "\r\n")
                stream.flush()

            say("220 here")
            for line in stream:
                if line.upper().startswith("DATA"):
                    say("354 go on")
                    mail = []
                    for part in stream:
                        if part == ".\r\n":
                            break
                        mail.append(part)
                    received.mails.append("".join(mail))
                say("221 bye" if line.upper().startswith("QUIT") else "250 ok")

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1], received
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def notify(httpd: Httpd, recipe: str, *changes: tuple[str, str]) -> None:
    """Run it because of an app that does not start."""
    for old, new in changes:
        assert old in recipe
        recipe = recipe.replace(old, new)
    program = httpd.dir / "recipe"
    program.write_text(recipe)
    program.chmod(0o755)
    start(httpd, f"AppNotify {program}", "AppGroupName shop")
    break_it(httpd)


def test_three_programs() -> None:
    assert len(programs()) == 3
    for program in programs():
        assert program.startswith("#!/usr/bin/python3\n")
        compile(program, "recipe", "exec")


def test_mail(httpd: Httpd, smtp: tuple[int, Received]) -> None:
    port, received = smtp
    notify(httpd, programs()[0], ('"localhost", 25', f'"127.0.0.1", {port}'))
    text, = wait_until(lambda: received.mails, "there is a mail")
    mail = email.message_from_string(text)
    host = socket.gethostname()
    assert mail["Subject"] == f"shop on {host}: backoff_opened"
    assert mail["To"] == "operator@example.com"
    lines = mail.get_payload(decode=True).decode().splitlines()
    assert re.match(r"\d{4}-\d\d-\d\dT\S+Z backoff_opened: .*exit code",
                    lines[-1])


def test_chat(httpd: Httpd, web: tuple[int, Received]) -> None:
    port, received = web
    notify(httpd, programs()[1],
           ("https://hooks.example.com", f"http://127.0.0.1:{port}"))
    (path, kind, body), = wait_until(lambda: received.posts, "it is posted")
    assert (path, kind) == ("/services/KEY", "application/json")
    message = json.loads(body)
    assert list(message) == ["text"]
    assert re.match(r"\*shop\* on \S+: backoff_opened: .*exit code",
                    message["text"])


def test_sentry(httpd: Httpd, web: tuple[int, Received]) -> None:
    port, received = web
    notify(httpd, programs()[2],
           ("https://sentry.example.com/api", f"http://127.0.0.1:{port}/api"))
    (path, kind, body), = wait_until(lambda: received.posts, "it is posted")
    assert (path, kind) == ("/api/1/envelope/",
                            "application/x-sentry-envelope")
    header, item, event = map(json.loads, body.splitlines())
    assert header["event_id"] == event["event_id"]
    assert re.fullmatch("[0-9a-f]{32}", event["event_id"])
    assert item == {"type": "event"}
    assert (event["level"], event["server_name"]) == ("error",
                                                      socket.gethostname())
    assert event["tags"] == {"app": "shop", "event": "backoff_opened"}
    assert "exit code" in event["message"]["formatted"]


def test_receiver_is_away(httpd: Httpd) -> None:
    """The log says so, and the application is not disturbed."""
    httpd.log.expect(sentences.NOTIFY_FAILED)
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    notify(httpd, programs()[1],
           ("https://hooks.example.com", f"http://127.0.0.1:{port}"))
    httpd.log.wait_for("shop: AppNotify failed with exit code 1")
    assert httpd.log.matching("AppNotify printed: .*refused")
    (httpd.dir / "broken").unlink()
    wait_until(lambda: httpd.get("/pid", "shop").status == 200, "it starts")


def test_opentelemetry(httpd: Httpd) -> None:
    """Application and log have the same traceparent, and the expression of the
    manual finds its parts."""
    text = section("logs.md", "OpenTelemetry")
    directives = textwrap.dedent("\n".join(
        re.findall(r"^    (?:LogFormat.*\\\n.*|CustomLog.*)", text, re.M)))
    httpd.directives += directives.replace("logs/otel_log",
                                           "otel_log").splitlines()
    pattern = re.search(r"regex: '(.*)'", text)
    assert pattern and len(httpd.directives) == 5
    httpd.app("shop")
    httpd.app("gone", command="/bin/sh -c 'exit 3'")
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.start()
    seen = dict(httpd.get("/echo", "shop").json()["headers"])
    sent = f"00-{'ab' * 16}-{'cd' * 8}-01"
    failed = httpd.get('/a"b', "gone", headers={"traceparent": sent})
    first, second = wait_until(
        lambda: (lines := (httpd.dir / "otel_log").read_text().splitlines())
        and len(lines) == 2 and lines, "both are in the log")
    match = re.fullmatch(pattern[1], first)
    assert match, first
    given = next(value for name, value in seen.items()
                 if name.lower() == "traceparent")
    assert given.split("-")[1:3] == [match["trace"], match["span"]]
    assert (match["status"], match["error_id"]) == ("200", "-")
    assert match["queue_ms"].isdigit() and match["app_ms"].isdigit()
    match = re.fullmatch(pattern[1], second)
    assert match, second
    assert sent.split("-")[1:3] == [match["trace"], match["span"]]
    assert match["status"] == str(failed.status)
    assert match["error_id"] in failed.text and len(match["error_id"]) == 16
