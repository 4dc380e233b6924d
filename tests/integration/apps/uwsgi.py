#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that speaks uwsgi, one request after the other. The query of the URL
says what it does."""
import os
import socket
import time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def exactly(connection, n):
    data = b""
    while len(data) < n:
        more = connection.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def note(text):
    with open(os.environ["SEEN"], "a", encoding="ascii") as seen:
        seen.write(f"{text}\n")


def variables_of(packet):
    texts = []
    while packet:
        size = 2 + int.from_bytes(packet[:2], "little")
        texts.append(packet[2:size].decode("latin-1"))
        packet = packet[size:]
    return dict(zip(texts[::2], texts[1::2]))


def serve(connection):
    size = int.from_bytes(exactly(connection, 4)[1:3], "little")
    packet = exactly(connection, size - 1)
    variables = variables_of(packet)
    what = variables.get("QUERY_STRING")
    note(f"{variables['REQUEST_METHOD']} {what}")
    if what == "unread":
        return  # the last byte is left, and that resets the connection
    variables = variables_of(packet + exactly(connection, 1))
    if what == "early":
        connection.sendall(b"HTTP/1.1 413 Too much\r\n\r\nno")
    elif what == "names":
        connection.sendall(HEAD + b"\r\n" + "".join(
            f"{name}={value[:80]}:{len(value)}\n"
            for name, value in variables.items()).encode("latin-1"))
    elif what == "bytes":
        for byte in HEAD + b"\r\nwhole":
            connection.sendall(bytes([byte]))
    elif what == "echo":
        left = int(variables["CONTENT_LENGTH"])
        connection.sendall(HEAD + b"\r\n")
        while left and (data := connection.recv(min(left, 65536))):
            connection.sendall(data)
            left -= len(data)
    elif what == "large":
        while not os.path.exists(os.environ["SEEN"] + ".go"):
            time.sleep(0.01)
        connection.sendall(HEAD + b"\r\n" + b"x" * 100000)
        connection.close()
        note("closed")
    else:
        connection.sendall(HEAD + b"\r\nok")


if "APP_BACKLOG" in os.environ:  # AppListen unix
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.environ["APPPOOL_SOCKET"])
    server.listen(int(os.environ["APP_BACKLOG"]))
else:
    server = socket.socket(fileno=3)
while True:
    client, _ = server.accept()
    with client:
        try:
            serve(client)
        except (EOFError, ConnectionError):
            pass
