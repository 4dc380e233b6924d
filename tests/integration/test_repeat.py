# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which requests may be sent again: a request without a body that no process
has read, as the kernel says. Over TCP the kernel says less, so only GET is
sent again."""
from typing import Optional

import pytest

from harness import sentences
from harness.client import Connection
from harness.httpd import Httpd

pytestmark = pytest.mark.mpms("event")

AGAIN = 4  # connections that one process may reset


@pytest.mark.parametrize("listen,method,path,times", [
    ("fd", "GET", "/unread", AGAIN), ("fd", "DELETE", "/unread", AGAIN),
    ("fd", "POST", "/unread", 1), ("fd", "GET", "/read", 1),
    ("fd", "HEAD", "/unread", 1),
    ("tcp", "GET", "/unread", AGAIN), ("tcp", "DELETE", "/unread", 1),
    ("tcp", "POST", "/unread", 1), ("tcp", "GET", "/read", 1)])
def test_number_of_tries(httpd: Httpd, listen: str, method: str, path: str,
                         times: int) -> None:
    check(httpd, listen, method, path, times)


@pytest.mark.parametrize("path,times", [("/unread", AGAIN), ("/read", 1)])
def test_number_of_tries_of_an_upgrade(httpd: Httpd, path: str,
                                       times: int) -> None:
    """mod_proxy sends it."""
    check(httpd, "fd", "GET", path, times,
          {"Connection": "Upgrade", "Upgrade": "chatter/1"})


def check(httpd: Httpd, listen: str, method: str, path: str, times: int,
          headers: Optional[dict[str, str]] = None) -> None:
    httpd.log.expect(rf"shop\[\d+\] gave no response: {method} {path}$",
                     sentences.NO_BACKEND)
    httpd.app("shop", f"AppListen {listen}", program="rude.py")
    httpd.start()
    client = Connection(httpd.port)
    body = b"a body" if method in ("POST", "HEAD") else None
    assert client.request(method, path, "shop", body, headers).status == 502
    seen = httpd.requests_seen()
    client.close()
    assert httpd.get("/", "shop").text == "ok"
    pid = seen[0].split()[1]
    assert seen == [f"shop {pid} {method} {path}"] * times
    assert httpd.requests_seen()[-1] == f"shop {pid} GET /"
