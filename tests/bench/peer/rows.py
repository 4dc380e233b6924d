# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of tests/bench/peers and losses. The servers of a row run the same
program, with the same number of processes. The first one is mod_apppool."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, NamedTuple

from harness import procs
from harness.httpd import USER
from harness.places import TOP
from harness.plain import Plain
from harness.wait import wait_until
from load import Traffic, upload
from proxies import (HandlerHttp2, HandlerKept, HandlerMany, HandlerOne,
                     OursHttp2, OursKept, OursMany, OursOne, PassKept,
                     PassOne, Proxied)
from servers import PHP_INI, Missing, Ours, Server, unpacked

UWSGI = "uwsgi --plugin python3 --disable-logging --die-on-term " \
    "--wsgi-file wsgi.py"


# ---- FastCGI, in C

FCGI = """#include <fcgi_stdio.h>

int main(void)
{
    while (FCGI_Accept() >= 0)
        printf("Content-Type: text/plain\\r\\n\\r\\nhello\\n");
    return 0;
}
"""


def fcgi(root: Path, source: str = FCGI) -> None:
    (root / "hello.c").write_text(source)
    subprocess.run(["cc", "-O2", "-o", root / "hello.fcgi", root / "hello.c",
                    "-lfcgi"], check=True)


class OursFcgi(Ours):
    def configure(self) -> None:
        fcgi(self.root)
        self.app(8)


class ModFcgid(Server):
    name, kind = "mod_fcgid", Plain
    source, processes = FCGI, 8

    def configure(self) -> None:
        fcgi(self.root, self.source)
        self.known: set[int] = set()
        self.path = "/hello.fcgi"
        self.load("libapache2-mod-fcgid", "fcgid")
        self.httpd.directives += [
            f"FcgidIPCDir {self.root}/tmp",
            f"FcgidProcessTableFile {self.root}/tmp/table"]
        self.host(f"FcgidMinProcessesPerClass {self.processes}",
                  f"FcgidMaxProcessesPerClass {self.processes}",
                  f"DocumentRoot {self.root}", f"<Directory {self.root}>",
                  "Options +ExecCGI", "SetHandler fcgid-script", "</Directory>")

    def serves(self, command: str) -> bool:
        return "hello.fcgi" in command

    def apps(self) -> list[int]:
        return [pid for pid in procs.marked(str(self.root), self.httpd.born)
                if self.serves(procs.command(pid))]

    def managers(self) -> list[int]:
        """The child of httpd that starts them, as they report it. There may be
        no such child, because killed ones are replaced slowly."""
        parents = {stat.ppid for pid in self.apps()
                   if (stat := procs.stat(pid)) is not None}
        self.known = parents & set(self.httpd.children()) or self.known
        return sorted(filter(procs.alive, self.known))

    def start(self) -> None:
        super().start()
        self.managers()


# ---- PHP

PHP = "<?php header('Content-Type: text/plain'); echo \"hello\\n\";\n"


class OursPhp(Ours):
    many, processes = True, 8

    def configure(self) -> None:
        self.path = "/index.php"
        (self.root / "public" / "index.php").write_text(PHP)
        self.app(1, f"AppConcurrency {self.processes}")

    def apps(self) -> list[int]:
        """Children of php-cgi serve the requests."""
        parents = super().apps()
        return [child for pid in parents
                for child in procs.children(pid)] + parents


class PhpFpm(Server):
    name, kind = "php-fpm", Plain
    processes = 8

    def configure(self) -> None:
        self.path = "/index.php"
        self.program = unpacked("php-fpm", "usr/sbin/php-fpm*")
        (self.root / "public" / "index.php").write_text(PHP)
        (self.root / "fpm.conf").write_text(
            f"[global]\nerror_log = {self.root}/tmp/log\ndaemonize = no\n"
            f"[hello]\nlisten = {self.socket}\nlisten.mode = 0666\n"
            f"pm = static\npm.max_children = {self.processes}\n")
        self.httpd.modules.append("proxy_fcgi")
        self.host(*self.handler())

    def handler(self) -> list[str]:
        return ['<FilesMatch "\\.php$">',
                f"SetHandler proxy:unix:{self.socket}|fcgi://hello",
                "</FilesMatch>"]

    def command(self) -> list[str]:
        return [str(self.program), "-c", f"{PHP_INI}/php.ini", "-y",
                str(self.root / "fpm.conf"), "-F"]


