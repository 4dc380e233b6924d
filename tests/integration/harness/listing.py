# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Programs in the documentation of a framework."""
import gzip
import itertools
import textwrap
from pathlib import Path


def listing(pattern: str, begin: str) -> str:
    """The program that begins with this line.
    @param pattern the path of the page, which may be compressed"""
    (path,) = Path("/").glob(pattern[1:])
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    at = text.rfind("\n", 0, text.index(f"{begin}\n")) + 1
    indent = text[at:text.index(begin, at)]
    lines = itertools.takewhile(
        lambda line: not line.startswith("```") and (
            line.startswith(indent) or not line.strip()),
        text[at:].splitlines())
    return textwrap.dedent("\n".join(lines)) + "\n"
