# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Found by its name: mod_apppool has a loader for a wsgi.py."""
import os
from itertools import count

requests = count(1)


def application(environ, start_response):
    mount = environ["SCRIPT_NAME"]
    text = (f"Hello from Python, process {os.getpid()}: "
            f"request {next(requests)} here, for {mount}"
            f"{environ['PATH_INFO']}\n")
    start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
    return [text.encode()]