# ---- Passenger

class Passenger(Server):
    name, kind = "Passenger", Plain
    files: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    processes = 2

    def configure(self) -> None:
        self.add(*(TOP / "demo" / file for file in self.files))
        self.install()
        self.host(f"PassengerAppRoot {self.root}",
                  f"PassengerMinInstances {self.processes}",
                  f"PassengerUser {USER}", *self.more)

    def install(self) -> None:
        """The unpacked package, in a place that its files are told."""
        self.load("libapache2-mod-passenger", "passenger")
        place = self.httpd.dir / "passenger"
        shutil.copytree(unpacked("passenger", "usr"), place, symlinks=True,
                        ignore=shutil.ignore_patterns("include", "doc", "man"))
        where = next(place.rglob("locations.ini"))
        where.write_text(where.read_text().replace("=/usr/", f"={place}/"))
        (self.httpd.dir / "registry").mkdir()
        self.httpd.directives += [
            f"PassengerRoot {where}",
            f"PassengerInstanceRegistryDir {self.httpd.dir}/registry",
            "PassengerDisableSecurityUpdateCheck on",
            "PassengerDisableAnonymousTelemetry on",
            f"PassengerMaxPoolSize {self.processes}", "PassengerRuby /usr/bin/ruby",
            "PassengerPython /usr/bin/python3"]

    def serves(self, command: str) -> bool:
        return command.startswith(("Passenger RubyApp", "Passenger NodeApp",
                                   "Passenger WsgiApp")) \
            or "wsgi-loader" in command or "node-loader" in command

    def agents(self) -> list[int]:
        """Its watchdog and its core. They change their command lines."""
        def is_one(pid: int) -> bool:
            with suppress(OSError):
                return os.readlink(f"/proc/{pid}/exe").startswith(
                    str(self.httpd.dir))
            return False

        return list(filter(is_one, procs.newer(self.httpd.born)))

    def managers(self) -> list[int]:
        return [pid for pid in self.agents()
                if "Passenger core" in procs.command(pid)]

    def destroy(self) -> None:
        """Its core waits for what it is starting, longer than httpd waits."""
        super().destroy()
        while agents := self.agents():
            for pid in agents:
                procs.kill9_if_alive(pid)


# ---- Ruby, Python, Node: the sample applications of demo/

class OursRack(Ours):
    def configure(self) -> None:
        self.add(TOP / "demo" / "ruby" / "config.ru")
        self.app(2)


class PassengerRack(Passenger):
    files = ("ruby/config.ru",)


class OursNode(Ours):
    many = True

    def configure(self) -> None:
        self.add(TOP / "demo" / "node" / "app.js")
        self.app(2)


class PassengerNode(Passenger):
    files = ("node/app.js",)
    more = ("PassengerAppType node", "PassengerStartupFile app.js")


class OursWsgi(Ours):
    def configure(self) -> None:
        self.add(TOP / "demo" / "python" / "wsgi.py")
        self.app(2)


class PassengerWsgi(Passenger):
    files = ("python/wsgi.py",)
    more = ("PassengerAppType wsgi", "PassengerStartupFile wsgi.py")


class Gunicorn(Proxied):
    name = "ProxyPass to gunicorn"

    def configure(self) -> None:
        self.add(TOP / "demo" / "python" / "wsgi.py")
        self.host(self.way.format(self.socket))

    def command(self) -> list[str]:
        return ["gunicorn", "-w", "2", "-b", f"unix:{self.socket}", "wsgi"]


class ModWsgi(Server):
    name, kind = "mod_wsgi", Plain

    def configure(self) -> None:
        self.add(TOP / "demo" / "python" / "wsgi.py")
        self.load("libapache2-mod-wsgi-py3", "wsgi")
        self.httpd.directives.append(f"WSGISocketPrefix {self.httpd.dir}/run/w")
        self.host(f"WSGIDaemonProcess hello processes=2 threads=1 user={USER} "
                  "display-name=wsgi-hello", "WSGIProcessGroup hello",
                  f"WSGIScriptAlias / {self.root}/wsgi.py")

    def apps(self) -> list[int]:
        return [pid for pid in procs.children(self.httpd.pid)
                if procs.command(pid).startswith("wsgi-hello")]


