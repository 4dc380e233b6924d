#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""sink.py FILE: waits in the kernel for the disk of FILE. While that disk does
not respond, no signal ends this process, and a process that reads its memory
waits as well."""
import ctypes
import mmap
import os
import sys

PAGE = 4096
FIXED = 0x10


def sink(path):
    """A page of the file is written during mmap(2), which replaces it, while
    the lock of this process's memory is held."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                          ctypes.c_int, ctypes.c_int, ctypes.c_long]
    page = libc.mmap(None, PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_SHARED, os.open(path, os.O_RDWR), 0)
    ctypes.memset(page, 1, 1)
    libc.mmap(page, PAGE, mmap.PROT_READ,
              mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED, -1, 0)


if __name__ == "__main__":
    sink(sys.argv[1])
