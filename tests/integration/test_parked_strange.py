# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd does not do what it does today with a connection that has left its
worker. Each child sees this at its first one, and the others keep a worker."""
from contextlib import ExitStack

import pytest

from harness import procs
from harness.cases import cases
from harness.compiled import put_built
from harness.httpd import Httpd
from harness.places import apxs
from harness.wait import wait_until
from test_parked import GOING_AWAY, Place, close, opened, says

pytestmark = pytest.mark.mpms("event")

SAID = {"suspended": "a suspended request", "waits": "a connection that waits",
        "state": "a connection that waits", "wake": "a wake",
        "waits-on": "a connection that goes on waiting",
        "end": "the end of a connection"}


def test_step_is_missing(httpd: Httpd, opened: ExitStack) -> None:
    module = httpd.dir / "strange.so"
    put_built(module, "strange.c", "-shared", "-fPIC", "-D_GNU_SOURCE",
              f"-I{apxs('INCLUDEDIR')}", f"-I{apxs('APR_INCLUDEDIR')}")
    httpd.directives += ["Timeout 1", f"LoadModule strange_module {module}"]
    place = Place(httpd, opened, "AppTimeout 1min")
    before = list(httpd.directives)
    for (word, what), case in cases(SAID.items()):
        said = f"this httpd is not as known ({what}): WebSockets and event " \
            "streams of this child keep a worker each"
        httpd.directives = [*before, f"Strange {word}"]
        httpd.log.expect("this httpd is not as known")
        httpd.graceful()
        seen = len(httpd.log.matching("this httpd is not as known"))
        with case:
            line = place.tunnel()
            if word == "wake":  # one may be late
                assert line.rest() == GOING_AWAY
                line = place.tunnel()
            if word in ("state", "end"):  # otherwise httpd ends it
                close(line)
            wait_until(lambda: len(httpd.log.matching(
                "this httpd is not as known")) > seen, word)
            assert said in httpd.log.matching("this httpd is not as known")[-1]
            place.parked(0)
            place.still_open(0)
            other = place.tunnel()
            says(other, b"hello\n")
            assert httpd.group(place.app)["suspended"] == 0
            close(other)
            place.still_open(0)
    place.logged("/echo", 2 * len(SAID) + 1)
    httpd.graceful()
    assert len(httpd.log.matching("this httpd is not as known")) == len(SAID)
    httpd.check()
