#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server with many connections, which serves one request on each. It keeps
the connection, and closes it when the next request comes, without reading that
request. It responds when PARTIES requests wait, the first time."""
import os
import socket
import threading

PARTIES = int(os.environ["PARTIES"])
together = threading.Barrier(PARTIES)
served = threading.Event()


def serve(client):
    with client:
        if not client.recv(65536):
            return  # a probe has checked whether we listen
        if not served.is_set():
            together.wait()
            served.set()
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        if not client.recv(1, socket.MSG_PEEK):
            return  # it was idle for too long
        with open(os.environ["APP_TRACE"], "a", encoding="ascii") as trace:
            trace.write("closed\n")


server = socket.socket(fileno=3)
while True:
    threading.Thread(target=serve, args=server.accept()[:1]).start()
