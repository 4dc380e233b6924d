#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that reads a request without a body over $PROTOCOL, responds to each
with the bytes of the file $RESPONSE, and closes the connection. With $HANG it
keeps the connection open."""
import os
import socket


def is_whole(protocol, request):
    if protocol == "http":
        return request.endswith(b"\r\n\r\n")
    if protocol == "fcgi":  # the end of its body
        return request.endswith(b"\1\5\0\1\0\0\0\0")
    if protocol == "scgi":  # a netstring
        length, _, rest = request.partition(b":")
        return len(rest) > int(length or 0)
    return len(request) > 4 and len(request) >= 4 + int.from_bytes(
        request[1:3], "little")


def read_request(connection):
    """Is there a request? The spawner only checks whether the app accepts."""
    request = b""
    while not request or not is_whole(os.environ["PROTOCOL"], request):
        data = connection.recv(65536)
        if not data:
            return False
        request += data
    return True


server = socket.socket(fileno=3)
with open(os.environ["RESPONSE"], "rb") as file:
    response = file.read()
kept = []
while True:
    connection, _ = server.accept()
    if not read_request(connection):
        continue
    try:
        connection.sendall(response)
    except OSError:
        pass
    if os.environ.get("HANG"):
        kept.append(connection)
    else:
        connection.close()
