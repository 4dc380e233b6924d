# Licensed under the Apache License, Version 2.0; see LICENSE.
"""In a new Debian: make deb, from the tarball of make dist. Besides the package of
this version, the packages of two later ones are made: `next` has the same format
of the pool, `other` has another one."""
import hashlib
import re
import shutil
from pathlib import Path

from steps import run, shell

WORK = Path("/packages")
TARBALL, = WORK.glob("mod_apppool-*.tar.gz")
VERSION = TARBALL.name.removeprefix("mod_apppool-").removesuffix(".tar.gz")
FAST = "DEB_BUILD_OPTIONS='nocheck noautodbgsym parallel=2'"
# Turkish has another small letter of I.
ELSEWHERE = "umask 077; export TZ=Asia/Tokyo LC_ALL=tr_TR.UTF-8;"


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def unpacked(name: str) -> Path:
    source = WORK / name
    source.mkdir(parents=True)
    shell(f"tar -xf {TARBALL} -C {source} --strip-components=1")
    return source


def build(source: Path) -> Path:
    """A build in a folder of its own."""
    place = source / "build"
    place.mkdir()
    shell("../configure -q", cwd=place)
    return place


def the_package(place: Path) -> Path:
    found, = place.glob("libapache2-mod-apppool_*.deb")
    return found


def make_dist_from_the_tarball() -> None:
    """The same bytes again."""
    shell("localedef -i tr_TR -f UTF-8 tr_TR.UTF-8")
    place = build(unpacked("one"))
    shell(f"{ELSEWHERE} make dist", cwd=place)
    assert hashed(place / TARBALL.name) == hashed(TARBALL)


def make_deb() -> None:
    place = WORK / "one" / "build"
    said = shell(f"{FAST} make deb", cwd=place)
    assert f"The packages are in {place}/deb:" in said
    shutil.copy(the_package(place / "deb"), WORK / "this.deb")
    needs = shell(f"dpkg-deb -f {WORK}/this.deb Depends").strip()
    print(needs)
    # The manual has the libraries of this Debian.
    if "bookworm" in Path("/etc/os-release").read_text():
        page = (WORK / "one" / "doc" / "requirements.md").read_text()
        assert ", ".join(one for one in needs.split(", ")
                         if one.startswith("lib")) in " ".join(page.split())


def lintian_is_content() -> None:
    said = shell("lintian --allow-root --fail-on error,warning *.changes",
                 cwd=WORK / "one" / "build" / "deb")
    assert not re.search(r"^[EW]:", said, re.M), said


def reproducible() -> None:
    """Another folder, umask, language and time zone, and number of jobs."""
    shell(f"{ELSEWHERE} {FAST.replace('=2', '=3')} dpkg-buildpackage -us -uc -b",
          cwd=unpacked("another/place/source"))
    assert hashed(the_package(WORK / "another" / "place")) \
        == hashed(WORK / "this.deb")


def nothing_is_left_out() -> None:
    """The package has all that make install installs."""
    root = WORK / "root"
    (root / "etc/apache2/mods-available").mkdir(parents=True)
    shell(f"make install DESTDIR={root}",
          cwd=WORK / "another" / "place" / "source" / "debian" / "build")
    made = {str(path.relative_to(root))
            for path in root.rglob("*") if not path.is_dir()}
    there = {line.split()[5].removeprefix("./").removesuffix(".gz") for line in
             shell(f"dpkg-deb -c {WORK}/this.deb").splitlines()}
    made = {file.replace("share/zsh/site-functions",
                         "share/zsh/vendor-completions") for file in made}
    assert made - there == set(), made - there
    assert {"etc/apache2/mods-available/apppool.load",
            "usr/bin/apppoolctl"} <= made
    assert {"usr/share/man/man5/mod_apppool.5",
            "usr/lib/systemd/system/apache2.service.d/apppool.conf",
            "usr/lib/sysusers.d/libapache2-mod-apppool.conf"} <= there


def links_of_the_html() -> None:
    """Each leads to a file, and to a heading of it."""
    html = WORK / "one" / "build" / "html"
    shell("make html", cwd=html.parent)
    n = 0
    for page in html.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"]*)"', page.read_text()):
            if re.match(r"https?:", link):
                continue
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            assert target.is_file(), f"{page}: {link}"
            assert not anchor or f'id="{anchor}"' in target.read_text(), \
                f"{page}: {link}"
            n += 1
    assert n > 500


def later(name: str, version: str, stale: str,
          edit: dict[str, tuple[str, str]]) -> None:
    """Packages are built without dependency tracking: what has to be built again
    is touched."""
    source = WORK / "another" / "place" / "source"
    if not source.exists():
        unpacked("another/place/source")
    for file, (old, new) in {
            "configure.ac": (r"(AC_INIT.*)\[[\d.]+\]", rf"\1[{version}]"),
            "debian/changelog": (r"\([\d.]+\)", f"({version})"),
            **edit}.items():
        text = (source / file).read_text()
        changed = re.sub(old, new, text, count=1)
        assert changed != text, file
        (source / file).write_text(changed)
    shell(f"grep -rlE '{stale}' --include='*.c' . | xargs touch; "
          "rm -rf debian/debhelper-build-stamp debian/.debhelper "
          "debian/autoreconf.* debian/libapache2-mod-apppool "
          "debian/*.substvars ../*.deb", cwd=source)
    shell(f"{FAST} dpkg-buildpackage -us -uc -b -nc", cwd=source)
    made = the_package(source.parent)
    assert made.name.split("_")[1] == version
    made.rename(WORK / f"{name}.deb")


def next_version() -> None:
    later("next", "99.1", "APPPOOL_VERSION|contract.h", {})


def version_with_another_pool() -> None:
    later("other", "99.2", "include", {"shm/format/format.h": (
        "(#define APL_FORMAT_VERSION +)", r"\g<1>11")})


def what_the_package_needs() -> None:
    """For the scenes, which have no network."""
    shell(f"apt-get install -q -y --download-only {WORK}/this.deb")


run([make_dist_from_the_tarball, make_deb, lintian_is_content, reproducible,
     nothing_is_left_out, links_of_the_html, next_version,
     version_with_another_pool, what_the_package_needs])
