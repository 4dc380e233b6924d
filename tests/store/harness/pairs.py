# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A master and its slave, without keepalived: a test moves the address."""
import os
import socket
import struct
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from harness.client import ask, get, put
from harness.figures import MASTER, SLAVE
from harness.members import StoreMember, store
from harness.servers import wait_until
from hosts.network import Host, Network


@contextmanager
def pair(first: dict[str, Any] = {}, second: dict[str, Any] = {},
         make: Callable[..., StoreMember] = store) \
        -> Iterator[tuple[StoreMember, StoreMember]]:
    """A master and its slave, which has the whole copy."""
    with Network(2) as network:
        hosts = network.nodes
        members = [make(hosts[0], **first), make(hosts[1], **second)]
        try:
            hosts[0].take_vip()
            members[0].start()
            members[1].start()
            joined(*members)
            yield members[0], members[1]
        except BaseException:
            for member in members:
                print(f"---- {member.host.number}\n{member.output()}")
            raise
        finally:
            for member in members:
                member.destroy()


@contextmanager
def inside_of_a_copy(make: Callable[[Host], StoreMember] = store,
                     values: int = 20) \
        -> Iterator[tuple[StoreMember, StoreMember]]:
    """A master and its slave, to which the items come slowly: one a second."""
    with Network(2) as network:
        hosts = network.nodes
        first, second = make(hosts[0]), make(hosts[1])
        try:
            hosts[0].take_vip()
            first.start()
            with local(first) as connection:
                for n in range(values):
                    put(connection, b"k%d" % n, b"x" * 900000)
            hosts[1].slow("8mbit")
            second.start()
            wait_until(lambda: second.figures().of["connected"], "it copies")
            yield first, second
        finally:
            first.destroy()
            second.destroy()


def joined(master: StoreMember, slave: StoreMember) -> None:
    wait_until(lambda: master.slaves() == 1 and slave.figures().role == SLAVE
               and slave.figures().of["complete"], "the copy is complete")


def move(old: StoreMember, new: StoreMember) -> None:
    """The address."""
    old.host.drop_vip()
    new.host.take_vip()
    wait_until(lambda: new.figures().role == MASTER, "there is a new master")


def local(member: StoreMember, key: str = "shop") -> socket.socket:
    """A client at the socket of its host."""
    return member.connect_to(key)


def read(member: StoreMember, key: bytes) -> bytes:
    with local(member) as connection:
        return get(connection, key)


def write(member: StoreMember, key: bytes, value: bytes) -> None:
    with local(member) as connection:
        put(connection, key, value)


def memory(member: StoreMember) -> Iterator[bytes]:
    """Of the items, in parts."""
    fd, at = member.fds["ITEMS"], 0
    while True:
        try:
            begin = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            return
        at = os.lseek(fd, begin, os.SEEK_HOLE)
        yield os.pread(fd, at - begin, begin)


def holds(member: StoreMember, value: bytes) -> bool:
    """Is it in the memory of the items?"""
    return any(value in part for part in memory(member))


def used_at(member: StoreMember, key: bytes) -> int:
    """When the item was used, s on the clock of its store (base/store_format.h). The
    key was written once."""
    for part in memory(member):
        if key in part:
            at = part.index(key) - 36
            return int(struct.unpack_from("<I", part, at + 16)[0])
    return 0


def sent_all(master: StoreMember, *slaves: StoreMember) -> None:
    """A slave gets changes in their order, so it has all before the last."""
    last = b"the last one is %d" % time.monotonic_ns()
    write(master, b"sent-all", last)
    for slave in slaves:
        wait_until(lambda: holds(slave, last), "it has the last change")


def cas_of(connection: socket.socket, key: bytes) -> int:
    head = ask(connection, b"gets %s\r\n" % key, b"END\r\n").split(b"\r\n")[0]
    return int(head.split()[4])
