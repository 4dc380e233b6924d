# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A layout of an application: what generators and tutorials write."""
from typing import NamedTuple


class Layout(NamedTuple):
    kind: str  # the language, or what it is
    of: str  # the framework
    name: str
    files: dict[str, str]
    command: str
    path: str = "/"  # what is requested
    directives: tuple[str, ...] = ()
    stands_in: bool = False


ALL: list[Layout] = []


def add(kind: str, of: str, name: str, files: dict[str, str], command: str,
        **more: object) -> None:
    """A layout; NAME in a file is the name of the layout."""
    assert name not in {one.name for one in ALL}, name
    files = {path: text.replace("NAME", name) for path, text in files.items()}
    ALL.append(Layout(kind, of, name, files, command, **more))  # type: ignore
