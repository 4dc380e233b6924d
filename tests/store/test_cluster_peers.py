# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Who may be a peer, and what a peer may do. Each refused connection is closed,
and no other one suffers."""
import hmac
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Iterator

import pytest

from harness.client import get, is_closed, put
from harness.cluster import AtTheAddress, Cluster, Node
from harness.follower import HEAD, Follower
from harness.members import (
    MEMCACHE, REPL, SECRET, StoreMember, store)
from harness.servers import wait_until
from hosts.network import VIP, Host

pytestmark = pytest.mark.usefixtures("namespaces")
HELLO, SPACE = 0xe0, 0xe1
NOBODY = 4242  # a user that has no space
INTRUDER = Path(__file__).parent / "harness" / "intruder.py"


def with_secret(host: Host, secret: str = SECRET) -> StoreMember:
    """The last host need not know the secret."""
    plain = host.network.nodes[-1].address
    return store(host, cluster={"secret": secret, "plain": [plain]})


def with_another(host: Host) -> StoreMember:
    return with_secret(host, "a7" * 32)


def of(node: Node) -> StoreMember:
    assert isinstance(node.member, StoreMember)
    return node.member


def packet(opcode: int, extras: bytes = b"", key: bytes = b"",
           value: bytes = b"") -> bytes:
    return HEAD.pack(0x80, opcode, len(key), len(extras), 0, 0,
                     len(extras) + len(key) + len(value), 0, 0) \
        + extras + key + value


def hello(spaces: bytes = b"shop 67108864\nblog 8388608\n") -> bytes:
    return packet(HELLO, (1).to_bytes(4, "big") + bytes(8), b"", spaces)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two with the secret, and a host without a store."""
    one = Cluster(with_secret, with_secret, with_secret)
    one.nodes[2].boot = lambda: None  # type: ignore[method-assign]
    with one:
        yield one


def fill(master: Node) -> None:
    for name in ("shop", "blog"):
        with of(master).connect_to(name) as connection:
            put(connection, b"in-" + name.encode(), b"1")


def unharmed(cluster: Cluster, guests: list[Follower]) -> None:
    master = cluster.settled()
    new = os.urandom(4).hex().encode()
    with of(master).connect_to("shop") as connection:
        put(connection, new, b"1")
    for guest in guests:
        wait_until(lambda: new in guest.items, f"{guest} gets changes")


def may_enter(host: Host, name: bytes) -> bool:
    """Does the master let a relay of this host enter a space?"""
    with host.connect(VIP, MEMCACHE, 40) as connection:
        try:
            connection.sendall(packet(SPACE, key=name))
            got = connection.recv(100)
        except OSError:
            return False
    return got[:2] == bytes([0x81, SPACE]) and got[6:8] == b"\0\0"


def test_who_is_no_peer_gets_nothing(cluster: Cluster) -> None:
    master = cluster.settled()
    fill(master)
    stranger = cluster.network.clients
    for first in (b"\0", hello()):
        with stranger.connect(VIP, REPL, 40) as connection:
            try:
                connection.sendall(first)
                assert connection.recv(100) == b""
            except OSError:
                pass
    assert not may_enter(stranger, b"blog")
    of(master).wait_logged(stranger.address)
    unharmed(cluster, [])


def test_a_plain_peer_gets_the_open_space_only(cluster: Cluster) -> None:
    """With the first byte of yrmcds, and with our own hello."""
    master = cluster.settled()
    fill(master)
    host = cluster.network.nodes[2]
    guests = [Follower(host.connect(VIP, REPL, 60), first)
              for first in (b"\0", hello())]
    unharmed(cluster, guests)
    for guest in guests:
        wait_until(lambda: b"in-shop" in guest.items, "it gets the copy")
        assert b"in-blog" not in guest.items
        guest.end()
    assert not may_enter(host, b"blog")


def test_a_peer_with_another_secret() -> None:
    """It gets nothing, and its clients are not served by the master."""
    with_it = [with_secret, with_another, with_secret]
    cluster = Cluster(*with_it)
    cluster.nodes[2].boot = lambda: None  # type: ignore[method-assign]
    wrong = cluster.nodes[1]
    wrong.boot = lambda: None  # type: ignore[method-assign]
    with cluster:
        master = cluster.settled()
        fill(master)
        wrong.member.start()
        wait_until(lambda: of(master).logged(wrong.host.address),
                   "the master refuses it")
        assert of(wrong).figures().of["complete"] == 0
        assert of(master).figures().slaves == []
        assert SECRET not in of(master).output()
        with of(wrong).connect_to("blog") as connection:
            try:
                connection.sendall(b"get in-blog\r\n")
                assert b"VALUE" not in connection.recv(100)
            except ConnectionError:
                pass
        wrong.member.end(9)


