# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The common part of the servers that tests/bench/peers and losses compare.
Each is a private httpd, and runs one application in one way."""
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Optional

from harness import procs
from harness.httpd import USER, Httpd
from harness.places import BUILD
from harness.wait import wait_until

UNPACKED = BUILD / "peers"  # by tests/lib/setup.sh
MODULES = "usr/lib/apache2/modules"
PHP_INI = next(Path("/etc/php").glob("*/cgi"), Path("/etc/php"))
# As in the configuration of all distributions.
USUAL = ["<Directory />", "AllowOverride None", "</Directory>"]
WORKERS = {"prefork": ["StartServers 16"], "event": ["StartServers 4"]}


class Missing(Exception):
    """A peer that could not be installed."""


def unpacked(package: str, path: str) -> Path:
    found = sorted((UNPACKED / package).glob(path))
    if not found:
        raise Missing(package)
    return found[0]


class Server:
    """One httpd, and the processes that it needs beside it."""
    name = "mod_apppool"
    kind: type[Httpd] = Httpd
    many = False  # a process has several requests at once

    def __init__(self, mpm: str) -> None:
        self.httpd = self.kind(mpm)
        self.httpd.directives += ["LogLevel warn", "MaxKeepAliveRequests 0",
                                  *USUAL, *WORKERS[mpm]]
        self.beside: Optional[subprocess.Popen[bytes]] = None
        self.root = self.httpd.dir / "hello"
        self.path = "/hello"
        for place in (self.root, self.root / "public", self.root / "tmp"):
            place.mkdir()
            shutil.chown(place, USER, USER)
        try:
            self.configure()
        except Missing:
            self.httpd.destroy()
            raise

    def configure(self) -> None:
        """Write files and directives."""

    # ---- for configure()

    def add(self, *sources: Path) -> None:
        """Files of the application."""
        for source in sources:
            shutil.copy(source, self.root)

    def host(self, *lines: str) -> None:
        """The virtual host of the application."""
        self.httpd.directives += [
            f"<VirtualHost *:{self.httpd.port}>", "ServerName hello",
            f'DocumentRoot "{self.root}/public"', *lines, "</VirtualHost>"]

    def load(self, package: str, module: str) -> None:
        """A module that is not in httpd's own packages."""
        path = unpacked(package, f"{MODULES}/mod_{module}.so")
        self.httpd.directives.append(f"LoadModule {module}_module {path}")

    @property
    def socket(self) -> Path:
        """The socket of a program that httpd does not start."""
        return self.root / "tmp" / "socket"

    def command(self) -> list[str]:
        """A program beside httpd, or nothing."""
        return []

    # ---- life

    def start(self) -> None:
        words = self.command()
        if words:
            self.beside = subprocess.Popen(
                words, cwd=self.root, start_new_session=True, user=USER,
                group=USER, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env={**os.environ, "PHP_INI_SCAN_DIR": f"{PHP_INI}/conf.d"})
            wait_until(self.socket.exists, f"{self.name} listens", 30)
        self.httpd.start()
        wait_until(self.serves_requests, f"{self.name} serves requests", 60)

    def serves_requests(self) -> bool:
        try:
            return self.httpd.get(self.path, "hello", timeout=5).status == 200
        except OSError:
            return False

    def destroy(self) -> None:
        """A part of it may have been killed, so nothing is expected. But the
        modules of a killed httpd leave their shared memory."""
        if self.beside is not None:
            self.beside.terminate()
            self.beside.wait(30)
        with suppress(AssertionError, subprocess.TimeoutExpired):
            self.httpd.stop()
        self.httpd.destroy()

    # ---- its processes

    def apps(self) -> list[int]:
        """The processes that serve requests of the application."""
        return [pid for pid in procs.marked(str(self.root), self.httpd.born)
                if self.serves(procs.command(pid))
                and pid not in self.managers()]

    def serves(self, command: str) -> bool:
        return True

    def managers(self) -> list[int]:
        """The processes that start those of the application."""
        return [self.beside.pid] if self.beside is not None else []


class Ours(Server):
    """How the application is found, and how it is run."""

    def app(self, processes: int, *directives: str,
            command: Optional[str] = None) -> None:
        self.httpd.modules += ["proxy_fcgi"]
        self.httpd.directives.append("MaxPoolSize 20")
        self.httpd.app("hello", f"MinInstances {processes}",
                       f"MaxInstances {processes}", "AppPreStart On",
                       *directives, command=command, root=self.root)

    def apps(self) -> list[int]:
        return [process["pid"] for group in self.httpd.status()["groups"]
                for process in group["processes"]
                if process["state"] in ("idle", "busy")]

    def managers(self) -> list[int]:
        return [pid for pid in (self.httpd.watchdog_now(),
                                self.httpd.spawner_now()) if pid]
