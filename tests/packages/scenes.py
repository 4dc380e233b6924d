# Licensed under the Apache License, Version 2.0; see LICENSE.
"""In a new Debian without a network: install the packages of build.py, and
upgrade, downgrade, remove and purge them, while clients send requests."""
import re
import subprocess
import threading
import urllib.error
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from pool import get, ours, pids
from steps import run, shell, until

WORK = Path("/packages")
STATE = Path("/var/lib/apppool")
APP = Path("/srv/shop")
SITES = Path("/etc/apache2/sites-available")
CLIENTS = 4

CODE = '''
import os, socket

def ask(line):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ["MEMCACHE_SERVERS"])
        s.sendall(line)
        return s.recv(4096)

def application(environ, start_response):
    path = environ["PATH_INFO"]
    text = str(os.getpid()).encode()
    if path == "/set":
        text = ask(b"set kept 0 0 5\\r\\nvalue\\r\\n")
    elif path == "/get":
        text = ask(b"get kept\\r\\n")
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text]
'''
SITE = '''
<IfModule apppool_module>
<VirtualHost *:80>
    ServerName   shop.test
    DocumentRoot /srv/shop/public
    AppRoot      /srv/shop
    MinInstances 2
    AppStore     8M
    <Directory /srv/shop/public>
        Require all granted
    </Directory>
</VirtualHost>
</IfModule>
'''


def parent() -> int:
    """The pid of httpd."""
    return int(Path("/run/apache2/apache2.pid").read_text())


def apt(words: str) -> str:
    return shell("apt-get -q -y -o Dpkg::Options::=--force-confold "
                 f"--allow-downgrades --no-remove {words}"
                 if "install" in words else f"apt-get -q -y {words}")


def version() -> str:
    return shell("dpkg-query -W -f '${Version}' libapache2-mod-apppool")


@contextmanager
def load(path: str = "/", host: str = "shop.test") -> Iterator[None]:
    """No request of these clients may fail."""
    failed: list[str] = []
    counts = [0] * CLIENTS
    stop = threading.Event()

    def client(i: int) -> None:
        while not stop.is_set():
            try:
                get(path, host)
            except OSError as trouble:
                failed.append(str(trouble))
            counts[i] += 1

    threads = [threading.Thread(target=client, args=(i,))
               for i in range(CLIENTS)]
    for thread in threads:
        thread.start()
    until(lambda: all(counts), "each client has had a response")
    try:
        yield
        before = list(counts)
        until(lambda: all(now > then + 10 for now, then in zip(counts, before)),
              "each client has had responses afterwards")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed, f"{len(failed)} of {sum(counts)} failed: {failed[0]}"
    print(f"{sum(counts)} requests")


# ---- the steps

def install() -> None:
    """The second of two commands; the first one brings the file."""
    # Without systemd, invoke-rc.d asks this.
    policy = Path("/usr/sbin/policy-rc.d")
    policy.write_text("#!/bin/sh\nexit 0\n")
    policy.chmod(0o755)
    said = apt(f"install {WORK}/this.deb")
    assert "estart" not in said.partition("Setting up libapache2-mod-apppool")[
        2].partition("Setting up")[0], said
    shell("a2query -q -m apppool && a2query -q -m proxy_http")
    until(lambda: "apppool" in shell("apache2ctl -M"), "it is loaded")
    shell("service apache2 status || service apache2 start")
    assert shell("apppoolctl --version").split()[1] == version()
    user = shell("getent passwd apppool-store").strip().split(":")
    assert int(user[2]) < 1000 and user[6] == "/usr/sbin/nologin", user
    assert shell("dpkg --verify libapache2-mod-apppool") == ""


def drop_in() -> None:
    """systemd has no objection to it, nor to the lines of the example."""
    verify = "systemd-analyze --man=no verify apache2.service"
    folder = Path("/usr/lib/systemd/system/apache2.service.d")
    assert re.findall(r"^[^#\n].*", (folder / "apppool.conf").read_text(), re.M) \
        == ["[Service]", "Delegate=yes"]
    assert shell(verify) == ""
    lines = Path("/usr/share/doc/libapache2-mod-apppool/examples/"
                 "apache2.service.conf").read_text()
    more = folder / "more.conf"
    more.write_text(re.sub(r"^#(?=\w+=)", "", lines, flags=re.M))
    assert "\nTimeoutStopSec=150\n" in more.read_text()
    assert shell(verify) == ""
    more.write_text("[Service]\nNonsense=yes\n")
    assert "Nonsense" in shell(verify)
    more.unlink()


def autopkgtest() -> None:
    """By the program of this name. It would like to ask the mirror for lists. Its
    backend null cannot know that this Debian is apart from the machine."""
    tree = WORK / "tree"
    tree.mkdir()
    shell(f"tar -xf {WORK}/mod_apppool-*.tar.gz -C {tree} --strip-components=1 "
          "--wildcards '*/debian'")
    shell("autopkgtest --no-built-binaries "
          f"--ignore-restrictions=isolation-container -o {WORK}/autopkgtest "
          f"{WORK}/this.deb {tree}/ -- null")
    assert re.fullmatch(r"first-page +PASS\n",
                        (WORK / "autopkgtest" / "summary").read_text())


