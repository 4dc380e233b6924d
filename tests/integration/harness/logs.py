# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Apps that print, and the files with their lines."""
import re
from pathlib import Path

from harness.httpd import Httpd
from harness.wait import wait_until


def prints(httpd: Httpd, text: str) -> None:
    """Two lines: one on standard output, one on standard error."""
    assert httpd.get(f"/print?text={text}", "shop").status == 200


def has(file: Path, pattern: str) -> bool:
    return file.exists() and re.search(pattern, file.read_text(),
                                       re.M) is not None


def come(file: Path, pattern: str, times: int = 1) -> None:
    wait_until(lambda: file.exists() and len(re.findall(
        pattern, file.read_text(), re.M)) >= times,
        f"{pattern} is in {file.name}")


def script(path: Path, text: str) -> Path:
    """A program."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
