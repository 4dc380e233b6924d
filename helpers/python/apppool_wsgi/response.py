# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The response to a request: start_response, write and wsgi.file_wrapper."""
import io
import os
import stat

from apppool_wsgi.connection import Gone
from apppool_wsgi.request import CACHED_MAX, DIGITS, TOKEN

# These headers say how the response is sent. This file writes them.
HOP_BY_HOP = frozenset((
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
    "te", "trailer", "trailers", "transfer-encoding", "upgrade"))

fields = {"Content-Length": "content-length"} # header name, meaning


class FileWrapper:
    """wsgi.file_wrapper"""

    def __init__(self, file, block_size=65536):
        self.file = file
        self.block_size = block_size
        if hasattr(file, "close"):
            self.close = file.close

    def __iter__(self):
        return iter(lambda: self.file.read(self.block_size), b"")

    def regular(self):
        """Only for these files is it known that the descriptor has the same
        bytes.
        @return descriptor, offset and length; None: it has to be read"""
        raw = getattr(self.file, "raw", self.file)
        if type(raw) is not io.FileIO or type(self.file) not in (
                io.FileIO, io.BufferedReader, io.BufferedRandom):
            return None
        status, offset = os.fstat(raw.fileno()), self.file.tell()
        if not stat.S_ISREG(status.st_mode):
            return None
        return raw.fileno(), offset, max(status.st_size - offset, 0)


def field(name):
    """Check the name of a header of the response.
    @return "content-length", or an empty string for all others"""
    if not isinstance(name, str) or not name or not TOKEN.issuperset(name):
        raise ValueError(f"{name!r} is no name of a header")
    lower = name.lower()
    if lower in HOP_BY_HOP:
        raise ValueError(f"an application cannot send the header {name}")
    meaning = lower if lower == "content-length" else ""
    if len(fields) < CACHED_MAX:
        fields[name] = meaning
    return meaning


def check_text(text):
    """Check a header or a status: a line break would begin another header."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is no str")
    if any(c < " " and c != "\t" or c == "\x7f" for c in text):
        raise ValueError(f"{text!r} has a control character")


class Response:
    """What the application returns, and how it is sent."""
    __slots__ = ("connection", "body", "method", "version", "closes", "head",
                 "bare", "left", "chunked", "sent", "ended", "hint")

    def __init__(self, connection, method, version, closes):
        self.connection = connection
        self.method = method
        self.version = version
        self.closes = closes  # the connection ends with this response
        self.head = None  # the bytes that will be sent
        self.sent = self.ended = False  # the head; the whole response
        self.hint = None  # the length, if the application does not say it

    def start(self, status, headers, exc_info=None):
        """start_response of PEP 3333"""
        if exc_info is not None:
            try:
                if self.sent:
                    raise exc_info[1].with_traceback(exc_info[2])
            finally:
                exc_info = None
        elif self.head is not None:
            raise AssertionError("start_response() was called twice")
        if not isinstance(status, str) or not status.isprintable():
            check_text(status)
        code = status[:3]
        if len(code) < 3 or not DIGITS.issuperset(code) or code < "200" \
                or status[3:4] not in ("", " "):
            raise ValueError(f"{status!r} is no status of a response")
        length, head = None, f"HTTP/1.1 {status}\r\n"
        for name, value in headers:
            meaning = fields.get(name)
            if meaning is None:
                meaning = field(name)
            if not isinstance(value, str) or not value.isprintable():
                check_text(value)
            if meaning:
                if length is not None or not value \
                        or not DIGITS.issuperset(value) or len(value) > 18:
                    raise ValueError(f"{value!r} is no Content-Length")
                length = int(value)
            head += f"{name}: {value}\r\n"
        self.head = head.encode("latin-1")
        self.left = length
        self.chunked = False
        self.bare = self.method == "HEAD" or code in ("204", "304")
        return self.write

    def begin(self):
        """@return the head, which is sent now"""
        if self.head is None:
            raise AssertionError("start_response() was not called")
        head = self.head
        if self.left is None:
            if self.bare:
                if self.hint and self.method == "HEAD":
                    head += b"Content-Length: %d\r\n" % self.hint
            elif self.hint is not None:
                self.left = self.hint
                head += b"Content-Length: %d\r\n" % self.left
            elif self.version == "HTTP/1.1":
                self.chunked = True
                head += b"Transfer-Encoding: chunked\r\n"
            else:
                self.closes = True
        if self.closes:
            head += b"Connection: close\r\n"
        self.sent = True
        return head + b"\r\n"

    def write(self, data):
        """Send it at once. The application gets it from start_response()."""
        if self.ended:
            raise AssertionError("this response has ended")
        if not isinstance(data, bytes):
            if not isinstance(data, (bytearray, memoryview)):
                raise TypeError(f"a body is of bytes, not of {type(data)}")
            data = bytes(data)
        if not data:
            return
        head = b"" if self.sent else self.begin()
        if self.bare:
            if head:
                self.connection.send(head)
        elif self.chunked:
            self.connection.send(head + b"%x\r\n" % len(data), data, b"\r\n")
        elif self.left is None:
            self.connection.send(head, data)
        else:
            n = min(len(data), self.left)
            self.left -= n
            self.connection.send(head, data[:n])
            if n < len(data):
                self.closes = True
                raise ValueError("the body is longer than its Content-Length")

    def send_file(self, wrapper):
        """Let the kernel send it. @return 0: it cannot"""
        found = wrapper.regular()
        if found is None or self.sent or self.head is None:
            return 0
        descriptor, offset, length = found
        self.hint = length
        if self.bare:
            return 1
        self.connection.send(self.begin())
        end = offset + min(length, self.left)
        while offset < end:
            try:
                n = os.sendfile(self.connection.socket.fileno(), descriptor,
                                offset, min(end - offset, 1 << 30))
            except ConnectionError as error:
                raise Gone(*error.args) from None
            if not n:
                break
            offset += n
            self.left -= n
        return 1

    def send_all(self, result):
        kind = type(result)
        if kind is list or kind is tuple:
            data = result[0] if len(result) == 1 else b"".join(result)
            self.hint = len(data)
            self.write(data)
        elif kind is not FileWrapper or not self.send_file(result):
            alone = hasattr(kind, "__len__") and len(result) == 1
            for data in result:
                if alone:
                    self.hint = len(data)
                self.write(data)
        self.end()

    def end(self):
        if not self.sent:
            self.hint = self.hint or 0
            self.connection.send(self.begin())
        self.ended = True
        if self.chunked:
            self.connection.send(b"0\r\n\r\n")
        elif self.left and not self.bare:
            self.closes = True
            raise ValueError(f"the body has {self.left} bytes fewer than its "
                             "Content-Length")
