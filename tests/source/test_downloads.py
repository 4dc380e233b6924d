# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What tests/run downloads with npm while it builds."""
import shutil
import subprocess
import sys
from pathlib import Path

from source import TOP


def test_before_configure(tmp_path: Path) -> None:
    """The directory of the build has the unpacked packages, and nothing else."""
    for name in ("integration/harness", "applications"):
        shutil.copytree(TOP / "tests" / name, tmp_path / "tests" / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "build" / "packaged").mkdir(parents=True)
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\nfor package; do :; done\n'
                   'place=node_modules/${package%@*}\nmkdir -p "$place"\n'
                   'echo "of $package" >"$place/axe.min.js"\n')
    npm.chmod(0o755)
    subprocess.run([sys.executable, "-m", "harness.npm"], check=True,
                   cwd=tmp_path / "tests" / "integration",
                   env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    script, = tmp_path.glob("build/npm/*/node_modules/axe-core/axe.min.js")
    assert script.read_text().startswith("of axe-core@")
