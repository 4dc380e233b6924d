# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application that prints its identity, for AppPreload. In its environment:
BALLAST, MB that are loaded; OBJECTS, how many, for the garbage collector;
OFTEN, how often that runs, if the code sets it; THREAD, name of a thread; PEER,
a port to which it connects; SAYS_READY, whether it sends READY=1 while it loads;
NO_FORK, whether it may not fork; FAREWELL, what it prints on SIGTERM; LOGS,
whether it has loggers."""
import gc
import os
import random
import resource
import signal
import socket
import sys
import threading
import time
from pathlib import Path

LOADER = os.getpid()
SEARCHES = gc.get_stats()[2]["collections"]
VERSION = Path("version").read_text().strip()
PLACE = os.environ.get("NOTIFY_SOCKET", "")
ballast = [str(number) for number in range(
    int(os.environ.get("BALLAST", "0")) << 14)]
objects = [[] for _ in range(int(os.environ.get("OBJECTS", "0")))]
if os.environ.get("OFTEN"):
    gc.set_threshold(int(os.environ["OFTEN"]))
hooks: list[int] = []
warm: list[str] = []
os.register_at_fork(after_in_child=lambda: hooks.append(os.getpid()))
if os.environ.get("THREAD"):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True,
                     name=os.environ["THREAD"]).start()
if os.environ.get("PEER"):
    peer = socket.create_connection(("127.0.0.1", int(os.environ["PEER"])))
if VERSION == "broken":
    sys.exit("this does not load")
if VERSION == "exits":
    os._exit(3)
if VERSION == "raises":
    raise ZeroDivisionError("this does not load, either")
if os.environ.get("NO_FORK"):
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
if os.environ.get("FAREWELL"):
    def end(*_):
        print(os.environ["FAREWELL"], flush=True)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
if os.environ.get("SAYS_READY") and PLACE:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"READY=1", PLACE)
logs = [os.dup(1), os.dup(2), os.open("/dev/stdout", os.O_WRONLY)] \
    if os.environ.get("LOGS") else []


def facts():
    value = os.environ.get
    return {"pid": os.getpid(), "session": os.getsid(0),
            "forked": int(os.getpid() != LOADER), "loader": LOADER,
            "version": VERSION, "random": random.random(),
            "hook": int(hooks[-1:] == [os.getpid()]), "warm": ",".join(warm),
            "threads": threading.active_count(),
            "searches": gc.get_stats()[2]["collections"] - SEARCHES,
            "frozen": gc.get_freeze_count(), "often": gc.get_threshold()[0],
            "id": value("APPPOOL_ID"), "fork": value("APPPOOL_FORK", ""),
            "asked": value("APPPOOL_WARM", "") + value("APPPOOL_WARM_HOST", ""),
            "at": PLACE,
            "listen": value("LISTEN_FDS", "") + value("LISTEN_PID", ""),
            "notify": value("NOTIFY_SOCKET")}


def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path.startswith("/warm"):
        warm.append(f"{os.getpid()}{path}?{environ['QUERY_STRING']}"
                    f"@{environ['HTTP_HOST']}")
    if path.startswith("/say/"):
        print(path[5:])
    if path.startswith("/log/"):
        for log in logs:
            os.write(log, f"{path[5:]} {'x' * 2000}\n".encode())
    if path.startswith("/exit/"):
        os._exit(int(path[6:]))
    if path == "/raise":
        raise RuntimeError("asked for")
    body = "".join(f"{key}={value}\n" for key, value in facts().items())
    start_response("200 OK", [("Content-Type", "text/plain"),
                              ("Content-Length", str(len(body)))])
    return [body.encode()]
