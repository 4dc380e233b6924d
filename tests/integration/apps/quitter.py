# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Accepts a connection, says that it gives up, and ends with code 7."""
import os
import socket
import time

listener = socket.socket(fileno=3)
listener.accept()
time.sleep(0.2)  # so that it is seen to be ready
print("I give up", flush=True)
os._exit(7)
