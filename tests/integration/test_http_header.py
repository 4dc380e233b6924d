# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The header of a response over HTTP, on its way from the app to the client."""
import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Raw, Response
from harness.httpd import Httpd

pytestmark = pytest.mark.one_mpm("both read in the same way")

OK = "HTTP/1.1 200 OK\r\n"
LENGTH = "Content-Length: 2\r\n"


def add(httpd: Httpd, name: str, response: str, *directives: str) -> None:
    """An app that sends this, whatever the request is."""
    file = httpd.dir / f"{name}.bytes"
    file.write_bytes(response.encode("latin-1"))
    httpd.app(name, "AppProtocol http", f"AppSetEnv RESPONSE {file}",
              "AppSetEnv PROTOCOL http", *directives,
              command=httpd.command_of("raw.py"))


def start(httpd: Httpd, response: str, *directives: str) -> None:
    add(httpd, "shop", response, *directives)
    httpd.start()


def fetch(httpd: Httpd, header: str, *directives: str) -> Response:
    start(httpd, OK + header + LENGTH + "\r\nok", *directives)
    response = httpd.get("/", "shop")
    assert (response.status, response.body) == (200, b"ok")
    return response


def everything(httpd: Httpd, request: str = "GET / HTTP/1.1",
               host: str = "shop") -> bytes:
    """All bytes that a client gets."""
    with Raw(httpd.port, f"{request}\r\nHost: {host}\r\n"
             "Connection: close\r\n\r\n".encode()) as client:
        return client.rest()


def test_only_what_is_for_the_client(httpd: Httpd) -> None:
    """Some fields, and those that Connection names, are for one connection."""
    response = fetch(
        httpd, "Connection: X-One, x-two\r\nX-One: 1\r\nX-Two: 2\r\n"
        "Keep-Alive: timeout=7\r\nProxy-Connection: x\r\nTE: x\r\n"
        "Proxy-Authenticate: Basic\r\nTrailer: X-Sum\r\nUpgrade: h2c\r\n"
        "X-Three: 3\r\n")
    assert response.headers["X-Three"] == "3"
    for name in ("X-One", "X-Two", "Proxy-Connection", "TE",
                 "Proxy-Authenticate", "Trailer", "Upgrade"):
        assert name not in response.headers
    assert "timeout=7" not in response.headers.get("Keep-Alive", "")


def test_in_their_order(httpd: Httpd) -> None:
    response = fetch(httpd, "Set-Cookie: a=1\r\nX-A: 1\r\nSet-Cookie: b=2\r\n"
                     "X-A: 2\r\nX-Long: a\r\n b\r\n\tc\r\nX-Empty:\r\n")
    assert response.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert response.headers.get_all("X-A") in (["1", "2"], ["1, 2"])
    assert response.headers["X-Long"].split() == ["a", "b", "c"]
    assert response.headers["X-Empty"] == ""


