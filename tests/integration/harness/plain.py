# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A private httpd without this module."""
import re
from pathlib import Path

from harness.httpd import Httpd

OURS = re.compile(
    r"(LoadModule apppool|LogLevel|App|MaxPoolSize|MinInstances|"
    r"SetHandler apppool)")


def strip(path: Path) -> None:
    """Take our lines out of this configuration."""
    path.write_text("".join(
        line for line in path.read_text().splitlines(keepends=True)
        if not OURS.match(line)))


class Plain(Httpd):
    """Like Httpd, without this module and its directives."""

    def configure(self) -> Path:
        path = super().configure()
        strip(path)
        return path
