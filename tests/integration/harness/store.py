# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppool-store, or a program in its place (apps/store.py) and its record."""
import json
import subprocess
from typing import Any

from harness import procs
from harness.httpd import Httpd
from harness.places import APPS, BUILD
from harness.upgrade import install, this_build
from harness.wait import wait_until


def running(httpd: Httpd) -> int:
    """The pid of the store, or of what is in its place; 0: none."""
    try:
        text = (httpd.runtime / "store.pid").read_text()
    except FileNotFoundError:
        return 0
    words = text.split()
    pid = int(words[0]) if words else 0
    return pid if procs.alive(pid) else 0


class Store:
    def __init__(self, httpd: Httpd) -> None:
        self.httpd = httpd
        self.file = httpd.dir / "store.record"
        httpd.libexec = httpd.dir / "lib"
        install(httpd.libexec, this_build())
        (httpd.libexec / "helpers").symlink_to(BUILD / "helpers")
        version = subprocess.run([BUILD / "apppool-watchdog", "--version"],
                                 text=True, capture_output=True, check=True)
        program = httpd.libexec / "apppool-store"
        program.unlink(missing_ok=True)
        program.write_text("#!/usr/bin/python3 -IS\n" + (
            APPS / "store.py").read_text().replace(
                "@RECORD@", str(self.file)).replace(
                    "@VERSION@", version.stdout.strip().replace(
                        "watchdog", "store")))
        program.chmod(0o755)

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.file.read_text().splitlines() \
            if self.file.exists() else []
        return [event for event in map(json.loads, lines)
                if event["event"] == name]

    def wait_for(self, name: str, count: int = 1) -> dict[str, Any]:
        """The last of so many events."""
        return wait_until(lambda: len(self.events(name)) >= count
                          and self.events(name),
                          f"{count} events {name} of the store")[count - 1]

    def pid(self) -> int:
        """Of the store that runs; 0: none."""
        return running(self.httpd)
