# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The package for RHEL: packaging/rpm. tests/packages/run rpm builds and installs
it."""
import re
import subprocess
from pathlib import Path

import pytest

from source import TOP, lists
from test_packages import version

SPEC = (TOP / "packaging" / "rpm" / "mod_apppool.spec").read_text()
PIECES = re.split(r"^%(post|posttrans|postun|files|install|prep|build|check|"
                  r"changelog|description)$", SPEC, flags=re.M)
SECTIONS = dict(zip(PIECES[1::2], PIECES[2::2]))
PATHS = {"_httpd_moddir": "/usr/lib64/httpd/modules", "_bindir": "/usr/bin",
         "_httpd_modconfdir": "/etc/httpd/conf.modules.d",
         "_httpd_confdir": "/etc/httpd/conf.d", "_libexecdir": "/usr/libexec",
         "_mandir": "/usr/share/man", "_datadir": "/usr/share",
         "_unitdir": "/usr/lib/systemd/system",
         "_sysusersdir": "/usr/lib/sysusers.d",
         "_pkgdocdir": "/usr/share/doc/mod_apppool"}


def files() -> set[str]:
    """Of %files, with the paths of RHEL."""
    found = {re.sub(r"%\{(\w+)\}", lambda name: PATHS[name[1]], path)
             for path in re.findall(r"(%\{_\w+\}\S*)$", SECTIONS["files"], re.M)}
    assert len(found) > 15
    return {re.sub(r"\*$", ".gz", path) for path in found}


def test_version() -> None:
    """Of configure.ac, and it has an entry in the log."""
    assert f"\nVersion:        {version()}\n" in SPEC
    assert re.match(rf"\* .* - {re.escape(version())}-1\n",
                    SECTIONS["changelog"].lstrip())


def test_the_manual_has_all_files() -> None:
    manual = (TOP / "doc" / "requirements.md").read_text()
    table = manual.partition("What the package for RHEL has:")[2] \
        .partition("\n\n|")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(/[^`]+)`", table))
    assert files() | {"/usr/share/licenses/mod_apppool"} == named


def test_each_installed_file_is_packed() -> None:
    """Programs, man pages, and what the package of Debian has, too."""
    packed = files()
    for page in lists()["man_pages"]:
        assert f"/usr/share/man/man8/{Path(page).name}.gz" in packed
    text = (TOP / "Makefile.am").read_text()
    programs = re.findall(r"^(?:apppoollibexec|bin)_PROGRAMS = (.*)$", text, re.M)
    assert len(programs) == 2
    for name in " ".join(programs).split():
        assert {f"/usr/libexec/apppool/{name}", f"/usr/bin/{name}"} & packed, name
    for file in re.findall(r"debian/\S+", SECTIONS["install"]):
        assert (TOP / file).is_file(), file


@pytest.mark.parametrize("section", ["post", "posttrans", "postun"])
def test_scripts(tmp_path: Path, section: str) -> None:
    """They never restart httpd, and reload it only after the check."""
    text = SECTIONS[section].replace("%%", "%").replace("%{", "${")
    (tmp_path / "script").write_text(text)
    subprocess.run(["dash", "-n", str(tmp_path / "script")], check=True)
    lines = "\n".join(line for line in text.splitlines()
                      if not line.lstrip().startswith("#"))
    assert not re.search(r"systemctl \S*(restart|stop|start)\b|-k (re)?start",
                         lines)
    assert (section == "post") == ("systemctl reload httpd.service" not in lines)
    before = lines.partition("systemctl reload")[0]
    assert section == "post" or "apachectl configtest" in before


SYSTEMCTL = '''systemctl() {
    echo "$*" >>asked
    case $* in
    "is-active -q httpd.service") [ "$RUNS" = yes ] ;;
    show*) echo 1 ;;
    esac
}
apachectl() { [ "$*" = configtest ] && [ "$RIGHT" = yes ]; }
'''


@pytest.mark.parametrize("section, first", [("posttrans", "1"), ("postun", "0")])
@pytest.mark.parametrize("runs, right, reloads", [
    ("yes", "yes", True), ("yes", "no", False), ("no", "yes", False)])
def test_a_reload(tmp_path: Path, section: str, first: str, runs: str, right: str,
                  reloads: bool) -> None:
    script = SECTIONS[section].replace("%%", "%").replace(
        "%{_libexecdir}", "/nowhere").replace("/run/systemd/system", str(tmp_path))
    done = subprocess.run(["dash", "-c", SYSTEMCTL + script, "script", first],
                          cwd=tmp_path, text=True, capture_output=True,
                          env={"RUNS": runs, "RIGHT": right,
                               "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0] == "daemon-reload"
    assert ("reload httpd.service" in asked) == reloads
    assert ("configuration is broken" in done.stderr) == (right == "no")


def test_an_upgrade_ends_nothing(tmp_path: Path) -> None:
    """%postun of the older version runs after the new one is installed."""
    script = SECTIONS["postun"].replace("%%", "%")
    subprocess.run(["dash", "-c", SYSTEMCTL + script, "script", "1"],
                   cwd=tmp_path, check=True)
    assert not (tmp_path / "asked").exists()
