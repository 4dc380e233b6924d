# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What clients get of an installed package, and what of it runs."""
import json
import os
import urllib.request
from pathlib import Path

from steps import shell


def get(path: str = "/", host: str = "shop.test") -> str:
    request = urllib.request.Request(f"http://127.0.0.1{path}",
                                     headers={"Host": host})
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read().decode()


def pids() -> set[int]:
    """The processes of the applications."""
    status = json.loads(shell("apppoolctl --json status"))
    return {process["pid"] for group in status["groups"]
            for process in group["processes"]}


def ours() -> list[str]:
    """The programs of the package that run."""
    found = []
    for exe in Path("/proc").glob("[0-9]*/exe"):
        try:
            name = os.readlink(exe)
        except OSError:
            continue
        if name.startswith("/usr/libexec/apppool/"):
            found.append(name)
    return found
