#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An app with AppListen unix that puts at $APPPOOL_SOCKET what $WHAT says:

    symlink     a link to $VICTIM, the socket of another user
    directory, fifo, file
    nothing     another process is going to put something there
    race        its own socket and a link to $VICTIM, in turns, without end
    later       its own socket; with /swap a link to $VICTIM
    rebind      its own socket; with /swap it closes it and binds another one
    litter      its own socket, and a deep tree beside it"""
import os
import socket
import threading
import time

what, path, victim = (os.environ[name] for name in
                      ("WHAT", "APPPOOL_SOCKET", "VICTIM"))
place = os.path.dirname(path)


def listen(at):
    one = socket.socket(socket.AF_UNIX)
    one.bind(at)
    one.listen(64)
    return one


def race():
    """Each of them is put there by a rename, so there is always one."""
    while True:
        for target in (victim, None):
            if target:
                os.symlink(target, place + "/next")
            else:
                os.link(place + "/own", place + "/next")
            os.rename(place + "/next", path)
            if not target:
                os.rename(path, place + "/next")
                os.unlink(place + "/next")


def dig(levels):
    """Make the tree from inside, so no path gets too long."""
    here = os.getcwd()
    os.chdir(place)
    for _ in range(levels):
        os.mkdir("deeper")
        open("file", "w", encoding="ascii").close()
        os.chdir("deeper")
    os.chdir(here)


def respond(client):
    global server
    request = client.recv(65536)
    if b" /swap " in request:
        os.unlink(path)
        if what == "rebind":
            server.close()
            server = listen(path)
        else:
            os.symlink(victim, path)
    if request:
        body = b"own %d" % os.getpid()
        client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
                       b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    client.close()


if what == "symlink":
    os.symlink(victim, path)
elif what == "directory":
    os.mkdir(path)
elif what == "fifo":
    os.mkfifo(path)
elif what == "file":
    open(path, "w", encoding="ascii").close()
if what in ("symlink", "directory", "fifo", "file", "nothing"):
    time.sleep(1000)
if what == "litter":
    dig(60)
if what == "race":
    server = listen(place + "/own")
    threading.Thread(target=race, daemon=True).start()
else:
    server = listen(path)
while True:
    respond(server.accept()[0])
