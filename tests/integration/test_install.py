# Licensed under the Apache License, Version 2.0; see LICENSE.
"""make install and uninstall, and the build with apxs alone."""
import subprocess
from pathlib import Path
from typing import Callable

import pytest

from harness.places import BUILD, TOP, apxs
from harness.upgrade import other_build

Install = Callable[..., None]


def make(*words: str, where: Path) -> str:
    done = subprocess.run(["make", *words], cwd=where, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def installed(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")
            if not path.is_dir()}


def want(prefix: str = "usr/local") -> set[str]:
    modules = apxs("LIBEXECDIR").lstrip("/")
    return {f"{modules}/mod_apppool.so",
            f"{prefix}/libexec/apppool/apppool-watchdog",
            f"{prefix}/libexec/apppool/apppool-spawner",
            f"{prefix}/libexec/apppool/apppool-store",
            *(f"{prefix}/libexec/apppool/{path.relative_to(TOP)}"
              for kind in ("*.py", "*.rb", "*.ru", "*.pl", "*.cjs")
              for path in (TOP / "helpers").rglob(kind)),
            f"{prefix}/bin/apppoolctl",
            *(f"{prefix}/share/man/man8/{page.name}"
              for page in (TOP / "doc").glob("*.8")),
            f"{prefix}/share/zsh/site-functions/_apppoolctl",
            f"{prefix}/share/bash-completion/completions/apppoolctl"}


def debian(root: Path) -> set[str]:
    """Make the directories of Debian's apache2 in this root. @return the files
    that are expected there"""
    mods = Path(apxs("SYSCONFDIR")) / "mods-available"
    (root / str(mods).lstrip("/")).mkdir(parents=True)
    return {f"{mods}/apppool.load".lstrip("/"),
            f"{mods}/apppool.conf".lstrip("/")}


def try_both(root: Path, run: Install) -> None:
    """An apppoolctl that an older version has left in sbin becomes a link:
    root's shell finds it first."""
    old = root / "usr/local/sbin/apppoolctl"
    old.parent.mkdir(parents=True)
    old.touch()
    run("install", f"DESTDIR={root}")
    found = installed(root)
    assert str(old.readlink()) == "/usr/local/bin/apppoolctl"
    assert {f for f in found if "mods-available" not in f} \
        == want() | {str(old.relative_to(root))}
    run("uninstall", f"DESTDIR={root}")
    assert installed(root) == set()
    extra = debian(root) if not any(root.rglob("mods-available")) else set()
    run("install", f"DESTDIR={root}")
    assert installed(root) >= want() | extra
    load = next(root.rglob("apppool.load")).read_text()
    assert load.startswith("# Depends: proxy proxy_http\n")
    assert f"{apxs('LIBEXECDIR')}/mod_apppool.so" in load
    conf = next(root.rglob("apppool.conf"))
    conf.write_text(conf.read_text() + "MaxPoolSize 9\n")
    run("install", f"DESTDIR={root}")
    run("uninstall", f"DESTDIR={root}")
    assert installed(root) == {str(conf.relative_to(root))}, \
        "a changed apppool.conf is the administrator's"


@pytest.mark.bound(700)
def test_make_install(tmp_path: Path) -> None:
    try_both(tmp_path, lambda *words: make(*words, where=BUILD) and None)


@pytest.mark.bound(700)
def test_apxs_mk(tmp_path: Path) -> None:
    source = other_build().parent
    root = tmp_path / "root"
    root.mkdir()
    try_both(root, lambda *words: make(
        "-f", "apxs.mk", "-o", "build-apxs/apppool-store", *words,
        where=source) and None)
    nm = subprocess.run(["nm", "-D", "--defined-only",
                         str(source / "build-apxs" / "mod_apppool.so")],
                        text=True, capture_output=True, check=True)
    assert [line.split()[2] for line in nm.stdout.splitlines()] \
        == ["apppool_module"]


def test_only_the_module_is_exported() -> None:
    nm = subprocess.run(["nm", "-D", "--defined-only",
                         str(BUILD / ".libs" / "mod_apppool.so")],
                        text=True, capture_output=True, check=True)
    assert [line.split()[2] for line in nm.stdout.splitlines()] \
        == ["apppool_module"]


def test_watchdog_needs_libc_alone() -> None:
    needed = subprocess.run(["readelf", "-d",
                             str(BUILD / "apppool-watchdog")],
                            text=True, capture_output=True, check=True)
    libraries = [line.split("[")[1].rstrip("]")
                 for line in needed.stdout.splitlines() if "NEEDED" in line]
    # The loader belongs to libc: it has __tls_get_addr().
    assert [name for name in libraries
            if not name.startswith("ld-linux")] == ["libc.so.6"]


@pytest.mark.parametrize("file", [".libs/mod_apppool.so", "apppool-watchdog",
                                  "apppool-spawner", "apppool-store",
                                  "apppoolctl"])
def test_hardened(file: str) -> None:
    """Full RELRO"""
    out = subprocess.run(["readelf", "-d", "-l", str(BUILD / file)],
                         text=True, capture_output=True, check=True).stdout
    assert "GNU_RELRO" in out and "NOW" in out
