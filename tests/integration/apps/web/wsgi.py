# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The web app of test_web.py, for WSGI servers. That file says what it has to
do."""
import os
import signal
import time


def echo(environ, start):
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    stream = environ["wsgi.input"]
    chunked = environ.get("HTTP_TRANSFER_ENCODING") == "chunked"
    body = stream.read() if chunked else stream.read(length)
    seen = [("X-Method", environ["REQUEST_METHOD"]),
            ("X-Mount", environ.get("SCRIPT_NAME") or
             environ.get("HTTP_X_FORWARDED_PREFIX", "")),
            ("X-Path", environ["PATH_INFO"]),
            ("X-Query", environ["QUERY_STRING"]),
            ("X-Host", environ["HTTP_HOST"]),
            ("X-Mine", environ.get("HTTP_X_MINE", "")),
            ("X-Cookies", environ.get("HTTP_COOKIE", "")),
            ("X-Secret", environ.get("HTTP_AUTHORIZATION", "")),
            ("X-Greeting", os.environ.get("GREETING", "")),
            ("X-Pid", str(os.getpid()))]
    start("200 OK", [("Content-Type", "application/octet-stream"),
                     ("Content-Length", str(len(body))),
                     ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")] + seen)
    return [body]


def big(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return (b"x" * 65536 for _ in range(48))


def status(environ, start):
    code = environ["QUERY_STRING"]
    bare = code in ("204", "304")
    start(f"{code} Status", [("ETag", '"tag"')] + (
        [] if bare else [("Content-Type", "text/plain")]))
    return [] if bare or environ["REQUEST_METHOD"] == "HEAD" else [b"a body"]


def stream(environ, start):
    gate = os.path.join(os.environ["HOLD_DIR"], environ["QUERY_STRING"])
    start("200 OK", [("Content-Type", "text/event-stream")])
    yield b"data: first\n\n"
    deadline = time.monotonic() + 20
    while not os.path.exists(gate) and time.monotonic() < deadline:
        time.sleep(0.005)
    yield b"data: second\n\n"


def crash(environ, start):
    os.kill(os.getpid(), signal.SIGKILL)


def half(environ, start):
    start("200 OK", [("Content-Type", "text/plain"),
                     ("Content-Length", "200000")])
    yield b"x" * 100000
    os.kill(os.getpid(), signal.SIGKILL)


URLS = {"/big": big, "/status": status, "/stream": stream, "/crash": crash,
        "/half": half}


def application(environ, start):
    return URLS.get(environ["PATH_INFO"], echo)(environ, start)
