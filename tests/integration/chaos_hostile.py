# Licensed under the Apache License, Version 2.0; see LICENSE.
"""tests/soak --hostile, for a short while.

    APPPOOL_ATTACKS=linger,forks    these attacks alone
"""
import os
import time

import pytest

from harness.figures import say
from harness.hostile import ATTACKS, WORST, hostile
from harness.httpd import Httpd
from harness.long import lasts

SECONDS = lasts(1, 60)  # each attack at least once
CHOSEN = os.environ.get("APPPOOL_ATTACKS")


@pytest.mark.mpms(*lasts(("event",), ("prefork", "event")))
def test_a_hostile_app_beside_a_good_one(httpd: Httpd) -> None:
    seed = int(time.time())
    attacks = tuple(CHOSEN.split(",")) if CHOSEN else ATTACKS
    run = hostile(httpd, SECONDS, seed, attacks)
    for line in (*run.report(), run.verdict()):
        say(f"{httpd.mpm}, seed {seed}: {line}")
    assert not run.history.lost + run.history.wrong, run.history.complaints()
    assert run.stolen == []
    assert run.ratio() < WORST
