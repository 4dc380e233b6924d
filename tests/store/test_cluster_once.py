# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The recipe of doc/store.md for a command of cron, as it stands there: of
several hosts, one runs it."""
import os
import signal
import subprocess
import textwrap
from pathlib import Path
from typing import Iterator

import pytest

from harness.client import ask
from harness.cluster import ByHand, Node
from harness.members import StoreMember
from harness.pairs import holds
from harness.places import TOP
from harness.servers import wait_until
from harness.store import Store, space
from hosts.network import Host

pytestmark = pytest.mark.usefixtures("namespaces")
WAITS = ("sh", "-c", "echo begun; read line; exit 7")
BEGUN = b"cron:nightly:begun"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    text = (TOP / "doc/store.md").read_text()
    lines = text[text.index("    #!/bin/bash\n    # one-host "):].splitlines()
    end = lines.index("    exit $status")
    path = tmp_path / "one-host"
    path.write_text(textwrap.dedent("\n".join(lines[:end + 1])) + "\n")
    path.chmod(0o755)
    return path


def begin(script: Path, server: Store, *words: str,
          path: str = "") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [script, *words], text=True, start_new_session=True,
        env=os.environ | {"MEMCACHE_SERVERS": path or str(server.path)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(script: Path, server: Store, *words: str,
        path: str = "") -> tuple[int, str, str]:
    one = begin(script, server, *words, path=path)
    out, errors = one.communicate("", 120)
    return one.returncode, out, errors


def begins(script: Path, server: Store) -> "subprocess.Popen[str]":
    """The command runs until its standard input ends."""
    one = begin(script, server, "nightly", *WAITS)
    assert one.stdout and one.stdout.readline() == "begun\n"
    return one


# ---- one host

@pytest.fixture
def store() -> Iterator[Store]:
    with Store() as one:
        yield one


def test_exit_status(script: Path, store: Store) -> None:
    """It is that of the command. A run that has ended prevents the next one for
    some time."""
    assert run(script, store, "a", "sh", "-c", "exit 9") == (9, "", "")
    assert run(script, store, "b", "sh", "-c", "kill -9 $$")[0] == 137
    assert run(script, store, "c", "/no/such/command")[0] == 127
    assert run(script, store, "d", "echo", "a  b") == (0, "a  b\n", "")
    assert run(script, store, "d", "echo", "x") == (0, "", "")


def test_one_of_many(script: Path, store: Store, tmp_path: Path) -> None:
    """All begin in the same moment, and exactly one runs the command."""
    runs = tmp_path / "runs"
    many = [begin(script, store, "a", "sh", "-c", f"echo $$ >>{runs}")
            for _ in range(12)]
    for one in many:
        one.communicate(timeout=60)
        assert one.returncode == 0
    assert len(runs.read_text().splitlines()) == 1


def test_killed(script: Path, store: Store) -> None:
    """A script that is killed does not keep the lock, although its command
    lives."""
    one = begins(script, store)
    one.kill()
    one.wait()
    with store.connect() as client:
        ask(client, b"delete " + BEGUN + b"\r\n")
    wait_until(lambda: run(script, store, "nightly", "echo", "x")[1] == "x\n",
               "the lock is free")
    one.communicate("\n", 60)


def test_store_dies(script: Path, store: Store) -> None:
    """The command goes on. Its status is passed on, and the loss is told."""
    one = begins(script, store)
    store.end(signal.SIGKILL)
    out, errors = one.communicate("\n", 60)
    assert (one.returncode, out) == (7, "")
    assert errors == "cron:nightly: the lock was lost, see doc/store.md\n"
    store.start()


def test_no_store(script: Path, store: Store) -> None:
    store.end()
    status, out, errors = run(script, store, "a", "echo", "x")
    assert (status, out) == (69, "")
    assert "cron:a: the store gives no lock: " in errors
    store.start()


def test_after_an_upgrade(script: Path, store: Store) -> None:
    """The socket of the first instance is gone."""
    (store.dir / "current").symlink_to(".")
    socket = f"{store.dir}/m/{store.path.name}"
    assert run(script, store, "a", "echo", "x", path=socket)[1] == "x\n"
    other = Path(f"{store.dir}/1/m")
    other.mkdir(parents=True)
    (store.dir / "m" / store.path.name).rename(other / store.path.name)
    (store.dir / "current").unlink()
    (store.dir / "current").symlink_to("1")
    assert run(script, store, "b", "echo", "x", path=socket)[1] == "x\n"
    (other / store.path.name).rename(socket)


# ---- several hosts

def shop(host: Host) -> StoreMember:
    return StoreMember(host, space("shop"))


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


@pytest.fixture
def cluster() -> Iterator[ByHand]:
    with ByHand(*[shop] * 3) as one:
        yield one


def nobody_runs(script: Path, nodes: list[Node]) -> bool:
    done = [run(script, of(node), "nightly", "echo", "x") for node in nodes]
    assert {status for status, _, _ in done} == {0}, done
    return {out for _, out, _ in done} == {""}


def time_passes(node: Node) -> None:
    """As after 30 seconds: it is forgotten that a run began."""
    with of(node).connect() as client:
        assert ask(client, b"delete " + BEGUN + b"\r\n") == b"DELETED\r\n"


@pytest.mark.parametrize("number", [1, 2])
def test_the_master_changes(script: Path, cluster: ByHand,
                            number: int) -> None:
    """The next master is the host of the command, or the third one. No other
    host runs the command for 30 seconds. Then one may, as the manual says, and
    the first one is told."""
    old, here, _ = cluster.nodes
    new = cluster.nodes[number]
    one = begins(script, of(here))
    assert nobody_runs(script, cluster.nodes)
    time_passes(here)
    assert nobody_runs(script, cluster.nodes), "the lock is held"
    with of(here).connect() as client:
        ask(client, b"set " + BEGUN + b" 0 600 0\r\n\r\n")
    for node in cluster.nodes[1:]:
        wait_until(lambda: holds(of(node), BEGUN), "it knows of the run")
    cluster.move(old, new)
    assert nobody_runs(script, cluster.nodes)
    time_passes(new)
    assert run(script, of(old), "nightly", "echo", "x")[1] == "x\n"
    out, errors = one.communicate("\n", 60)
    assert (one.returncode, out) == (7, "")
    assert "the lock was lost" in errors


@pytest.mark.parametrize("number", [0, 1])
def test_the_host_dies(script: Path, cluster: ByHand, number: int) -> None:
    """The host of the command is the master, or a slave. Another one runs the
    command next."""
    here, other = cluster.nodes[number], cluster.nodes[2]
    one = begins(script, of(here))
    wait_until(lambda: holds(of(other), BEGUN), "it knows of the run")
    here.crash()
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()
    if number == 0:
        other.take()
        wait_until(other.member.is_master, "it is the master")
    assert nobody_runs(script, [other])
    time_passes(other)
    wait_until(lambda: not nobody_runs(script, [other]), "the lock is free")


def test_no_master(script: Path, cluster: ByHand) -> None:
    """While nobody has the address, nobody gets the lock, and nothing runs."""
    old, here, _ = cluster.nodes
    old.drop()
    wait_until(lambda: not of(here).figures().of["connected"], "no master")
    assert run(script, of(here), "nightly", "echo", "x")[:2] == (69, "")
    old.take()
    wait_until(old.member.is_master, "it is the master again")
    assert run(script, of(here), "nightly", "echo", "x")[:2] == (0, "x\n")
