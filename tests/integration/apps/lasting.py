#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app whose answers last, a thread for each. /events, /text, /chunks and
/open (ended by the connection alone) send the beginning of an answer, and the
rest when $GO exists; /upgrade says in capitals
what it is told; /sleep/SECONDS is an answer that ends. The others are the pid
at once."""
import os
import socket
import threading
import time
from contextlib import suppress


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def last(out, header, part=bytes):
    out.write(f"HTTP/1.1 200 OK\r\n{header}\r\n\r\n".encode()
              + part(b"data: first\n\n"))
    out.flush()
    while not os.path.exists(os.environ["GO"]):
        time.sleep(0.01)
    out.write(part(b"data: last\n\n"))
    if part is chunk:
        out.write(part(b""))


def shout(stream, out):
    out.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
              b"Upgrade: echo\r\n\r\n")
    out.flush()
    for line in stream:
        out.write(line.upper())
        out.flush()


def serve(connection):
    with suppress(OSError), connection, connection.makefile("rwb") as stream:
        words = stream.readline().decode().split()
        while stream.readline().strip():
            pass
        what = words[1] if words else "/"
        if what == "/upgrade":
            shout(stream, stream)
        elif what == "/events":
            last(stream, "Content-Type: text/event-stream")
        elif what == "/text":
            last(stream, "Content-Length: 25")
        elif what == "/chunks":
            last(stream, "Transfer-Encoding: chunked", chunk)
        elif what == "/open":
            last(stream, "Connection: close")
        else:
            if what.startswith("/sleep/"):
                time.sleep(float(what[7:]))
            stream.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d"
                         % os.getpid())


server = socket.socket(fileno=3)
while True:
    client, _ = server.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
