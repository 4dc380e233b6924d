# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Versions of puma: the installed one, those of other Debians, which tests/run
only unpacks (tests/lib/releases.sh), each with the Ruby of its Debian, and one of
the future."""
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

import pytest

from harness.packaged import UNPACKED

# Debians, and the version of puma that the tests want there
RELEASES = {"trixie": "6", "testing": "8"}
FUTURE = """Gem::Specification.new do |s|
  s.name, s.version, s.summary = "puma", "99.0", "of the future"
  s.authors = ["nobody"]
  s.files, s.executables, s.bindir = [], ["puma"], "bin"
end
"""


def release(name: str) -> Path:
    """Its files, below this directory"""
    root = UNPACKED / f"puma-{name}"
    if not root.exists():
        pytest.skip(f"tests/run has not unpacked puma of Debian {name}")
    gem = one(root, "usr/**/specifications/puma-*.gemspec").stem
    if not gem.startswith(f"puma-{RELEASES[name]}."):
        pytest.skip(f"Debian {name} has {gem} by now, and not version "
                    f"{RELEASES[name]}")
    return root


def one(root: Path, pattern: str) -> Path:
    found = sorted(root.glob(pattern))
    assert found, f"{root} has no {pattern}"
    return found[-1]


def write(program: Path, text: str) -> None:
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n" + text)
    program.chmod(0o755)


def of_release(root: Path, place: Path, rack: bool = True) -> str:
    """Make programs ruby and puma there: those of another Debian. They use its
    own libraries.
    @return a PATH with them"""
    libraries = one(root, "usr/lib/*-linux-gnu")
    library = one(root, "usr/lib/ruby/[0-9]*")
    gems = [one(libraries, "rubygems-integration/[0-9]*")]
    if rack:
        gems.append(root / "usr/share/rubygems-integration/all")
    write(place / "ruby", f"""
export GEM_PATH={":".join(map(str, gems))}
export RUBYLIB={root}/usr/lib/ruby/vendor_ruby:{library}:{
    libraries / "ruby" / library.name}
exec {one(libraries, "ld-linux-*.so.*")} --library-path {libraries} \\
    --argv0 ruby {one(root, "usr/bin/ruby[0-9]*")} "$@"
""")
    write(place / "puma", f'exec {place}/ruby {root}/usr/bin/puma "$@"\n')
    return f"{place}:/usr/bin:/bin"


@lru_cache(maxsize=None)
def ask(expression: str) -> str:
    """The installed Ruby"""
    return subprocess.run(["ruby", "-e", f"puts({expression})"], check=True,
                          text=True, capture_output=True).stdout.strip()


def of_the_future(place: Path, old: str = "Launcher",
                  new: str = "Starter") -> str:
    """Make puma 99.0 there. It is the installed one, with another word in its
    code. By default it works, but its interface is another one.
    @return a GEM_PATH with it"""
    gem = place / "gems" / "puma-99.0"
    spec = 'Gem::Specification.find_by_name("puma")'
    shutil.copytree(ask(f"{spec}.gem_dir"), gem)
    shutil.copytree(ask(f"{spec}.extension_dir"), gem / "lib",
                    dirs_exist_ok=True)
    for file in gem.rglob("*.rb"):
        file.write_text(file.read_text().replace(old, new))
    (place / "specifications").mkdir()
    (place / "specifications" / "puma-99.0.gemspec").write_text(FUTURE)
    return f"{place}:{ask('Gem.path.join(%q(:))')}"
