#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app whose answers last, a thread for each. /events and /text send the
beginning of an answer, and the rest when $GO exists; /upgrade says in capitals
what it is told; /sleep/SECONDS is an answer that ends. The others are the pid
at once."""
import os
import socket
import threading
import time
from contextlib import suppress


def last(out, header):
    out.write(f"HTTP/1.1 200 OK\r\n{header}\r\n\r\n"
              "data: first\n\n".encode())
    out.flush()
    while not os.path.exists(os.environ["GO"]):
        time.sleep(0.01)
    out.write(b"data: last\n\n")


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
        else:
            if what.startswith("/sleep/"):
                time.sleep(float(what[7:]))
            stream.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d"
                         % os.getpid())


server = socket.socket(fileno=3)
while True:
    client, _ = server.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
