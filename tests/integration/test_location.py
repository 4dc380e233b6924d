# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A Location in a response of CGI, over SCGI and FastCGI."""
import pytest

from harness.cases import cases
from harness.httpd import Httpd
from test_nonsense import is_free, raws, response_of

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


def test_redirect(httpd: Httpd) -> None:
    """Any other Location without a status is 302. The rest of the response
    stays."""
    rest = b"Set-Cookie: a=1\r\nContent-Type: text/plain\r\n"
    there = b"Location: http://there/\r\n" + rest
    rows = {
        (302, "scgi"): there, (302, "fcgi"): there,
        (302, "fcgi", "a path"): b"Location: /page.txt\r\n" + rest,
        (200, "scgi"): b"Status: 200 OK\r\n" + there,
        (200, "fcgi"): b"Status: 200 OK\r\n" + there,
        (200, "uwsgi"): there,
        (201, "fcgi"): b"Status: 201 Created\r\n" + there}
    apps = raws(httpd, {row: (row[1], response_of(row[1], headers, b"more"))
                        for row, headers in rows.items()})
    for row, case in cases(apps):
        with case:
            response = httpd.get("/", apps[row].name)
            assert response.status == row[0]
            assert response.headers["Location"].encode() in rows[row]
            assert response.headers["Set-Cookie"] == "a=1"
            assert response.body == b"more"
