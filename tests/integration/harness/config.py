# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd.conf of a test."""
import os
import time
from pathlib import Path
from typing import Iterable, Optional

from harness.places import apxs

MODULES = ("authz_core", "authz_host", "dir", "proxy", "proxy_http")

CHECK_INTERVAL = 0.01  # default of AppRestartCheckInterval
# For an application that loads for seconds of CPU time, which other tests may
# take from it. Its client waits as long (harness/visitor.py).
SLOW_START = ("AppStartTimeout 5min", "AppQueueTimeout 5min")

LIMITS = {
    "prefork": ("StartServers 4", "MinSpareServers 4", "MaxSpareServers 40",
                "ServerLimit 256", "MaxRequestWorkers 256"),
    "worker": ("StartServers 2", "ServerLimit 16", "ThreadsPerChild 16",
               "MinSpareThreads 16", "MaxSpareThreads 128",
               "MaxRequestWorkers 256"),
}
# With room for the default of AppMaxLongLived.
LIMITS["event"] = (*LIMITS["worker"], "MaxSpareThreads 256",
                   "AsyncRequestWorkerFactor 8")


class App:
    """An application of a test: a virtual host, or a <Location>."""

    def __init__(self, name: str, root: Path, directives: Iterable[str],
                 command: Optional[str], location: Optional[str]) -> None:
        self.name = name
        self.root = root
        self.directives = list(directives)
        self.command = command
        self.location = location
        self.public = root / "public"

    def lines(self) -> list[str]:
        lines = [f'AppRoot "{self.root}"']
        if self.command is not None:
            quoted = self.command.replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'AppCommand "{quoted}"')
        return lines + self.directives

    def section(self, port: int) -> list[str]:
        if self.location is not None:
            return [f'<Location "{self.location}">', *self.lines(),
                    "</Location>"]
        return [f"<VirtualHost *:{port}>", f"ServerName {self.name}",
                f'DocumentRoot "{self.public}"', *self.lines(),
                "</VirtualHost>"]

    def put(self, files: dict[str, str]) -> None:
        """Write files, which get the owner of its root. A program begins with
        #!."""
        owner = self.root.stat()
        for name, text in files.items():
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            if text.startswith("#!"):
                place.chmod(0o755)
            while place != self.root:
                os.chown(place, owner.st_uid, owner.st_gid)
                place = place.parent

    def touch(self, name: str = "restart.txt") -> Path:
        """Create or touch a file in the app's tmp/. The next request sees it:
        by default this is promised after this time."""
        path = self.root / "tmp" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
        time.sleep(CHECK_INTERVAL)
        return path


def write(directory: Path, port: int, mpm: str, directives: Iterable[str],
          apps: Iterable[App], modules: Iterable[str], module: Path,
          libexec: Path) -> str:
    """The text of httpd.conf for a server in this directory."""
    place = apxs("LIBEXECDIR")
    lines = [
        f'ServerRoot "{directory}"',
        "ServerName 127.0.0.1",
        f"Listen 127.0.0.1:{port}",
        "PidFile httpd.pid",
        "DefaultRuntimeDir run",
        "ErrorLog error.log",
        "LogLevel warn apppool:debug",
        "User www-data",
        "Group www-data",
        f'DocumentRoot "{directory}/htdocs"',
    ]
    for name in (f"mpm_{mpm}", *MODULES, *modules):
        lines.append(f"LoadModule {name}_module {place}/mod_{name}.so")
    lines += [
        f"LoadModule apppool_module {module}",
        f'AppPoolLibexec "{libexec}"',
        *LIMITS[mpm],
        "Timeout 60",
        "KeepAliveTimeout 20",
        "GracefulShutdownTimeout 10",
        *directives,
        f"<VirtualHost *:{port}>",
        "ServerName status",
        "</VirtualHost>",
        '<Location "/apppool-status">',
        "SetHandler apppool-status",
        "</Location>",
    ]
    for app in apps:
        lines += app.section(port)
    return "\n".join(lines) + "\n"
