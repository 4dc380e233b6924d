# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What was measured, to be shown though nothing failed."""
said: list[str] = []


def say(line: str) -> None:
    said.append(line)
