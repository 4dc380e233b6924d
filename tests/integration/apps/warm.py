#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, and what there is to say about being ready. From the environment:

    UP_IF     file: /up answers 503 until it is there
    READY_IF  file: says READY=1 once it is there
"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402


def up(request, out):
    """Has it warmed up? The log says which Host was asked."""
    print("asked for", dict(request.headers).get("Host"), flush=True)
    is_up = os.path.exists(os.environ["UP_IF"])
    app.respond(out, status=200 if is_up else 503)


def say(message):
    """As sd_notify() does: once, whoever hears it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        try:
            notify.sendto(message, os.environ["NOTIFY_SOCKET"])
        except OSError as e:
            print("nobody hears it:", e, flush=True)


if os.environ.get("READY_IF") and os.fork() == 0:
    while not os.path.exists(os.environ["READY_IF"]):
        time.sleep(0.01)
    say(b"STATUS=warm\nREADY=1\n")
    os._exit(0)
app.URLS["up"] = up
app.main()
