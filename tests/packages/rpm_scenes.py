# Licensed under the Apache License, Version 2.0; see LICENSE.
"""In a new Debian without a network, which gets RHEL's layout of httpd: install
the package of rpm_build.py, get a page, install it again, and remove it."""
import re
import subprocess
from pathlib import Path

from pool import get, ours, pids
from steps import run, shell, until

WORK = Path("/packages")
SOURCE = WORK / "source"
RPM = WORK / "this.rpm"
ETC = Path("/etc/httpd")
MODULES = Path("/usr/lib64/httpd/modules")
ASKED = WORK / "asked"  # what the package's scripts ask systemctl for

# RHEL's httpd has these paths built in.
HTTPD = '#!/bin/sh\nexec /usr/sbin/apache2 -d /etc/httpd -f conf/httpd.conf "$@"\n'
BUILT_IN = ("PidFile /run/httpd/httpd.pid\nDefaultRuntimeDir /run/httpd\n"
            "ServerName localhost\n")
APACHECTL = '#!/bin/sh\n[ "$*" = configtest ] && exec httpd -t\n'
SYSTEMCTL = f'''#!/bin/sh
echo "$*" >>{ASKED}
pid=$(cat /run/httpd/httpd.pid 2>/dev/null)
case $* in
daemon-reload) ;;
"is-active -q httpd.service") kill -0 $pid 2>/dev/null ;;
"reload httpd.service") httpd -k graceful ;;
"show -p MainPID --value httpd.service") echo $pid ;;
*) exit 1 ;;
esac
'''
CODE = '''
import os

def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"the first page, of {os.getuid()}".encode()]
'''
SITE = '''
<IfModule apppool_module>
<VirtualHost *:80>
    ServerName   shop.test
    DocumentRoot /srv/shop/public
    AppRoot      /srv/shop
    AppStore     8M
    <Directory /srv/shop/public>
        Require all granted
    </Directory>
</VirtualHost>
</IfModule>
'''
OTHER = '''
<VirtualHost *:80>
    ServerName   other.test
    DocumentRoot /var/www/html
</VirtualHost>
'''


def parent() -> int:
    return int(Path("/run/httpd/httpd.pid").read_text())


def program(path: str, text: str) -> None:
    Path(path).write_text(text)
    Path(path).chmod(0o755)


def rpm(words: str) -> str:
    """Its dependencies have other names in Debian, which keeps rpm from
    installing unless it is told to."""
    ASKED.write_text("")
    return shell(f"rpm --force-debian --nodeps {words}", limit=200)


def asked() -> list[str]:
    return ASKED.read_text().splitlines()


# ---- the steps

