# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the application has opened and started while it loaded, and what a fork
makes of it. A Python application has a template only if somebody has asked for
one, so all of this is logged, and changes nothing."""
import _socket
import contextlib
import gc
import os
import re
import socket
import sys
from pathlib import Path

# Links of descriptors of which a fork has no copy of its own
KERNEL = {"anon_inode:inotify": "inotify descriptor",
          "anon_inode:[timerfd]": "timer",
          "anon_inode:[io_uring]": "io_uring"}


def tell():
    """@return sentences"""
    try:
        yield from look()
    except Exception as error:  # the objects may be others than we know
        yield f"it is not known what a fork would break: {error!r}"


def look():
    found = connections()
    if found:
        gc.collect()  # that may close what nobody uses
        found = connections()
    for peer in found:
        yield (f"the connection to {peer} is open, and two processes must not "
               "use one: close it, or open it later")
    for child in children():
        yield (f"{child} was started, and will end with the template: start it "
               "in a hook of os.register_at_fork()")
    for fd, link in descriptors():
        for kind in locks(fd):
            yield (f"no forked process has the template's lock on {link}"
                   if kind == "POSIX" else
                   f"all forked processes share the template's lock on {link}")
        if link in KERNEL:
            yield (f"all forked processes share the {KERNEL[link]} of the "
                   f"template (descriptor {fd})")


def connections():
    """@return the peers of stream sockets that are connected"""
    peers = {fd: peer_of(fd) for fd, link in descriptors()
             if link.startswith("socket:")}
    known = careful() if any(peers.values()) else ()
    return [peer for fd, peer in peers.items() if peer and fd not in known]


def peer_of(fd):
    """@return None: it is not connected, or has no address, like one of a
    pair. The application may have replaced socket.socket, or have set a
    timeout for new sockets. With SOCK_NONBLOCK, Python leaves the flag of the
    descriptor as it is"""
    try:
        sock = _socket.socket(type=socket.SOCK_NONBLOCK, fileno=fd)
    except OSError:  # it is closed meanwhile
        return None
    try:
        kind = sock.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
        peer = kind == socket.SOCK_STREAM and sock.getpeername()
    except OSError:
        peer = None
    finally:
        sock.detach()
    if not peer:
        return None
    if isinstance(peer, tuple):
        host, port = peer[:2]
        return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"
    return os.fsdecode(peer).replace("\0", "@", 1)


def careful():
    """@return descriptors of redis. Its pool compares pids, and makes other
    connections in another process."""
    module = sys.modules.get("redis.connection")
    pools = [one for one in gc.get_objects()
             if module and issubclass(type(one), module.ConnectionPool)]
    idle = [one for pool in pools
            for one in getattr(pool, "_available_connections", ())]
    # A connection with a cache has the one with the socket inside.
    socks = [getattr(getattr(one, "_conn", one), "_sock", None) for one in idle]
    return {sock.fileno() for sock in socks if sock}


def children():
    """@return processes that were started and have not ended"""
    pids = [pid for file in Path("/proc/self/task").glob("*/children")
            for pid in read(file).split()]
    for pid in pids:
        found = re.search(r"\((.*)\) (.)", read(f"/proc/{pid}/stat"), re.S)
        if found and found[2] != "Z":
            yield f"process {pid} ({found[1]})"


def locks(fd):
    return set(re.findall(r"^lock:\s+\S+\s+(\S+)",
                          read(f"/proc/self/fdinfo/{fd}"), re.M))


def descriptors():
    """@return each with what it is"""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # it is closed meanwhile
            found.append((int(fd), os.readlink(f"/proc/self/fd/{fd}")))
    return found


def read(file):
    try:
        return Path(file).read_text(errors="replace")
    except OSError:  # it is gone meanwhile
        return ""


def disconnect():
    """Close the connections of Django: two processes must not use one."""
    database, conf = map(sys.modules.get, ("django.db", "django.conf"))
    if database and conf.settings.configured:
        database.connections.close_all()
