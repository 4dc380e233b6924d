# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipe of doc/store.md for a semaphore, as it stands there."""
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.client import ask, put
from harness.places import TOP
from harness.store import Store

PROCESSES, MOST, ROUNDS = 6, 2, 20

# Instead of its last lines: count those that are in, and wait in there.
WORK = f"""
import sys

def number(command):
    client.sendall(command + b" inside 1\\r\\n")
    return int(client.recv(100))

client = socket.socket(socket.AF_UNIX)
client.connect(os.environ["MEMCACHE_SERVERS"])
for n in range({ROUNDS}):
    with Semaphore("thumbnails", {MOST}):
        inside = number(b"incr")
        assert inside <= {MOST}, inside
        if sys.argv[1:]:
            print("inside", flush=True)
            sys.stdin.read()
        number(b"decr")
"""


def recipe() -> str:
    """The block that begins with this line."""
    text = (TOP / "doc/store.md").read_text()
    chapter = text.partition("### At most N at a time\n")[2].partition("\n## ")[0]
    first = chapter.index("    import os\n")
    lines = chapter[first:].splitlines(keepends=True)
    code = [line for line in lines[:next(
        n for n, line in enumerate(lines) if line.strip()
        and not line.startswith("    "))]]
    whole = textwrap.dedent("".join(code))
    head, found, _ = whole.partition('with Semaphore("thumbnails", 2):')
    assert found
    return head


@pytest.fixture()
def program(tmp_path: Path) -> Path:
    path = tmp_path / "semaphore.py"
    path.write_text(recipe() + WORK)
    return path


def begin(store: Store, program: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(program), *words], text=True,
        env=os.environ | {"MEMCACHE_SERVERS": str(store.path)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_semaphore(program: Path) -> None:
    """Not more than two are inside, though one is killed there."""
    with Store() as store, store.connect() as client:
        put(client, b"inside", b"0")
        victim = begin(store, program, "and wait")
        assert victim.stdout and victim.stdout.readline() == "inside\n"
        ask(client, b"decr inside 1\r\n")
        others = [begin(store, program) for _ in range(PROCESSES)]
        victim.kill()
        victim.wait()
        for other in others:
            other.communicate(timeout=120)
        assert [other.returncode for other in others] == [0] * PROCESSES
        victim.communicate()
