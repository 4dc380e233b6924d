# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The periodic save of a slave."""
import signal
from pathlib import Path

import pytest

from harness.figures import MASTER
from harness.members import StoreMember, store
from harness.pairs import inside_of_a_copy, joined, read, sent_all, write
from harness.servers import wait_until
from hosts.network import Host
from saves import save_file, wholes

pytestmark = pytest.mark.usefixtures("namespaces")
VALUES = 5


def die(member: StoreMember) -> None:
    """With its memory, as in a power cut."""
    member.end(signal.SIGKILL)
    member.forget()


def test_a_slave_saves_no_part_of_a_copy(tmp_path: Path) -> None:
    """After its promotion and a power cut, its file has all: what came with the
    copy, what came after it, and what it has got as the master."""
    save = save_file(tmp_path)

    def make(host: Host) -> StoreMember:
        member = store(host, save=save if host.number == 2 else None)
        member.table["save_every"] = 1
        member.write_table()
        return member

    def has_copied() -> bool:
        files = wholes(save)
        complete = second.figures().of["complete"]
        assert complete or not files
        return bool(complete)

    with inside_of_a_copy(make, VALUES) as (first, second):
        wait_until(has_copied, "the copy is complete")
        second.host.fast()
        joined(first, second)
        write(first, b"later", b"1")
        sent_all(first, second)
        first.end(signal.SIGKILL)
        first.host.drop_vip()
        second.host.take_vip()
        wait_until(lambda: second.figures().role == MASTER, "it is the master")
        write(second, b"own", b"of the new master")
        wait_until(lambda: any(b"of the new master" in file
                               for file in wholes(save)), "it is saved")
        die(second)
        second.start()
        assert " from the file that was saved " in second.output()
        wait_until(lambda: second.figures().role == MASTER, "it is the master")
        for n in range(VALUES):
            assert read(second, b"k%d" % n) == b"x" * 900000
        assert read(second, b"later") == b"1"
        assert read(second, b"own") == b"of the new master"
        assert "not complete" not in second.output()
