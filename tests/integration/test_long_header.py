# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The header of a response has 64 KB, over each protocol, and whoever reads it.
Above that the client gets 502, and the log names the longest field."""
from itertools import product

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import UPGRADE
from harness.httpd import Httpd
from test_nonsense import (END, PROTOCOLS, STATUS, STDOUT, raw, raws,
                           record)

# In prefork, mod_proxy sends an upgrade; the rest is as in event.
pytestmark = pytest.mark.mpms("prefork", "event")

MOST = 64 * 1024
WAYS = [("GET", None, {}), ("POST", b"\r\n\r\n", {}), ("GET", None, UPGRADE)]
SIZES = [(9000,), (60000,), (MOST,), (MOST // 4, MOST // 2, MOST // 4)]


def response(protocol: str, sizes: tuple[int, ...]) -> bytes:
    text = STATUS[protocol] + b"Content-Length: 2\r\n" \
        b"Content-Type: text/plain\r\n" + b"".join(
            b"X-%d: %s\r\n" % (size, b"v" * size) for size in sizes) \
        + b"\r\nok"
    if protocol != "fcgi":
        return text
    return b"".join(record(STDOUT, text[at:at + MOST // 2]) for at in
                    range(0, len(text), MOST // 2)) + record(STDOUT, b"") \
        + record(END, b"\0" * 8)


def test_long_header(httpd: Httpd) -> None:
    httpd.log.expect(sentences.LONG_HEADER, sentences.NO_RESPONSE)
    protocols = PROTOCOLS if httpd.mpm == "event" else ["http"]
    apps = raws(httpd, {(protocol, sizes): (protocol, response(protocol, sizes))
                        for protocol, sizes in product(protocols, SIZES)})
    for ((protocol, sizes), (n, way)), case in cases(
            product(apps, enumerate(WAYS, 1))):
        app = apps[protocol, sizes]
        method, body, headers = way
        with case:
            got = httpd.request(method, "/", app.name, body, headers)
            if sum(sizes) < MOST:
                assert (got.status, got.body) == (200, b"ok")
                assert got.headers[f"X-{sizes[0]}"] == "v" * sizes[0]
                continue
            assert got.status == 502
            assert len(httpd.log.wait_for(
                rf"{app.name}\[\d+\].* has more than {MOST} bytes; its "
                rf"longest field is X-{max(sizes)}$", n)) == n


def test_status_below_100(httpd: Httpd) -> None:
    """It is no response, whoever reads it."""
    httpd.log.expect(sentences.HTTP_WRONG, sentences.NOT_FINAL)
    raw(httpd, "http", b"HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok")
    for method, body, headers in WAYS:
        assert httpd.request(method, "/", "shop", body, headers).status == 502
