#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A serial server that keeps its connection: it reads the next request from
it, and accepts no other one before it is closed. The path says what it sends.
Each response names its connection (X-Connection) and the number of the request
on it.

SIGTERM ends it when it does not read."""
import os
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serial_server  # noqa: E402
from serial_server import Ended  # noqa: E402

MARK = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSECRET"
OK = b"HTTP/1.1 200 OK\r\n"


def headers(number, length, more=b""):
    return (b"X-Connection: %d\r\nContent-Type: text/plain\r\n" % number +
            (b"Content-Length: %d\r\n" % length if length >= 0 else b"") +
            more + b"\r\n")


def full(number, body, more=b""):
    return OK + headers(number, len(body), more) + body


def chunked(number, more=b"", trailer=b""):
    return (OK + headers(number, -1, b"Transfer-Encoding: chunked\r\n" + more) +
            b"2\r\nok\r\n0\r\n" + trailer + b"\r\n")


# What is sent at once.
RESPONSES = {
    "/ok": lambda n: full(n, b"ok"),
    "/once": lambda n: full(n, b"ok"),
    "/chunked": chunked,
    "/trailer": lambda n: chunked(n, trailer=b"X-Sum: 1\r\n"),
    "/more": lambda n: full(n, b"ok") + b"SECRET",
    "/more-chunked": lambda n: chunked(n) + b"SECRET",
    "/second": lambda n: full(n, b"ok") + MARK,
    "/blank": lambda n: full(n, b"ok") + b"\r\n",
    "/interim": lambda n: b"HTTP/1.1 103 Early Hints\r\n\r\n" + full(n, b"ok"),
    "/many": lambda n: b"HTTP/1.1 102 Processing\r\n\r\n" * 3 + full(n, b"ok"),
    "/head": lambda n: OK + headers(n, 6) + b"SECRET",
    "/none": lambda n: OK + headers(n, 6),
    "/304": lambda n: b"HTTP/1.1 304 Same\r\n" + headers(n, 6) + b"SECRET",
    "/204": lambda n: b"HTTP/1.1 204 None\r\n" + headers(n, 6) + b"SECRET",
    "/both": lambda n: chunked(n, b"Content-Length: 2\r\n"),
    "/old": lambda n: b"HTTP/1.0 200 OK\r\n" + headers(n, 2) + b"ok",
    "/close": lambda n: full(n, b"ok", b"Connection: close\r\n"),
}


def note(*words):
    with open(os.environ["APP_TRACE"], "a", encoding="ascii") as trace:
        trace.write(" ".join(map(str, words)) + "\n")


class Connection:
    def __init__(self, sock, number):
        self.sock, self.number, self.had = sock, number, b""

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise Ended
        self.had += data

    def head(self):
        while b"\r\n\r\n" not in self.had:
            self.more()
        head, _, self.had = self.had.partition(b"\r\n\r\n")
        if head.split()[1] == b"/unread-body":
            return head.decode("latin-1").split()[:2]
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
                while len(self.had) < length:
                    self.more()
                self.had = self.had[length:]
        return head.decode("latin-1").split()[:2]

    def closed(self):
        """Wait until the other side has closed it."""
        poll = select.poll()
        poll.register(self.sock, select.POLLRDHUP)
        poll.poll()

    def serve(self):
        method, path = self.head()
        note("shop", os.getpid(), method, path, self.number)
        send = self.sock.sendall
        if path in RESPONSES:
            send(RESPONSES[path](self.number))
        elif path == "/pid":
            send(full(self.number, b"%d" % os.getpid()))
        elif path == "/late":  # without a request
            send(full(self.number, b"ok"))
            os.mkfifo("tmp/late")
            with open("tmp/late", encoding="ascii"):
                os.unlink("tmp/late")
            try:
                send(MARK)
            finally:
                note("sent")
        elif path == "/answers-unread":  # the next request
            send(full(self.number, b"ok"))
            select.select([self.sock], [], [])
            try:
                send(MARK)
            except OSError:
                pass
            self.closed()
        elif path == "/unread-body":  # it is the next request, later
            send(full(self.number, b"ok"))
            self.more()
        elif path == "/endless":
            send(OK + headers(self.number, 1 << 40))
            try:
                while True:
                    send(bytes(65536))
            finally:
                note("nobody listens")
        elif path == "/hang":
            self.closed()
        elif path == "/stream":
            send(OK + headers(self.number, -1, b"Transfer-Encoding: chunked\r\n")
                 .replace(b"text/plain", b"text/event-stream"))
            try:
                while True:
                    send(b"8\r\ndata: 1\n\r\n")
                    time.sleep(0.05)
            finally:
                note("nobody listens")
        elif path == "/end":  # without a length
            send(OK + headers(self.number, -1) + b"ok")
            raise Ended
        elif path == "/half":  # of what has no length
            send(OK + headers(self.number, -1) + b"half")
            self.closed()
            note("closed")
            raise Ended
        elif path == "/hangs-up":  # when the next request comes
            send(full(self.number, b"ok"))
            select.select([self.sock], [], [])
            raise Ended


serial_server.run(Connection)
