# Licensed under the Apache License, Version 2.0; see LICENSE.
"""doc/apps.md names the packages that packages_*.py run, and their versions."""
import re

import pytest

from harness import machine
from harness.places import TOP


def test_the_manual() -> None:
    if not machine.FILES.exists():
        pytest.skip(machine.cannot())
    there = dict(line.split(" ") for line in
                 (machine.FILES / "versions").read_text().splitlines())
    text = (TOP / "doc" / "apps.md").read_text().partition(
        "### Packages of Debian that are tested")[2].partition("\n### ")[0]
    rows = "".join(re.findall(r"^\|.*\n", text, re.M))
    named = re.findall(r"([a-z][a-z0-9.-]+) (\d[\d.]*\d)", rows)
    assert len(named) > 20
    wrong = [(name, version, there.get(name)) for name, version in named
             if not re.match(rf"(\d+:)?{re.escape(version)}", there.get(name, ""))]
    assert wrong == []
