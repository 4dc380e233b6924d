# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Values in unlinked files."""
import os
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import pytest

from harness.client import ask, get, put
from harness.servers import wait_until
from harness.store import USER, Store, space

MB = 1 << 20
REFUSED = b"SERVER_ERROR out of memory storing object\r\n"


@pytest.fixture(name="where")
def make_directory(tmp_path: Path) -> Path:
    """The directory of the files. The user of the store may get there."""
    where = tmp_path / "values"
    where.mkdir()
    if os.getuid() == 0:
        os.chown(where, USER, USER)
        for parent in list(where.parents)[:-2]:
            parent.chmod(parent.stat().st_mode | 0o111)
    return where


def mapped(store: Store, where: Path) -> int:
    """Files of this directory that the store has."""
    maps = Path(f"/proc/{store.pid}/maps").read_text()
    return sum(f" {where}/" in line and line.endswith("(deleted)")
               for line in maps.splitlines())


@contextmanager
def no_longer_files(than: int) -> Iterator[None]:
    """For programs that are started meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (than, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def value(n: int, length: int) -> bytes:
    return (b"%d;" % n * length)[:length]


def test_files_have_no_names(where: Path) -> None:
    """Y45: they are in no directory, and end with their values."""
    with Store(temp_dir=where) as store, store.connect() as connection:
        put(connection, b"small", value(0, 256 << 10))
        assert mapped(store, where) == 0
        for n in range(5):
            put(connection, b"large%d" % n, value(n, 300_000 + n))
        assert mapped(store, where) == 5
        assert not list(where.iterdir())
        for n in range(5):
            assert get(connection, b"large%d" % n) == value(n, 300_000 + n)
        assert ask(connection, b"append large1 0 0 3\r\nabc\r\n") == \
            b"STORED\r\n"
        assert get(connection, b"large1") == value(1, 300_001) + b"abc"
        assert ask(connection, b"delete large0\r\n") == b"DELETED\r\n"
        ask(connection, b"flush_all\r\n")
        wait_until(lambda: mapped(store, where) == 0, "the files are gone")


def test_a_crash_loses_them_only(where: Path) -> None:
    """Y45: their keys are misses then."""
    with Store(temp_dir=where) as store:
        with store.connect() as connection:
            put(connection, b"small", b"s")
            put(connection, b"large", value(1, MB))
        store.kill()
        store.start()
        with store.connect() as connection:
            assert get(connection, b"small") == b"s"
            assert get(connection, b"large") == b""
            put(connection, b"large", value(2, MB))
            assert get(connection, b"large") == value(2, MB)
        assert "recovered 1 item, dropped 1" in store.output()


def test_a_stop_keeps_them(tmp_path: Path, where: Path) -> None:
    """Y45: they are in the file of the store."""
    with Store(temp_dir=where, save=tmp_path / "save") as store:
        with store.connect() as connection:
            put(connection, b"large", value(1, MB))
        store.end()
        store.forget()
        store.start()
        with store.connect() as connection:
            assert get(connection, b"large") == value(1, MB)
        assert mapped(store, where) == 1


def test_a_full_disk(where: Path) -> None:
    """Y45: the client is told, the log has one line, and the rest goes on. A file
    that may not grow is as good as a disk that is full. The first store has made
    the memory of the items, which is such a file, too."""
    with Store(temp_dir=where) as store:
        store.kill()
        with no_longer_files(than=400_000):
            store.start()
        use_a_full_disk(store, where)


def use_a_full_disk(store: Store, where: Path) -> None:
    with store.connect() as connection:
        put(connection, b"small", b"s")
        put(connection, b"kept", value(1, 300_000))
        put(connection, b"old", value(2, 300_000))
        for _ in range(3):
            assert ask(connection, b"set old 0 0 500000\r\n%s\r\n" %
                       value(3, 500_000)) == REFUSED
        assert get(connection, b"old") == b""
        put(connection, b"other", value(4, 300_000))
        assert get(connection, b"kept") == value(1, 300_000)
        assert get(connection, b"small") == b"s"
        store.wait_logged(f"AppStoreTempDir {where}: File too large")
        assert ask(connection, b"add old 0 0 500000\r\n%s\r\n" %
                   value(3, 500_000)) == REFUSED
    store.end()
    assert store.output().count("AppStoreTempDir") == 1
    assert "AppStoreDisk" not in store.output()


def test_a_directory_that_is_away(where: Path) -> None:
    """Small values need none."""
    with Store(temp_dir=where / "none") as store, \
            store.connect() as connection:
        assert ask(connection, b"set large 0 0 300000\r\n%s\r\n" %
                   value(1, 300_000)) == REFUSED
        put(connection, b"small", b"s")
        store.wait_logged("No such file or directory")
        (where / "none").mkdir()
        (where / "none").chmod(0o777)
        put(connection, b"large", value(1, 300_000))


def test_the_limit_is_one_of_a_space(where: Path) -> None:
    """Who fills a space takes nothing from the other one."""
    with Store(space("shop", disk=3 * MB), space("blog", disk=3 * MB),
               space("wiki", disk=3 * MB, evict=False), max_object=4 * MB,
               temp_dir=where) as store:
        shop, blog, wiki = (store.connect_to(name)
                            for name in ("shop", "blog", "wiki"))
        with shop, blog, wiki:
            for n in range(3):
                put(blog, b"%d" % n, value(n, MB))
                put(wiki, b"%d" % n, value(n, MB))
            for n in range(20):
                put(shop, b"%d" % n, value(n, MB))
                assert get(shop, b"%d" % n) == value(n, MB)
            for n in range(3):
                assert get(blog, b"%d" % n) == value(n, MB)
                assert get(wiki, b"%d" % n) == value(n, MB)
            too_large = b"set 0 0 0 %d\r\n%s\r\n" % (
                3 * MB + 1, value(0, 3 * MB + 1))
            assert ask(shop, too_large) == REFUSED
            assert ask(wiki, b"set new 0 0 %d\r\n%s\r\n" % (
                MB, value(9, MB))) == REFUSED
            store.wait_logged("space shop is full (AppStoreDisk)")
            store.wait_logged(
                "space wiki is full (AppStoreDisk): items are refused")
            assert mapped(store, where) <= 9


def test_a_slow_reader_keeps_its_file(where: Path) -> None:
    """Even when the value was replaced, and others need the room."""
    with Store(space("shop", disk=8 * MB), max_object=4 * MB,
               temp_dir=where) as store, \
            store.connect() as slow, store.connect() as fast:
        put(fast, b"a", value(1, 4 * MB))
        slow.sendall(b"get a\r\n")
        head = slow.recv(20)
        assert head == b"VALUE a 0 4194304\r\n1"
        put(fast, b"a", value(2, MB))
        for n in range(10):
            put(fast, b"b%d" % n, value(n, MB))
        whole = b"VALUE a 0 4194304\r\n" + value(1, 4 * MB) + b"\r\nEND\r\n"
        got = head
        while len(got) < len(whole):
            got += slow.recv(100_000)
        assert got == whole
