#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The sample app, which reads at most 512 bytes at a time. A request for
/poison kills it when it has read so much of it."""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(__file__))
import app  # noqa: E402

READS = 512
read_request = app.read_request


def read_or_die(stream):
    if b" /poison" in stream.peek(1):
        os.kill(os.getpid(), signal.SIGKILL)
    return read_request(stream)


def serve(connection):
    try:
        with open(connection, "rb", READS, closefd=False) as stream, \
                open(connection, "wb", closefd=False) as out:
            app.converse(stream, out)
    except OSError:
        pass  # the client has gone
    finally:
        os.close(connection)


app.read_request = read_or_die
app.serve = serve
app.main()