def an_application_with_a_store() -> None:
    (APP / "public").mkdir(parents=True, exist_ok=True)
    (APP / "wsgi.py").write_text(CODE)
    shell(f"chown -R daemon:daemon {APP}")
    (SITES / "shop.conf").write_text(SITE)
    shell("a2ensite -q shop && service apache2 reload")
    until(lambda: get("/").isdigit(), "it serves")
    until(lambda: len(pids()) == 2, "there are two processes")
    assert "STORED" in get("/set") and "value" in get("/get")
    assert shell("ps -o user:20= -C apppool-store").strip() == "apppool-store"


def the_configuration_is_broken() -> None:
    """The installation says so, and succeeds. Nothing is reloaded."""
    broken = Path("/etc/apache2/conf-enabled/broken.conf")
    before = pids(), parent()
    broken.write_text("Nonsense on\n")
    said = apt(f"install --reinstall {WORK}/this.deb")
    broken.unlink()
    assert "configuration is broken" in said and "Nonsense" in said, said
    assert (pids(), parent()) == before
    assert shell("dpkg --audit") == ""


def a_changed_configuration_stays() -> None:
    file = Path("/etc/apache2/mods-available/apppool.conf")
    file.write_text("MaxPoolSize 7\n")
    apt(f"install --reinstall {WORK}/this.deb")
    assert file.read_text() == "MaxPoolSize 7\n"
    assert not list(file.parent.glob("apppool.conf.*"))


def upgrade_to_a_compatible_version() -> None:
    before = pids(), parent()
    with load():
        apt(f"install {WORK}/next.deb")
    assert version() == "99.1"
    assert before[0] <= pids() and parent() == before[1], (before, pids())
    assert "value" in get("/get")


def upgrade_to_another_pool() -> None:
    old, httpd = pids(), parent()
    with load():
        apt(f"install {WORK}/other.deb")
    assert version() == "99.2" and parent() == httpd
    until(lambda: pids() and not pids() & old, "all are new")
    until(lambda: not any("(deleted)" in name for name in ours()),
          "the old programs have ended")
    assert "value" in get("/get")


def downgrade() -> None:
    old, httpd = pids(), parent()
    with load():
        apt(f"install {WORK}/this.deb")
    assert version() == shell("apppoolctl --version").split()[1]
    assert parent() == httpd
    until(lambda: pids() and not pids() & old, "all are new")
    assert "value" in get("/get")


def has_its_store() -> bool:
    """The other site responds until httpd has reloaded: 404."""
    try:
        return "value" in get("/get")
    except urllib.error.HTTPError:
        return False


def a_module_that_was_disabled_stays_so() -> None:
    shell("a2dismod -q -f apppool && service apache2 restart", limit=120)
    apt(f"install --reinstall {WORK}/this.deb")
    assert subprocess.run("a2query -q -m apppool", shell=True).returncode != 0
    shell("a2enmod -q apppool && service apache2 reload")
    until(has_its_store, "it serves, with its store")


def remove() -> None:
    """Other sites go on. What the store has saved stays."""
    httpd = parent()
    with load("/", "other.test"):
        apt("remove libapache2-mod-apppool")
        left = ours()
    assert not left, left
    assert parent() == httpd
    assert list(STATE.rglob("*"))
    assert Path("/etc/apache2/mods-available/apppool.load").exists()
    assert not Path("/usr/bin/apppoolctl").exists()


def installed_again() -> None:
    apt(f"install {WORK}/this.deb")
    shell("a2query -q -m apppool")
    until(has_its_store, "it serves, with its store")


def apache2_is_removed_with_it() -> None:
    """Before it, so its tools are gone. When apache2 comes back, it starts."""
    said = apt("remove apache2 libapache2-mod-apppool")
    assert said.index("Removing apache2 ") \
        < said.index("Removing libapache2-mod-apppool "), said
    apt("install apache2")
    assert get("/", "other.test")
    apt(f"install {WORK}/this.deb")
    until(has_its_store, "it serves, with its store")


def purge() -> None:
    """At once, while the store runs. Only the user is left."""
    apt("purge libapache2-mod-apppool")
    left = ours()
    assert not left, left
    left = [line for line in shell(
        f"find / /run -xdev -path {WORK} -prune -o "
        "-name '*apppool*' -print").splitlines()
            if not line.startswith((str(WORK), "/var/cache/apt"))]
    assert left == [], left
    assert not STATE.exists()
    shell("getent passwd apppool-store")
    assert get("/", "other.test")


def no_child_has_crashed() -> None:
    log = Path("/var/log/apache2/error.log").read_text()
    assert "exit signal" not in log, log
    shell("service apache2 stop", limit=120)


run([install, drop_in, autopkgtest, an_application_with_a_store,
     the_configuration_is_broken, a_changed_configuration_stays,
     upgrade_to_a_compatible_version, upgrade_to_another_pool, downgrade,
     a_module_that_was_disabled_stays_so, remove, installed_again,
     apache2_is_removed_with_it, purge, no_child_has_crashed])
