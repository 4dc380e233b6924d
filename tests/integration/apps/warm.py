#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, with ways to report that it is ready. From the environment:

    UP_IF     file: /up responds with 503 until it exists
    READY_IF  file: sends READY=1 when it exists"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402


def up(request, out):
    """Has it warmed up? The log has the Host header of the request."""
    print("asked for", dict(request.headers).get("Host"), flush=True)
    is_up = os.path.exists(os.environ["UP_IF"])
    app.respond(out, status=200 if is_up else 503)


def say(message):
    """Like sd_notify(): sent once, whether it is received or not."""
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
