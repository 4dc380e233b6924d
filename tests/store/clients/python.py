# Licensed under the Apache License, Version 2.0; see LICENSE.
"""python.py SOCKET pymemcache|pylibmc|pylibmc-binary|bmemcached"""
import random
import sys
import time
from typing import Any

MANY = {f"key{n}": f"value {n}" for n in range(500)}
LARGE = random.Random(1).randbytes(900_000)


def same(wanted: object, found: object) -> None:
    assert wanted == found, f"{found!r:.200}, not {wanted!r:.200}"


def until_gone(client: Any, key: str) -> None:
    while client.get(key) is not None:
        time.sleep(0.05)


def usual(client: Any) -> None:
    """What has the same name in all of them."""
    client.set("text", b"abc")
    same(b"abc", client.get("text"))
    same(None, client.get("missing"))
    client.set("large", LARGE)
    same(LARGE, client.get("large"))
    client.set("brief", b"1", 1)
    until_gone(client, "brief")
    client.set_multi(MANY)
    found = client.get_multi([*MANY, "none"])
    same(500, len(found))
    assert found["key77"] in ("value 77", b"value 77")
    client.delete("text")
    same(None, client.get("text"))


def pymemcache(path: str) -> None:
    from pymemcache.client.base import Client
    from pymemcache.exceptions import MemcacheIllegalInputError
    client = Client(path, default_noreply=False)
    usual(client)
    same(False, client.add("large", b"1"))
    same(False, client.replace("missing", b"1"))
    same(True, client.add("word", b"b"))
    same(True, client.append("word", b"c"))
    same(True, client.prepend("word", b"a"))
    value, cas = client.gets("word")
    same(b"abc", value)
    same(True, client.cas("word", b"new", cas))
    same(False, client.cas("word", b"late", cas))
    same(None, client.cas("missing", b"late", cas))
    client.set("counter", b"10")
    same(12, client.incr("counter", 2))
    same(0, client.decr("counter", 100))
    same(None, client.incr("missing", 1))
    same(True, client.touch("word", 1000))
    same(False, client.touch("missing", 1000))
    same(False, client.delete("missing"))
    assert client.version().startswith(b"1.6.")
    assert int(client.stats()[b"curr_items"]) >= 500
    for n in range(1000):
        client.set("noreply", b"%d" % n, noreply=True)
    same(b"999", client.get("noreply"))
    try:
        client.set("k" * 251, b"")
        raise AssertionError("too long")
    except MemcacheIllegalInputError:
        pass
    client.flush_all()
    same({}, client.get_many(MANY))


def pylibmc(path: str, binary: bool = False) -> None:
    import pylibmc as library
    client = library.Client([path], binary=binary, behaviors={
        "cas": True, "_poll_timeout": 60_000})
    usual(client)
    client.set("object", {"user": 7})
    same({"user": 7}, client.get("object"))
    same(False, client.add("object", 1))
    same(True, client.set("counter", 10))
    same(12, client.incr("counter", 2))
    same(0, client.decr("counter", 100))
    same(True, client.add("word", "b"))
    same(True, client.append("word", "c"))
    same(True, client.prepend("word", "a"))
    same("abc", client.get("word"))
    if not binary:  # pylibmc cannot ask for a cas value in binary
        _, cas = client.gets("word")
        same(True, client.cas("word", "new", cas))
        same(False, client.cas("word", "late", cas))
    same(True, client.touch("word", 1000))
    client.flush_all()
    same({}, client.get_multi(list(MANY)))


def pylibmc_binary(path: str) -> None:
    pylibmc(path, True)


def bmemcached(path: str) -> None:
    import bmemcached as library
    client = library.Client((path,), socket_timeout=60)
    usual(client)
    same(True, client.set("object", {"user": 7}))
    same({"user": 7}, client.get("object"))
    same(False, client.add("object", 1))
    value, cas = client.gets("object")
    same(True, client.cas("object", {"user": 8}, cas))
    same(False, client.cas("object", {"user": 9}, cas))
    same(True, client.set("counter", "10"))
    same(12, client.incr("counter", 2))
    same(0, client.decr("counter", 100))
    same(True, client.delete_multi(list(MANY)))
    client.flush_all()
    same({}, client.get_multi(list(MANY)))
    client.disconnect_all()


globals()[sys.argv[2].replace("-", "_")](sys.argv[1])
print("fine")
