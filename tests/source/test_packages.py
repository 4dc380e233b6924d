# Licensed under the Apache License, Version 2.0; see LICENSE.
"""debian/, the manual as HTML, and what make dist takes. tests/packages builds and
installs the packages."""
import re
import subprocess
from pathlib import Path

import pytest

from source import TOP, lists

DEBIAN = TOP / "debian"
SCRIPTS = [DEBIAN / script for script in
           ("postinst", "prerm", "postrm", "make-deb", "tests/first-page")] + [
    TOP / "doc" / "make-html", TOP / "doc" / "make-man",
    TOP / "mod_apppool" / "after-install"]


def version() -> str:
    found = re.search(r"^AC_INIT\(.*\[(.*)\]\)$",
                      (TOP / "configure.ac").read_text(), re.M)
    assert found
    return found[1]


def test_version() -> None:
    """Of configure.ac, as the changelog of the package has it. A README that
    names a version names this one."""
    log = (DEBIAN / "changelog").read_text()
    assert log.startswith(f"mod-apppool ({version()}) ")
    assert (DEBIAN / "source" / "format").read_text() == "3.0 (native)\n"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts(path: Path) -> None:
    """They are of the shell that Debian has as /bin/sh."""
    subprocess.run(["dash", "-n", str(path)], check=True)
    text = path.read_text()
    assert text.startswith("#!/bin/sh\n") and "\nset -eu\n" in text \
        or "\nset -e\n" in text or path.name == "after-install"
    if path.parent == DEBIAN and path.name != "make-deb":
        assert "#DEBHELPER#" in text


def test_httpd_is_never_restarted() -> None:
    """The package has none of the scripts of dh_apache2, and its own reload."""
    assert "\tdh_apache2 --noscripts\n" in (DEBIAN / "rules").read_text()
    for script in ("postinst", "prerm", "postrm"):
        lines = [line for line in (DEBIAN / script).read_text().splitlines()
                 if not line.lstrip().startswith("#")]
        asked = [line for line in lines if "apache2_invoke" in line]
        assert asked and all(re.search(r"(en|dis)mod apppool reload\b", line)
                             for line in asked), script
        assert not re.search(r"\brestart\b|apache2ctl (stop|start)",
                             "\n".join(lines)), script


@pytest.mark.parametrize("layout", ["of Debian", "of others"])
def test_what_make_install_says(tmp_path: Path, layout: str) -> None:
    """How to load the module here, what a site needs, and how to load it."""
    modules = tmp_path / "mods-available"
    if layout == "of Debian":
        modules.mkdir()
    said = subprocess.run(
        ["sh", str(TOP / "mod_apppool" / "after-install"), "/modules",
         str(modules), "/usr/local/bin"], text=True, check=True,
        stdout=subprocess.PIPE).stdout
    assert ("a2enmod apppool" in said) == (layout == "of Debian")
    assert ("LoadModule apppool_module /modules/mod_apppool.so" in said) \
        == (layout == "of others")
    assert "AppRoot " in said and "configtest && apache" in said
    for command in ("detect", "doctor", "why"):
        assert f"/usr/local/bin/apppoolctl {command}" in said
    assert all(len(line) < 80 for line in said.splitlines())


def test_drop_in() -> None:
    """It says nothing about a unit of the administrator but this."""
    assert re.findall(r"^[^#\n].*", (DEBIAN / "apppool.conf").read_text(),
                      re.M) == ["[Service]", "Delegate=yes"]


def needs(text: str) -> set[str]:
    return set(re.findall(r"[a-z][\w.+-]+", re.sub(r"\([^)]*\)|<[^>]*>", "",
                                                   text)))


def test_what_the_build_needs() -> None:
    """The manual and the test install what the package asks for."""
    control = (DEBIAN / "control").read_text()
    asked = re.search(r"^Build-Depends:((?:.*\n)+?)(?=\w)", control, re.M)
    assert asked
    wanted = needs(asked[1]) - {"debhelper-compat", "dh-sequence-installsysusers"}
    manual = re.search(r"apt-get install (build-essential (?:.*\\\n)*.*)\n",
                       (TOP / "doc" / "requirements.md").read_text())
    suite = re.search(r'^needed="((?:[^"]|\n)*)"',
                      (TOP / "tests/packages/run").read_text(), re.M)
    assert manual and suite
    assert needs(manual[1]) == wanted | {"build-essential", "debhelper"}
    assert wanted <= needs(suite[1])


