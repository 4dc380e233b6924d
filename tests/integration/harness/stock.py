# Licensed under the Apache License, Version 2.0; see LICENSE.
"""httpd as a distribution configures it: on port 80, with files in /srv and
/var/www, all in namespaces of its own."""
import re
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import Optional

from missed import witnesses

from harness.packaged import UNPACKED
from harness.places import BUILD, MODULE, TOP, apxs, httpd_program
from harness.wait import wait_until

STOCK = TOP / "tests" / "integration" / "stock"

# Debian's postinst enables these.
DEBIAN = """mpm_event authz_core authz_host authn_core auth_basic access_compat
    authn_file authz_user alias dir autoindex env mime negotiation setenvif
    filter deflate status reqtimeout""".split()

# The modules of RHEL's conf.modules.d that Debian does not link into httpd.
RHEL = """mpm_event authz_core authz_host authn_core auth_basic access_compat
    authn_file authz_user alias dir autoindex env mime negotiation setenvif
    filter deflate status proxy proxy_http proxy_fcgi""".split()

ROOM = """
ip link set lo up
mount -t tmpfs none /run && mkdir -p /run/apache2 /run/lock/apache2
mount --bind {dir}/srv /srv && mount --bind {dir}/var /var
"""


def debian_package() -> Optional[Path]:
    """The files of Debian's package apache2, or None if tests/run has not
    unpacked it."""
    place = UNPACKED / "apache2"
    return place if place.exists() else None


def readme() -> str:
    """README.md's first example."""
    text = (TOP / "README.md").read_text()
    found = re.search(r"(?:^    [^\n]*\n|^\n)+", text[text.index("\n    "):],
                      re.M)
    assert found is not None
    return textwrap.dedent(found.group()).strip() + "\n"


class Stock:
    """Its configuration is in dir/etc."""
    mounts = ""

    def __init__(self) -> None:
        witnesses.append(lambda: ["nothing reads the log of this httpd"])
        self.dir = Path(tempfile.mkdtemp(prefix="st"))
        self.dir.chmod(0o755)
        var = self.dir / "var"
        for place in (var / "log" / "apache2", var / "lib" / "apache2",
                      var / "www" / "html", var / "tmp",
                      self.dir / "srv" / "shop" / "public"):
            place.mkdir(parents=True)
        (var / "tmp").chmod(0o1777)
        (var / "run").symlink_to("/run")
        (var / "lock").symlink_to("/run/lock")
        self.process: Optional[subprocess.Popen[bytes]] = None
        shop = self.dir / "srv" / "shop"
        (shop / "wsgi.py").write_text(
            "def application(environ, start_response):\n"
            "    start_response('200 OK', [])\n"
            "    return [b'the shop']\n")
        (shop / "public" / "style.css").write_text("a file")
        subprocess.run(["chown", "-R", "nobody:nogroup", shop], check=True)

    def room(self) -> list[str]:
        commands = (ROOM + self.mounts).format(dir=self.dir)
        return ["unshare", "--mount", "--net", "--propagation", "private",
                "sh", "-ec", f'{commands}\nexec "$@"', "sh"]

    @property
    def words(self) -> list[str]:
        raise NotImplementedError

    def site(self, text: str) -> None:
        """Its virtual host."""
        raise NotImplementedError

    def test(self) -> str:
        """httpd -t"""
        done = subprocess.run([*self.room(), *self.words, "-t"], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def start(self) -> None:
        with open(self.dir / "output", "ab") as output:
            self.process = subprocess.Popen(
                [*self.room(), *self.words, "-DFOREGROUND"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True)
        wait_until(lambda: self.fetch("/nothing")[0] != "000", "httpd serves",
                   40)

    def fetch(self, path: str) -> tuple[str, str]:
        """Status and text."""
        assert self.process is not None and self.process.poll() is None, \
            (self.dir / "output").read_text() + self.log()
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{self.process.pid}/ns/net", "curl",
             "-s", "-m", "60", "-w", "\n%{http_code}", "-H",
             "Host: shop.example", f"http://127.0.0.1{path}"], text=True,
            capture_output=True)
        text, _, status = done.stdout.rpartition("\n")
        return status, text

    def log(self) -> str:
        return "".join(path.read_text() for path in self.dir.rglob("error*log"))

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
            self.process = None

    def destroy(self) -> None:
        self.stop()
        shutil.rmtree(self.dir)


class Debian(Stock):
    mounts = "mount --bind {dir}/etc /etc/apache2\n"

    def __init__(self, package: Path) -> None:
        super().__init__()
        shutil.copytree(package / "etc" / "apache2", self.dir / "etc")
        ours, mods = TOP / "mod_apppool", self.dir / "etc" / "mods-available"
        (mods / "apppool.load").write_text(
            (ours / "apppool.load.in").read_text().replace(
                "@moduledir@", str(MODULE.parent)))
        (mods / "apppool.conf").write_text(
            (ours / "apppool.conf").read_text() + f"AppPoolLibexec {BUILD}\n")
        self.tools = package / "usr" / "sbin"
        self.enable("a2enmod", *DEBIAN)
        self.enable("a2ensite", "000-default")
        self.enable("a2enmod", "apppool")

    def enable(self, tool: str, *names: str) -> None:
        subprocess.run([*self.room(), self.tools / tool, "-q", *names],
                       check=True, capture_output=True)

    @property
    def words(self) -> list[str]:
        return ["sh", "-c", "APACHE_CONFDIR=/etc/apache2; . /etc/apache2/envvars; "
                f'exec {httpd_program()} "$@"', "apache2"]

    def site(self, text: str) -> None:
        """a2enmod has loaded the module."""
        (self.dir / "etc" / "sites-available" / "shop.conf").write_text(
            "".join(line for line in text.splitlines(keepends=True)
                    if not line.startswith("LoadModule")))
        self.enable("a2ensite", "shop")


class Rhel(Stock):
    def __init__(self) -> None:
        super().__init__()
        etc = self.dir / "etc"
        for name in ("conf", "conf.d", "conf.modules.d", "modules"):
            (etc / name).mkdir(parents=True)
        (etc / "conf" / "httpd.conf").write_text(
            (STOCK / "rhel.conf").read_text().replace("/etc/httpd", str(etc)))
        for module in Path(apxs("LIBEXECDIR")).glob("mod_*.so"):
            (etc / "modules" / module.name).symlink_to(module)
        ours = etc / "modules" / MODULE.name
        ours.unlink(missing_ok=True)
        ours.symlink_to(MODULE)
        (etc / "logs").symlink_to("/var/log/apache2")
        (etc / "conf.modules.d" / "00-base.conf").write_text("".join(
            f"LoadModule {name}_module modules/mod_{name}.so\n"
            for name in RHEL))
        (etc / "conf.d" / "zz.conf").write_text(
            f"AppPoolLibexec {BUILD}\nPidFile /run/httpd.pid\n"
            "DefaultRuntimeDir /run/apache2\n")

    @property
    def words(self) -> list[str]:
        return [httpd_program(), "-f", f"{self.dir}/etc/conf/httpd.conf"]

    def site(self, text: str) -> None:
        (self.dir / "etc" / "conf.d" / "shop.conf").write_text(text)
