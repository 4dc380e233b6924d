#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A server over any protocol. It reads at most 512 bytes of its first request,
notes that, and kills itself."""
import os
import signal
import socket

server = socket.socket(fileno=3 if "LISTEN_FDS" in os.environ else 0)
client = server.accept()[0]
while not client.recv(512):  # a probe has checked whether we listen
    client = server.accept()[0]
with open(os.environ["APP_TRACE"], "a", encoding="ascii") as trace:
    trace.write(f"{os.environ['APP_NAME']} {os.getpid()}\n")
os.kill(os.getpid(), signal.SIGKILL)
