# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What both programs need: the application and its socket."""
import contextlib
import importlib
import os
import socket
import sys


def application_of(word):
    """Import MODULE[:NAME] from the current directory."""
    module, _, name = word.partition(":")
    sys.path[0] = os.getcwd()
    sys.stdout.reconfigure(line_buffering=True)
    application = getattr(importlib.import_module(module),
                          name or "application", None)
    if not callable(application):
        sys.exit(f"{module} has no {name or 'application'} that can be called")
    return application


def say(text):
    """Log a line, whatever the application has made of sys.stderr."""
    with contextlib.suppress(OSError):
        os.write(2, f"apppool: {text}\n".encode(errors="backslashreplace"))


def inherited():
    """The listening socket: descriptor 3, as systemd passes it."""
    if os.environ.pop("LISTEN_FDS", "") != "1" \
            or os.environ.pop("LISTEN_PID", "") != str(os.getpid()):
        sys.exit("there is no socket to listen on: LISTEN_FDS and "
                 "LISTEN_PID do not say that descriptor 3 is one")
    os.environ.pop("LISTEN_FDNAMES", None)
    os.set_inheritable(3, False)
    return socket.socket(fileno=3)
