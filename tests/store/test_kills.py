# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The server is killed under load, and started again with the same memory: no
value that was acknowledged is missing or older, no deleted one returns, and no
cas value is given twice (harness/checker.py)."""
import os

import pytest

from harness.checker import Checker
from harness.kinds import KINDS, SURVIVORS

KILLS = 200 if os.environ.get("APPPOOL_LONG") else 12


@pytest.mark.parametrize("kind", SURVIVORS)
def test_nothing_acknowledged_is_lost(kind: str, seed: int) -> None:
    with KINDS[kind]() as server:
        checker = Checker(server, seed)
        for kill in range(KILLS):
            checker.round()
            assert checker.wrong == [], f"after kill {kill + 1}"
        print(f"{checker.acknowledged} commands acknowledged")
