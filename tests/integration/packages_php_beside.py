# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Beside the mod_php and the php-fpm of Debian, as their packages configure them,
test_other_php.py and applications of Debian pass as well."""
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import pytest

import packages_php
import test_other_php as tests
from harness import machine, php
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.usefixtures("debian")

MOD_PHP = Path("/etc/apache2/mods-available/php8.2.conf")
FPM = Path("/etc/apache2/conf-available/php8.2-fpm.conf")


def load_mod_php(httpd: Httpd) -> None:
    httpd.directives += [f"Include {MOD_PHP.with_suffix('.load')}",
                         f"Include {MOD_PHP}"]


@contextmanager
def fpm(httpd: Httpd) -> Iterator[None]:
    httpd.modules += ["proxy_fcgi", "setenvif"]
    httpd.directives.append(f"Include {FPM}")
    socket = Path("/run/php/php8.2-fpm.sock")
    socket.parent.mkdir()
    server = subprocess.Popen(["php-fpm8.2", "--nodaemonize", "--fpm-config",
                               "/etc/php/8.2/fpm/php-fpm.conf"],
                              stderr=subprocess.DEVNULL)
    try:
        wait_until(socket.exists, "php-fpm listens")
        yield
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(autouse=True)
def the_real_ones(debian: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tests, "load_mod_php", load_mod_php)
    monkeypatch.setattr(tests, "fpm", fpm)
    # The script says which user runs it, and not what runs it.
    monkeypatch.setattr(tests, "BY_MOD_PHP", php.BY_FPM)
    monkeypatch.setattr(tests, "RUN", {
        row: (rule, runs.replace(php.BY_MOD_PHP, php.BY_FPM))
        for row, (rule, runs) in tests.RUN.items()})


def plain(text: str) -> list[str]:
    """The lines that are no comments."""
    return [line.strip() for line in text.splitlines()
            if not re.match(r"\s*(#|$)", line)]


@pytest.mark.mpms("event")
def test_the_copies_are_true(httpd: Httpd) -> None:
    """harness/php.py has what the packages have."""
    assert plain(MOD_PHP.read_text()) == plain(
        php.MOD_PHP.replace("@home@", "/home"))
    assert plain(FPM.read_text()) == plain(
        php.FPM.replace("@socket@", "/run/php/php8.2-fpm.sock"))


@pytest.mark.mpms("prefork")
def test_recipes(httpd: Httpd, monkeypatch: pytest.MonkeyPatch) -> None:
    tests.test_recipes(httpd, monkeypatch)


@pytest.mark.mpms("prefork")
def test_mod_php(httpd: Httpd) -> None:
    tests.test_mod_php(httpd)


@pytest.mark.mpms("event")
def test_fpm(httpd: Httpd) -> None:
    tests.test_fpm(httpd)


@pytest.mark.mpms("prefork")
def test_wordpress(httpd: Httpd) -> None:
    """It can only write what belongs to the user of the application."""
    load_mod_php(httpd)
    packages_php.test_wordpress(httpd)
    named(httpd, "application/x-httpd-php")


@pytest.mark.mpms("prefork")
def test_wordpress_network(httpd: Httpd) -> None:
    load_mod_php(httpd)
    packages_php.test_wordpress_network(httpd)


@pytest.mark.mpms("prefork")
def test_phpmyadmin(httpd: Httpd) -> None:
    """Its configuration has values for mod_php."""
    load_mod_php(httpd)
    packages_php.test_phpmyadmin(httpd)
    named(httpd, "application/x-httpd-php")


@pytest.mark.mpms("event")
def test_icingaweb2(httpd: Httpd) -> None:
    with fpm(httpd):
        packages_php.test_icingaweb2(httpd)
        named(httpd, '"proxy:unix:/run/php/php8.2-fpm.sock|fcgi://localhost"')


def named(httpd: Httpd, handler: str) -> None:
    """httpd -t says what does not count."""
    assert f"SetHandler {handler} (line" in httpd.test().stdout
