# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The connection to httpd, and the body of a request that is read from it."""
import io
import select
import socket
import struct

RECV = 16384
SPLIT = 65536  # bytes; a larger body is not copied behind the head
LINE_MAX = 4096  # bytes in the size of a chunk, or in a trailer
TRAILERS_MAX = 100
QUIET = 0, 100000  # s, us to wait for the next request
HEX = frozenset(b"0123456789abcdefABCDEF")


class Gone(ConnectionError):
    """The other end has closed the connection."""


class Connection:
    """A socket, and what was read from it too early."""

    def __init__(self, sock):
        self.socket = sock
        self.rest = b""
        sock.settimeout(None)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO,
                        struct.pack("ll", *QUIET))

    def receive(self, how, what):
        """Call recv() or recv_into(), and wait as long as necessary."""
        while True:
            try:
                done = how(what)
            except BlockingIOError:
                poll = select.poll()
                poll.register(self.socket, select.POLLIN)
                poll.poll()
                continue
            except OSError as error:
                raise Gone(*error.args) from None
            if not done:
                raise Gone("the client has closed the connection")
            return done

    def receive_into(self, room):
        if not self.rest:
            return self.receive(self.socket.recv_into, room)
        data = self.rest[:len(room)]
        self.rest = self.rest[len(data):]
        room[:len(data)] = data
        return len(data)

    def send(self, head, data=b"", tail=b""):
        """Send everything. A small body is sent together with the head."""
        try:
            if len(data) < SPLIT:
                self.socket.sendall(head + data + tail)
                return
            sent = self.socket.sendmsg((head, data, tail))
            for part in (head, data, tail):
                if sent < len(part):
                    self.socket.sendall(memoryview(part)[sent:])
                sent = max(sent - len(part), 0)
        except OSError as error:
            raise Gone(*error.args) from None


class Body(io.RawIOBase):
    """The body of a request, read from the connection when it is needed."""

    def __init__(self, connection, left, chunked, expects):
        super().__init__()
        self.connection = connection
        self.left = left  # bytes of the body, or of a chunk
        self.chunked = chunked  # there is another chunk
        self.chunks = 0
        self.expects = expects  # the client waits for 100 Continue
        self.wrong = None  # the reason why the rest cannot be read

    def readable(self):
        return True

    def readinto(self, room):
        if self.wrong:
            raise Gone(self.wrong)
        if not self.left and not (self.chunked and self.next_chunk()):
            return 0
        self.go_on()
        n = self.connection.receive_into(memoryview(room)[:self.left])
        self.left -= n
        return n

    def go_on(self):
        if self.expects and not self.connection.rest:
            self.connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.expects = False

    def line(self):
        connection = self.connection
        while b"\r\n" not in connection.rest[:LINE_MAX]:
            if len(connection.rest) >= LINE_MAX:
                self.fail("a line of the body is too long")
            connection.rest += connection.receive(
                connection.socket.recv, RECV)
        line, _, connection.rest = connection.rest.partition(b"\r\n")
        return line

    def next_chunk(self):
        """@return the length of the chunk; 0: there is none"""
        self.go_on()
        if self.chunks and self.line():
            self.fail("a chunk of the body has no end")
        self.chunks += 1
        size = self.line().partition(b";")[0].rstrip(b" \t")
        if not 0 < len(size) <= 16 or not HEX.issuperset(size):
            self.fail("the body has a wrong chunk")
        self.left = int(size, 16)
        if not self.left:
            for _ in range(TRAILERS_MAX):
                if not self.line():
                    self.chunked = False
                    return 0
            self.fail("the body has too many trailers")
        return self.left

    def fail(self, why):
        self.wrong = why
        raise Gone(why)

    def drain(self):
        """A client may read the response only after it has sent the body.
        @return whether the next request follows"""
        if self.wrong:
            return False
        if self.expects:
            return not self.left and not self.chunked
        room = memoryview(bytearray(RECV))
        while self.readinto(room):
            pass
        return True
