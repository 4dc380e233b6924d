# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A disk that does not respond: a file system of the test (FUSE) with one
file. No write is done before release(). A process that waits for a write
survives SIGKILL. The disk ends with the test, in every case."""
import ctypes
import errno
import os
import select
import stat
import struct
import threading
from pathlib import Path
from types import TracebackType
from typing import Optional, Type

from harness.wait import wait_until

DEVICE = "/dev/fuse"
ROOT, FILE = 1, 2  # inodes
PAGE = 4096
MS_NOSUID, MS_NODEV, MNT_DETACH = 2, 4, 2
BIG_WRITES, WRITEBACK_CACHE = 1 << 5, 1 << 16
VALID = 1000  # seconds

LOOKUP, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 3, 4, 14, 15, 16
INIT, OPENDIR, READDIR = 26, 27, 28
DONE = {18, 20, 25, 29, 34}  # release, fsync, flush, releasedir, access
SILENT = {2, 36, 42}  # forget, interrupt, batch_forget

libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str:
    """The reason why there can be no such disk, or ""."""
    try:
        os.close(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"no FUSE here: {DEVICE}: {error.strerror}"
    return ""


def attributes(inode: int) -> bytes:
    mode = stat.S_IFDIR | 0o777 if inode == ROOT else stat.S_IFREG | 0o666
    return struct.pack("6Q10I", inode, PAGE, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0,
                       0, 0, PAGE, 0)


class Disk:
    """with Disk(place) as disk: ... disk.file ..."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.file = place / "file"
        self.held: list[tuple[int, int]] = []  # writes: unique, size
        self.released = False
        self.lock = threading.Lock()
        place.mkdir()
        self.device = os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC)
        self.ended, self.end = os.pipe()
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0," \
            "allow_other"
        if libc.mount(b"apppool-test", bytes(place), b"fuse",
                      MS_NOSUID | MS_NODEV, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), f"mount {place}")
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self) -> "Disk":
        self.thread.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()
        os.close(self.end)
        self.thread.join()
        os.close(self.device)  # a process that still waits gets an error
        libc.umount2(bytes(self.place), MNT_DETACH)
        os.close(self.ended)
        self.place.rmdir()

    def wait_for_write(self, count: int = 1) -> None:
        wait_until(lambda: len(self.held) >= count,
                   f"{count} wait for the disk")

    def release(self) -> None:
        """The disk responds again."""
        with self.lock:
            self.released = True
            for unique, size in self.held:
                self.response(unique, struct.pack("2I", size, 0))
            self.held.clear()

    # ---- requests of the kernel

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([self.device, self.ended], [], [])
            if self.ended in ready:
                return
            try:
                request = os.read(self.device, 1 << 18)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                    continue
                return
            _, what, unique, inode = struct.unpack_from("2I2Q", request)
            with self.lock:
                self.handle(what, unique, inode, request[40:])

    def handle(self, what: int, unique: int, inode: int, more: bytes) -> None:
        if what in SILENT:
            return
        if what == WRITE and not self.released:
            self.held.append((unique, struct.unpack_from("2QI", more)[2]))
            return
        if what == WRITE:
            data = struct.pack("2I", struct.unpack_from("2QI", more)[2], 0)
        elif what == INIT:
            _, minor, _, flags = struct.unpack_from("4I", more)
            data = struct.pack("4I2H2I2H8I", 7, min(minor, 31), PAGE,
                               flags & (BIG_WRITES | WRITEBACK_CACHE), 0, 0,
                               PAGE, 0, 0, 0, *[0] * 8)
        elif what == LOOKUP:
            data = struct.pack("4Q2I", FILE, 0, VALID, VALID, 0, 0) \
                + attributes(FILE)
        elif what in (GETATTR, SETATTR):
            data = struct.pack("Q2I", VALID, 0, 0) + attributes(inode)
        elif what in (OPEN, OPENDIR):
            data = struct.pack("Q2I", 1, 0, 0)
        elif what == READ:
            data = bytes(PAGE)
        elif what in DONE or what == READDIR:
            data = b""
        else:
            self.response(unique, b"", -errno.ENOSYS)
            return
        self.response(unique, data)

    def response(self, unique: int, data: bytes, error: int = 0) -> None:
        try:
            os.write(self.device, struct.pack("IiQ", 16 + len(data), error,
                                              unique) + data)
        except FileNotFoundError:
            pass  # the process that asked is gone
