# Licensed under the Apache License, Version 2.0; see LICENSE.
"""tests/soak, for a short time."""
import time

from harness.figures import say
from harness.httpd import Httpd
from harness.long import lasts
from harness.soak import soak

SECONDS = lasts(5, 60)


def test_soak(httpd: Httpd) -> None:
    seed = int(time.time())
    print(f"seed {seed}")
    run = soak(httpd, SECONDS, seed)
    for line in run.report():
        say(f"{httpd.mpm}, {SECONDS} s, seed {seed}: {line}")
    assert not run.history.lost + run.history.wrong, run.history.complaints()
