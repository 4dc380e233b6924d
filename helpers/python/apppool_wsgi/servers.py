# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Servers of others, with the command line that they have when they are
executed. What each forked process gets is the socket, as descriptor 3."""
import contextlib
import inspect
import os
import sys

from apppool_wsgi.template import REFUSES, say, say_ready

# Workers of gunicorn that do not change Python before the application is loaded
CAN_BE_FORKED = "sync", "threads", "gthread", "SyncWorker", "ThreadWorker"


@contextlib.contextmanager
def known(server):
    """What fails here is not the application, of which nothing is loaded. This
    version of the server may be another one than we know."""
    try:
        yield
    except (AttributeError, TypeError) as error:
        say(f"{server} is not as this loader knows it: {error}")
        sys.exit(REFUSES)


def gunicorn(template, words):
    """Its arbiter is made in the template, and has loaded the application as
    with --preload. Each forked process runs it, and so forks its worker.
    @param template None: it is executed"""
    from gunicorn.app.wsgiapp import WSGIApplication
    from gunicorn.arbiter import Arbiter

    sys.argv = ["gunicorn", *words]
    application = WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]")
    if not template:
        say_ready()
        os.environ.pop("NOTIFY_SOCKET", None)
        application.run()
        return
    settings = application.cfg
    worker = settings.worker_class_str
    if worker.rpartition(".")[2] not in CAN_BE_FORKED:
        say(f"gunicorn's worker class {worker} has to be there before the "
            "application is loaded")
        sys.exit(REFUSES)
    for path in (settings.pythonpath or "").split(","):
        if path:
            sys.path.insert(0, os.path.abspath(path))
    settings.set("preload_app", True)
    with known("gunicorn"):
        inspect.signature(Arbiter).bind(application)
    arbiter = Arbiter(application)
    template.fork(application.wsgi())
    del os.environ["NOTIFY_SOCKET"]  # the arbiter is ready before its worker
    arbiter.run()


def uvicorn(template, words):
    """The configuration is loaded in the template, and with it the
    application. The loop and the lifespan are those of each process. The
    application is not asked for anything: what it keeps of a loop that has
    ended, and threads of its executors, would be dead in each process."""
    import uvicorn as module

    run = module.Server.run

    def run_forked(server, *words, **named):
        with known("uvicorn"):
            load = server.config.load
        load()
        template.fork()
        return run(server, *words, **named)

    if template:
        module.Server.run = run_forked
    else:
        say_ready()
    module.main(prog_name="uvicorn", args=words)


SERVERS = {"gunicorn": gunicorn, "uvicorn": uvicorn}
