# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Responds to each request with its CGI variables, as JSON."""
import json


def application(environ, start):
    variables = {name: value for name, value in environ.items()
                 if isinstance(value, str)}
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(variables).encode()]
