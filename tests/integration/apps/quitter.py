# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Says that it gives up, and ends with code 7, when it was seen to be ready."""
import os
import socket
from contextlib import suppress

listener = socket.socket(fileno=3)
with suppress(TimeoutError):
    while True:
        connection, _ = listener.accept()
        if connection.recv(1):  # a request
            break
        # Who hangs up has seen it, or else asks again at once.
        listener.settimeout(0.3)
print("I give up", flush=True)
os._exit(7)
