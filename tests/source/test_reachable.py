# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Where other users cannot enter the tree, the tests run in a copy of it
(lib/reachable.sh)."""
import os
import subprocess
from pathlib import Path

import pytest

from source import TOP

PROGRAM = """#!/bin/sh
top=$(cd "$(dirname "$0")/.." && pwd)
ls "$top" | tr "\\n" " "
echo
echo "in $top"
kept=$top/build/flaky/x_late
mkdir -p "$kept"
echo it never came >"$kept/output"
exit 3
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs tests in a copy")
def test_first_failures_are_kept(tmp_path: Path) -> None:
    """Those of this run replace older ones of the same test. Nothing else of
    the copy stays. It has what autoreconf has made, and no build."""
    top = tmp_path / "tree"
    (top / "tests").mkdir(parents=True)
    top.chmod(0o700)
    program = top / "tests" / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    for old in "x_late", "x_other":
        (top / "build/flaky" / old).mkdir(parents=True)
        (top / "build/flaky" / old / "old").touch()
    for made in "build-aux/install-sh", "build-clang/.wish", "build-clang/a.o":
        (top / made).parent.mkdir(exist_ok=True)
        (top / made).touch()
    done = subprocess.run(
        ["bash", "-uc", f". {TOP}/tests/lib/reachable.sh; "
         f"run_reachable {top} tests/program"],
        text=True, stdout=subprocess.PIPE, check=False)
    assert done.returncode == 3
    assert done.stdout.splitlines()[-2] == "build-aux tests "
    copy = Path(done.stdout.splitlines()[-1].removeprefix("in "))
    assert copy != top and not copy.exists()
    found = (top / "build/flaky").rglob("*")
    assert {str(file.relative_to(top / "build/flaky")) for file in found} == {
        "x_late", "x_late/output", "x_other", "x_other/old"}
