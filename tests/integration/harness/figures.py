# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Measured values, which are shown although no test failed."""
lines: list[str] = []


def say(line: str) -> None:
    lines.append(line)
