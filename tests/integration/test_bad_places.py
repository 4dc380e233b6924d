# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Helper programs and runtime directories that cannot be used. There is one
sentence with the path, the reason and the remedy, and nothing is changed."""
import os
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Callable

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.httpd import Httpd
from harness.places import BUILD, can_mount, mounted
from harness.upgrade import install, other_build, this_build
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


def sentence(text: str, *words: str) -> str:
    """The one line that contains these words. Lines about apps that run as
    httpd's own user do not count, because most apps here do."""
    lines = [line for line in text.splitlines() if "apppool: " in line
             and "httpd's own user" not in line]
    assert len(lines) == 1, text
    for word in words:
        assert word in lines[0], text
    return lines[0]


# ---- programs

def script(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def version_of(program: str) -> str:
    return subprocess.run([str(BUILD / program), "--version"], text=True,
                          capture_output=True, check=True).stdout.strip()


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda p: p.unlink(), "No such file or directory"),
    "no right to": (lambda p: p.chmod(0o644), "Permission denied"),
    "directory": (lambda p: (p.unlink(), p.mkdir()), "Is a directory"),
    "no program": (lambda p: (p.unlink(), p.write_bytes(b"\0\1\2\3"),
                              p.chmod(0o755)), "Exec format error"),
    "another program": (lambda p: script(p, "echo hello; echo more"),
                        'says "hello" and not "apppool-'),
    "silent": (lambda p: script(p, "exit 3"), 'says "" and not "apppool-'),
    "babbles": (lambda p: script(p, "exec yes hello"), 'says "hello" and'),
    "older": (lambda p: script(p, f"echo '{p.name} 0.0.9 (contract 1)'"),
              "0.0.9 (contract 1)"),
}


def test_bad_program(httpd: Httpd) -> None:
    """httpd -t reports it."""
    httpd.app("shop")
    httpd.libexec = httpd.dir / "lib"
    programs = "apppool-watchdog", "apppool-spawner"
    for (what, program), case in cases(product(BAD, programs)):
        shutil.rmtree(httpd.libexec, ignore_errors=True)
        install(httpd.libexec, this_build())
        spoil, why = BAD[what]
        spoil(httpd.libexec / program)
        done = httpd.test()
        with case:
            assert done.returncode != 0
            line = sentence(done.stdout, str(httpd.libexec / program), why,
                            "AppPoolLibexec", "install")
            if "not" in why:
                assert version_of(program) in line
            assert not httpd.runtime.exists()


def test_program_that_hangs(httpd: Httpd) -> None:
    """It gets a bounded time, and no process of it is left."""
    httpd.app("shop")
    httpd.libexec = httpd.dir / "lib"
    install(httpd.libexec, this_build())
    script(httpd.libexec / "apppool-spawner",
           f"sleep 1000 & cd {httpd.dir}; sleep 1000")
    done = httpd.test()
    assert done.returncode != 0
    sentence(done.stdout, "apppool-spawner --version did not end", "20 s")
    wait_until(lambda: not list(procs.marked(str(httpd.dir))), "it is ended")


