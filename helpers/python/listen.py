# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Runs a program of Python that listens on a TCP port. It gets the socket of the
pool in place of that port, so `run(port=8080)` works unchanged.

    python3 listen.py FILE ARGUMENT...

The first port that is bound gets the socket. If PORT is set by then, it has to be
that port. Other ports, port 0 and paths are opened as they are. A server may
open its port on several addresses, or may look whether it is free: each bind()
to that port gives the socket.

A process that LISTEN_PID does not name gets nothing. The client of a connection
is 127.0.0.1, as behind any proxy on the same host; X-Forwarded-For names the
client of httpd.

uvloop binds in Python, but sets options of TCP by itself, which fails. A program
that uses it is not run by this one (detect/detect_script.c)."""
import os
import socket
import sys
import types

POOL = 3
CLIENT = ("127.0.0.1", 0)

plain = {name: getattr(socket.socket, name)
         for name in ("bind", "accept", "getsockname")}
asked = None  # the address that was bound


class Connection(socket.socket):
    """Over a Unix socket, to a program that expects TCP."""

    def setsockopt(self, level, *option):
        if level != socket.IPPROTO_TCP:
            super().setsockopt(level, *option)


def is_tcp(sock):
    return sock.family in (socket.AF_INET, socket.AF_INET6) \
        and sock.type == socket.SOCK_STREAM


def is_pool(sock):
    return is_tcp(sock) and not isinstance(plain["getsockname"](sock), tuple)


def is_meant(port):
    return port == asked[1] if asked \
        else port != 0 and os.environ.get("PORT", "") in ("", str(port))


def bind(self, address):
    global asked
    if not is_tcp(self) or not is_meant(address[1]):
        return plain["bind"](self, address)
    asked = asked or address
    os.dup2(POOL, self.fileno(), inheritable=False)
    self.settimeout(self.gettimeout())  # blocking or not, as it was


def getsockname(self):
    return (asked or CLIENT) if is_pool(self) else plain["getsockname"](self)


def accept(self):
    if not is_pool(self):
        return plain["accept"](self)
    connection = Connection(fileno=self._accept()[0])
    if socket.getdefaulttimeout() is None and self.gettimeout():
        connection.setblocking(True)
    return connection, CLIENT


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: listen.py FILE ARGUMENT...")
    if os.environ.get("LISTEN_FDS") == "1" \
            and os.environ.get("LISTEN_PID") == str(os.getpid()):
        os.set_inheritable(POOL, False)
        for method in (bind, accept, getsockname):
            setattr(socket.socket, method.__name__, method)
    del sys.argv[0]
    file = sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    program.__file__ = file
    with open(file, "rb") as text:
        code = compile(text.read(), file, "exec")
    exec(code, program.__dict__)


main()