def intrude(host: Host, source: str) -> bytes:
    """A user of this host that has no rights poses as the store of an address
    of this host, and asks for the space blog. This is what that user gets."""
    def drop_rights() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    process = host.popen(
        [sys.executable, "-c", INTRUDER.read_text(), source, VIP, str(MEMCACHE),
         str(REPL), "blog", "shop"], drop_rights,
        stdout=subprocess.PIPE, cwd="/")
    got = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    assert b"TLS" not in got
    return got


def test_no_user_is_a_peer(cluster: Cluster) -> None:
    """On the master, at each of its addresses, on its slave, and on a host that
    may be plain, which gets a copy of the open space."""
    master = cluster.settled()
    fill(master)
    slave, = cluster.others(master)
    plain = cluster.network.nodes[2]
    for host, source in (
            (master.host, VIP), (master.host, master.host.address),
            (slave.host, slave.host.address)):
        assert b"in-" not in intrude(host, source), source
    got = intrude(plain, plain.address)
    assert b"in-shop" in got and b"in-blog" not in got
    with of(master).connect_to("blog") as connection:
        assert get(connection, b"forged") == b""
    unharmed(cluster, [])


def with_key(host: Host, key: bytes) -> bytes:
    """The copy that a program gets whose TLS has this key."""
    process = host.popen(
        ["openssl", "s_client", "-connect", f"{VIP}:{REPL}", "-tls1_3",
         "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-quiet",
         "-psk_identity", "apppool-store", "-psk", key.hex()],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, bufsize=0)
    assert process.stdin and process.stdout
    got = part = b""
    with process:
        with suppress(BrokenPipeError):
            process.stdin.write(hello())
        while b"in-blog" not in got and (part := process.stdout.read(1 << 16)):
            got += part
        process.kill()
    return got


def test_keys_that_are_wrong(cluster: Cluster) -> None:
    """The right one shows that the others could have got a copy."""
    master = cluster.settled()
    fill(master)
    slave, = cluster.others(master)

    def derived(secret: bytes) -> bytes:
        return hmac.new(secret, b"peer", "sha256").digest()

    secret = bytes.fromhex(SECRET)
    for wrong in (secret, derived(b""), derived(bytes(32)), derived(secret[:-1]),
                  bytes(32), b"\0"):
        assert with_key(slave.host, wrong) == b"", wrong
    assert b"in-blog" in with_key(slave.host, derived(secret))
    unharmed(cluster, [])


def hostile(random: Random) -> bytes:
    """Bytes that begin like something."""
    first = random.choice([
        b"", b"\0", b"\x16\x03\x01\x02\x00", hello(), packet(SPACE, key=b"shop"),
        packet(HELLO, bytes(12), b"", b"x" * 10_000), packet(0x11)[:8],
        packet(0xe3, bytes(8)), hello(b"shop 99999999999999999999\n"),
        HEAD.pack(0x80, HELLO, 0xffff, 0xff, 0, 0, 0xffffffff, 0, 0)])
    return first + random.randbytes(random.choice([0, 1, 30, 3000]))


@pytest.mark.parametrize("number", [0, 2])
def test_hostile_bytes(cluster: Cluster, seed: int, number: int) -> None:
    """From a peer with the secret, and from one that may be plain. They end
    their own connection."""
    random = Random(seed)
    master = cluster.settled()
    fill(master)
    slave = cluster.others(master)[0] if number == 0 else cluster.nodes[2]
    guest = Follower(cluster.network.nodes[2].connect(VIP, REPL, 60))
    pid = master.member.pid
    for _ in range(60):
        port = random.choice([REPL, MEMCACHE])
        try:
            with slave.host.connect(VIP, port, 40) as connection:
                connection.sendall(hostile(random))
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
        except OSError:
            pass
    assert master.member.pid == pid
    unharmed(cluster, [guest])
    guest.end()
    with AtTheAddress(cluster, MEMCACHE).connect() as connection:
        assert get(connection, b"in-shop") == b"1"
        assert get(connection, b"in-blog") == b""
        connection.sendall(b"quit\r\n")
        assert is_closed(connection)
