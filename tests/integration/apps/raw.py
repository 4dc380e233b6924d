#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that reads what it is sent, answers each connection with the same
bytes, those of the file $ANSWER, and closes it. With $HANG it keeps it open,
as long as nobody else does."""
import os
import socket
import time

server = socket.socket(fileno=3)
with open(os.environ["ANSWER"], "rb") as file:
    answer = file.read()
kept = []
while True:
    connection, _ = server.accept()
    connection.settimeout(0.2)
    try:
        while connection.recv(65536):
            pass
        continue  # nobody was there: it was looked whether we accept
    except TimeoutError:
        pass
    try:
        connection.sendall(answer)
    except OSError:
        pass
    if os.environ.get("HANG"):
        kept.append(connection)
    else:
        connection.close()
