# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Measured values, which are shown although no test failed."""
said: list[str] = []


def say(line: str) -> None:
    said.append(line)
