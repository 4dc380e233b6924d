# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Serves a WSGI application (PEP 3333) to mod_apppool, one request at a time.

    python3 wsgi.py [--listen ADDRESS] MODULE[:NAME]

MODULE is imported from the current directory. NAME is `application` if it is
not given. The socket is descriptor 3, as systemd passes it, or it is made at
ADDRESS: the path of a Unix socket, or HOST:PORT.

While requests come one after the other on one connection, each of them costs
two system calls: recv() and send(). After QUIET without a request, poll()
waits for all connections, for a new one, and for a signal.

Trust: over a Unix socket all requests come from httpd, which removes the
X-Forwarded headers of a client. So here these headers name the client. Over
TCP they are headers like any others. Requests that are not HTTP get 400, and
the application does not see them."""
import socket
import sys

if __name__ == "__main__":  # or a process of multiprocessing reads this file
    from apppool_wsgi.load import (application_of, check_inherited,
                                   inherited)
    from apppool_wsgi.server import Server


def listen(address):
    if "/" in address:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
    else:
        host, _, port = address.rpartition(":")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
    listener.listen(1024)
    return listener


def main():
    words, address = sys.argv[1:], None
    if words[:1] == ["--listen"] and len(words) > 1:
        _, address, *words = words
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit("usage: wsgi.py [--listen ADDRESS] MODULE[:NAME]")
    if not address:
        check_inherited()
    # passenger_wsgi.py may execute another Python with the same arguments. So
    # the socket is not taken before it is loaded.
    application = application_of(words[0])
    Server(application, listen(address) if address else inherited()).run()


if __name__ == "__main__":
    main()
