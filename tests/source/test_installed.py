# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which packages tests/lib/setup.sh takes for installed, and how it gets them."""
import subprocess
from pathlib import Path

import pytest

from source import TOP

# As in Debian 13, and as dpkg-query prints them.
INSTALLED = """
installed libuv1t64 libuv1 (= 1.50.0-2)
installed libpython3.13
config-files nodejs
installed python3-pytest python3.13-pytest, pytest (= 8.3), py.test
"""


def installing(tmp_path: Path, names: str, apt: str = "true",
               may_miss: str = "") -> list[str]:
    (tmp_path / "list").write_text(INSTALLED)
    done = subprocess.run(
        ["bash", "-uc", f"""
            top={TOP} scratch={tmp_path} MAY_MISS={may_miss}
            . tests/lib/setup.sh
            dpkg-query() {{ cat "$scratch/list"; }}
            apt-get() {{ [[ " $* " != *" install "* ]] || {apt}; }}
            id() {{ echo 0; }}
            install_packages {names}"""], cwd=TOP, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.splitlines()


@pytest.mark.parametrize("names, missing", [
    ("libuv1 libuv1t64 py.test", []),
    ("libpython3.1?", []),
    ("libpython3.2?", ["libpython3.2?"]),
    ("libuv nodejs pytest t64", ["libuv", "nodejs", "t64"]),
])
def test_a_provided_name_is_installed(tmp_path: Path, names: str,
                                      missing: list[str]) -> None:
    assert installing(tmp_path, names) == \
        [" ".join(["installing", *missing])] * bool(missing)


def test_one_that_cannot_be_installed(tmp_path: Path) -> None:
    """It ends tests/run, but not what warns early."""
    apt = '[[ " $* " != *" gone "* ]]'
    said = installing(tmp_path, "gone here", apt)
    assert said[-1].endswith(": cannot install gone here")
    said = installing(tmp_path, "gone here", apt, may_miss="1")
    assert said == ["installing gone here", "cannot install gone"]
