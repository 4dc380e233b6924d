# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Stores on two hosts. The address is moved by hand: `ip address add` and
`del`."""
import hmac
import time
from typing import Any

import pytest

from harness.client import ask, get, is_closed, put
from harness.figures import MASTER, SLAVE
from harness.members import REPL, StoreMember, store
from harness.pairs import (
    cas_of, inside_of_a_copy, joined, local, move, pair, read, sent_all, used_at,
    write)
from harness.servers import wait_until
from harness.store import space
from hosts.network import VIP, Host, Network

pytestmark = pytest.mark.usefixtures("namespaces")


def test_owner_is_the_master() -> None:
    """Y2: Who has the address at the start, and who gets it later."""
    with pair() as (first, second):
        assert first.figures().role == MASTER
        assert second.figures().role == SLAVE
        assert f"{VIP} is at this host" in first.output()
        move(first, second)
        assert second.figures().role == MASTER
        assert f"{VIP} has come to this host" in second.output()


def test_one_master_and_two_slaves() -> None:
    """Y1: Both have what the master has, and the next master has the other."""
    with Network(3) as network:
        members = [store(host) for host in network.nodes]
        try:
            network.nodes[0].take_vip()
            for member in members:
                member.start()
            wait_until(lambda: members[0].slaves() == 2, "there are two slaves")
            write(members[0], b"a", b"1")
            sent_all(members[0], members[1], members[2])
            move(members[0], members[1])
            wait_until(lambda: members[1].slaves() == 2, "both join it")
            assert read(members[1], b"a") == b"1"
            assert [member.figures().role for member in members] == \
                [SLAVE, MASTER, SLAVE]
        finally:
            for member in members:
                print(f"---- {member.host.number}\n{member.output()}")
                member.destroy()


def test_slave_gets_all_and_each_change() -> None:
    """Y4: What was there before it, and what comes after."""
    with Network(2) as network:
        hosts = network.nodes
        first, second = store(hosts[0]), store(hosts[1])
        try:
            hosts[0].take_vip()
            first.start()
            with local(first) as connection, local(first, "blog") as blog:
                for n in range(1000):
                    put(connection, b"k%d" % n, b"v%d" % n * 50)
                put(blog, b"k1", b"of the blog")
                put(connection, b"large", b"x" * 900000)
                second.start()
                joined(first, second)
                put(connection, b"k1", b"changed")
                ask(connection, b"delete k2\r\n")
                ask(connection, b"touch k3 -1\r\n")
                sent_all(first, second)
            move(first, second)
            with local(second) as connection, local(second, "blog") as blog:
                assert get(connection, b"k0") == b"v0" * 50
                assert get(connection, b"k1") == b"changed"
                assert get(connection, b"k2") == b""
                assert get(connection, b"k3") == b""
                assert get(connection, b"k999") == b"v999" * 50
                assert get(connection, b"large") == b"x" * 900000
                assert get(blog, b"k1") == b"of the blog"
        finally:
            first.destroy()
            second.destroy()


def test_loss_of_the_address() -> None:
    """Y5: Its clients are closed at once, and it is a slave then."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        sent_all(first, second)
        with local(first) as connection:
            assert get(connection, b"a") == b"1"
            began = time.monotonic()
            first.host.drop_vip()
            assert is_closed(connection)
            closed = time.monotonic() - began
        second.host.take_vip()
        joined(second, first)
        assert first.statuses() == [75]
        assert f"{VIP} has left this host" in first.output()
        print(f"closed after {closed * 1000:.0f} ms, with the time of ip")
        assert read(second, b"a") == b"1"


def test_promotion_keeps_the_data() -> None:
    """Y6: The master is killed, and the slave gets the address."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        sent_all(first, second)
        first.end(9)
        first.host.drop_vip()
        wait_until(lambda: not second.figures().of["connected"], "it is lost")
        began = time.monotonic()
        second.host.take_vip()
        wait_until(lambda: second.figures().role == MASTER, "it is the master")
        print(f"promoted after {(time.monotonic() - began) * 1000:.0f} ms, "
              "with the time of ip")
        assert read(second, b"a") == b"1"
        assert "with the complete copy" in second.output()


def test_promotion_keeps_the_time_of_a_flush() -> None:
    """flush_all with a delay: the master is killed before."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        with local(first) as connection:
            assert ask(connection, b"flush_all 2\r\n") == b"OK\r\n"
        sent_all(first, second)
        first.end(9)
        first.host.drop_vip()
        second.host.take_vip()
        wait_until(lambda: second.figures().role == MASTER, "it is the master")
        wait_until(lambda: not read(second, b"a"), "it is flushed")


