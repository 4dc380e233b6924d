#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app that sends a descriptor along, as $WHERE says: to $NOTIFY_SOCKET,
with its responses to AppReady's path, or with its responses to requests. A
process that closes that descriptor waits an hour in close(), because it is the
last one of a TCP socket with SO_LINGER and unsent bytes.

    lingerer.py SOCKET QUESTION     does that once, as a client

until its standard input ends."""
import array
import os
import socket
import struct
import sys

kept = []


def lingering():
    listener = socket.create_server(("127.0.0.1", 0))
    one = socket.create_connection(listener.getsockname())
    kept.append(listener.accept()[0])
    one.setblocking(False)
    try:
        while True:
            one.send(b"x" * 65536)
    except BlockingIOError:
        pass
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                   struct.pack("ii", 1, 3600))
    return one.detach()


def send_once(to, data, *address):
    """Sent by a child that exits. Its exit does not linger, even if it has the
    last descriptor."""
    fd = lingering()
    go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go[1])
        os.read(go[0], 1)
        try:
            to.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                 array.array("i", [fd]))], 0, *address)
        except PermissionError:
            os._exit(1)
        os._exit(0)
    for end in (fd, *go):
        os.close(end)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def send_along(to, data, *address):
    if send_once(to, data, *address):
        print("it was sent", flush=True)
    else:
        print("it was refused", flush=True)
        to.sendto(data, *address) if address else to.sendall(data)


if len(sys.argv) > 1:
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(sys.argv[1])
    send_along(caller, sys.argv[2].encode())
    sys.stdin.read()
    sys.exit()

where = os.environ["WHERE"]
if where == "notify":
    send_along(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), b"READY=1",
               os.environ["NOTIFY_SOCKET"])
server = socket.socket(fileno=3)
while True:
    client, _ = server.accept()
    request = client.recv(65536)
    response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" \
        b"Connection: close\r\n\r\nok"
    if not request:
        pass
    elif where == ("ready" if b"AppReady" in request else "request"):
        send_along(client, response)
    else:
        client.sendall(response)
    client.close()
