# Licensed under the Apache License, Version 2.0; see LICENSE.
"""ProxyErrorOverride: httpd's error page replaces the page that the app has
sent with an error."""
from itertools import product

import pytest

from harness import sentences
from harness.cases import cases
from harness.config import App
from harness.httpd import Httpd
from harness.web import SERVERS, mount

pytestmark = pytest.mark.mpms("event")

ERRORS = (404, 500, 502, 503, 504)


def add_hosts(httpd: Httpd, one: App) -> dict[str, str]:
    """Virtual hosts of this app, one for each document. @return their names"""
    hosts = {"": one.name}
    for number, document in enumerate(("/sorry.html", "/sorry", "Sorry")):
        host = httpd.app(f"web{number}", *one.directives, command=one.command,
                         root=one.root)
        host.directives += [f'ErrorDocument {code} "{document}"'
                            for code in ERRORS]
        hosts[document] = host.name
    return hosts


@pytest.mark.parametrize("name", ["gunicorn", "libfcgi", "uwsgi-fcgi",
                                  "uwsgi"])
def test_errors_of_the_app(httpd: Httpd, name: str) -> None:
    """They keep their status, and get a page of httpd, a file, a response of
    the app, or a text. No line says that the app gave no response, and the
    process has not kept the request."""
    place, _ = mount(httpd, SERVERS[name])
    app = httpd.apps[0]
    app.directives.append("ProxyErrorOverride On")
    (app.public / "sorry.html").write_text("sorry")
    hosts = add_hosts(httpd, app)
    httpd.start()
    pid = place.get("/").headers["X-Pid"]
    for (document, code), case in cases(product(hosts, ERRORS)):
        with case:
            response = httpd.get(f"/status?{code}", hosts[document])
            assert response.status == code
            assert response.body != b"a body"
            if document == "/sorry.html":
                assert response.body == b"sorry"
            if document == "/sorry":
                assert response.headers["X-Path"] == "/sorry"
            if document == "Sorry":
                assert response.body == b"Sorry"
            assert place.get("/").headers["X-Pid"] == pid
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("name", ["gunicorn", "libfcgi", "uwsgi"])
def test_missing_response_is_not_a_response(httpd: Httpd, name: str) -> None:
    """An app that dies causes a 502, and httpd sends its page for 502."""
    httpd.log.expect("died: signal 9", "gave no response", "AH01102|AH01110",
                     "End of script output before headers",
                     sentences.NO_BACKEND, sentences.ODD_RESPONSE,
                     sentences.TIMED_OUT)
    place, _ = mount(httpd, SERVERS[name])
    app = httpd.apps[0]
    app.directives += ["ProxyErrorOverride On",
                       "ErrorDocument 502 /sorry.html"]
    (app.public / "sorry.html").write_text("sorry")
    httpd.start()
    response = place.get("/crash")
    assert (response.status, response.body) == (502, b"sorry")
    httpd.log.wait_for("gave no response")
    # A worker of gunicorn that gets SIGTERM while it starts loses it.
    assert place.get("/").status == 200


@pytest.mark.parametrize("name", ["gunicorn", "libfcgi", "uwsgi"])
def test_error_document_that_fails(httpd: Httpd, name: str) -> None:
    """It is requested once."""
    httpd.log.expect("died: signal 9", "gave no response",
                     "End of script output before headers",
                     sentences.NO_BACKEND, sentences.ODD_RESPONSE,
                     sentences.TIMED_OUT)
    place, _ = mount(httpd, SERVERS[name])
    httpd.apps[0].directives.append("ErrorDocument 502 /crash")
    httpd.start()
    assert place.get("/crash").status == 502
    assert len(httpd.log.matching("gave no response")) == 2
    if name == "gunicorn":
        # A worker that starts while gunicorn gets its stop signal misses that
        # signal, and gunicorn waits for that worker.
        assert place.get("/").status == 200
