# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Programs between clients and the server: nutcracker, and httpd, whose cache
of passwords is in the server (mod_socache_memcache)."""
import base64
import hashlib
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from harness.places import NUTCRACKER
from harness.ports import reserve_port
from harness.servers import Server, wait_until

MODULES = Path("/usr/lib/apache2/modules")
NAMES = ["mpm_event", "authn_core", "authn_file", "authn_socache",
         "authz_core", "authz_user", "auth_basic", "socache_memcache"]


class Nutcracker(Server):
    """A proxy in front of another server."""
    name = "nutcracker"

    def __init__(self, behind: Server) -> None:
        super().__init__()
        self.behind = behind

    def command(self) -> list[str]:
        config = self.dir / "nutcracker.yml"
        config.write_text(f"front:\n  listen: {self.path} 0600\n"
                          "  hash: fnv1a_64\n  distribution: ketama\n"
                          f"  servers:\n   - {self.behind.path}:1 behind\n")
        return [str(NUTCRACKER), "-c", str(config), "-o", str(self.words),
                "-s", str(self.free_port()), "-a", "127.0.0.1",
                "-p", str(self.dir / "pid")]


class Guarded:
    """An httpd that asks for a password, and keeps the right ones in the server
    for an hour."""

    def __init__(self, place: Path, port: int) -> None:
        self.port, self.claim = reserve_port()
        self.passwords = place / "passwords"
        self.words = place / "error_log"
        (place / "page").write_text("a page")
        (place / "httpd.conf").write_text("\n".join([
            *(f"LoadModule {name}_module {MODULES}/mod_{name}.so"
              for name in NAMES),
            f"ServerRoot {place}", f"DocumentRoot {place}",
            f"Listen 127.0.0.1:{self.port}", "ServerName localhost",
            f"PidFile {place}/pid", f"ErrorLog {self.words}",
            "LogLevel info authn_socache:debug",
            f"Mutex file:{place}", f"DefaultRuntimeDir {place}",
            f"AuthnCacheSOCache memcache:127.0.0.1:{port}",
            f"<Directory {place}>", "AuthType Basic", "AuthName page",
            "AuthBasicProvider socache file", "AuthnCacheProvideFor file",
            "AuthnCacheTimeout 3600", f"AuthUserFile {self.passwords}",
            "Require valid-user", "</Directory>", ""]))
        self.process = subprocess.Popen(
            ["apache2", "-X", "-f", str(place / "httpd.conf")],
            stderr=subprocess.STDOUT, stdout=self.words.open("ab"),
            start_new_session=True)

    def __enter__(self) -> "Guarded":
        try:
            wait_until(self.answers, "httpd answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.claim.close()

    def answers(self) -> bool:
        assert self.process.poll() is None, self.words.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def allow(self, user: str, password: str) -> None:
        self.passwords.write_text(f"{user}:{{SHA}}{_sha(password)}\n")

    def get(self, user: str, password: str) -> int:
        """@return the status of a request"""
        word = base64.b64encode(f"{user}:{password}".encode()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/page",
            headers={"Authorization": f"Basic {word}"})
        try:
            with urllib.request.urlopen(request) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code


def _sha(password: str) -> str:
    return base64.b64encode(hashlib.sha1(password.encode()).digest()).decode()
