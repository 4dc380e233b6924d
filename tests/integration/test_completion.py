# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Completion of apppoolctl in bash."""
import subprocess

import pytest

from harness.httpd import Httpd
from harness.places import BUILD, TOP
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")

SCRIPT = """
    source {top}/ctl/completion/apppoolctl
    PATH={build}:$PATH
    COMP_WORDS=(apppoolctl --dir {runtime} "$@")
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMPREPLY=()
    _apppoolctl
    printf "%s\n" "${{COMPREPLY[@]}}" """


def complete(httpd: Httpd, *words: str) -> list[str]:
    """What the last word becomes."""
    script = SCRIPT.format(top=TOP, build=BUILD, runtime=httpd.runtime)
    return subprocess.run(["bash", "-uc", script, "bash", *words], check=True,
                          text=True, cwd=httpd.dir,
                          stdout=subprocess.PIPE).stdout.splitlines()


def test_what_runs(httpd: Httpd) -> None:
    """Ids of processes that run, and applications."""
    app = httpd.app("shop")
    httpd.start()
    before = int(httpd.get("/pid", "shop").text)
    gone = httpd.group(app)["processes"][0]["id"]
    assert httpd.ctl("detach", gone).returncode == 0
    wait_until(lambda: before not in httpd.pids(app), "it has ended")
    assert httpd.get("/pid", "shop").status == 200
    known = httpd.group(app)["processes"][0]["id"]
    assert complete(httpd, "detach", "") == [known]
    assert complete(httpd, "detach", known[:3]) == [known]
    assert complete(httpd, "restart", "") == [str(app.root)]
    assert complete(httpd, "restart", "/nothing") == [""]
    assert set(complete(httpd, "restart", "--")) == {
        "--rolling", "--blocking", "--wait", "--timeout", "--json"}
    assert complete(httpd, "start", "") == [str(app.root)]


def test_name_that_the_shell_would_run(httpd: Httpd) -> None:
    """The shell sees names as mere words, whatever they contain. Names come
    from the segment, for example, which httpd's user can write to, and root
    runs the completion."""
    app = httpd.app("shop", root=httpd.dir / "a b$(echo >pwned)*")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    [word] = complete(httpd, "restart", "")
    assert not (httpd.dir / "pwned").exists()
    again = subprocess.run(["bash", "-c", f"printf %s {word}"], text=True,
                           cwd=httpd.dir, stdout=subprocess.PIPE, check=True)
    assert again.stdout == str(app.root)
    assert complete(httpd, "restart", word[:-3]) == [word]
