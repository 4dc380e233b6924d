#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server over http, uwsgi or scgi. After its first request it looks like a
process that is being killed: its first thread has ended. The second thread
still accepts connections. The response is the pid."""
import ctypes
import os
import socket
import threading

SYS_exit = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
first = threading.Event()


def request(client):
    data = client.recv(65536)
    while data[:1].isdigit():  # scgi: it comes in pieces
        size, _, rest = data.partition(b":")
        if len(rest) > int(size):
            break
        data += client.recv(65536)
    return data


def serve():
    server = socket.socket(fileno=3 if "LISTEN_FDS" in os.environ else 0)
    while True:
        with server.accept()[0] as client:
            data = request(client)
            if not data:
                continue  # a probe has checked whether we listen
            status = b"Status:" if data[:1].isdigit() else b"HTTP/1.1"
            client.sendall(b"%s 200 OK\r\nConnection: close\r\n\r\n%d" %
                           (status, os.getpid()))
            # A body that is not read would reset the connection.
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
        first.set()


threading.Thread(target=serve).start()
first.wait()
ctypes.CDLL(None).syscall(SYS_exit, 0)
