#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app with long responses and a thread for each. /events, /stream (the same
in chunks), /text, /unbuffered, /chunks and /open (ended by the connection
alone) send the beginning of a response, and the rest when $GO exists. /upgrade
sends back in capitals what it gets. /websocket sends a frame, which is
incomplete with ?half, and waits. /sleep/SECONDS is a response that ends. /grow
takes memory. All other paths give the pid at once. With $FAREWELL it sends
that text to its WebSockets on SIGTERM."""
import os
import signal
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


def link(stream, half):
    stream.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                 b"Upgrade: websocket\r\n\r\n")
    # A text frame whose length needs two bytes, and a short one.
    stream.write(b"\x81\x7e\x00\xc8" + b"x" * 200
                 + b"\x81\x05hello"[:3 if half else 7])
    stream.flush()
    links.append(stream)
    while stream.read(1):
        pass


def leave(*_):
    for stream in links:
        stream.write(b"\x88\x02" + bytes.fromhex(os.environ["FAREWELL"]))
        stream.flush()
    os._exit(0)


def serve(connection):
    with suppress(OSError), connection, connection.makefile("rwb") as stream:
        words = stream.readline().decode().split()
        while stream.readline().strip():
            pass
        what = words[1] if words else "/"
        if what == "/upgrade":
            shout(stream, stream)
        elif what.startswith("/websocket"):
            link(stream, what.endswith("half"))
        elif what == "/stream":
            last(stream, "Content-Type: text/event-stream\r\n"
                 "Transfer-Encoding: chunked", chunk)
        elif what.split("?")[0] == "/events":
            last(stream, "Content-Type: text/event-stream")
        elif what == "/text":
            last(stream, "Content-Length: 25")
        elif what == "/unbuffered":
            last(stream, "Content-Length: 25\r\nX-Accel-Buffering: no")
        elif what == "/chunks":
            last(stream, "Transfer-Encoding: chunked", chunk)
        elif what == "/open":
            last(stream, "Connection: close")
        else:
            if what == "/grow":
                memory.append(bytearray(os.urandom(1 << 20) * 100))
            if what.startswith("/sleep/"):
                time.sleep(float(what[7:]))
            stream.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%d"
                         % os.getpid())


memory: list[bytearray] = []
links: list[object] = []
if "FAREWELL" in os.environ:
    signal.signal(signal.SIGTERM, leave)
server = socket.socket(fileno=3)
while True:
    client, _ = server.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
