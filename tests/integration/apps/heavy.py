#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, with URLs that use memory: ?mb=N of it."""
import mmap
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402

kept = []


def do_eat(request, out):
    """Memory of its own."""
    kept.append(b"x" * (int(request.query["mb"]) << 20))
    app.respond(out, str(os.getpid()))


def do_gorge(request, out):
    """Memory of its own, and /hold."""
    kept.append(b"x" * (100 << 20))
    app.do_hold(request, out)


def do_child(request, out):
    """Memory of a process that it has started."""
    if os.fork() == 0:
        do_eat(request, open(os.devnull, "wb"))
        signal.pause()
    app.respond(out, str(os.getpid()))


def do_share(request, out):
    """Memory that it shares with four other processes."""
    size = int(request.query["mb"]) << 20
    shared = mmap.mmap(-1, size)
    shared.write(b"x" * size)
    for _ in range(4):
        if os.fork() == 0:
            seen = sum(shared[at] for at in range(0, size, 4096))
            os.write(2, b"has %d\n" % seen)
            signal.pause()
    app.respond(out, str(os.getpid()))


app.URLS.update((name[3:], do) for name, do in globals().items()
                if name.startswith("do_"))
app.main()
