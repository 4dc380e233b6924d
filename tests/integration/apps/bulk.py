#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""app.py, and URLs that take and give much, or do it in parts."""
import os
import sys
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
    app.answer(out, {"length": size, "crc": crc, "names": [
        name.lower() for name, _ in request.headers]})


app.STREAMED |= {"sum"}
app.URLS.update((name[3:], do) for name, do in globals().items()
                if name.startswith("do_"))
app.main()
