# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The files that say why an app did not start. test_errorpage.py tests their
owner; this tests how long they stay."""
from pathlib import Path

import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.procs import kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


@pytest.fixture(name="file")
def reason(httpd: Httpd) -> Path:
    """The file of an app that does not start."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR)
    httpd.app("shop", command="/bin/sh -c 'exit 3'")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 502
    file, = (httpd.runtime / "e").iterdir()
    return file


def test_the_app_leaves_the_configuration(httpd: Httpd, file: Path) -> None:
    """Its file is removed, and others stay."""
    other = httpd.app("blog", command="/bin/sh -c 'exit 4'")
    httpd.graceful()
    assert httpd.get("/pid", "blog").status == 502
    assert len(list(file.parent.iterdir())) == 2
    httpd.apps.remove(other)
    httpd.graceful()
    wait_until(lambda: list(file.parent.iterdir()) == [file], "one is left")


def test_stray_files(httpd: Httpd, file: Path) -> None:
    """A dead spawner left files of apps that are not configured."""
    for name in ("0123456789abcdef", f"{file.name}.new", "x"):
        (file.parent / name).touch()
    kill9(httpd.helper("spawner"))
    wait_until(lambda: list(file.parent.iterdir()) == [file], "it is alone")
