# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The template of a WSGI application, for AppPreload On.

    python3 preload.py MODULE[:NAME]

It loads the application as wsgi.py does, and then forks each process that
serves it: see doc/template.md. If APPPOOL_FORK is not set, it serves by
itself."""
import os
import sys

from apppool_wsgi.load import application_of, inherited
from apppool_wsgi.server import Server
from apppool_wsgi.template import Template


def main():
    words = sys.argv[1:]
    if len(words) != 1 or words[0].startswith("-"):
        sys.exit("usage: preload.py MODULE[:NAME]")
    if "APPPOOL_FORK" in os.environ:
        template = Template()
        application = application_of(words[0])
        template.fork(application)
        listener = inherited()
    else:
        listener = inherited()
        application = application_of(words[0])
    Server(application, listener).run()


if __name__ == "__main__":
    main()
