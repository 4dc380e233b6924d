# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Run a command as on a kernel without SO_PASSRIGHTS (before 6.16): a seccomp
filter refuses that option of setsockopt()."""
import ctypes
import os
import platform
import struct
import sys

SETSOCKOPT = {"x86_64": 54, "aarch64": 208}[platform.machine()]
PASSRIGHTS, ENOPROTOOPT = 83, 92
PR_SET_SECCOMP, FILTER = 22, 2
LOAD, IS, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7fff0000, 0x00050000

PROGRAM = b"".join(struct.pack("HBBI", *line) for line in (
    (LOAD, 0, 0, 0),  # the call's number
    (IS, 0, 3, SETSOCKOPT),
    (LOAD, 0, 0, 16 + 2 * 8),  # its third argument
    (IS, 0, 1, PASSRIGHTS),
    (RETURN, 0, 0, ERRNO | ENOPROTOOPT),
    (RETURN, 0, 0, ALLOW)))

WRAPPER = [sys.executable, __file__]


def main() -> None:
    code = ctypes.create_string_buffer(PROGRAM)
    head = struct.pack("HxxxxxxP", len(PROGRAM) // 8, ctypes.addressof(code))
    if ctypes.CDLL(None, use_errno=True).prctl(
            PR_SET_SECCOMP, FILTER, head, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
