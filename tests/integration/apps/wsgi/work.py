# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The work of apps/sample/, /ID/work?s=SECONDS&n=BYTES with its ledger, as a
WSGI application for AppPreload. Other URLs tell the version of the code, which
is in the file version. From the environment:

    APP_NAME     for the response and the ledger
    LEDGER_DIR   what each process began and ended
    LOAD         seconds that it takes to load
    RETIRES      seconds: on SIGUSR1 it sends STOPPING=1, and ends then
    COUNTED_DIR  each request also counts and keeps a value in the store, and
                 this directory has what the store has acknowledged"""
import os
import signal
import socket
import time

with open("version") as code:
    VERSION = code.read().strip()
PATIENCE = 15  # seconds, for a store that has just been killed


class Notes:
    """A file of this process, which outlives it. Each line has a word, a time
    and a text."""

    def __init__(self, directory):
        self.file = os.open(
            f"{directory}/{os.environ['APP_NAME']}.{os.getpid()}."
            f"{time.monotonic():.6f}",
            os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, word, text):
        os.write(self.file, f"{word} {time.monotonic():.6f} {text}\n".encode())


class Store:
    """A client of the store. A command without an answer may have been done or
    not."""

    def __init__(self):
        self.notes = Notes(os.environ["COUNTED_DIR"])
        self.socket = None
        self.last = None

    def ask(self, command, ends=(b"\r\n",)):
        """@return the answer; None: the store has ended before it"""
        try:
            if self.socket is None:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(PATIENCE)
                self.socket.connect(os.environ["MEMCACHE_SERVERS"])
            self.socket.sendall(command)
            answer = b""
            while not answer.endswith(ends):
                more = self.socket.recv(4096)
                if not more:
                    raise ConnectionResetError
                answer += more
            return answer.decode().strip()
        except (ConnectionError, FileNotFoundError):
            self.socket.close()
            self.socket = None
            return None

    def insist(self, command, ends=(b"\r\n",), before=lambda: None):
        """Ask again until there is an answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            before()
            answer = self.ask(command, ends)
            if answer is not None:
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(command)
            time.sleep(0.01)

    def count(self):
        """Add one to the counter. Only the first process finds none."""
        while True:
            answer = self.insist(b"incr counter 1\r\n",
                                 before=lambda: self.notes.note("asks", "-"))
            if answer != "NOT_FOUND":
                self.notes.note("counted", int(answer))
                return
            self.notes.note("none", "-")
            self.insist(b"add counter 0 0 1\r\n0\r\n")

    def keep(self, number):
        """Keep a value, and look for the one that was kept before."""
        value = number.encode() * 10
        answer = self.insist(b"set %b 0 0 %d\r\n%b\r\n"
                             % (number.encode(), len(value), value))
        if answer != "STORED":
            raise ValueError(answer)
        self.notes.note("kept", number)
        if self.last:
            answer = self.insist(b"get %b\r\n" % self.last.encode(),
                                 (b"END\r\n",))
            if self.last * 10 not in answer.split():
                self.notes.note("missed", self.last)
        self.last = number


ledger = store = None


def begin():
    """In each process that serves"""
    global ledger, store
    ledger = Notes(os.environ["LEDGER_DIR"])
    if "COUNTED_DIR" in os.environ:
        store = Store()


def retire(number, frame):
    """Repeat until it is received: the spawner may just be restarting."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        while True:
            try:
                notify.sendto(b"STOPPING=1", os.environ["NOTIFY_SOCKET"])
                break
            except OSError:
                time.sleep(0.01)
    signal.setitimer(signal.ITIMER_REAL, float(os.environ["RETIRES"]))


def end(number, frame):
    """The server finishes the request that it has."""
    os.kill(os.getpid(), signal.SIGTERM)


def application(environ, start_response):
    query = dict(pair.split("=")
                 for pair in environ["QUERY_STRING"].split("&") if pair)
    if not environ["PATH_INFO"].endswith("/work"):
        time.sleep(float(query.get("s", 0)))
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [VERSION.encode()]
    if ledger is None:
        begin()
    number = environ["PATH_INFO"].split("/")[-2]
    body = environ["wsgi.input"].read()
    ledger.note("began", number)
    if store:
        store.count()
        store.keep(number)
    time.sleep(float(query.get("s", 0)))
    ledger.note("ended", number)
    good = environ["REQUEST_METHOD"] == "GET" or body == number.encode() * 50
    text = f"{os.environ['APP_NAME']} {os.getpid()} {number}"
    text = text.ljust(int(query.get("n", 0)))
    start_response("200 OK" if good else "400 Bad Request",
                   [("Content-Type", "text/plain"),
                    ("Content-Length", str(len(text)))])
    return [text.encode()]


signal.signal(signal.SIGUSR1, retire)
signal.signal(signal.SIGALRM, end)
time.sleep(float(os.environ.get("LOAD", 0)))