class OursUwsgi(Ours):
    directives: tuple[str, ...] = ()

    def configure(self) -> None:
        self.add(TOP / "demo" / "python" / "wsgi.py")
        self.app(2, "AppProtocol uwsgi", *self.directives,
                 command=f"{UWSGI} --protocol uwsgi")


class OursUwsgiOff(OursUwsgi):
    """Requests wait in the sockets of processes, as those of the peer do."""
    directives = ("AppGlobalQueue Off",)


class ProxyUwsgi(Proxied):
    name = "mod_proxy_uwsgi to uWSGI"
    way = "ProxyPass / unix:{0}|uwsgi://hello/"

    def configure(self) -> None:
        self.add(TOP / "demo" / "python" / "wsgi.py")
        self.httpd.modules.append("proxy_uwsgi")
        self.host(self.way.format(self.socket))

    def command(self) -> list[str]:
        return [*UWSGI.split(), "--master", "--processes", "2", "--socket",
                str(self.socket), "--chmod-socket=666"]


class Row(NamedTuple):
    name: str
    kinds: list[type[Server]]
    traffic: Traffic = Traffic()
    mpms: tuple[str, ...] = ("prefork", "event")


MB = 1 << 20
# The peers are mod_proxy itself, and start no process.
PROXIES = [
    Row("C, any number of requests at once",
        [OursKept, PassKept, HandlerKept]),
    Row("C, one request at once", [OursOne, PassOne, HandlerOne]),
    Row("C, responses of 1 MB", [OursOne, HandlerOne],
        Traffic(f"/bytes-{MB}")),
    Row("C, responses of 100 MB", [OursOne, HandlerOne],
        Traffic(f"/bytes-{100 * MB}", clients=2, seconds=2)),
    Row("C, uploads of 1 MB", [OursOne, HandlerOne],
        Traffic(script=upload(MB))),
    Row("C, 1,000 kept clients", [OursMany, HandlerMany],
        Traffic(clients=1000, seconds=2), ("event",)),
    Row("C, HTTP/2", [OursHttp2, HandlerHttp2], Traffic(http2=True),
        ("event",)),
]
MANAGERS = [
    Row("FastCGI in C", [OursFcgi, ModFcgid]),
    Row("PHP", [OursPhp, PhpFpm]),
    Row("Ruby (Rack)", [OursRack, PassengerRack]),
    Row("Python (WSGI)", [OursWsgi, ModWsgi, PassengerWsgi, Gunicorn]),
    Row("Python (uwsgi)", [OursUwsgi, ProxyUwsgi]),
    Row("Python (uwsgi), AppGlobalQueue Off", [OursUwsgiOff, ProxyUwsgi]),
    Row("Node", [OursNode, PassengerNode]),
]


@contextmanager
def temporary() -> Iterator[None]:
    """$TMPDIR, because Passenger leaves reports there and never removes
    them."""
    place = tempfile.mkdtemp(prefix="peers-")
    os.chmod(place, 0o1777)
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = place

    def is_removed() -> bool:
        shutil.rmtree(place, ignore_errors=True)
        return not os.path.exists(place)

    try:
        yield
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before
        wait_until(is_removed, "nobody writes reports any more", 60)


@contextmanager
def started(mpm: str, kinds: list[type[Server]]) -> Iterator[list[Server]]:
    """The servers that are available. A missing peer is named. They also end
    when this process gets TERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    servers: list[Server] = []
    with temporary():
        try:
            for kind in kinds:
                try:
                    servers.append(kind(mpm))
                except Missing as package:
                    print(f"# missing: {kind.name}, package {package}")
            for server in servers:
                server.start()
            yield servers
        except AssertionError:
            for server in servers:
                print("\n".join(server.httpd.log.lines()[-5:]), file=sys.stderr)
            raise
        finally:
            for server in servers:
                server.destroy()