def small(host: Host) -> StoreMember:
    member = store(host)
    for one in member.table["spaces"]:
        one["size"] = 8 << 20
    member.write_table()
    return member


def test_a_slave_knows_what_is_read() -> None:
    """So it evicts as its master does, if it is promoted."""
    with pair(make=small) as (first, second):
        with local(first) as connection:
            for n in range(12):
                put(connection, b"k%d" % n, b"x" * 900000)
            put(connection, b"read-often", b"1")
            sent_all(first, second)
            written = used_at(second, b"read-often")
            assert written

            def is_known() -> bool:
                assert get(connection, b"read-often") == b"1"
                return used_at(second, b"read-often") > written + 1
            wait_until(is_known, "the slave knows that it is read")


def test_slave_forgets_for_a_new_master() -> None:
    """Y7: What only the old master had is gone with it."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        sent_all(first, second)
        first.host.drop_vip()
        wait_until(lambda: first.statuses() == [75], "it has ended")
        second.host.take_vip()
        joined(second, first)
        write(second, b"b", b"2")
        with local(second) as connection:
            ask(connection, b"delete a\r\n")
        sent_all(second, first)
        move(second, first)
        assert read(first, b"a") == b""
        assert read(first, b"b") == b"2"


def test_new_master_closes_the_old_connection() -> None:
    """Y8: The slave does not wait for its old master to close it."""
    with pair() as (first, second):
        second.host.take_vip()  # now both have it
        wait_until(lambda: second.figures().role == MASTER, "two masters")
        wait_until(lambda: first.slaves() == 0, "the old one has no slave")
        wait_until(lambda: not second.figures().of["connected"], "it says so")


def test_split_brain_is_logged() -> None:
    """The one that loses the address says how many changes are lost."""
    with pair() as (first, second):
        second.host.take_vip()
        wait_until(lambda: first.slaves() == 0, "the old one has no slave")
        with local(first) as connection:
            for n in range(7):
                put(connection, b"lost%d" % n, b"x")
        with local(second) as connection:
            for n in range(8):
                put(connection, b"more%d" % n, b"x")
        first.host.drop_vip()
        first.wait_logged("changes that no slave has: 7")
        joined(second, first)
        first.wait_logged("dropped, because they are only here: 7;")
        assert read(second, b"lost0") == b""


def test_slaves_connect_through_the_address() -> None:
    """Y3: The master connects to nobody, and a slave only to the address."""
    with pair() as (first, second):
        def peers(member: StoreMember) -> set[str]:
            words = member.host.run("ss", "-Htn", "state", "established")
            return {line.split()[3] for line in words.splitlines()}

        assert peers(second) == {f"{VIP}:{REPL}"}
        assert all(peer.startswith(second.host.address + ":")
                   for peer in peers(first))


def knows_that_items_are_missing(master: StoreMember) -> None:
    master.wait_logged("its copy is not complete")
    wait_until(lambda: master.figures().role == MASTER, "it is the master")
    assert not master.figures().of["complete"]


def test_incomplete_copy_is_logged() -> None:
    """A slave that is promoted inside of its copy says so."""
    with inside_of_a_copy() as (_, slave):
        slave.host.take_vip()
        knows_that_items_are_missing(slave)
        with local(slave) as connection:
            assert ask(connection, b"set a 0 0 1\r\n1\r\n") == b"STORED\r\n"


def test_incomplete_copy_after_a_kill() -> None:
    """The slave is killed, and the address comes before its next start."""
    with inside_of_a_copy() as (_, slave):
        slave.end(9)
        slave.host.take_vip()
        slave.start()
        knows_that_items_are_missing(slave)


def test_cas_never_repeats() -> None:
    """What a new master gives is above all that the old one can have given."""
    with pair() as (first, second):
        seen = set()
        members = [first, second]
        for turn in range(3):
            master, slave = members[turn % 2], members[1 - turn % 2]
            with local(master) as connection:
                for n in range(50):
                    put(connection, b"a%d" % n, b"%d" % turn)
                    cas = cas_of(connection, b"a%d" % n)
                    assert cas not in seen
                    seen.add(cas)
            # What was set before may not have been sent. So the last master
            # gives way only when this one has as many changes.
            joined(master, slave)
            master.host.drop_vip()
            slave.host.take_vip()
            wait_until(lambda: slave.figures().role == MASTER, "promoted")


def test_a_value_keeps_its_cas() -> None:
    """A client that has read a value before the move can still compare."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        sent_all(first, second)
        with local(first) as connection:
            cas = cas_of(connection, b"a")
        move(first, second)
        with local(second) as connection:
            assert cas_of(connection, b"a") == cas
            assert ask(connection, b"cas a 0 0 1 %d\r\n2\r\n" % cas) == \
                b"STORED\r\n"


