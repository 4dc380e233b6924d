# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Accepts a connection, says that it gives up, and ends with code 7."""
import os
import socket

listener = socket.socket(fileno=3)
while True:
    connection, _ = listener.accept()
    connection.setblocking(False)
    try:
        connection.recv(1)  # whoever asked was not as patient
    except BlockingIOError:
        break
connection.setblocking(True)
connection.recv(1)  # it ends when we are seen to be ready
print("I give up", flush=True)
os._exit(7)
