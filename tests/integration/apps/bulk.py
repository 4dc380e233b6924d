#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, with URLs that send or read much, or in parts."""
import os
import select
import sys
import time
import zlib

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402


def header(request, name):
    for key, value in request.headers:
        if key.lower() == name:
            return value
    return ""


def do_sum(request, out):
    """Reads a body of any length, piece by piece."""
    left = int(header(request, "content-length") or 0)
    crc, size = 0, 0
    while size < left:
        piece = request.stream.read1(min(left - size, 1 << 20))
        if not piece:
            return True
        crc = zlib.crc32(piece, crc)
        size += len(piece)
    app.respond(out, {"length": size, "crc": crc, "names": [
        name.lower() for name, _ in request.headers]})


def bytes_of(size, at=0):
    """The bytes that a test expects for such a length."""
    line = bytes(range(251)) * 262
    while size > 0:
        piece = line[at % 251:][:size]
        yield piece
        at += len(piece)
        size -= len(piece)


def begin(request, out, size):
    """Send the header of a response that comes in parts. @return a function
    that sends a part"""
    kind = request.query.get("type", "text/plain")
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}"]
    if "accel" in request.query:
        lines.append(f"X-Accel-Buffering: {request.query['accel']}")
    chunked = "chunked" in request.query
    lines.append("Transfer-Encoding: chunked" if chunked
                 else f"Content-Length: {size}")
    out.write("\r\n".join(lines).encode() + b"\r\n\r\n")

    def send(data):
        if chunked:
            out.write(b"%x\r\n%s\r\n" % (len(data), data))
        else:
            out.write(data)
    return send


def wait_for(key):
    """Wait until the test creates the file."""
    base = os.path.join(os.environ["HOLD_DIR"], key)
    with open(base + ".held", "w"):
        pass
    while not os.path.exists(base + ".go"):
        time.sleep(0.005)


def do_parts(request, out):
    """n bytes and a pause for each of the keys; chunked=1, type=, accel=;
    stubborn=1: continues when the client reads no more"""
    size, keys = int(request.query["n"]), request.query["keys"].split(",")
    send = begin(request, out, size * len(keys))
    for key in keys:
        try:
            for piece in bytes_of(size):
                send(piece)
            out.flush()
        except OSError:
            if "stubborn" not in request.query:
                raise
        wait_for(key)
    if "chunked" in request.query:
        out.write(b"0\r\n\r\n")


def do_flood(request, out):
    """n bytes, and m more when K.go exists; chunked=1, type=, accel="""
    first = int(request.query["n"])
    more = int(request.query.get("m", 0))
    send = begin(request, out, first + more)
    for piece in bytes_of(first):
        send(piece)
    out.flush()
    if more:
        wait_for(request.query["key"])
        for piece in bytes_of(more, first):
            send(piece)
    if "chunked" in request.query:
        out.write(b"0\r\n\r\n")


def do_fickle(request, out):
    """Closes its connection when another request comes, without reading it."""
    app.respond(out, "")
    select.select([request.stream], [], [])
    return True


def do_early(request, out):
    """Responds without reading the body, and closes the connection;
    how=length, close; half (of a response), dead"""
    how = request.query["how"]
    if how == "dead":
        os.kill(os.getpid(), 9)
    text = b"n" * 10000
    length = b"" if how == "close" else b"Content-Length: 10000\r\n"
    out.write(b"HTTP/1.1 413 Too Much\r\n" + length + b"\r\n"
              + (text[:5000] if how == "half" else text))
    return True


def do_cached(request, out):
    """The response may be cached for a while."""
    app.respond(out, b"".join(bytes_of(int(request.query["n"]))),
                headers=[("Cache-Control", "max-age=100")])


def do_file(request, out):
    """Names a file that httpd should send, in the header X-Name."""
    name = header(request, "x-name")
    headers = [("X-Sendfile", name), ("X-App", "here"),
               ("Content-Disposition", "attachment"),
               ("X-Was-Offered", header(request, "x-sendfile-type"))]
    if "etag" in request.query:
        headers.append(("ETag", '"mine"'))
    app.respond(out, "the app's own" * int(request.query.get("n", 1)),
                int(request.query.get("code", 200)), headers,
                head=request.method == "HEAD")


def do_redirect(request, out):
    """As an app that knows where it is mounted, or does not (bare)."""
    prefix = header(request, "x-forwarded-prefix")
    to = request.query["to"].replace("%20", " ")
    app.respond(out, "", 302, [
        ("Location", to if "bare" in request.query else prefix + to)])


def do_surplus(request, out):
    """Sends more than it announced. The surplus looks like another
    response."""
    out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
              b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")


app.STREAMED |= {"sum", "early"}
app.URLS.update((name[3:], do) for name, do in globals().items()
                if name.startswith("do_"))
app.main()
