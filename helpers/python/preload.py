# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The template of a Python application, for AppPreload On.

    python3 preload.py MODULE[:NAME]
    python3 preload.py gunicorn ARGUMENT... MODULE[:NAME]
    python3 preload.py uvicorn ARGUMENT... MODULE:NAME

It loads the application as wsgi.py, gunicorn or uvicorn does, and then forks
each process that serves it: see doc/template.md. If APPPOOL_FORK is not set, it
serves by itself."""
import os
import sys

if __name__ == "__main__":  # or a process of multiprocessing reads this file
    from apppool_wsgi.load import application_of, inherited
    from apppool_wsgi.server import Server
    from apppool_wsgi.servers import SERVERS
    from apppool_wsgi.template import REFUSES, Template, say, say_ready


def serve(template, word):
    """With the loader for WSGI applications"""
    if template:
        application = application_of(word)
        template.fork(application)
        listener = inherited()
    else:
        listener = inherited()
        application = application_of(word)
        say_ready()
    Server(application, listener).run()


def serve_by(name, template, words):
    sys.path[0] = os.getcwd()
    try:
        SERVERS[name](template, words)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        say(f"{sys.executable} has no {name}")
        sys.exit(REFUSES)


def main():
    name, *words = sys.argv[1:] or [""]
    is_ours = name not in SERVERS
    if not name or name.startswith("-") or is_ours and words:
        sys.exit("usage: preload.py [gunicorn|uvicorn ARGUMENT...] "
                 "MODULE[:NAME]")
    template = Template() if "APPPOOL_FORK" in os.environ else None
    if is_ours:
        serve(template, name)
    else:
        serve_by(name, template, words)


if __name__ == "__main__":
    main()