def test_a_date_has_one_form(httpd: Httpd) -> None:
    response = fetch(httpd, "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT\r\n"
                     "Expires: 0\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n")
    assert response.headers["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert response.headers["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert response.headers["Expires"] == "0"


def test_reverse_mapping(httpd: Httpd) -> None:
    """ProxyPassReverse and its relatives."""
    response = fetch(
        httpd, "Location: http://inside.example/a\r\n"
        "Content-Location: http://inside.example/b\r\n"
        "Set-Cookie: a=1; Domain=inside.example; Path=/in/\r\n",
        "ProxyPassReverse /out http://inside.example",
        "ProxyPassReverseCookieDomain inside.example outside.example",
        "ProxyPassReverseCookiePath /in/ /out/")
    assert response.headers["Location"].endswith("/out/a")
    assert response.headers["Content-Location"].endswith("/out/b")
    assert "outside.example" in response.headers["Set-Cookie"]
    assert "/out/" in response.headers["Set-Cookie"]


def test_via(httpd: Httpd) -> None:
    response = fetch(httpd, "", "ProxyVia On")
    assert response.headers["Via"] == "1.1 shop"


def test_upgrade_that_is_required(httpd: Httpd) -> None:
    start(httpd, f"HTTP/1.1 426 Upgrade\r\nUpgrade: chat\r\n{LENGTH}\r\nok")
    response = httpd.get("/", "shop")
    assert (response.status, response.headers["Upgrade"]) == (426, "chat")


EARLY = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: x-a\r\n" \
    "X-A: 1\r\nX-Odd: \x1b\r\n\r\n"


def test_interim_response(httpd: Httpd) -> None:
    """The client gets it before the response, if it speaks HTTP/1.1."""
    start(httpd, EARLY + OK + LENGTH + "\r\nok")
    received = everything(httpd)
    assert received.startswith(b"HTTP/1.1 103 ")
    interim, _, rest = received.partition(b"\r\n\r\n")
    assert b"Link: </a.css>" in interim and b"Connection" not in interim
    assert b"X-A" not in interim and b"X-Odd" not in interim
    assert rest.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Link" not in rest and rest.endswith(b"\r\n\r\nok")
    assert everything(httpd, "GET / HTTP/1.0").startswith(b"HTTP/1.1 200 OK")


def test_interim_responses_that_are_wanted(httpd: Httpd) -> None:
    httpd.modules.append("env")
    httpd.log.expect("apppool: proxy-interim-response is `RFC' or `Suppress', "
                     "not `Odd'")
    count = {"Suppress": 0, "RFC": 1, "Odd": 0}
    for policy in count:
        add(httpd, policy,
            "HTTP/1.1 100 Continue\r\n\r\n" + OK + LENGTH + "\r\nok",
            f"SetEnv proxy-interim-response {policy}")
    httpd.start()
    for policy, case in cases(count):
        with case:
            received = everything(httpd, host=policy)
            assert received.count(b"HTTP/1.1 100 Continue") == count[policy]
            assert received.endswith(b"\r\n\r\nok")


def test_too_many_interim_responses(httpd: Httpd) -> None:
    httpd.log.expect(sentences.HTTP_WRONG, sentences.NO_RESPONSE)
    start(httpd, EARLY * 20 + OK + LENGTH + "\r\nok")
    assert b"HTTP/1.1 502 " in everything(httpd)


def test_cut_short(httpd: Httpd) -> None:
    """The client notices it."""
    httpd.log.expect(sentences.CUT_OFF)
    framings = ["Content-Length: 9\r\n\r\nonly",
                "Transfer-Encoding: chunked\r\n\r\n9\r\nonly",
                "Transfer-Encoding: chunked\r\n\r\n4\r\nonly\r\n"]
    for number, framing in enumerate(framings):
        add(httpd, f"shop{number}", OK + framing)
    httpd.start()
    for (number, framing), case in cases(enumerate(framings)):
        with case:
            received = everything(httpd, host=f"shop{number}")
            assert b"only" in received and b"\r\n0\r\n\r\n" not in received
            httpd.log.wait_for(f"shop{number}.*has closed the connection "
                               "before the end of the response")


def test_one_length(httpd: Httpd) -> None:
    """Two forms of one number become one field."""
    start(httpd, OK + "Content-Length: 2\r\nContent-Length: 002\r\n\r\nok")
    received = everything(httpd)
    assert received.count(b"Content-Length: 2\r\n") == 1
    assert b"002" not in received and received.endswith(b"ok")


WRONG = {
    "length": "Content-Length: 2x\r\n",
    "two-lengths": "Content-Length: 2\r\nContent-Length: 3\r\n",
    "coding": "Transfer-Encoding: gzip, chunked\r\n", "blank": "X : 1\r\n",
    "no-colon": "no field\r\n", "return": "X: 1\rY: 2\r\n",
    "zero": "X: \x001\r\n", "long": "X: " + "x" * 70000 + "\r\n"}


def test_wrong_header(httpd: Httpd) -> None:
    httpd.log.expect(sentences.HTTP_WRONG, sentences.NO_RESPONSE)
    httpd.directives.append(f"MaxPoolSize {len(WRONG)}")
    for name, wrong in WRONG.items():
        add(httpd, name, OK + wrong + "\r\nok")
    httpd.start()
    for name, case in cases(WRONG):
        with case:
            assert httpd.get("/", name).status == 502
            httpd.log.wait_for(rf"apppool: {name}\[\d+\] sends wrong HTTP: ")


def test_long_header(httpd: Httpd) -> None:
    assert fetch(httpd, "X: " + "x" * 40000 + "\r\n").headers["X"] == "x" * 40000


def test_silence_within_an_error(httpd: Httpd) -> None:
    """httpd's page replaces that of the app, which does not come. The app may
    still work on the request."""
    httpd.log.expect(sentences.STUCK, sentences.SILENT)
    start(httpd, f"HTTP/1.1 500 Oops\r\n{LENGTH}\r\n", "ProxyErrorOverride On",
          "AppTimeout 1", "AppSetEnv HANG 1", "MaxInstances 1")
    assert httpd.get("/", "shop").status == 504
    httpd.settles(active=1, count=1)


def test_error_after_a_redirect(httpd: Httpd) -> None:
    """ProxyErrorOverride also counts after an internal redirect."""
    httpd.modules.append("rewrite")
    start(httpd, f"HTTP/1.1 500 Oops\r\n{LENGTH}\r\nok",
          "ProxyErrorOverride On", "<Location /old>", "RewriteEngine On",
          "RewriteRule . /new [L]", "</Location>")
    for path in ("/new", "/old"):
        response = httpd.get(path, "shop")
        assert response.status == 500
        assert "server error log" in response.text
