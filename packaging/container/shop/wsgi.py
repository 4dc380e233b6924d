# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application to try the image with: it says which replica has served the
request."""
import os
import socket

NAME = os.environ.get("REPLICA") or socket.gethostname()


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{NAME} {os.getpid()}\n".encode()]
