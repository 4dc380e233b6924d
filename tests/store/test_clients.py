# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Common clients, each in a short session: all verbs, a large value,
many keys, an expiry (clients/)."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.fronts import Guarded, Nutcracker
from harness.proxy import Port
from harness.servers import Server

CLIENTS = Path(__file__).with_name("clients")
PROGRAMS = {
    "dalli": ["ruby", "dalli.rb", "{}"],
    "Cache::Memcached::Fast": ["perl", "fast.pl", "{}"],
    "php-memcached": ["php", "memcached.php", "{}", "text"],
    "php-memcached-binary": ["php", "memcached.php", "{}", "binary"],
    **{name: [sys.executable, "python.py", "{}", name] for name in (
        "pymemcache", "pylibmc", "pylibmc-binary", "bmemcached")}}


def run(command: list[str], expected: str) -> None:
    done = subprocess.run(command, text=True, cwd=CLIENTS, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode, done.stdout) == (0, expected)


@pytest.mark.parametrize("client", PROGRAMS)
def test_client(client: str, server: Server) -> None:
    run([word.format(server.path) for word in PROGRAMS[client]], "fine\n")


def test_php_sessions(server: Server) -> None:
    """Four processes count the visits of each of two visitors. A session is
    locked while a request has it, so none is lost."""
    options = ["-d", "session.save_handler=memcached",
               "-d", f"session.save_path={server.path}:0",
               "-d", "memcached.sess_lock_wait_max=20",
               "-d", "memcached.sess_lock_retries=10000"]
    running = [subprocess.Popen(["php", *options, "session.php", str(n % 2),
                                 "25"], cwd=CLIENTS, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
               for n in range(8)]
    received = [one.communicate(timeout=120)[0] for one in running]
    assert [one.returncode for one in running] == [0] * 8, received
    for visitor in "01":
        run(["php", *options, "session.php", visitor, "1"], "101\n")


def test_nutcracker(server: Server) -> None:
    """The test uses only commands that this proxy passes on."""
    with Nutcracker(server) as front, front.connect() as connection:
        connection.sendall(
            b"set counter 5 0 2\r\n41\r\nincr counter 1\r\ngets counter\r\n"
            + b"".join(b"set key%d 0 0 1000\r\n%s\r\n" % (n, b"v" * 1000)
                       for n in range(100))
            + b"get " + b" ".join(b"key%d" % n for n in range(100)) + b"\r\n"
            + b"delete counter\r\nget counter\r\n")
        received = b""
        while not received.endswith(b"DELETED\r\nEND\r\n"):
            part = connection.recv(1 << 16)
            assert part, received[-1000:]
            received += part
    assert re.match(rb"STORED\r\n42\r\nVALUE counter 5 2 \d+\r\n42\r\nEND\r\n",
                    received)
    assert received.count(b"STORED\r\n") == 101
    assert len(re.findall(rb"VALUE key\d+ 0 1000\r\nv{1000}\r\n",
                          received)) == 100


def test_cache_of_httpd(server: Server, tmp_path: Path) -> None:
    """httpd asks the cache first: an old password is good until the entry is
    gone."""
    with Port(server) as port, Guarded(tmp_path, port.number) as httpd:
        httpd.allow("ann", "first")
        assert httpd.get("ann", "wrong") == 401
        assert httpd.get("ann", "first") == 200
        httpd.allow("ann", "second")
        assert httpd.get("ann", "first") == 200, httpd.words.read_text()
        with server.connect() as connection:
            connection.sendall(b"flush_all\r\n")
            assert connection.recv(100) == b"OK\r\n"
        assert httpd.get("ann", "first") == 401
        assert httpd.get("ann", "second") == 200
