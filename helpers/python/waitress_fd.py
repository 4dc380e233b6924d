# Licensed under the Apache License, Version 2.0; see LICENSE.
"""waitress-serve on the socket that it gets as descriptor 3.

    python3 waitress_fd.py OPTION... MODULE:NAME

The options are those of waitress-serve, which has none for such a socket. They
say no place to listen on: the module leaves these out (detect/detect_line.c)."""
import os
import socket
import sys

import waitress
from waitress.runner import run

PLACES = ("host", "port", "listen", "unix_socket")


def serve(application, **options):
    options = {name: value for name, value in options.items()
               if name not in PLACES}
    listener = socket.socket(fileno=3)
    waitress.serve(application, sockets=[listener], **options)


if __name__ == "__main__":  # or a process of multiprocessing reads this file
    sys.path[0] = os.getcwd()
    sys.argv[0] = "waitress-serve"
    sys.exit(run(_serve=serve))
