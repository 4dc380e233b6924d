# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The first five minutes: the first example of README.md, unchanged, on the
configuration of Debian and on one like RHEL's."""
import re
import subprocess
from typing import Iterator

import pytest

from harness.places import CTL, can_mount
from harness.stock import Debian, Rhel, Stock, debian_package, readme

pytestmark = pytest.mark.skipif(not can_mount(), reason="mount is denied")


@pytest.fixture(params=["debian", "rhel"])
def stock(request: pytest.FixtureRequest) -> Iterator[Stock]:
    package = debian_package() if request.param == "debian" else None
    if request.param == "debian" and not package:
        pytest.skip("tests/run has not unpacked apache2")
    server = Debian(package) if package else Rhel()
    try:
        yield server
    finally:
        server.destroy()


def without_the_section(text: str) -> str:
    bare = re.sub(r" *<Directory.*</Directory>\n", "", text, flags=re.S)
    assert bare != text
    return bare


def test_readme(stock: Stock) -> None:
    """Nothing more is needed."""
    stock.site(readme())
    assert "apppool" not in stock.test()
    stock.start()
    assert stock.fetch("/") == ("200", "the shop")
    assert stock.fetch("/cart/7") == ("200", "the shop")
    assert stock.fetch("/style.css") == ("200", "a file")


def test_doctor(stock: Stock) -> None:
    """It tests the configuration as httpd has it. Debian's cannot be read
    without the variables of envvars."""
    stock.site(readme())
    stock.start()
    assert stock.process is not None
    stock.fetch("/")
    done = subprocess.run(
        ["nsenter", f"--mount=/proc/{stock.process.pid}/ns/mnt", str(CTL),
         "doctor"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(r"^ok +configuration: \S+ .*-t finds nothing$",
                     done.stdout, re.M)


def advice(text: str) -> str:
    """The lines to add, and the place for them."""
    found = re.search("apppool: .*says \"Require all denied\"; to grant "
                      "access, add to this virtual host: (<Dir.*ory>)",
                      text)
    assert found is not None, text
    return re.sub("(?<=>) | (?=<)", "\n", found.group(1)) + "\n"


def test_error_log_prints_the_missing_lines(stock: Stock) -> None:
    """httpd -t prints them, and the log beside the 403. Nothing else is
    missing."""
    bare = without_the_section(readme())
    stock.site(bare)
    lines = advice(stock.test())
    stock.start()
    assert stock.fetch("/")[0] == "403"
    assert advice(stock.log()) == lines
    stock.stop()
    stock.site(bare.replace("</VirtualHost>", f"{lines}</VirtualHost>"))
    assert "apppool" not in stock.test()
    stock.start()
    assert stock.fetch("/") == ("200", "the shop")


@pytest.mark.parametrize("lines", [
    "<Location />\nRequire local\n</Location>",
    "<Directory />\nRequire ip 127\n</Directory>",
    "<Directory /srv>\nRequire all granted\n</Directory>",
    "<Directory /srv/*>\nRequire all granted\n</Directory>",
    '<DirectoryMatch "^/s">\nRequire all granted\n</DirectoryMatch>',
    "<If true>\nRequire all granted\n</If>"])
def test_granted_in_another_way(stock: Stock, lines: str) -> None:
    """The log then has no line about it."""
    stock.site(without_the_section(readme()).replace(
        "</VirtualHost>", f"{lines}\n</VirtualHost>"))
    assert "apppool" not in stock.test()
    stock.start()
    assert stock.fetch("/") == ("200", "the shop")


@pytest.mark.parametrize("lines", [
    "<Location /admin>\nRequire all granted\n</Location>",
    "<Directory /srv/sho>\nRequire all granted\n</Directory>",
    "<Directory /home/*>\nRequire all granted\n</Directory>"])
def test_granted_elsewhere(stock: Stock, lines: str) -> None:
    stock.site(without_the_section(readme()).replace(
        "</VirtualHost>", f"{lines}\n</VirtualHost>"))
    assert advice(stock.test())
