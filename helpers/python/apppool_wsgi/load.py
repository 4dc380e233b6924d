# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What both programs need: the application and its socket."""
import contextlib
import importlib.machinery
import importlib.util
import inspect
import os
import socket
import sys


class Bottle:
    """Finds bottle, and tells it that the program is imported: then its run()
    returns at once."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "bottle":
            return None
        sys.meta_path.remove(Bottle)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                module.NORUN = True

            spec.loader.exec_module = exec_module
        return spec


@contextlib.contextmanager
def no_server():
    """A program that starts the server of its framework wherever it is read
    does not do so here."""
    sys.meta_path.insert(0, Bottle)
    of_flask = "FLASK_RUN_FROM_CLI"
    before = os.environ.get(of_flask)
    os.environ[of_flask] = "true"
    yield
    os.environ.pop(of_flask)
    if before is not None:
        os.environ[of_flask] = before


def module_of(name):
    """A module, or ./NAME.wsgi of mod_wsgi, which is no name of a module."""
    if not name.startswith("./"):
        return importlib.import_module(name)
    loader = importlib.machinery.SourceFileLoader("application_wsgi", name)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def is_asgi(application):
    return inspect.iscoroutinefunction(application) or \
        inspect.iscoroutinefunction(getattr(application, "__call__", None))


def application_of(word):
    """Import MODULE[:NAME] from the current directory. NAME() is a function
    that makes the application. Without a NAME, it may be bottle's own."""
    module, _, name = word.partition(":")
    sys.path[0] = os.getcwd()
    sys.stdout.reconfigure(line_buffering=True)
    with no_server():
        loaded = module_of(module)
    if not name:
        name = "application"
        if not hasattr(loaded, name) and callable(getattr(loaded, "app", None)):
            name = "app"
        elif not hasattr(loaded, name) and "bottle" in sys.modules:
            loaded, name = sys.modules["bottle"], "default_app()"
    makes_it = name.endswith("()")
    application = getattr(loaded, name[:-2] if makes_it else name, None)
    if makes_it and callable(application):
        application = application()
    if not callable(application):
        sys.exit(f"{module} has no {name} that can be called")
    if is_asgi(application):
        sys.exit(f"{module}:{name} is an ASGI application, and this is the "
                 "loader for WSGI. Set AppCommand "
                 f'"uvicorn --fd 3 {module}:{name}", with AppListen fd')
    return application


def say(text):
    """Log a line, whatever the application has made of sys.stderr."""
    with contextlib.suppress(OSError):
        os.write(2, f"apppool: {text}\n".encode(errors="backslashreplace"))


def check_inherited():
    """Descriptor 3 is a listening socket, as systemd passes it."""
    if os.environ.get("LISTEN_FDS") != "1" \
            or os.environ.get("LISTEN_PID") != str(os.getpid()):
        sys.exit("there is no socket to listen on: LISTEN_FDS and "
                 "LISTEN_PID do not say that descriptor 3 is one")


def inherited():
    """The listening socket. From here on, only this process has it."""
    check_inherited()
    for name in ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    os.set_inheritable(3, False)
    return socket.socket(fileno=3)