def files() -> None:
    """What the manual says, and nothing else. All belong to root, and only
    programs and directories may be executed."""
    manual = (SOURCE / "doc" / "requirements.md").read_text()
    table = manual.partition("What the package for RHEL has:")[2] \
        .partition("\n\n|")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(/[^`]+)`", table))
    form = r"%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME}"
    rows = [line.split() for line in shell(
        f"rpm -qp --qf '[{form}\\n]' {RPM}").splitlines()]
    there = {row[0] for row in rows}
    assert len(named) > 15 and named - there == set(), named - there
    for name, mode, owner in rows:
        assert owner == "root:root", name
        right = "drwxr-xr-x" if mode[0] == "d" else "-rwxr-xr-x" \
            if re.search(r"/bin/|apppool-\w+$|\.so$", name) else "-rw-r--r--"
        assert mode == right, (name, mode)
        assert any(name == place or name.startswith(f"{place}/")
                   for place in named), name
    kept = set(shell(f"rpm -qpc {RPM}").split())
    assert kept == {name for name in there if name.startswith("/etc/")}


def layout_of_rhel() -> None:
    for place in (ETC / "conf", ETC / "conf.d", ETC / "conf.modules.d", MODULES,
                  Path("/var/log/httpd"), Path("/var/www/html"),
                  Path("/run/httpd"), Path("/run/systemd/system")):
        place.mkdir(parents=True)
    for link, target in (("modules", MODULES), ("logs", "/var/log/httpd"),
                         ("run", "/run/httpd")):
        (ETC / link).symlink_to(target)
    for module in Path("/usr/lib/apache2/modules").glob("*.so"):
        (MODULES / module.name).symlink_to(module)
    stock = (SOURCE / "tests/integration/harness/stock.py").read_text()
    names = re.findall(r'^RHEL = """(.*?)"""', stock, re.M | re.S)[0].split()
    (ETC / "conf.modules.d" / "00-base.conf").write_text("".join(
        f"LoadModule {name}_module modules/mod_{name}.so\n" for name in names))
    conf = (SOURCE / "tests/integration/stock/rhel.conf").read_text()
    (ETC / "conf" / "httpd.conf").write_text(
        BUILT_IN + conf.replace("www-data", "apache"))
    (ETC / "conf.d" / "other.conf").write_text(OTHER)
    (ETC / "conf.d" / "shop.conf").write_text(SITE)
    Path("/var/www/html/index.html").write_text("another site")
    Path("/etc/mime.types").touch()
    shell("groupadd -g 48 apache && "
          "useradd -u 48 -g 48 -s /sbin/nologin -d /usr/share/httpd apache")
    app = Path("/srv/shop")
    (app / "public").mkdir(parents=True)
    (app / "wsgi.py").write_text(CODE)
    shell("chown -R daemon:daemon /srv/shop")
    program("/usr/sbin/httpd", HTTPD)
    program("/usr/sbin/apachectl", APACHECTL)
    program("/usr/bin/systemctl", SYSTEMCTL)


def install_while_httpd_is_stopped() -> None:
    """The user is there, and nothing starts httpd."""
    rpm(f"-i {RPM}")
    assert asked() == ["daemon-reload", "is-active -q httpd.service"]
    user = shell("getent passwd apppool-store").strip().split(":")
    assert int(user[2]) < 1000 and user[6] == "/usr/sbin/nologin", user
    shell("rpm -V --nodeps mod_apppool")


def drop_in() -> None:
    text = Path("/usr/lib/systemd/system/httpd.service.d/apppool.conf").read_text()
    assert re.findall(r"^[^#\n].*", text, re.M) == ["[Service]", "Delegate=yes"]
    for name in re.findall(r"/usr/share/\S+?\.md", text + (
            ETC / "conf.d" / "apppool.conf").read_text()):
        assert Path(name).is_file(), name
    assert "Debian" not in (ETC / "conf.d" / "apppool.conf").read_text()


def first_page() -> None:
    """httpd's children run as apache, the application as its owner, the store
    as its user."""
    shell("httpd -k start")
    uid = shell("id -u daemon").strip()
    assert get() == f"the first page, of {uid}"
    assert get("/", "other.test") == "another site"
    users = shell("ps -o user:20= -C apache2").split()
    assert set(users) == {"root", "apache"}, users
    assert shell("ps -o user:20= -C apppool-store").strip() == "apppool-store"
    assert "-t finds nothing\n" in shell("apppoolctl doctor")
    assert pids()


def installed_again() -> None:
    """As at an upgrade: one graceful reload, and the applications go on."""
    before = pids(), parent()
    rpm(f"-U --force {RPM}")
    assert asked() == ["daemon-reload", "is-active -q httpd.service",
                       "reload httpd.service"]
    assert get().startswith("the first page")
    assert (pids(), parent()) == before


def the_configuration_is_broken() -> None:
    """The package says so, and httpd goes on as it was."""
    broken = ETC / "conf.d" / "broken.conf"
    broken.write_text("Nonsense on\n")
    before = pids(), parent()
    said = rpm(f"-U --force {RPM}")
    broken.unlink()
    assert "The configuration is broken" in said and "Nonsense" in said, said
    assert "reload httpd.service" not in asked()
    assert get().startswith("the first page")
    assert (pids(), parent()) == before


def a_changed_configuration_stays() -> None:
    file = ETC / "conf.d" / "apppool.conf"
    file.write_text("MaxPoolSize 7\n")
    rpm(f"-U --force {RPM}")
    assert file.read_text() == "MaxPoolSize 7\n"


def remove() -> None:
    """Other sites go on, and the applications end."""
    httpd = parent()
    rpm("-e mod_apppool")
    assert asked()[:3] == ["daemon-reload", "is-active -q httpd.service",
                           "reload httpd.service"]
    assert not ours(), ours()
    assert parent() == httpd and get("/", "other.test") == "another site"
    left = [line for line in shell("find /usr /etc /run -xdev "
                                  "-name '*apppool*'").splitlines()]
    assert left == ["/etc/httpd/conf.d/apppool.conf.rpmsave"], left


def the_end() -> None:
    pid = parent()
    shell("httpd -k stop")
    until(lambda: subprocess.run(["kill", "-0", str(pid)],
                                 capture_output=True).returncode != 0,
          "httpd has ended")


run([files, layout_of_rhel, install_while_httpd_is_stopped, drop_in, first_page,
     installed_again, the_configuration_is_broken, a_changed_configuration_stays,
     remove, the_end])
