#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, with URLs that never respond, each for another reason."""
import faulthandler
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402
from sink import sink  # noqa: E402


def do_loop(request, out):
    os.nice(19)  # other tests need the processor
    while True:
        pass


def do_nap(request, out):
    """Asleep in a system call."""
    time.sleep(600)


def do_deaf(request, out):
    """The same, before it has read the body."""
    do_nap(request, out)


def do_stop(request, out):
    """Stopped, until another process continues it."""
    os.kill(os.getpid(), signal.SIGSTOP)


def do_lock(request, out):
    """Waits for a lock that it holds itself."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def do_read(request, out):
    """Waits for a writer that does not write."""
    os.read(os.pipe()[0], 1)


def do_sink(request, out):
    """Waits for a disk that does not respond."""
    sink(os.environ["SINK"])


def do_sinking(request, out):
    """A process that it has started waits for the disk."""
    pid = os.fork()
    if pid == 0:
        do_sink(request, out)
    app.respond(out, str(pid))


def do_stream(request, out):
    """An event stream without events."""
    out.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    out.flush()
    time.sleep(600)


def do_threads(request, out):
    """20 threads that sleep, and one that works."""
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    do_loop(request, out)


def do_fork(request, out):
    """Leaves the connection to a process that stays. httpd closes its end."""
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    app.respond(out, "forked", headers=[("Connection", "close")])


def do_worker(request, out):
    """The work is done in a process that it has started."""
    if os.fork() == 0:
        do_loop(request, out)
    os.wait()


app.STREAMED.add("deaf")
app.URLS.update((name[3:], do) for name, do in globals().items()
                if name.startswith("do_"))
faulthandler.register(signal.SIGUSR2)
app.main()