def test_program_of_another_layout(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.libexec = httpd.dir / "lib"
    install(httpd.libexec, {
        "apppool-watchdog": this_build()["apppool-watchdog"],
        "apppool-spawner": other_build() / "apppool-spawner"})
    done = httpd.test()
    assert done.returncode != 0
    line = sentence(done.stdout, version_of("apppool-spawner"))
    assert len(set(re.findall(r"layout ([0-9a-f]{16})", line))) == 2


def test_bad_program_on_graceful(httpd: Httpd) -> None:
    """An httpd that serves continues with the programs that it has. If it
    needs a new instance, requests for the app are refused, and everything else
    is served."""
    httpd.log.expect(sentences.OTHER_BUILD, sentences.NO_POOL)
    app = httpd.app("shop")
    httpd.libexec = httpd.dir / "lib"
    httpd.module = httpd.libexec / "mod_apppool.so"
    install(httpd.libexec, this_build())
    (httpd.dir / "htdocs" / "file").write_text("static")
    httpd.start()
    pid = int(httpd.get("/pid", "shop").text)
    script(httpd.libexec / "apppool-spawner", "echo other")
    assert httpd.test().returncode != 0
    httpd.graceful()
    assert httpd.get("/pid", "shop").text == str(pid)
    install(httpd.libexec, {"mod_apppool.so": other_build() /
                            "mod_apppool.so"})
    httpd.graceful()
    httpd.log.wait_for('apppool-watchdog .*says|spawner .*"other"')
    assert httpd.get("/pid", "shop").status == 503
    assert httpd.get("/file").text == "static"
    install(httpd.libexec, {name: other_build() / name
                            for name in this_build()})
    httpd.graceful()
    assert httpd.get("/pid", "shop").status == 200
    assert httpd.pids(app) != [pid]


# ---- the runtime directory

def foreign(path: Path) -> None:
    path.mkdir()
    shutil.chown(path, "www-data")


def link(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    path.symlink_to("elsewhere")


DIRECTORIES: dict[str, tuple[Callable[[Path], object], str]] = {
    "file": (lambda p: p.write_text("x"), "is not a directory"),
    "link": (link, "is a symbolic link"),
    "dangling link": (lambda p: p.symlink_to("nowhere"),
                      "is a symbolic link"),
    "foreign": (foreign, "belongs to user 33, but root starts httpd"),
    "nowhere": (lambda p: p.parent.rename(f"{p.parent}.old"),
                "No such file or directory"),
}


@pytest.mark.parametrize("what", list(DIRECTORIES))
def test_bad_runtime_directory(httpd: Httpd, what: str) -> None:
    """httpd -t reports it, and changes nothing."""
    httpd.app("shop")
    above = httpd.dir / "x"
    above.mkdir()
    runtime = above / "p"
    httpd.directives[0] = f'AppPoolRuntimeDir "{runtime}"'
    spoil, why = DIRECTORIES[what]
    spoil(runtime)
    before = sorted(httpd.dir.rglob("*"))
    done = httpd.test()
    assert done.returncode != 0
    sentence(done.stdout, str(runtime), why, "AppPoolRuntimeDir")
    assert [p for p in sorted(httpd.dir.rglob("*"))
            if p.name != "httpd.conf"] \
        == [p for p in before if p.name != "httpd.conf"]


@pytest.mark.skipif(not can_mount(), reason="mount is denied")
@pytest.mark.parametrize("exists", [True, False])
def test_read_only_runtime_directory(httpd: Httpd, exists: bool) -> None:
    httpd.app("shop")
    above = httpd.dir / "x"
    above.mkdir()
    runtime = above / "p"
    if exists:
        runtime.mkdir()
    httpd.directives[0] = f'AppPoolRuntimeDir "{runtime}"'
    httpd.wrapper = mounted(f"mount --bind -o ro {above} {above}")
    done = httpd.test()
    assert done.returncode != 0
    sentence(done.stdout, str(runtime), "Read-only file system",
             "AppPoolRuntimeDir")


def test_not_writable(httpd: Httpd) -> None:
    """httpd may run without root. Then the directory must be another one."""
    httpd.log.expect(sentences.NO_RUNTIME, sentences.CONFIGURATION_FAILED)
    httpd.app("shop")
    above = httpd.dir / "x"
    above.mkdir()
    httpd.directives[0] = f'AppPoolRuntimeDir "{above}/p"'
    shutil.chown(httpd.dir, "www-data")
    httpd.wrapper = ["setpriv", "--reuid=33", "--regid=33", "--clear-groups"]
    httpd.launch()
    assert httpd.process is not None
    assert httpd.process.wait(20) != 0
    sentence("\n".join(httpd.log.lines()), f"{above}/p", "Permission denied",
             "AppPoolRuntimeDir")
    shutil.chown(above, "www-data")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200


def test_another_user_may_ask(httpd: Httpd) -> None:
    """Users other than root may run httpd -t."""
    httpd.app("shop")
    httpd.start()
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "--regid=65534",
         "/usr/sbin/apache2", "-t", "-f", str(httpd.dir / "httpd.conf")],
        text=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    assert done.stderr.endswith("Syntax OK\n")
    assert "apppool" not in done.stdout + done.stderr
