#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app over http or FastCGI (`late.py http|fcgi`) that answers some
milliseconds late, so that its client has to wait for each response. A thread
serves a connection, and keeps it if its client does."""
import _thread
import socket
import sys
import time

LATE = 0.005
BODY = b"hello\n"
HTTP = (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
PAGE = b"Content-Type: text/plain\r\n\r\n" + BODY
FCGI = (b"\1\6\0\1%s\0\0%s" % (len(PAGE).to_bytes(2, "big"), PAGE)
        + b"\1\3\0\1\0\x08\0\0" + b"\0" * 8)
FCGI_END = b"\1\5\0\1\0\0\0\0"  # of the request's body


def serve_http(connection):
    request = b""
    while data := connection.recv(65536):
        request += data
        if request.endswith(b"\r\n\r\n"):
            time.sleep(LATE)
            connection.sendall(HTTP)
            if b"\r\nConnection: close\r\n" in request:
                return
            request = b""


def serve_fcgi(connection):
    request = b""
    while data := connection.recv(65536):
        request += data
        if request.endswith(FCGI_END):
            time.sleep(LATE)
            connection.sendall(FCGI)
            if not request[10] & 1:  # FCGI_KEEP_CONN
                return
            request = b""


def serve(connection):
    try:
        {"http": serve_http, "fcgi": serve_fcgi}[sys.argv[1]](connection)
    except OSError:
        pass
    connection.close()


server = socket.socket(fileno=3 if sys.argv[1] == "http" else 0)
while True:
    _thread.start_new_thread(serve, (server.accept()[0],))