def test_each_man_page_is_installed() -> None:
    assert set(lists()["man_pages"]) == {
        f"doc/{path.name}" for path in (TOP / "doc").glob("*.8")}
    for program in ("apppool-watchdog", "apppool-spawner", "apppool-store",
                    "apppoolctl"):
        assert f"doc/{program}.8" in lists()["man_pages"]


def test_make_dist_takes_all() -> None:
    """Each file and folder of the top that is in the repository."""
    done = subprocess.run(["git", "ls-files"], cwd=TOP, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        pytest.skip("this is no clone")
    there = {file.partition("/")[0] for file in done.stdout.splitlines()}
    text = (TOP / "Makefile.am").read_text().replace("\\\n", " ")
    taken = {word for key in ("EXTRA_DIST", "folders", "houses")
             for line in re.findall(rf"^{key} = (.*)$", text, re.M)
             for word in line.split()}
    # automake takes the others by itself.
    assert there - taken == {"Makefile.am", "configure.ac", "README"}


def dist_hook(source: Path, place: Path) -> set[str]:
    """Run that rule of Makefile.am. @return the files that it has copied"""
    text = (TOP / "Makefile.am").read_text()
    lines = re.findall(r"^(?:houses|folders|CLEANFILES) = .*$", text, re.M)
    rule = re.search(r"^dist_files = .*?\n\n", text, re.M | re.S)
    assert len(lines) == 3 and rule
    place.mkdir()
    (place / "Makefile").write_text("\n".join([
        f"srcdir = {source}", "distdir = made", "AWK = awk", *lines, rule[0]]))
    made = place / "made"
    made.mkdir()
    subprocess.run(["make", "-s", "dist-hook"], cwd=place, check=True)
    return {str(path.relative_to(made)) for path in made.rglob("*")
            if not path.is_dir()}


def test_make_dist_takes_nothing_else(tmp_path: Path) -> None:
    """Not what a build or a person has left in the folders of a clone; nor what a
    build has left in those of a tarball."""
    clone = tmp_path / "clone"
    if subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{TOP}", clone],
                      stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this is no clone")
    asked = subprocess.run(["git", "ls-files"], cwd=clone, text=True, check=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    there = {file for file in asked if "/" in file} | {"README"}
    left = ["mod_apppool/status/assets.c", "base/.deps/x.Po", "base/x.lo",
            "base/.libs/x.o", "tests/unit/lock.log", "tests/lib/x.pyc"]
    for file in left:
        (clone / file).parent.mkdir(exist_ok=True)
        (clone / file).write_text("made")
    (clone / "base" / "program").write_bytes(b"\x7fELF")
    (clone / "doc" / "of a person").touch()
    assert dist_hook(clone, tmp_path / "of the clone") == there
    (clone / "doc" / "of a person").unlink()
    (clone / ".git").rename(tmp_path / "git")
    assert dist_hook(clone, tmp_path / "of the tarball") == there


def test_each_file_that_is_installed_by_hand_exists() -> None:
    """Of debian/examples, docs and install; what a build makes is not there."""
    for name in ("examples", "docs", "install"):
        for line in (DEBIAN / name).read_text().splitlines():
            file = line.split()[0]
            assert file.startswith("debian/build/") or list(TOP.glob(file)), file


def test_html(tmp_path: Path) -> None:
    """Each link leads to a file, and to a heading of it."""
    html = tmp_path / "html"
    subprocess.run(["sh", str(TOP / "doc" / "make-html"), "lowdown", str(TOP),
                    str(html)], check=True)
    pages = {path: path.read_text() for path in html.rglob("*.html")}
    assert len(pages) > 25
    for page, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            if re.match(r"https?:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.is_file(), f"{page.name}: {link}"
            assert not anchor or f'id="{anchor}"' in pages[target], \
                f"{page.name}: {link}"


def test_man_page_of_the_directives(tmp_path: Path) -> None:
    page = tmp_path / "mod_apppool.5"
    subprocess.run(["sh", str(TOP / "doc" / "make-man"), "lowdown", str(TOP),
                    str(page)], check=True)
    done = subprocess.run(["groff", "-t", "-man", "-ww", "-Tutf8", "-rLL=70n",
                           str(page)], text=True, capture_output=True, check=True)
    assert done.stderr == ""
    heads = re.findall(r"^\.SH[\n ](\w+)$", page.read_text(), re.M)
    assert heads[:2] == ["NAME", "DESCRIPTION"] and "AppRoot" in heads
    assert "defaults.md" not in done.stdout