def test_clients_of_a_slave_are_relayed() -> None:
    """A local client is served by the master, and after a promotion here."""
    with pair() as (first, second):
        write(second, b"a", b"1")
        assert read(first, b"a") == b"1"
        sent_all(first, second)
        with local(second, "blog") as connection:
            put(connection, b"b", b"2")
        assert wait_relayed(second)
        move(first, second)
        assert read(second, b"a") == b"1"


def wait_relayed(member: StoreMember) -> bool:
    with local(member) as connection:
        put(connection, b"c", b"3")
        wait_until(lambda: member.figures().of["relayed"] >= 1, "it is relayed")
    return True


def test_stop_of_a_master_sends_all() -> None:
    """What was acknowledged before a stop is at the slave."""
    with pair() as (first, second):
        with local(first) as connection:
            for n in range(2000):
                put(connection, b"k%d" % n, b"x" * 1000)
        assert first.end() == 0
        first.host.drop_vip()
        second.host.take_vip()
        wait_until(lambda: second.figures().role == MASTER, "promoted")
        with local(second) as connection:
            assert all(get(connection, b"k%d" % n) == b"x" * 1000
                       for n in range(2000))


def test_slave_closes_tcp_clients() -> None:
    """Y41: A client that reaches a slave by a route of its own."""
    with pair() as (_, second):
        second.host.run("ip", "route", "add", "local", f"{VIP}/32", "dev", "lo")
        with second.over_tcp() as connection:
            assert is_closed(connection)


def test_clients_of_the_address() -> None:
    """They get the open space, from this host and from another one."""
    with pair() as (first, second):
        write(first, b"a", b"1")
        for member in (first, second):
            with member.over_tcp() as connection:
                assert get(connection, b"a") == b"1"
        sent_all(first, second)
        with second.over_tcp() as connection:
            first.host.drop_vip()
            wait_until(lambda: first.statuses() == [75], "it has ended")
            second.host.take_vip()
            wait_until(lambda: second.figures().role == MASTER, "promoted")
        with first.over_tcp() as connection:
            assert get(connection, b"a") == b"1"


def test_with_a_key() -> None:
    """Copy, changes and relays are TLS. A host with another key gets nothing."""
    def key(secret: str) -> dict[str, Any]:
        return {"cluster": {"secret": secret * 32}}

    with pair(key("ab"), key("ab")) as (first, second):
        write(first, b"a", b"1")
        write(second, b"large", b"x" * 900000)
        assert read(second, b"a") == b"1"
        assert read(first, b"large") == b"x" * 900000
        sent_all(first, second)
        third = store(second.host, **key("cd"))
        second.end()
        try:
            third.start()
            third.wait_logged("no master is at")
            with local(third) as connection:
                connection.sendall(b"get a\r\n")
                assert is_closed(connection)
        finally:
            third.destroy()
        second.start()
        joined(first, second)
        move(first, second)
        assert read(second, b"a") == b"1"


@pytest.mark.parametrize("is_open", [True, False])
def test_login_at_the_address(is_open: bool) -> None:
    """With a key a client may log in as any space, and has to if there is no
    open space."""
    cluster = {"secret": "ab" * 32} | ({"open_space": "shop"} if is_open else {})
    with Network(2) as network:
        network.nodes[0].take_vip()
        with StoreMember(network.nodes[0], space("shop"), space("blog", 8 << 20),
                         cluster=cluster) as member:
            with member.over_tcp() as tcp:
                assert ask(tcp, b"version\r\n").startswith(
                    b"VERSION" if is_open else b"CLIENT_ERROR unauthenticated")
            with member.over_tcp() as tcp:
                word = hmac.new(b"\xab" * 32, b"clientblog", "sha256")
                message = b"\0blog\0" + word.hexdigest().encode()
                tcp.sendall(b"\x80\x21\0\5\0\0\0\0" +
                            (5 + len(message)).to_bytes(4, "big") + bytes(12) +
                            b"PLAIN" + message)
                assert tcp.recv(100)[:8] == b"\x81\x21\0\0\0\0\0\0"
                tcp.sendall(b"\x80\1\0\1\x08\0\0\0\0\0\0\x0a" +
                            bytes(20) + b"kv")
                assert tcp.recv(100)[:8] == b"\x81\1\0\0\0\0\0\0"
            with local(member, "blog") as unix:
                assert get(unix, b"k") == b"v"
            assert read(member, b"k") == b""
