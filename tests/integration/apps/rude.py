#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server that closes connections early: on /unread without reading the
request, which resets the connection, and on /read after it. Other requests get
a response."""
import os
import select
import socket


def listener():
    if "LISTEN_FDS" in os.environ:
        return socket.socket(fileno=3)
    return socket.create_server(("127.0.0.1", int(os.environ["PORT"])))


def serve(client):
    select.select([client], [], [])
    seen = client.recv(65536, socket.MSG_PEEK)
    if not seen:
        return  # a probe has checked whether we listen
    method, path = seen.decode("latin-1").split()[:2]
    with open(os.environ["APP_TRACE"], "a", encoding="ascii") as trace:
        trace.write(f"shop {os.getpid()} {method} {path}\n")
    if path == "/unread":
        return
    client.recv(65536)
    if path != "/read":
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                       b"Connection: close\r\n\r\nok")


def main():
    server = listener()
    while True:
        client = server.accept()[0]
        with client:
            serve(client)


main()
