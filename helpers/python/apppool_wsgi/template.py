# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The protocol of doc/template.md: a template that forks each process."""
import array
import gc
import os
import socket
import sys
import threading
import time
from wsgiref.util import setup_testing_defaults

from apppool_wsgi.request import decoded

VERSION = "1"
REFUSES = 69  # exit code: this cannot be preloaded
ORDER_MAX = 4096
PARTS = 4  # listener, output, go, report


def say(text):
    print(f"apppool: {text}", file=sys.stderr, flush=True)


def notify(place):
    """Say that this process is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"READY=1", place)


class Template:
    """Made before the application is loaded. The variables of the template are
    no concern of the application."""

    def __init__(self):
        if os.environ.pop("APPPOOL_FORK") != VERSION:
            say("this version of the protocol is not known")
            sys.exit(REFUSES)
        for name in ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"):
            os.environ.pop(name, None)
        self.place = os.environ.pop("NOTIFY_SOCKET")
        self.path = os.environ.pop("APPPOOL_WARM", None)
        self.id = os.environ["APPPOOL_ID"]
        os.set_inheritable(3, False)
        self.orders = socket.socket(fileno=3)

    def fork(self, application):
        """The application is loaded. @return in each forked process, when it is
        to serve; never in the template"""
        if self.path:
            warm(application, self.path)
        name_threads()
        gc.collect()
        gc.freeze()
        notify(self.place)
        while True:
            text, fds = self.receive()
            if len(fds) == PARTS and self.obey(text, fds):
                return
            for fd in fds:
                os.close(fd)

    def receive(self):
        """@return an order, and its descriptors"""
        fds = array.array("i")
        text, control, _, _ = self.orders.recvmsg(
            ORDER_MAX, socket.CMSG_SPACE(PARTS * fds.itemsize),
            socket.MSG_CMSG_CLOEXEC)
        if not text:
            flush()
            os._exit(0)  # no code of the application has to run
        for _, _, data in control:
            fds.frombytes(data)
        return text, fds

    # ---- two forks

    def obey(self, text, fds):
        """@return whether this is the new process. The template lets the order
        go if it cannot fork"""
        flush()
        try:
            child = os.fork()
        except OSError as error:
            say(f"no process can be forked: {error}")
            return False
        if child:
            reap(child)
            return False
        status = 1
        try:
            middle = os.getpid()
            if not os.fork():
                self.begin(text, fds, middle)
                return True
            status = 0
        except BaseException:
            sys.__excepthook__(*sys.exc_info())
            flush()
        os._exit(status)

    def begin(self, text, fds, middle):
        """Become the process that the order wants."""
        listener, output, go, report = fds
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        self.orders.detach()
        os.dup2(listener, 3, False)
        for word in text.split(b"\0"):
            name, _, value = word.partition(b"=")
            os.environb[name] = value
        os.environ["LISTEN_PID"] = str(os.getpid())
        while os.getppid() == middle:
            time.sleep(0.0001)
        mark(self.id.encode(), os.environb[b"APPPOOL_ID"])
        os.write(report, b"%d\n" % os.getpid())
        os.close(report)
        if os.read(go, 1) != b"g":
            os._exit(1)
        for fd in (listener, output, go):
            os.close(fd)
        notify(os.environ["NOTIFY_SOCKET"])


def flush():
    """What stays in a buffer would be printed by each forked process."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def reap(child):
    try:
        os.waitpid(child, 0)
    except ChildProcessError:  # the application ignores SIGCHLD
        pass


def mark(old, new):
    """Write the id where /proc/PID/environ shows that of the template."""
    with open("/proc/self/stat", "rb") as file:
        words = file.read().rpartition(b")")[2].split()
    start, end = int(words[47]), int(words[48])
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(start)
        at = (b"\0" + memory.read(end - start)).find(
            b"\0APPPOOL_ID=" + old + b"\0")
        if at < 0 or len(old) != len(new):
            say("the id of the process cannot be written into its environment")
            return
        memory.seek(start + at + len(b"APPPOOL_ID="))
        memory.write(new)


# ---- before it is ready

def warm(application, path):
    """Ask for a page, so that more is loaded before the fork."""
    path, _, query = path.partition("?")
    environ = {"PATH_INFO": decoded(path), "QUERY_STRING": query,
               "HTTP_USER_AGENT": "mod_apppool (AppReady)",
               "wsgi.errors": sys.stderr, "wsgi.multiprocess": True}
    setup_testing_defaults(environ)
    result = None
    try:
        try:
            result = application(environ, lambda *words: lambda data: None)
            for _ in result:
                pass
        finally:
            if hasattr(result, "close"):
                result.close()
    except Exception:
        sys.__excepthook__(*sys.exc_info())
        say(f"the template got no response for {path}")


def name_threads():
    """They do not exist in the forked processes."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            say(f"the thread {thread.name} of the template will not be in the "
                "processes that are forked from it")
