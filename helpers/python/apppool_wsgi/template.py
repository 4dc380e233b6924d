# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The protocol of doc/template.md: a template that forks each process."""
import array
import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from wsgiref.util import setup_testing_defaults

from apppool_wsgi import shared
from apppool_wsgi.load import say
from apppool_wsgi.request import decoded

VERSION = "1"
REFUSES = 69  # exit code: this cannot be preloaded
ORDER_MAX = 4096
PARTS = 4  # listener, output, go, report

# For the garbage collector. Almost all that is loaded stays, so it is enough to
# look at each object once.
THRESHOLDS = 50000, 20, 10


def notify(place):
    """This process is ready."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"READY=1", place)


def say_ready():
    """A process that serves says so, for AppReady notify."""
    if "NOTIFY_SOCKET" in os.environ:
        notify(os.environ["NOTIFY_SOCKET"])


class Template:
    """This is made before the application is loaded. It removes the variables
    of the template, so the application does not see them."""

    def __init__(self):
        if os.environ.pop("APPPOOL_FORK") != VERSION:
            say("this version of the protocol is not known")
            sys.exit(REFUSES)
        for name in ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
                     "APPPOOL_PRELOAD"):
            os.environ.pop(name, None)
        self.place = os.environ.pop("NOTIFY_SOCKET")
        self.path = os.environ.pop("APPPOOL_WARM", None)
        self.host = os.environ.pop("APPPOOL_WARM_HOST", "localhost")
        self.id = os.environ["APPPOOL_ID"]
        os.set_inheritable(3, False)
        self.orders = socket.socket(fileno=3)
        self.orders.setblocking(True)  # sitecustomize may have set a timeout
        self.output = os.fstat(1)
        self.thresholds = gc.get_threshold()
        gc.set_threshold(*THRESHOLDS)

    def fork(self, application=None):
        """Fork a process for each order, after the application is loaded. This
        returns in each forked process when that process is to serve. It never
        returns in the template.
        @param application WSGI; None: it is not asked for a page"""
        if self.path and application:
            warm(application, self.path, self.host)
        shared.disconnect()
        name_threads()
        for text in shared.tell():
            say(text)
        gc.collect(0)
        gc.freeze()
        if gc.get_threshold() == THRESHOLDS:  # or the application has its own
            gc.set_threshold(*self.thresholds)
        # No code of the application has to run at the end of the template.
        was = signal.signal(signal.SIGTERM, signal.SIG_DFL)
        notify(self.place)
        while True:
            text, fds = self.receive()
            if len(fds) == PARTS and self.obey(text, fds):
                signal.signal(signal.SIGTERM, was or signal.SIG_DFL)
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
            os._exit(0)  # without running code of the application
        for _, _, data in control:
            fds.frombytes(data)
        return text, fds

    # ---- two forks

    def obey(self, text, fds):
        """@return whether this is the new process. If the template cannot
        fork, it drops the order"""
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
        """Become the process that the order asks for."""
        listener, output, go, report = fds
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        replace(self.output, output)
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
        say_ready()


def replace(old, new):
    """A logger that was made while the code was loaded may have a copy of the
    template's output, or have opened /dev/stdout.
    @param old as fstat() says; new is a descriptor"""
    for fd in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # it was the one of this list
            if os.path.samestat(os.fstat(fd), old):
                os.dup2(new, fd, os.get_inheritable(fd))


def flush():
    """Otherwise each forked process would print what is left in a buffer. The
    application may have closed a stream, or put anything in its place."""
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(Exception):
            stream.flush()


def reap(child):
    try:
        os.waitpid(child, 0)
    except ChildProcessError:  # the application ignores SIGCHLD
        pass


def mark(old, new):
    """Write the id of this process into the place where /proc/PID/environ
    shows the id of the template."""
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

def warm(application, path, host):
    """Ask for a page, so that more is loaded before the fork. An exception, or
    another status than 2xx or 3xx, is logged."""
    path, _, query = path.partition("?")
    environ = {"PATH_INFO": decoded(path), "QUERY_STRING": query,
               "HTTP_HOST": host, "SERVER_NAME": host,
               "HTTP_USER_AGENT": "mod_apppool (AppReady)",
               "wsgi.errors": sys.stderr, "wsgi.multiprocess": True}
    setup_testing_defaults(environ)
    said = ["nothing"]
    result = None

    def start_response(status, headers, exc_info=None):
        said[0] = status
        return lambda data: None

    try:
        try:
            result = application(environ, start_response)
            for _ in result:
                pass
        finally:
            if hasattr(result, "close"):
                result.close()
    except Exception:
        sys.__excepthook__(*sys.exc_info())
        said[0] = "nothing"
    if said[0][:1] not in ("2", "3"):
        say(f"the template asked {host} for {path} and got {said[0]}")


def name_threads():
    """Log each thread of the template: the forked processes do not have it."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            say(f"the thread {thread.name} of the template will not be in the "
                "processes that are forked from it")
