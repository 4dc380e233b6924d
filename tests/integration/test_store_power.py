# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A power cut: httpd, its programs and keepalived of a host end in the same
moment, because they are in a process namespace whose first process is killed.
What is left are the files."""
import shutil
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest

from harness import procs
from harness.cluster import Hosted
from harness.long import lasts
from harness.space import Space
from harness.wait import wait_until
from hosts.network import Network, why_none
from missed import within
import second_look
from saves import both, has_end, items_of, wholes

pytestmark = pytest.mark.one_mpm("the store is the same")
ALONE = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"]
EVERY = 1  # s
SAVE = 2  # s that a save of these items may last
KEYS, LARGE = 100, 16
CUTS = lasts(1, 10)
PAUSE = 0.01  # s


@pytest.fixture(name="host")
def make_host(request: pytest.FixtureRequest) -> Iterator[Hosted]:
    why = why_none()
    if why:
        pytest.skip(f"no network namespaces here: {why}")
    with Network(1) as network:
        host = Hosted(network.nodes[0])
        host.wrapper = ALONE
        try:
            yield host
        finally:
            if not request.node.report_call.passed:
                second_look.keep(request.node, host.keep_logs(
                    f"{request.path.stem}-{request.node.name}"))
                print(host.keepalived.output())
            host.end()


def first_process(host: Hosted) -> int:
    return wait_until(lambda: procs.children(host.pid), "httpd runs")[0]


def boot(host: Hosted) -> Space:
    """@return a client of the store, which is the master"""
    host.start()
    inside = f"--pid=/proc/{first_process(host)}/ns/pid"
    host.keepalived.wrapper = ["nsenter", inside]
    host.keepalived.start()
    wait_until(host.host.has_vip, "it has the address")
    wait_until(host.is_ready, "it is the master")
    with host.host.entered():
        return Space(host, "shop")


def cut(host: Hosted) -> None:
    procs.kill9(first_process(host))
    host.keepalived.process.wait(60)  # type: ignore[union-attr]
    host.keepalived.process = None
    host.process.wait(60)  # type: ignore[union-attr]
    host.process = None
    host.host.drop_vip()
    shutil.rmtree(host.runtime)  # in /run of a machine, as these:
    for file in host.keepalived.place.glob("*.pid"):
        file.unlink()


class Writer(threading.Thread):
    """Writes the number of its round to all keys, in each round.
    @param rounds when the store has acknowledged each"""

    def __init__(self, space: Space, rounds: list[float]) -> None:
        super().__init__()
        self.space, self.rounds = space, rounds
        self.start()

    def run(self) -> None:
        try:
            while True:
                for n in range(KEYS):
                    self.space.set(f"k{n}", f"{len(self.rounds)}")
                self.rounds.append(time.monotonic())
                time.sleep(PAUSE)
        except (OSError, AssertionError):
            """The power is cut."""


def saved(save: Path) -> dict[bytes, bytes]:
    """What the newest whole file has."""
    files = wholes(save)
    found = items_of(files[0])["shop"] if files else {}
    return {key: item.value for key, item in found.items()}


def oldest(values: dict[bytes, bytes]) -> int:
    """The first round of which a value is there."""
    return min((int(value) for key, value in values.items()
                if key.startswith(b"k")), default=0)


def cut_inside_of_a_save(host: Hosted, save: Path, round_: int) -> float:
    """@param round_ a save of this one or of later ones is there before
    @return when"""
    def count() -> int:
        return sum(map(has_end, both(save)))
    def is_saved() -> bool:
        values = saved(save)
        return len(values) == KEYS + LARGE and oldest(values) >= round_
    wait_until(is_saved, "it is saved")
    wait_until(lambda: count() == 2, "two files are whole")
    wait_until(lambda: count() == 1, "it saves")
    at = time.monotonic()
    cut(host)
    return at


def test_a_power_cut_leaves_the_last_save(host: Hosted) -> None:
    save = host.dir / "saved"
    host.directives.append(f"AppStoreSave {save} {EVERY}s")
    host.app("shop", "AppGroupName shop", "AppStore 64M")
    space = boot(host)
    for n in range(LARGE):
        space.set(f"large{n}", f"{n}" * 250_000)
    rounds = [time.monotonic()]
    for _ in range(CUTS):
        writer = Writer(space, rounds)
        at = cut_inside_of_a_save(host, save, len(rounds))
        writer.join()
        left = saved(save)
        space = boot(host)
        for key, value in left.items():
            assert space.get(key.decode()) == value.decode()
        assert len(left) == KEYS + LARGE
        # All that was acknowledged before this round is in the file.
        age = at - rounds[oldest(left) - 1]
        print(f"a value was written {age:.2f} s before, or later")
        within(age, EVERY + 2 * SAVE, "a save")
