# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Turns the head of a request into environ."""
import io

from apppool_wsgi.connection import SPLIT, Body

CACHED_MAX = 1000  # names of headers
DIGITS = frozenset("0123456789")
TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
HEX = "0123456789abcdefABCDEF"
DECODED = {a + b: chr(int(a + b, 16)) for a in HEX for b in HEX}

keys = {}  # the name of a header, and its key in environ


class BadRequest(Exception):
    """The bytes that came are not HTTP."""


def decoded(path):
    """%41 becomes A. A % that begins no such code remains."""
    first, *parts = path.split("%")
    return first + "".join(
        DECODED[part[:2]] + part[2:] if part[:2] in DECODED else "%" + part
        for part in parts)


def key(name):
    """The key in environ for a header of the request."""
    if not name or not TOKEN.issuperset(name):
        raise BadRequest(f"{name!r} is no name of a header")
    made = name.upper().replace("-", "_")
    if made not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        made = "HTTP_" + made
    if len(keys) < CACHED_MAX:
        keys[name] = made
    return made


def parse(head, environ):
    """Add what the request's head says to environ."""
    text = head.decode("latin-1")
    first, *lines = text.split("\r\n")
    n = len(lines)
    if head.count(b"\n") != n or head.count(b"\r") != n or b"\0" in head:
        raise BadRequest("its head has a wrong character")
    try:
        method, target, version = first.split(" ")
    except ValueError:
        raise BadRequest("its first line has not three parts") from None
    path, _, query = target.partition("?")
    if not method or not TOKEN.issuperset(method) \
            or version not in ("HTTP/1.1", "HTTP/1.0") \
            or path[:1] != "/" and (path != "*" or method != "OPTIONS") \
            or not target.isprintable() and any(
                c < " " or c == "\x7f" for c in target):
        raise BadRequest("its first line is wrong")
    environ["REQUEST_METHOD"] = method
    environ["REQUEST_URI"] = target
    environ["PATH_INFO"] = decoded(path) if "%" in path else path
    environ["QUERY_STRING"] = query
    environ["SERVER_PROTOCOL"] = version
    known = keys.get
    for line in lines:
        name, colon, value = line.partition(": ")
        name = known(name)
        if not colon or name is None or name in environ:
            add(line, environ)
            continue
        if value[:1] <= " " or value[-1:] <= " ":
            value = value.strip(" \t")
        environ[name] = value


def add(line, environ):
    """Add a header that is not in `keys` yet, or comes for the second time."""
    name, colon, value = line.partition(":")
    if not colon:
        raise BadRequest("a line of its head has no colon")
    name = keys.get(name) or key(name)
    value = value.strip(" \t")
    if name in environ:
        value = environ[name] + ("; " if name == "HTTP_COOKIE" else ", ") \
            + value
    environ[name] = value


def body_of(environ, connection):
    """@return wsgi.input, and the part of it that may be left to read at the
    end"""
    length = environ.get("CONTENT_LENGTH")
    coding = environ.get("HTTP_TRANSFER_ENCODING")
    if coding is None and (length is None or length == "0"):
        return io.BytesIO(), None
    if coding is None:
        if not length or not DIGITS.issuperset(length) or len(length) > 18:
            raise BadRequest("its Content-Length is wrong")
        length, rest = int(length), connection.rest
        if length <= len(rest):
            connection.rest = rest[length:]
            return io.BytesIO(rest[:length]), None
    elif length is not None or coding.lower() != "chunked" \
            or environ["SERVER_PROTOCOL"] != "HTTP/1.1":
        raise BadRequest("its Transfer-Encoding is wrong")
    body = Body(connection, length or 0, coding is not None,
                environ.get("HTTP_EXPECT", "").lower() == "100-continue"
                and environ["SERVER_PROTOCOL"] == "HTTP/1.1")
    return io.BufferedReader(body, SPLIT), body
