# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Many clients at once, more items than fit, and changes of the configuration
meanwhile. tests/store/run runs this with ThreadSanitizer, too."""
import re
import threading
from random import Random

from harness.store import Store, space
from missed import only_missed, witnesses

CLIENTS = 8
BATCHES = 60


def value(key: bytes, random: Random) -> bytes:
    """Each part of a value contains its key."""
    return key * random.choice([1, 5, 30, 200, 2000, 20000])


def batch(random: Random) -> tuple[bytes, int]:
    """Commands, and how many of them are gets."""
    commands, gets = [], 0
    for _ in range(50):
        key = b"<%d>" % random.randrange(500)
        kind = random.random()
        if kind < 0.4:
            data = value(key, random)
            commands.append(b"set %s 0 %d %d noreply\r\n%s\r\n" % (
                key, random.choice([0, 0, 1]), len(data), data))
        elif kind < 0.9:
            commands.append(b"get %s\r\n" % key)
            gets += 1
        elif kind < 0.95:
            commands.append(b"delete %s noreply\r\n" % key)
        elif kind < 0.97:
            commands.append(b"touch %s 1 noreply\r\n" % key)
        else:
            commands.append(b"append %s 0 0 %d noreply\r\n%s\r\n" % (
                key, len(key), key))
    return b"".join(commands), gets


def check(replies: bytes) -> int:
    """@return how many ENDs. A value has only its own key"""
    ends = at = 0
    while at < len(replies):
        line, _, rest = replies[at:at + 600].partition(b"\r\n")
        if line == b"END":
            ends += 1
            at += 5
            continue
        found = re.fullmatch(rb"VALUE (<\d+>) 0 (\d+)", line)
        assert found, line
        begin, length = at + len(line) + 2, int(found[2])
        if len(replies) < begin + length + 2:
            break
        data = replies[begin:begin + length]
        assert data == found[1] * (length // len(found[1])), found[1]
        at = begin + length + 2
    return ends


def client(store: Store, key: str, seed: int, wrong: list[BaseException]) \
        -> None:
    random = Random(seed)
    try:
        with store.connect_to(key) as connection:
            for _ in range(BATCHES):
                commands, gets = batch(random)
                sender = threading.Thread(target=connection.sendall,
                                          args=(commands,))
                sender.start()
                replies = bytearray()
                while replies.count(b"END\r\n") < gets:
                    part = connection.recv(1 << 20)
                    assert part
                    replies += part
                sender.join()
                assert check(bytes(replies)) == gets
    except BaseException as error:
        wrong.append(error)


def test_many_clients_in_a_full_space(seed: int) -> None:
    """Y37, Y47: they use the same keys, while the size changes."""
    wrong: list[BaseException] = []
    witnesses.append(lambda: [error for error in wrong
                              if not only_missed(error)])
    with Store(space("shop", 8 << 20), space("blog", 8 << 20)) as store:
        threads = [threading.Thread(target=client, args=(
            store, ["shop", "blog"][i % 2], seed + i, wrong))
            for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        other = 0
        while any(thread.is_alive() for thread in threads):
            other += 1
            store.table["spaces"] = [
                space("shop", (8 + other % 3) << 20), space("blog", 8 << 20),
                *([space("other")] if other % 2 else [])]
            store.write_table()
            store.ring()
            if other % 2:
                with store.connect_to("shop") as connection:
                    connection.sendall(b"stats\r\n")
                    connection.recv(1 << 16)
            threads[0].join(0.1)
        for thread in threads:
            thread.join()
        assert wrong == []
        store.kill()
        store.start()
        with store.connect() as connection:
            connection.sendall(b"".join(b"get <%d>\r\n" % i
                                        for i in range(500)))
            replies = bytearray()
            while replies.count(b"END\r\n") < 500:
                replies += connection.recv(1 << 20)
            assert check(bytes(replies)) == 500
        assert "dropped 0" in store.output().splitlines()[-1]
