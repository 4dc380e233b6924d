# Licensed under the Apache License, Version 2.0; see LICENSE.
"""daphne on the socket that it gets as systemd passes it.

    python3 daphne_fd.py -e systemd:domain=UNIX:index=0 OPTION... MODULE:NAME

The options are those of daphne. Twisted would change the mode of the socket's
file, and remove it at the end. The file is not the application's."""
import os
import sys

from daphne.cli import CommandLineInterface
from twisted.internet import unix


class Files:
    """The module os, without what changes or removes the file."""

    def __getattr__(self, name):
        return getattr(os, name)

    def chmod(self, path, mode):
        pass

    def unlink(self, path):
        pass


if __name__ == "__main__":  # or a process of multiprocessing reads this file
    unix.os = Files()
    sys.path[0] = os.getcwd()
    sys.argv[0] = "daphne"
    CommandLineInterface.entrypoint()
