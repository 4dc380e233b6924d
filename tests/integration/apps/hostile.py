# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that attacks httpd and the spawner, as harness/hostile.py says. The
file MODE_FILE contains `ATTACK hostile VICTIM`, `ATTACK harmless VICTIM`, or
`idle`. VICTIM is the socket of another app. Harmless is the same work, done to
a target of the app itself. Its response is its pid; with the attack
`responses`, descriptors come along. FORKS_MAX limits the number of processes."""
import array
import os
import signal
import socket
import struct
import threading
import time
from contextlib import suppress

MODE = os.environ["MODE_FILE"]
OWN = os.environ["OWN_DIR"]
FORKS_MAX = int(os.environ.get("FORKS_MAX", "40"))
FILES_MAX = 2000
LINGER = 20  # seconds for which a plain close() of it hangs

signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

sink = socket.socket()
sink.bind(("127.0.0.1", 0))
sink.listen(200)
accepted = []


def mode():
    with suppress(OSError):
        with open(MODE) as file:
            return file.read().split()
    return ["idle"]


def lingering():
    """A TCP socket whose last close() takes LINGER seconds."""
    one = socket.create_connection(sink.getsockname())
    accepted.append(sink.accept()[0])
    del accepted[:-50]
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                   struct.pack("ii", 1, LINGER))
    one.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            one.send(b"x" * 65536)
    return one


def harmless_close(one):
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                   struct.pack("ii", 1, 0))
    one.close()


def rights(one):
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
             array.array("i", [one.fileno()]))]


# ---- attacks: one step each

class Output:
    """Lines without end."""

    def __init__(self, bad, victim):
        self.fd = 1 if bad else os.open("/dev/null", os.O_WRONLY)

    def step(self):
        os.write(self.fd, b"\n" * 512 + b"bad line\n" * 50)
        time.sleep(0.001)


class Notify:
    """Datagrams without end."""

    def __init__(self, bad, victim):
        self.sock, self.own = socket.socketpair(socket.AF_UNIX,
                                                socket.SOCK_DGRAM)
        self.own.setblocking(False)
        self.bad = bad

    def step(self):
        for _ in range(50):
            if self.bad:
                with suppress(OSError):
                    self.sock.connect(os.environ["NOTIFY_SOCKET"])
                    self.sock.send(b"STATUS=x\n" * 100, socket.MSG_DONTWAIT)
            else:
                with suppress(OSError):
                    self.sock.send(b"STATUS=x\n" * 100, socket.MSG_DONTWAIT)
                with suppress(OSError):
                    self.own.recv(4096)
        time.sleep(0.001)


class Linger:
    """Descriptors that cannot be closed at once, to $NOTIFY_SOCKET."""

    def __init__(self, bad, victim):
        self.bad = bad
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.setblocking(False)

    def step(self):
        one = lingering()
        if not self.bad:
            harmless_close(one)
        else:
            with suppress(OSError):
                self.sock.sendmsg([b"STATUS=x"], rights(one), 0,
                                  os.environ["NOTIFY_SOCKET"])
            if os.fork() == 0:  # its exit does not linger
                os._exit(0)
            drop(one)
        time.sleep(0.1)


def drop(one):
    """Close it here in a thread, so the app does not wait."""
    threading.Thread(target=one.close, daemon=True).start()


class Links:
    """A link to another app's socket in the place of its own socket, and
    back."""

    def __init__(self, bad, victim):
        own = os.environ.get("APPPOOL_SOCKET", "")
        self.victim = victim
        self.path = own if bad and own else os.path.join(OWN, "s")
        self.bad = bad and bool(own)
        if not self.bad:
            with suppress(FileExistsError):
                open(self.path, "x").close()

    def step(self):
        aside, link = self.path + ".aside", self.path + ".link"
        with suppress(OSError):
            os.symlink(self.victim, link)
            os.rename(self.path, aside)
            os.rename(link, self.path)
            time.sleep(0.002)
            os.rename(aside, self.path)
        time.sleep(0.01)


class Forks:
    """Processes in sessions of their own that start and end."""

    def __init__(self, bad, victim):
        self.bad = bad
        self.ends = []

    def step(self):
        now = time.monotonic()
        self.ends = [end for end in self.ends if end > now]
        if len(self.ends) < FORKS_MAX:
            self.ends.append(now + 0.6)
            if os.fork() == 0:
                if self.bad:
                    os.setsid()
                time.sleep(0.5)
                os._exit(0)
        time.sleep(0.005)


class Files:
    """Fill its directory in the runtime directory."""

    def __init__(self, bad, victim):
        own = os.environ.get("APPPOOL_SOCKET", "")
        self.place = os.path.dirname(own) if bad and own else OWN
        self.n = 0

    def step(self):
        self.n += 1
        name = os.path.join(self.place, f"f{self.n % FILES_MAX}")
        with suppress(OSError):
            if self.n <= FILES_MAX:
                with open(name, "w") as file:
                    file.write("x" * 4096)
            else:
                os.unlink(name)
                self.n = 0 if self.n >= 2 * FILES_MAX - 1 else self.n
        time.sleep(0.001)


class Responses:
    """Descriptors in responses: sent where requests are served."""

    def __init__(self, bad, victim):
        pass

    def step(self):
        time.sleep(0.05)


class Term:
    """It always ignores TERM. harness/hostile.py restarts it."""

    def __init__(self, bad, victim):
        pass

    def step(self):
        time.sleep(0.05)


ATTACKS = {"output": Output, "notify": Notify, "linger": Linger,
           "links": Links, "forks": Forks, "files": Files,
           "responses": Responses, "term": Term}


def attack():
    now, one = ["idle"], None
    while True:
        wanted = mode()
        if wanted != now:
            now = wanted
            one = ATTACKS[now[0]](now[1] == "hostile", now[2]) \
                if len(now) == 3 else None
        until = time.monotonic() + 0.05
        while one and time.monotonic() < until:
            with suppress(OSError):
                one.step()
        if not one:
            time.sleep(0.02)


def serve(connection):
    with suppress(OSError), connection:
        while True:
            got = connection.recv(65536)
            if not got:
                return
            body = str(os.getpid()).encode()
            text = (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
                    % (len(body), body))
            if mode()[:2] == ["responses", "hostile"] \
                    and connection.family == socket.AF_UNIX:
                one = lingering()
                connection.sendmsg([text], rights(one))
                drop(one)
            else:
                connection.send(text)


def listening():
    if os.environ.get("LISTEN_FDS"):
        return socket.socket(fileno=3)
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.environ["APPPOOL_SOCKET"])
    server.listen(64)
    return server


listener = listening()
threading.Thread(target=attack, daemon=True).start()
while True:
    threading.Thread(target=serve, args=listener.accept()[:1],
                     daemon=True).start()
