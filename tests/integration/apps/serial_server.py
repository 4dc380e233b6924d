# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server that has one connection at a time, for keeper.py and fcgi_keeper.py.
It accepts no other connection before that one has ended. SIGTERM ends it when
it does not read."""
import os
import select
import signal
import socket


class Ended(Exception):
    """The other side has closed the connection."""


def listener():
    if "LISTEN_FDS" in os.environ:
        return socket.socket(fileno=3)
    return socket.create_server(("127.0.0.1", int(os.environ["PORT"])))


def run(connect):
    """connect(socket, number) returns an object. Its serve() handles one
    request, and raises Ended or OSError at the end of the connection."""
    server = listener()
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))
    number = 0
    while not stopped:
        if not select.select([server], [], [], 0.05)[0]:
            continue
        sock = server.accept()[0]
        number += 1
        with sock:
            connection = connect(sock, number)
            try:
                while True:
                    connection.serve()
            except (Ended, OSError):
                pass
