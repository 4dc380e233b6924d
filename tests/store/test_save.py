# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The file to which a store saves its items when it stops, and which it loads
at the next start."""
import os
import shutil
import signal
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any, Callable

import pytest

from harness.client import ask, get, is_closed, put
from harness.servers import PATIENCE, wait_until
from harness.store import Store, contract, space
from harness.vip_store import VipStore
from saves import CHAINED, FIRST_BUILD, save_file, wholes


def test_stop_saves_and_start_loads(tmp_path: Path) -> None:
    save = save_file(tmp_path)
    large = os.urandom(1000) * 700
    with Store(space("shop"), space("blog"), save=save) as store:
        with store.connect() as shop, store.connect_to("blog") as blog:
            put(shop, b"large", large)
            put(blog, b"a", b"of the blog")
            assert ask(shop, b"set f 77 1000 1\r\nx\r\n") == b"STORED\r\n"
            assert ask(shop, b"set brief 0 1 1\r\nx\r\n") == b"STORED\r\n"
            put(shop, b"empty", b"")
            cas = int(ask(shop, b"gets f\r\n", b"END\r\n").split()[4])
        assert store.end() == 0
        assert save.stat().st_mode & 0o777 == 0o600
        store.forget()
        store.start()
        assert save.stat().st_size == 0
        with store.connect() as shop, store.connect_to("blog") as blog:
            assert get(shop, b"large") == large
            assert get(shop, b"a") == b""
            assert get(blog, b"a") == b"of the blog"
            got = ask(shop, b"gets f\r\n", b"END\r\n").split()
            assert got[2] == b"77" and int(got[4]) > cas
            assert 900 < int(ask(shop, b"mg f t\r\n").split()[1][1:]) <= 1000
            assert ask(shop, b"mg empty v\r\n", b"\r\n\r\n") == b"VA 0\r\n\r\n"


def test_stop_without_its_directory(tmp_path: Path) -> None:
    """The spawner of an httpd that was killed removes it first."""
    save = save_file(tmp_path)
    with Store(save=save) as store:
        with store.connect() as connection:
            put(connection, b"a", b"1")
        shutil.rmtree(store.dir / "m")
        assert store.end() == 0
        assert "saved 1 item " in store.output()
        assert save.stat().st_size > 0


ITEMS = 60_000


def value_of(n: int) -> bytes:
    return (b"%d." % n * 500)[:500]


def fill(store: Store) -> None:
    with store.connect() as connection:
        for first in range(0, ITEMS, 1000):
            connection.sendall(b"".join(
                b"set key%d 0 0 500 noreply\r\n%s\r\n" % (
                    n, value_of(n))
                for n in range(first, first + 1000)))
            ask(connection, b"version\r\n")


def check_all(connection: socket.socket) -> None:
    for first in range(0, ITEMS, 100):
        some = range(first, first + 100)
        request = b"get " + b" ".join(b"key%d" % n for n in some) + b"\r\n"
        assert ask(connection, request, b"END\r\n") == b"".join(
            b"VALUE key%d 0 500\r\n%s\r\n" % (n, value_of(n))
            for n in some) + b"END\r\n"


def start_and(store: Store, act: Callable[[], None]) -> None:
    """Start it, and do that while it loads."""
    before = os.fstat(store.fds["ITEMS"]).st_blocks

    def wait() -> None:
        wait_until(lambda: store.process and os.fstat(
            store.fds["ITEMS"]).st_blocks > before + 4000, "it loads")
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    store.start()
    thread.join()


def kill_while_it_loads(store: Store) -> bool:
    """@return False: it was faster, and has started"""
    printed = store.output().count("loaded ")
    start_and(store, lambda: os.kill(store.pid, signal.SIGKILL))
    store.kill()
    return store.output().count("loaded ") == printed


def test_a_load_that_was_killed_goes_on(tmp_path: Path) -> None:
    """No item is lost, and the file is empty only after that."""
    save = save_file(tmp_path)
    with Store(save=save) as store:
        fill(store)
        hit = False
        for _ in range(20):
            assert store.end() == 0
            store.forget()
            hit = kill_while_it_loads(store)
            if not hit:
                store.start()
                continue
            assert save.stat().st_size > 0
            store.start()
            break
        assert hit, "the store always was faster"
        assert save.stat().st_size == 0
        with store.connect() as connection:
            check_all(connection)


@pytest.mark.parametrize("takeover", [False, True])
def test_a_stop_while_it_loads(tmp_path: Path, takeover: bool) -> None:
    """The file stays as it is. If another store takes over, those that wait at
    the listeners wait for that one."""
    save = save_file(tmp_path)
    waiting: list[socket.socket] = []

    def stop() -> None:
        waiting.append(store.connect())
        if takeover:
            (store.dir / "m" / "table").unlink()
        assert store.process
        store.process.terminate()

    with Store(save=save) as store:
        fill(store)
        for _ in range(20):
            assert store.end() == 0
            size = save.stat().st_size
            store.forget()
            start_and(store, stop)
            assert store.process
            code = store.process.wait(PATIENCE)
            if "so the rest is not loaded" in store.output():
                break
            waiting.pop().close()
            store.write_table()
            store.start()
        else:
            assert False, "the store always was faster"
        assert code == (contract("EXIT_REPLACED") if takeover else 0)
        assert save.stat().st_size == size
        store.write_table()
        store.start()
        with waiting.pop() as early, store.connect() as connection:
            check_all(connection)
            if takeover:
                assert get(early, b"key0")
            else:
                assert is_closed(early)


def test_a_stop_before_it_serves(tmp_path: Path) -> None:
    """It saves what is in memory, and joins no cluster before."""
    save = save_file(tmp_path)

    class Told(VipStore):
        """SIGTERM has come before it begins."""
        def options(self) -> dict[str, Any]:
            before = super().options()
            place = before["preexec_fn"]

            def tell() -> None:
                place()
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
                if self.is_told:
                    os.kill(os.getpid(), signal.SIGTERM)
            return before | {"preexec_fn": tell}

        is_told = False

    with Told(save=save) as store:
        with store.connect() as connection:
            put(connection, b"a", b"1")
        store.kill()
        joined = store.output().count("the store is the master")
        store.is_told = True
        store.start()
        assert store.process
        assert store.process.wait(PATIENCE) == 0
        assert store.output().count("the store is the master") == joined == 1
        assert "saved 1 item " in store.output()
        assert "part of a copy" not in store.output()
        store.is_told = False
        store.forget()
        store.start()
        with store.connect() as connection:
            assert get(connection, b"a") == b"1"


def test_a_save_that_was_killed(tmp_path: Path) -> None:
    """What was written until then is loaded, and nothing else."""
    save, data = save_file(tmp_path), os.urandom(1000) * 200
    with Store(save=save) as store:
        with store.connect() as connection:
            for n in range(250):
                put(connection, b"key%d" % n, b"%d." % n + data)
        assert store.process
        store.process.send_signal(signal.SIGTERM)
        wait_until(lambda: save.stat().st_size > 1_000_000, "it saves")
        store.kill()
        store.forget()
        store.start()
        with store.connect() as connection:
            there = [n for n in range(250) if get(connection, b"key%d" % n)]
            assert len(there) >= 4
            for n in there:
                assert get(connection, b"key%d" % n) == b"%d." % n + data


def test_the_user_of_the_store_names_no_file_of_root(tmp_path: Path) -> None:
    """It can write the table, which the next store reads when it starts as
    root."""
    victim = tmp_path / "secret"
    victim.write_text("of root")
    victim.chmod(0o600)
    tmp_path.chmod(0o755)
    store = Store()
    store.table["save"] = str(victim)
    store.write_table()
    with store:
        with store.connect() as connection:
            put(connection, b"a", b"1")
        assert store.end() == 0
    assert victim.read_text() == "of root"


def test_a_file_of_the_first_build(tmp_path: Path) -> None:
    save = save_file(tmp_path)
    save.write_bytes(FIRST_BUILD)
    save.chmod(0o600)
    with Store(space("shop"), space("blog"), save=save) as store:
        assert "loaded 5 items" in store.output()
        assert " 1 had expired, 0 had no room, damaged places: 0" in \
            store.output()
        with store.connect() as shop, store.connect_to("blog") as blog:
            assert get(shop, b"a") == b"of the shop"
            assert get(blog, b"a") == b"of the blog"
            assert get(shop, b"chained") == CHAINED
            assert ask(shop, b"get flags\r\n", b"END\r\n") == \
                b"VALUE flags 77 1\r\nx\r\nEND\r\n"
            assert ask(shop, b"mg empty v\r\n", b"\r\n\r\n") == b"VA 0\r\n\r\n"


def a_link(save: Path) -> None:
    (save.parent / "other").touch(0o600)
    os.link(save.parent / "other", save)


@pytest.mark.parametrize("make, why", [
    (os.mkfifo, "it is not a regular file"),
    (lambda save: save.symlink_to("other"), "it is a symbolic link"),
    (lambda save: save.touch(0o644), "others than its owner can use it: chmod"),
    (lambda save: (save.touch(0o600), os.chown(save, 1, 1)),
     "it belongs to another user"),
    (a_link, "it has another name, by a hard link"),
    (Path.mkdir, "Is a directory")])
def test_a_file_that_is_not_its_own(
        tmp_path: Path, make: Callable[[Path], Any], why: str) -> None:
    """The log says why. The other file is for saves while it serves."""
    save = save_file(tmp_path)
    try:
        make(save)
    except PermissionError:
        pytest.skip("only root can give a file away")
    with Store(save=save) as store:
        assert f"AppStoreSave {save}: {why}" in store.output()
        assert "a stop of httpd loses" in store.output()
    save.rename(save.with_name("save.2"))
    with Store(save=save) as store:
        assert f"AppStoreSave {save}.2: {why}" in store.output()
        assert "there is no save but at a stop" in store.output()
        assert store.end() == 0
        assert "saved 0 items" in store.output()


KEY = b"5e" * 32 + b"\n"  # of AppStoreKey


@pytest.mark.parametrize("bytes_, why", [
    (KEY, "it is no file of the store"), (b"a", "it is no file of the store"),
    (bytes(20) + KEY, "it is no file of the store"),
    (FIRST_BUILD[:8] + struct.pack("<I", 3) + FIRST_BUILD[12:],
     "a newer build has saved it")])
def test_a_file_of_something_else_stays(
        tmp_path: Path, bytes_: bytes, why: str) -> None:
    """The directive names another file by mistake, or this is an older build
    again."""
    save = save_file(tmp_path)
    for file in (save, save.with_name("save.2")):
        file.write_bytes(bytes_)
        file.chmod(0o600)
        with Store(save=save) as store:
            assert f"AppStoreSave {file}: {why}" in store.output()
            assert store.end() == 0
        assert file.read_bytes() == bytes_
        file.unlink()


def test_the_second_file_alone(tmp_path: Path) -> None:
    """The beginning of the first file is damaged. The second one has a whole
    save: it is loaded, and written at a stop. If it has none, it stays."""
    save = save_file(tmp_path)
    second = save.with_name("save.2")
    save.write_bytes(b"x" * 512 + FIRST_BUILD)
    second.write_bytes(FIRST_BUILD)
    for file in (save, second):
        file.chmod(0o600)
    with Store(save=save) as store:
        assert f"AppStoreSave {save}: it is no file of the store" \
            in store.output()
        with store.connect() as connection:
            put(connection, b"a", b"1")
        assert store.end() == 0
    assert save.read_bytes() == b"x" * 512 + FIRST_BUILD
    assert "loaded " in store.printed and second.read_bytes() != FIRST_BUILD
    half, newer = FIRST_BUILD[:-8], FIRST_BUILD[:8] + b"\3" + FIRST_BUILD[9:]
    for one, two in ((b"x", half), (newer, FIRST_BUILD), (FIRST_BUILD, newer)):
        save.write_bytes(one)
        second.write_bytes(two)
        with Store(save=save) as store:
            assert store.end() == 0
        assert "loaded " not in store.printed
        assert (save.read_bytes(), second.read_bytes()) == (one, two)


@pytest.mark.parametrize("length", [1, 24, 28, 4096])
def test_a_file_of_zeros_is_written(tmp_path: Path, length: int) -> None:
    """A power cut has left it."""
    save = save_file(tmp_path)
    save.touch(0o600)
    os.truncate(save, length)
    for _ in range(2):
        with Store(save=save) as store:
            assert "AppStoreSave" not in store.output()
            with store.connect() as connection:
                put(connection, b"a", b"1")
            assert store.end() == 0
            assert "saved 1 item " in store.output()
    assert "loaded 1 item " in store.printed


def test_a_power_cut(tmp_path: Path) -> None:
    """The store saves while it serves. What it held at the last whole save is
    there when all is lost in the middle of the next one."""
    save = save_file(tmp_path)
    with Store(space("shop"), space("blog"), save=save) as store:
        store.table["save_every"] = 1
        store.write_table()
        store.ring()
        with store.connect() as shop, store.connect_to("blog") as blog:
            put(shop, b"a", b"of the shop")
            put(blog, b"kept", b"1")
            cas = int(ask(blog, b"gets kept\r\n", b"END\r\n").split()[4])
            wait_until(lambda: len(wholes(save)) == 2, "two files are whole")
            for n in range(100):
                put(blog, b"key%d" % n, os.urandom(1000) * 200)
        for _ in range(20):
            wait_until(lambda: len(wholes(save)) == 1, "it saves")
            store.kill()
            inside = len(wholes(save)) == 1
            store.forget()
            store.start()
            if inside:
                break
        assert inside, "the store always was faster"
        assert " from the file that was saved " in store.output()
        assert "the file is not complete" not in store.output()
        assert wholes(save)
        with store.connect() as shop, store.connect_to("blog") as blog:
            assert get(shop, b"a") == b"of the shop"
            assert get(blog, b"kept") == b"1"
            got = ask(blog, b"gets kept\r\n", b"END\r\n").split()
            assert int(got[4]) > cas + 1000


@pytest.mark.parametrize("damage", ["cut", "zero", "other"])
def test_damaged_save_yields_what_is_sound(tmp_path: Path,
                                           damage: str) -> None:
    save = save_file(tmp_path)
    with Store(save=save) as store:
        with store.connect() as connection:
            for i in range(100):
                put(connection, b"key%d" % i, b"%d" % i * 500)
        assert store.end() == 0
        data = bytearray(save.read_bytes())
        middle = len(data) // 2
        if damage == "cut":
            del data[middle:]
        elif damage == "zero":
            data[middle:middle + 3000] = bytes(3000)
        else:
            data[middle] ^= 1
        save.write_bytes(data)
        store.forget()
        store.start()
        with store.connect() as connection:
            found = [i for i in range(100)
                     if get(connection, b"key%d" % i) == b"%d" % i * 500]
            held = sum(bool(get(connection, b"key%d" % i)) for i in range(100))
        lost = {"cut": (40, 60), "zero": (1, 5), "other": (1, 1)}[damage]
        assert lost[0] <= 100 - len(found) <= lost[1]
        assert held == len(found)
        # What is left is the whole from now on.
        assert store.end() == 0
        assert "part of a copy" not in store.output()
        store.forget()
        store.start()
        assert "the file is not complete" not in \
            store.output().split("saved ")[-1]
