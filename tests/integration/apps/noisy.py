#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, with URLs that write too much."""
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402

FLOODS = {"newlines": b"\n" * 65536, "words": b"word\n" * 10000,
          "lines": (b"x" * 99 + b"\n") * 600, "bytes": bytes(65536)}


def forked(request, out, work):
    """In a process of its own, as long as the app runs."""
    pid = os.fork()
    if pid == 0:
        while True:
            work()
    app.respond(out, str(pid))


def do_flood(request, out):
    flood = FLOODS[request.query["kind"]]
    forked(request, out, lambda: os.write(1, flood))


def do_ready(request, out):
    """Writes to $NOTIFY_SOCKET, over and over."""
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.connect(os.environ["NOTIFY_SOCKET"])
    forked(request, out, lambda: sender.send(b"READY=1"))


def do_lines(request, out):
    """`n` lines of 100 bytes, numbered from `from` on."""
    first = int(request.query.get("from", 0))
    for n in range(first, first + int(request.query["n"])):
        sys.stdout.write(f"line {n:06} {'x' * 87}\n")
    sys.stdout.flush()
    app.respond(out)


app.URLS.update((name[3:], do) for name, do in globals().items()
                if name.startswith("do_"))
app.main()
