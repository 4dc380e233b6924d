# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Packages of npm, for applications/npm.py. What is downloaded is kept in
build/npm. As a program: download what tests need that have no network."""
import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.places import TOP, alone

sys.path.append(str(TOP / "tests" / "applications"))
from npm import NODES, TOOLS, Project  # noqa: E402

KEPT = TOP / "build" / "npm"
AXE = "4.14.1"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
QUIET = {"CI": "1", "npm_config_audit": "false", "npm_config_fund": "false",
         "npm_config_update_notifier": "false", "npm_config_yes": "true",
         "npm_config_cache": str(KEPT / "cache"),
         "XDG_DATA_HOME": str(KEPT / "data"),
         "NODE_DISABLE_COMPILE_CACHE": "1",  # it would be in TMPDIR
         "XDG_CACHE_HOME": str(KEPT / "cache"),
         "YARN_GLOBAL_FOLDER": str(KEPT / "yarn"),
         "YARN_ENABLE_IMMUTABLE_INSTALLS": "false",
         **{f"{name}_TELEMETRY_DISABLED": "1"
            for name in ("ASTRO", "NEXT", "NUXT")},
         "YARN_ENABLE_TELEMETRY": "0", "NG_CLI_ANALYTICS": "false"}


def run(command: str, place: Path, **more: str) -> str:
    done = subprocess.run(command, shell=True, cwd=place, text=True,
                          env={**os.environ, **QUIET, **more},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}:\n{done.stdout}"
    return done.stdout


def put(place: Path, files: dict[str, str]) -> None:
    """The files belong to nobody else, whatever stood there."""
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text)


def need_registry() -> None:
    """Without it, the test is skipped."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    done = subprocess.run(["npm", "ping", "--fetch-retries=0"], text=True,
                          env={**os.environ, **QUIET}, cwd="/",
                          capture_output=True)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line]
        pytest.skip("the registry of npm cannot be reached: "
                    + " ".join(said[:2]))


def node(version: str) -> Path:
    """The program, of its package."""
    return tools() / "node_modules" / f"node-{version}" / "bin" / "node"


@functools.cache
def tools() -> Path:
    """A directory that has bin/ for PATH. The npm of this machine installs it."""
    words = [f"{name}@{version}" for name, version in TOOLS.items()] + [
        f"node-{version}@npm:node-linux-{MACHINES[platform.machine()]}@{version}"
        for version in NODES]
    name = hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]
    place = KEPT / f"tools-{name}"
    with alone():
        if not place.exists():
            new = KEPT / "new"
            shutil.rmtree(new, ignore_errors=True)
            put(new, {"package.json": "{}"})
            run(f"npm install {' '.join(words)}", new)
            (new / "bin").mkdir()
            for link, file in {
                    "node": f"node-{NODES[0]}/bin/node",
                    "npm": "npm/bin/npm-cli.js", "npx": "npm/bin/npx-cli.js",
                    "pnpm": ".bin/pnpm",
                    "yarn-4": "@yarnpkg/cli-dist/bin/yarn.js"}.items():
                (new / "bin" / link).symlink_to(f"../node_modules/{file}")
            new.rename(place)
    return place


def script(package: str, version: str, file: str) -> str:
    """A file of a package that needs no other one."""
    place = KEPT / f"{package}-{version}"
    with alone():
        if not place.exists():
            new = KEPT / "new"
            shutil.rmtree(new, ignore_errors=True)
            put(new, {"package.json": "{}"})
            run(f"npm install --ignore-scripts {package}@{version}", new)
            new.rename(place)
    return (place / "node_modules" / package / file).read_text()


def axe() -> str:
    """The script that checks whether all people can use a page."""
    if not (KEPT / f"axe-core-{AXE}").exists():
        need_registry()
    return download_axe()


def download_axe() -> str:
    return script("axe-core", AXE, "axe.min.js")


def build(project: Project, place: Path) -> None:
    """Install the packages of a project in this directory, and build it."""
    place.mkdir()
    put(place, {**project.files, "package.json": json.dumps({
        "name": project.name, "version": "1.0.0", "private": True,
        "dependencies": project.packages, **project.package})})
    path = f"{tools()}/bin:{os.defpath}"
    run(project.install, place, PATH=path)
    if project.build:
        run(project.build, place, PATH=path)


if __name__ == "__main__":
    download_axe()
