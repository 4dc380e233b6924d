# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A program in the place of apppool-store. It does what the contract says and
keeps a record: one JSON object for each event. The memory has a counter of its
starts, at its beginning and in its last page."""
import json
import mmap
import os
import select
import signal
import socket
import sys

ITEMS, FIGURES, MAILBOX, MAILBOX_END, BELL = 10, 11, 12, 13, 14
RECORD, VERSION = "@RECORD@", "@VERSION@"
PAGE = mmap.PAGESIZE

if sys.argv[1] == "--version":
    print(VERSION)
    sys.exit(0)
runtime = sys.argv[1]
record = os.open(RECORD, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
log = os.open(f"{runtime}/o/store", os.O_RDWR | os.O_NONBLOCK)


def note(event: str, **more: object) -> None:
    os.write(record, (json.dumps({"event": event, "pid": os.getpid(), **more})
                      + "\n").encode())


def table() -> object:
    with open(f"{runtime}/m/table", encoding="utf-8") as file:
        return json.load(file)


def counters() -> list[int]:
    """Count this start, at two places of the memory."""
    size = os.fstat(ITEMS).st_size
    found = []
    for offset in (0, size - PAGE):
        page = mmap.mmap(ITEMS, PAGE, offset=offset)
        found.append(page[0])
        page[0] += 1
    with mmap.mmap(FIGURES, PAGE) as figures:
        figures[0] = found[0] + 1
    return found


def listener() -> str:
    """Take the listener of the last store out of the mailbox, or make one."""
    end = socket.socket(fileno=os.dup(MAILBOX_END))
    end.setblocking(False)
    try:
        name, fds, _, _ = socket.recv_fds(end, 100, 1, socket.MSG_PEEK)
        return name.decode() + " " + socket.socket(fileno=fds[0]).getsockname()
    except BlockingIOError:
        pass
    with socket.socket(socket.AF_UNIX) as new, \
            socket.socket(fileno=os.dup(MAILBOX)) as box:
        new.bind(f"{runtime}/m/{'0' * 16}")
        new.listen()
        socket.send_fds(box, [b"shop"], [new.fileno()])
    return "new"


def sockets() -> object:
    """The applications wait for their sockets, and begin then."""
    read = table()
    for space in read["spaces"]:
        path = f"{runtime}/m/{space['key']}"
        if not os.path.exists(path):
            with socket.socket(socket.AF_UNIX) as new:
                new.bind(path)
            os.chmod(path, 0o666)
    return read


owner = os.stat(f"{runtime}/m")
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(owner.st_gid)
    os.setuid(owner.st_uid)
wake, tell = os.pipe()
os.set_blocking(tell, False)
signal.set_wakeup_fd(tell)
signal.signal(signal.SIGTERM, lambda *_: None)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
note("start", uid=os.getuid(), counters=counters(), listener=listener(),
     table=sockets(), descriptors=sorted(map(int, os.listdir("/proc/self/fd"))),
     size=os.fstat(ITEMS).st_size, blocks=os.fstat(ITEMS).st_blocks)
os.write(log, b"started\n<6>with \x1b a control\n")
while True:
    ready, _, _ = select.select([wake, BELL], [], [])
    if wake in ready:
        break
    os.read(BELL, 8)
    note("table", table=sockets())
note("stop", spawner=os.path.exists(f"{runtime}/spawner.pid"))
