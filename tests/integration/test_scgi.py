# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What is special about SCGI."""
import pytest

from harness.cases import cases
from harness.httpd import Httpd
from test_nonsense import is_free, raws

pytestmark = pytest.mark.mpms("event")


def test_local_redirect(httpd: Httpd) -> None:
    """A Location without a status names another path of this server. httpd
    responds as for that path."""
    app = raws(httpd, {"it": ("scgi", b"Location: /page.txt\r\n\r\nmore"),
                       "no": ("scgi", b"Status: 302 Found\r\n"
                                      b"Location: /page.txt\r\n\r\n")})
    for one in app.values():
        (one.public / "page.txt").write_text("a page")
    for (method, body), case in cases([("GET", None), ("POST", b"a body"),
                                       ("HEAD", None)]):
        with case:
            response = httpd.request(method, "/", app["it"].name, body)
            assert response.status == 200
            assert response.headers["Content-Length"] == "6"
            assert response.body == (b"" if method == "HEAD" else b"a page")
            is_free(httpd, app["it"])
    assert httpd.get("/", app["no"].name).status == 302
