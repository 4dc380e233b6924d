#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app over http or FastCGI (`late.py http|fcgi`) that serves some
milliseconds late, so that its client has to wait for each response. A thread
serves a connection, and keeps it if its client does. `late.py uwsgi` speaks
uwsgi."""
import _thread
import socket
import sys
import time

LATE = 0.005
BODY = b"hello\n"
HTTP = (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
PAGE = b"Content-Type: text/plain\r\n\r\n" + BODY
FCGI_PAGE = len(PAGE).to_bytes(2, "big") + b"\0\0" + PAGE
FCGI_END = b"\0\x08\0\0" + b"\0" * 8


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
        number = request[2:4]
        if request.endswith(b"\1\5" + number + bytes(4)):  # of the body
            time.sleep(LATE)
            connection.sendall(b"\1\6" + number + FCGI_PAGE
                               + b"\1\3" + number + FCGI_END)
            if not request[10] & 1:  # FCGI_KEEP_CONN
                return
            request = b""


def serve_uwsgi(connection):
    request = b""
    while data := connection.recv(65536):
        request += data
        if len(request) >= 4 + int.from_bytes(request[1:3], "little"):
            time.sleep(LATE)
            connection.sendall(b"HTTP/1.1 200 OK\r\n" + PAGE)
            return


def serve(connection):
    try:
        {"http": serve_http, "fcgi": serve_fcgi,
         "uwsgi": serve_uwsgi}[sys.argv[1]](connection)
    except OSError:
        pass
    connection.close()


server = socket.socket(fileno=0 if sys.argv[1] == "fcgi" else 3)
while True:
    _thread.start_new_thread(serve, (server.accept()[0],))
