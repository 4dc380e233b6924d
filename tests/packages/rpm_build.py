# Licensed under the Apache License, Version 2.0; see LICENSE.
"""In a new Debian: rpmbuild, from the tarball of make dist, over Debian's httpd,
with the paths and the flags of RHEL 9."""
import re
import shutil
from pathlib import Path

from steps import run, shell

WORK = Path("/packages")
TARBALL, = WORK.glob("mod_apppool-*.tar.gz")
VERSION = TARBALL.name.removeprefix("mod_apppool-").removesuffix(".tar.gz")

# What the packages redhat-rpm-config, systemd-rpm-macros and httpd-devel define,
# without the plugins of their compiler.
FLAGS = """-O2 -fexceptions -g -grecord-gcc-switches -pipe -Wall
    -Werror=format-security -Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=2
    -fstack-protector-strong -m64 -march=x86-64-v2 -mtune=generic
    -fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection"""
MACROS = {
    "dist": ".el9", "debug_package": "%{nil}", "_smp_mflags": "-j2",
    "_unpackaged_files_terminate_build": "1", "_build_id_links": "none",
    "_docdir": "/usr/share/doc", "_docdir_fmt": "%%{NAME}",
    "__os_install_post": "bash /usr/lib/rpm/brp-compress",
    "optflags": " ".join(FLAGS.split()), "_libdir": "/usr/lib64",
    "_localstatedir": "/var", "_sysconfdir": "/etc", "_pkgdocdir":
    "%{_docdir}/%{name}", "_unitdir": "/usr/lib/systemd/system",
    "_sysusersdir": "/usr/lib/sysusers.d", "_httpd_mmn": "20120211x8664",
    "_httpd_apxs": "/usr/bin/apxs", "_httpd_moddir": "%{_libdir}/httpd/modules",
    "_httpd_confdir": "%{_sysconfdir}/httpd/conf.d",
    "_httpd_modconfdir": "%{_sysconfdir}/httpd/conf.modules.d",
}


def rpmbuild() -> None:
    """It refuses files that are installed and not packed."""
    words = " ".join(f"--define '{name} {value}'"
                     for name, value in MACROS.items())
    said = shell(f"nice -n 10 rpmbuild -tb --nodeps --with lowdown "
                 f"--without check --define '_topdir {WORK}/rpm' {words} "
                 f"{TARBALL} 2>&1")
    assert not re.search(r"warning: .*\[-W", said), said
    made, = (WORK / "rpm" / "RPMS").rglob("*.rpm")
    assert made.name.startswith(f"mod_apppool-{VERSION}-1.el9."), made
    shutil.copy(made, WORK / "this.rpm")
    print(shell(f"rpm -qp --requires {WORK}/this.rpm").strip())


def unpack_the_source() -> None:
    """For the scenes: the manual, and RHEL's configuration."""
    (WORK / "source").mkdir()
    shell(f"tar -xf {TARBALL} -C {WORK}/source --strip-components=1")


run([rpmbuild, unpack_the_source])
