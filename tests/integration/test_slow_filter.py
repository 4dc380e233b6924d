# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An output filter that sleeps occupies no process: a process waits for one
pass of 16 KB, and then for at most a tenth of the time that it needs itself."""
import pytest

from harness.cases import cases
from harness.client import Raw
from harness.http2 import Http2
from harness.httpd import Httpd
from harness.naps import add_naps, passes
from harness.wait import wait_until
from test_download import flood, get

PIECE = 16 * 1024
SLOW = 2000  # us of a pass that counts
BULK = 32 << 20
KEYS = [f"k{n}" for n in range(8)]
ALL = 1 << 30


def release(httpd: Httpd, keys: list[str]) -> None:
    """The app continues after each pause."""
    for key in keys:
        held = httpd.dir / "hold" / key
        wait_until(held.with_suffix(".held").exists, "the app pauses")
        held.with_suffix(".go").touch()


def fetch(httpd: Httpd, url: str, keys: list[str]) -> bytes:
    with Raw(httpd.port, get(url)) as client:
        release(httpd, keys)
        return client.response().body


def fetch_http2(httpd: Httpd, url: str, keys: list[str]) -> bytes:
    with Http2(httpd.port, ALL) as client:
        stream = client.get(url)
        release(httpd, keys)
        return bytes(client.response(stream).body)


def check(httpd: Httpd) -> None:
    """What the filter has seen: the last pass is the one after which the
    process was free."""
    *before, last = passes(httpd)
    assert last.ends and before and not any(one.ends for one in before)
    assert max(one.size for one in before) <= PIECE
    slow = [one.slept for one in before if one.slept > SLOW]
    own = last.began - before[0].began - sum(slow)
    assert sum(slow[:-1]) <= own / 10, f"{sum(slow)} us of {own} us"


@pytest.mark.mpms("prefork", "event", "worker")
def test_filter_that_sleeps_at_random(httpd: Httpd) -> None:
    """A response that comes at once, and one that comes in parts."""
    add_naps(httpd)
    httpd.modules.append("env")
    ways = [fetch]
    if httpd.mpm != "prefork":  # which mod_http2 does not work with
        httpd.modules.append("http2")
        httpd.directives.append("Protocols h2c http/1.1")
        ways.append(fetch_http2)
    httpd.app("shop", "SetOutputFilter NAPS", "SetEnv naps 3")
    httpd.start()
    for way, case in cases(ways):
        with case:
            assert way(httpd, f"/flood?n={BULK}", []) == flood(BULK)
            check(httpd)
            keys = [way.__name__ + key for key in KEYS]
            url = f"/parts?n=50000&keys={','.join(keys)}"
            assert way(httpd, url, keys) == flood(50000) * len(keys)
            check(httpd)
