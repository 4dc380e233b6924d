# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppNotify: apps that fail, and commands that record the notifications."""
import json
from pathlib import Path
from typing import Any

from harness.config import App
from harness.httpd import Httpd
from harness.wait import wait_until

PERIOD = 60  # seconds between two commands of an app


def place(httpd: Httpd) -> Path:
    directory = httpd.dir / "notified"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o1777)
    return directory


def witness(httpd: Httpd, way: str = "") -> str:
    """An AppNotify directive."""
    run = f"{httpd.command_of('witness.py')} {place(httpd)} {way}".strip()
    return f'AppNotify "|{run}"'


def start(httpd: Httpd, *directives: str) -> App:
    """An app that does not start while the file `broken` exists."""
    httpd.log.expect("could not be started", "did not start: error",
                     "does not start: error")
    app = httpd.app("shop", f"AppSetEnv BOOT_FAIL_IF {httpd.dir}/broken",
                    *directives)
    httpd.start()
    return app


def files_written(httpd: Httpd) -> list[Path]:
    """The files that the commands have written, by time."""
    return sorted(place(httpd).glob("*.done"), key=lambda file: int(file.stem))


def notifications(httpd: Httpd, n: int = 1, bound: float = 40.0
                  ) -> list[dict[str, Any]]:
    """The records of n commands, and the objects in them."""
    files = wait_until(lambda: files_written(httpd)[n - 1:]
                       and files_written(httpd),
                       f"{n} notifications", bound)
    assert len(files) == n
    notes = []
    for file in files:
        note = json.loads(file.read_text())
        assert note["input"].endswith("\n") and note["input"].count("\n") == 1
        assert len(note["input"]) <= 4096
        note["object"] = json.loads(note["input"])
        notes.append(note)
    return notes


def break_it(httpd: Httpd) -> None:
    (httpd.dir / "broken").touch()
    assert httpd.get("/", "shop").status == 502


def events(note: dict[str, Any]) -> list[str]:
    return [event["event"] for event
            in [*note["object"]["earlier"], note["object"]]]
