# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files of packaging/container/, for test_container.py and tests/container."""
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parent.parent.parent
PLACE = TOP / "packaging" / "container"
KUBERNETES = PLACE / "kubernetes.yaml"
HAPROXY = PLACE / "haproxy.cfg"


def compose() -> dict[str, Any]:
    made = yaml.safe_load((PLACE / "compose.yaml").read_text())
    assert isinstance(made, dict)
    return made


def kubernetes() -> dict[str, dict[str, Any]]:
    """Each document, by its kind."""
    documents = list(yaml.safe_load_all(KUBERNETES.read_text()))
    assert len({one["kind"] for one in documents}) == len(documents)
    return {one["kind"]: one for one in documents}
