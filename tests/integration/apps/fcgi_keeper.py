#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""keeper.py, over FastCGI: a serial server that keeps its connection if its
client asks for that (FCGI_KEEP_CONN), and accepts no other before it is closed.
The path says what it sends.

$CLOSES: it nevertheless closes each connection after its response. $ONE: it
gives each request the id 1. SIGTERM ends it when it does not read."""
import os
import select
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serial_server  # noqa: E402
from serial_server import Ended  # noqa: E402

BEGIN, END, PARAMS, STDIN, STDOUT, STDERR = 1, 3, 4, 5, 6, 7


def record(kind, content=b"", of=1, padding=0):
    return struct.pack(">BBHHBB", 1, kind, of, len(content), padding,
                       0) + content + bytes(padding)


def over(of, status=0):
    return record(END, bytes(4) + bytes([status]) + bytes(3), of)


def page(number, of, body=b"ok", more=b""):
    return record(STDOUT, b"X-Connection: %d\r\nX-Id: %d\r\n"
                  b"Content-Type: text/plain\r\n%s\r\n%s"
                  % (number, of, more, body), of)


def full(number, of, body=b"ok"):
    return page(number, of, body) + record(STDOUT, b"", of) + over(of)


# What is sent at once, over connection `n` for request `i`.
RESPONSES = {
    "/ok": full,
    "/padded": lambda n, i: page(n, i) + record(STDOUT, b"", i, 255) +
    record(END, bytes(8), i, 7),
    "/no-end-of-output": lambda n, i: page(n, i) + over(i),
    "/stderr": lambda n, i: record(STDERR, b"it is broken\n", i) + full(n, i),
    "/204": lambda n, i: page(n, i, b"", b"Status: 204\r\n") + over(i),
    "/304": lambda n, i: page(n, i, b"", b"Status: 304\r\n") + over(i),
    "/more": lambda n, i: full(n, i) + record(STDOUT, b"SECRET", i),
    "/bytes": lambda n, i: full(n, i) + b"SECRET",
    "/ends": lambda n, i: full(n, i) + over(i),
    "/half": lambda n, i: full(n, i) + record(STDOUT, b"SECRET", i)[:3],
    "/second": lambda n, i: full(n, i) + full(n, i, b"SECRET"),
    "/overloaded": lambda n, i: over(i, 2),
    "/refused": lambda n, i: page(n, i) + over(i, 1),
    "/no-header": lambda n, i: over(i),
    "/wrong": lambda n, i: record(77, b"what?", i) + over(i),
}


def note(*words):
    with open(os.environ["APP_TRACE"], "a", encoding="ascii") as trace:
        trace.write(" ".join(map(str, words)) + "\n")


def pairs(data):
    at = 0

    def number():
        nonlocal at
        at += 1
        if data[at - 1] < 0x80:
            return data[at - 1]
        at += 3
        return int.from_bytes(data[at - 4:at], "big") & 0x7fffffff

    while at < len(data):
        names, values = number(), number()
        yield (data[at:at + names].decode(),
               data[at + names:at + names + values].decode("latin-1"))
        at += names + values


class Connection:
    def __init__(self, sock, number):
        self.sock, self.number = sock, number

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise Ended
            data += more
        return data

    def record(self):
        _, kind, self.id, n, padding, _ = struct.unpack(">BBHHBB",
                                                        self.exactly(8))
        return kind, self.exactly(n + padding)[:n]

    def begin(self):
        """As php-cgi, which reads the end of a request with the next one."""
        kind, content = self.record()
        while kind == STDIN and not content:
            kind, content = self.record()
        assert kind == BEGIN
        self.keeps = content[2] & 1
        data = b""
        while content := self.record()[1]:
            data += content
        if "ONE" in os.environ:
            self.id = 1
        given = dict(pairs(data))
        return given["REQUEST_METHOD"], given["REQUEST_URI"].partition("?")[0]

    def body(self):
        while self.record()[1]:
            pass

    def closed(self):
        """Wait until the other side has closed it."""
        poll = select.poll()
        poll.register(self.sock, select.POLLRDHUP)
        poll.poll()

    def wait_for_next(self):
        select.select([self.sock], [], [])

    def wait_for_gate(self):
        os.mkfifo("tmp/late")
        with open("tmp/late", encoding="ascii"):
            os.unlink("tmp/late")

    def serve(self):
        method, path = self.begin()
        of, send = self.id, self.sock.sendall
        if path not in ("/unread", "/unread-body"):
            self.body()
        note("shop", os.getpid(), method, path, self.keeps, self.number)
        if path in RESPONSES:
            send(RESPONSES[path](self.number, of))
        elif path in ("/unread", "/unread-body"):
            send(full(self.number, of))
        elif path == "/pid":
            send(full(self.number, of, b"%d" % os.getpid()))
        elif path == "/closes":  # when no request has asked for more
            send(full(self.number, of))
            self.wait_for_gate()
            raise Ended
        elif path == "/late":  # the same
            send(full(self.number, of))
            self.wait_for_gate()
            try:
                send(full(self.number, of, b"SECRET"))
            finally:
                note("sent")
        elif path == "/answers-unread":  # the next request
            send(full(self.number, of))
            self.wait_for_next()
            try:
                send(full(self.number, of, b"SECRET"))
            except OSError:
                pass
            self.closed()
        elif path == "/endless":
            send(page(self.number, of))
            while True:
                send(record(STDOUT, bytes(65000), of))
        elif path == "/hang":
            self.closed()
        elif path == "/silent-end":  # the output has ended, the request not
            send(page(self.number, of) + record(STDOUT, b"", of))
            self.closed()
        elif path == "/hangs-up":  # when the next request comes
            send(full(self.number, of))
            self.wait_for_next()
            raise Ended
        elif path == "/reads-and-hangs-up":  # all of the next request
            send(full(self.number, of))
            self.begin()
            self.body()
            note("read")
            raise Ended
        elif path == "/nothing":
            raise Ended
        if not self.keeps or "CLOSES" in os.environ:
            raise Ended


serial_server.run(Connection)
