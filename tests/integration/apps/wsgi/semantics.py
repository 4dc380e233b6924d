# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The app of test_wsgi_*.py: each URL does one thing that PEP 3333 describes.
Below /valid, wsgiref.validate checks it."""
import gzip
import io
import json
import multiprocessing
import os
import sys
import threading
import time
from wsgiref.validate import validator

TEXT = [("Content-Type", "text/plain")]
closed = []
calls = 0
ticks = 0
stop = threading.Event()


def wait_for(name):
    deadline = time.monotonic() + 20
    while not os.path.exists(name) and time.monotonic() < deadline:
        time.sleep(0.002)


class Body:
    """An iterable that records when it is closed."""

    def __init__(self, name, parts):
        self.name, self.parts = name, parts

    def __iter__(self):
        for part in self.parts:
            if part is None:
                raise RuntimeError("broken off")
            yield part

    def close(self):
        closed.append(self.name)


class One(Body):
    """Respond with a list of one part."""

    def __len__(self):
        return 1


def environ(env, start):
    start("200 OK", TEXT)
    return [json.dumps({key: value for key, value in env.items()
                        if isinstance(value, (str, bool, tuple))}).encode()]


def echo(env, start):
    """Respond with the body, read in the way that the query names."""
    source, how = env["wsgi.input"], env["QUERY_STRING"]
    if how == "all":
        body = source.read()
    elif how == "lines":
        body = b"".join(source)
    elif how == "readline":
        body = b"".join(iter(lambda: source.readline(7), b""))
    elif how == "readlines":
        body = b"".join(source.readlines())
    elif how == "none":
        body = b"nothing was read"
    else:
        body = b"".join(iter(lambda: source.read(int(how)), b""))
    start("200 OK", TEXT)
    return [body]


def count(env, start):
    """Respond with the length of the body, read in pieces."""
    total, source = 0, env["wsgi.input"]
    while True:
        part = source.read(100000)
        total += len(part)
        if not part:
            break
    start("200 OK", TEXT)
    return [b"%d" % total]


def shape(env, start):
    """Respond in the shape that the query names."""
    shapes = {"one": [b"hello"], "two": [b"hel", b"lo"], "none": [],
              "tuple": (b"hello",), "generator": (p for p in (b"hel", b"",
                                                             b"lo")),
              "alone": One("alone", [b"hello"]), "empty": [b""],
              "buffer": [bytearray(b"hello")], "silent": iter(())}
    start("200 OK", TEXT)
    return shapes[env["QUERY_STRING"]]


def bare(env, start):
    start(env["QUERY_STRING"] + " Status", [("ETag", '"x"')])
    return [b"not to be sent"]


def stream(env, start):
    start("200 OK", TEXT)
    yield b"first"
    wait_for(env["QUERY_STRING"])
    yield b"second"


def write(env, start):
    send = start("200 OK", TEXT)
    send(b"first")
    wait_for(env["QUERY_STRING"])
    send(b"")
    send(b"second")
    return [b"third"]


def close(env, start):
    name = env["QUERY_STRING"]
    start("200 OK", TEXT)
    return Body(name, [b"x" * 100000] * (1 if name == "good" else 100)
                + [None] * (name == "raises"))


def closings(env, start):
    start("200 OK", TEXT)
    return [" ".join(closed).encode()]


def exc_info(env, start):
    sent = env["QUERY_STRING"] == "sent"
    send = start("200 OK", TEXT)
    if sent:
        send(b"part of it")
    try:
        raise LookupError("found too late")
    except LookupError:
        start("500 Sorry", TEXT, sys.exc_info())
    return [b"an apology"]


def wrong(env, start):
    """Responses that a server has to refuse."""
    name = env["QUERY_STRING"]
    if name == "twice":
        start("200 OK", TEXT)
    if name == "never":
        return [b"body"]
    status = {"status": "200 OK\r\nX: y", "code": "2000 OK", "word": "OK",
              "interim": "101 Switching"}.get(name, "200 OK")
    header = {"value": ("X", "a\r\nSet-Cookie: b"), "newline": ("X", "a\nb"),
              "name": ("X: y\r\nZ", "a"), "blank": ("X Y", "a"),
              "hop": ("Connection", "close"), "coding": (
                  "Transfer-Encoding", "chunked"), "bytes": ("X", b"a"),
              "wide": ("X", "\u20ac"), "length": ("Content-Length", "-5"),
              "zero": ("X", "a\0b"), "nameless": ("", "a")}.get(name)
    start(status, TEXT + ([header] if header else []))
    return {"str": ["text"], "nothing": None, "number": 5}.get(name, [b"body"])


def length(env, start):
    start("200 OK", [("Content-Length", env["QUERY_STRING"])])
    return iter([b"12345", b"67890"])


def file(env, start):
    """?KIND&PATH"""
    kind, path = env["QUERY_STRING"].split("&")
    size = os.path.getsize(path)
    headers = []
    source = open(path, "rb")
    if kind == "middle":
        source.seek(1000)
        source.read(10)
        headers = [("Content-Length", "500")]
    elif kind == "short":
        headers = [("Content-Length", str(size + 1))]
    elif kind == "gzip":
        source = gzip.open(path)
    elif kind == "bytes":
        source = io.BytesIO(source.read())
    elif kind == "unbuffered":
        source = open(path, "rb", buffering=0)
    start("200 OK", headers)
    return env["wsgi.file_wrapper"](source)


def down(env, start):
    start("200 OK", TEXT)
    part = b"x" * 100000
    return (part for _ in range(int(env["QUERY_STRING"])))


def tick(env, start):
    def run():
        global ticks
        while not stop.wait(0.001):
            ticks += 1
    if env["QUERY_STRING"]:
        threading.Thread(target=run, daemon=True).start()
    start("200 OK", TEXT)
    return [b"%d" % ticks]


def fork(env, start):
    """Children that wait, and are ended by SIGTERM"""
    codes = set()
    for _ in range(50):
        child = multiprocessing.get_context("fork").Process(target=time.sleep,
                                                            args=(60,))
        child.start()
        child.terminate()
        child.join(20)
        codes.add(child.exitcode)
    start("200 OK", TEXT)
    return [str(codes).encode()]


def leave(env, start):
    sys.exit(7)


def printed(env, start):
    env["wsgi.errors"].write("a line for the log\n")
    env["wsgi.errors"].flush()
    print("and one more")
    start("200 OK", TEXT)
    return [str(calls).encode()]


URLS = {"/" + url.__name__: url for url in (
    environ, echo, count, shape, bare, stream, write, close, closings, exc_info,
    wrong, length, file, down, tick, fork, leave, printed)}
strict = validator(lambda env, start: URLS["/" + env["PATH_INFO"].split(
    "/")[-1]](env, start))


def application(env, start):
    global calls
    calls += 1
    if env["PATH_INFO"].startswith("/valid/"):
        return strict(env, start)
    return URLS.get(env["PATH_INFO"], environ)(env, start)
