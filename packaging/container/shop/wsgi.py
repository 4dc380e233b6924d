# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application to try the image with: it says which replica has served the
request."""
import os

NAME = os.environ["REPLICA"]


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{NAME} {os.getpid()}\n".encode()]
