#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that speaks FastCGI and serves one request after the other. The query
of the URL says what it does."""
import os
import signal
import socket
import struct

END, PARAMS, STDIN, STDOUT = 3, 4, 5, 6
HEAD = b"Content-Type: text/plain\r\n\r\n"


def record(kind, content=b""):
    return struct.pack(">BBHHBB", 1, kind, 1, len(content), 0, 0) + content


def exactly(connection, n):
    data = b""
    while len(data) < n:
        more = connection.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read(connection):
    _, kind, _, n, padding, _ = struct.unpack(">BBHHBB",
                                              exactly(connection, 8))
    return kind, exactly(connection, n + padding)[:n]


def pairs(data):
    at = 0

    def number():
        nonlocal at
        n = data[at]
        if n < 0x80:
            at += 1
            return n
        n = int.from_bytes(data[at:at + 4], "big") & 0x7fffffff
        at += 4
        return n

    while at < len(data):
        names, values = number(), number()
        yield (data[at:at + names].decode(),
               data[at + names:at + names + values].decode("latin-1"))
        at += names + values


def body(connection):
    while True:
        kind, content = read(connection)
        assert kind == STDIN
        if not content:
            return
        yield content


def serve(connection):
    data = b""
    read(connection)  # the beginning
    while (content := read(connection)[1]):
        data += content
    sent = list(pairs(data))
    given = dict(sent)
    what = given["QUERY_STRING"]
    with open(os.environ["SEEN"], "a") as seen:
        print(given["REQUEST_METHOD"], what, file=seen, flush=True)

    def say(content=b"", kind=STDOUT):
        connection.sendall(record(kind, content))

    if what == "die":  # the end of the request was not read
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "early":
        say(b"Status: 413 Large\r\n" + HEAD + b"no")
        say()
        say(bytes(8), END)
        return
    if what == "tagged":
        say(b'ETag: "a"\r\nContent-Length: 5\r\n' + HEAD + b"whole")
        say()
        say(bytes(8), END)
        return
    say(HEAD)
    if what == "talk":  # more than the buffers of the kernel
        for _ in range(500):
            say(b"y" * 8000)
    if what == "slow":  # is it given back before?
        say(b"whole")
        say()
        while not os.path.exists(os.environ["GATE"]):
            signal.sigtimedwait([], 0.01)
        say(bytes(8), END)
        return
    if what == "patient":  # as php-cgi, it waits for the end of the connection
        for _ in range(1000):
            say(b"z" * 8000)
        say(bytes(8), END)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1000):
            pass
        return
    if what == "names":
        say("\n".join(f"{name}={value[:80]}:{len(value)}"
                      for name, value in sent).encode())
    for content in body(connection):
        if what == "echo":
            say(content)
    say()
    say(bytes(8), END)


server = socket.socket(fileno=0 if os.environ.get("STDIN") else 3)
while True:
    connection, _ = server.accept()
    with connection:
        try:
            serve(connection)
        except (EOFError, OSError):
            pass
