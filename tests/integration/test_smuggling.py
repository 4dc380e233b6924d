# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Requests made to be taken for others. They are refused, or harmless.

More requests follow each attempt on the same connection. The app may see the
request that httpd saw, or nothing. It must never see a request that is hidden
in another one."""
import pytest

from harness.cases import cases
from harness.client import Raw, Response
from harness.httpd import Httpd
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("httpd's core reads them in the same way")

HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: shop\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
BUFFER = pytest.mark.parametrize("buffer", ["On", "Off"])


def start(httpd: Httpd, *directives: str) -> None:
    httpd.app("shop", *directives)
    httpd.start()
    # If no request reaches an app, the stop comes before everything has
    # started.
    wait_until(httpd.spawner_now, "the spawner runs")


def post(headers: bytes, body: bytes) -> bytes:
    return b"POST /echo HTTP/1.1\r\nHost: shop\r\n" + headers + b"\r\n" + body


def send(httpd: Httpd, data: bytes) -> bytes:
    """All bytes until the connection ends."""
    with Raw(httpd.port, data + b"GET /last HTTP/1.1\r\nHost: shop\r\n"
             b"Connection: close\r\n\r\n") as client:
        return client.rest()


def seen(httpd: Httpd) -> list[str]:
    """METHOD PATH of each request that the app has got."""
    return [" ".join(line.split()[2:]) for line in httpd.requests_seen()]


def statuses(received: bytes) -> list[int]:
    return [int(part.split()[0]) for part in received.split(b"HTTP/1.1 ")[1:]]


# ---- the end of the body

@BUFFER
def test_length_and_chunks(httpd: Httpd, buffer: str) -> None:
    """Content-Length is then void, and the connection is closed."""
    httpd.log.expect("AH01095|AH02608|gave no response")
    start(httpd, f"AppBufferRequest {buffer}")
    body = b"5\r\nabcde\r\n0\r\n\r\n"
    for length in (4, len(body) + len(HIDDEN)):
        both = [b"Content-Length: %d\r\n" % length, CHUNKED]
        for headers in (both, both[::-1]):
            received = send(httpd, post(b"".join(headers), body + HIDDEN))
            assert statuses(received) in ([200], [400])
            assert b'"length": 5' in received or statuses(received) == [400]
    assert set(seen(httpd)) <= {"POST /echo"}


LENGTHS = [b"4, 5", b"5, 5", b"+5", b"-5", b"5 5", b"0x5", b"5;", b"5.0",
           b"five", b"", b"99999999999999999999"]


def test_bad_length(httpd: Httpd) -> None:
    start(httpd)
    for length, case in cases(LENGTHS):
        with case:
            received = send(httpd, post(b"Content-Length: " + length + b"\r\n",
                                        b"abcde" + HIDDEN))
            assert statuses(received) == [400]
            assert seen(httpd) == []


def test_two_lengths(httpd: Httpd) -> None:
    """Different or equal ones, in two headers."""
    start(httpd)
    for other in (b"5", b"0", b"40"):
        received = send(httpd, post(b"Content-Length: 5\r\nContent-Length: "
                                    + other + b"\r\n", b"abcde" + HIDDEN))
        assert statuses(received) == [400]
    assert seen(httpd) == []


CODINGS = [b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked, foo",
           b"Transfer-Encoding: identity", b"Transfer-Encoding: \x0bchunked",
           b"Transfer-Encoding : chunked", b" Transfer-Encoding: chunked",
           b"Transfer-Encoding\r\n : chunked", b"Transfer_Encoding: chunked",
           b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
           b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
           b"X: y\rTransfer-Encoding: chunked",
           b"X: y\nTransfer-Encoding: chunked",
           b"X: y\0\r\nTransfer-Encoding: chunked",
           b"Transfer-Encoding:\r\n chunked",
           b"Transfer-Encoding: \"chunked\""]


@BUFFER
def test_odd_coding_and_length(httpd: Httpd, buffer: str) -> None:
    """A server that uses only one of the two would find a request. The app
    does not get it."""
    start(httpd, f"AppBufferRequest {buffer}")
    body = b"0\r\n\r\n" + HIDDEN
    length = b"Content-Length: %d\r\n" % len(body)
    rows = [headers for coding in CODINGS
            for headers in (coding + b"\r\n" + length,
                            length + coding + b"\r\n")]
    for headers, case in cases(rows):
        with case:
            received = send(httpd, post(headers, body))
            assert statuses(received)
            assert set(statuses(received)) <= {200, 400, 501}
            assert set(seen(httpd)) <= {"POST /echo", "GET /last"}


def test_other_coding(httpd: Httpd) -> None:
    """It is refused, because nothing would decode it."""
    start(httpd)
    for coding, case in cases([b"identity", b"gzip, chunked", b"chunkedx",
                               b"chunked, chunked", b"chunked;q=1"]):
        with case:
            received = send(httpd, post(b"Transfer-Encoding: " + coding + b"\r\n",
                                        b"0\r\n\r\n" + HIDDEN))
            assert statuses(received) in ([400], [501])
            assert seen(httpd) == []


def test_underscore_is_no_hyphen(httpd: Httpd) -> None:
    """A header that an app could take for Transfer-Encoding or Content-Length
    does not reach the app."""
    start(httpd)
    body = b"0\r\n\r\n"
    with Raw(httpd.port, post(b"Transfer_Encoding: chunked\r\nContent_Length: "
                              b"1\r\nContent-Length: 5\r\n", body)) as client:
        response = client.response("POST").json()
    assert response["body"] == body.decode()
    assert not [name for name, _ in response["headers"] if "_" in name]


SIZES = [b"-5", b"+5", b"0x5", b"5 5", b"g", b"", b" ", b"5\x0b", b"'5'",
         b"ffffffffffffffff5", b"fffffffffffffffb"]


@BUFFER
def test_bad_chunk_size(httpd: Httpd, buffer: str) -> None:
    """It is refused, and so is the rest of the connection."""
    httpd.log.expect("AH01095|AH02608|AH01097|gave no response|AH01084")
    start(httpd, f"AppBufferRequest {buffer}")
    for size, case in cases(SIZES):
        with case:
            received = send(httpd, post(CHUNKED, size + b"\r\nabcde\r\n0\r\n\r\n"
                                        + HIDDEN))
            assert statuses(received) in ([400], [413])
            assert seen(httpd) == []


def test_bad_end_of_chunk(httpd: Httpd) -> None:
    start(httpd)
    for body, case in cases([b"3\r\nabcde\r\n0\r\n\r\n",
                             b"5\r\nabcdeX\r\n0\r\n\r\n",
                             b"5\nabcde\n0\n\n",
                             b"5\r\nabcde0\r\n\r\n"]):
        with case:
            received = send(httpd, post(CHUNKED, body + HIDDEN))
            assert statuses(received) == [400]
            assert seen(httpd) == []


def test_extensions_and_trailers(httpd: Httpd) -> None:
    """They do not pass httpd."""
    start(httpd)
    body = b"5;a=\"b\"\r\nabcde\r\n0\r\nX-Forwarded-Prefix: /evil\r\n" \
           b"Content-Length: 1\r\nX-Mine: no\r\n\r\n"
    with Raw(httpd.port, post(CHUNKED, body)) as client:
        response = client.response("POST").json()
        assert response["body"] == "abcde"
        names = {name.lower() for name, _ in response["headers"]}
        assert not names & {"x-forwarded-prefix", "x-mine",
                            "transfer-encoding"}
        client.send(post(b"Content-Length: 1\r\n", b"x"))
        assert client.response("POST").json()["length"] == 1
    assert seen(httpd) == ["POST /echo"] * 2


def test_body_of_a_get(httpd: Httpd) -> None:
    """GET and HEAD may have a body. The body is not another request."""
    start(httpd)
    for method in (b"GET", b"HEAD", b"OPTIONS", b"DELETE"):
        request = method + b" /echo HTTP/1.1\r\nHost: shop\r\n" \
            b"Content-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN
        assert statuses(send(httpd, request)) == [200, 200]
    assert not [line for line in seen(httpd) if "hidden" in line]


# ---- headers

def echo(httpd: Httpd, headers: bytes, url: bytes = b"/echo") -> Response:
    with Raw(httpd.port, b"GET " + url + b" HTTP/1.1\r\nHost: shop\r\n"
             + headers + b"\r\n") as client:
        return client.response()


def names(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.json()["headers"]}


def test_folded_header_is_one(httpd: Httpd) -> None:
    """It is refused, or becomes one line. No header is hidden in another
    one."""
    start(httpd)
    response = echo(httpd, b"X-Mine: a\r\n X-Forwarded-Prefix: /evil\r\n"
                    b"X-Last: b\r\n")
    if response.status != 400:
        assert "x-forwarded-prefix" not in names(response)
        assert names(response)["x-mine"] == "a X-Forwarded-Prefix: /evil"
        assert names(response)["x-last"] == "b"


PREFIXES = [b"X-Forwarded-Prefix", b"X_Forwarded_Prefix",
            b"X-Forwarded_Prefix", b"x_forwarded-prefix", b"X-Script-Name",
            b"SCRIPT_NAME", b"Script-Name", b"PATH_INFO", b"X.Forwarded.Prefix"]


def test_client_does_not_say_where_the_app_is(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.app("sub", location="/sub")
    httpd.start()
    for name, case in cases(PREFIXES):
        with case:
            line = name + b": /evil\r\n"
            response = echo(httpd, line)
            assert "/evil" not in str(response.json()["headers"])
            with Raw(httpd.port, b"GET /sub/echo HTTP/1.1\r\nHost: sub\r\n"
                     + line + b"\r\n") as client:
                response = client.response()
            assert "/evil" not in str(response.json()["headers"])
            assert names(response)["x-forwarded-prefix"] == "/sub"


def test_connection_names_no_header_of_ours(httpd: Httpd) -> None:
    """A client lists headers in Connection. Neither this module's headers nor
    those of RequestHeader are removed by that."""
    httpd.modules.append("headers")
    httpd.app("shop", "RequestHeader set X-Remote-User real")
    httpd.app("sub", location="/sub")
    httpd.start()
    tricks = b"Connection: close, X-Remote-User, x-forwarded-for, " \
             b"X-Forwarded-Prefix, Cookie\r\nConnection: Host\r\n"
    response = echo(httpd, tricks + b"X-Remote-User: fake\r\nCookie: c=1\r\n"
                    b"X_Remote_User: fake\r\n")
    assert names(response)["x-remote-user"] == "real"
    assert names(response)["x-forwarded-for"] == "127.0.0.1"
    assert names(response)["cookie"] == "c=1"
    assert "fake" not in str(response.json()["headers"])
    assert response.headers["Connection"] == "close"
    with Raw(httpd.port, b"GET /sub/echo HTTP/1.1\r\nHost: sub\r\n" + tricks
             + b"\r\n") as client:
        assert names(client.response())["x-forwarded-prefix"] == "/sub"


def test_encoded_line_end_in_the_url(httpd: Httpd) -> None:
    """It stays encoded, or is refused."""
    start(httpd)
    for url, case in cases([b"/a%0d%0aX-Evil:%201/echo",
                            b"/a%20HTTP/1.1%0d%0aX-Evil:%201/echo",
                            b"/a%00/echo", b"/echo?a%0d%0aX-Evil:%201"]):
        with case:
            before = seen(httpd)
            response = echo(httpd, b"", url)
            if response.status == 200:
                assert "x-evil" not in names(response)
                target = response.json()["target"]
                assert target.lower() == url.decode().lower()
            else:
                assert response.status in (400, 403, 404)
                assert seen(httpd) == before


def test_line_ends_in_the_url(httpd: Httpd) -> None:
    start(httpd)
    for url in (b"/a\rX-Evil: 1", b"/a\tb", b"/a\x0bb", b"/a b"):
        assert echo(httpd, b"", url).status == 400
    assert seen(httpd) == []


# ---- responses

def test_surplus_is_not_the_next_response(httpd: Httpd) -> None:
    """An app that sends more than it announced harms no other request."""
    httpd.app("shop", "AppConcurrency 8", "AppSetEnv APP_THREADS 1",
              "MaxInstances 1")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200  # a connection is kept
    for _ in range(5):
        assert httpd.get("/surplus", "shop").text == "ok"
        assert "poison" not in httpd.get("/who", "shop").text


def test_subrequest_of_a_page_is_cleaned(httpd: Httpd) -> None:
    """A subrequest of mod_include comes from outside. It is cleaned like any
    other, and the other parts of the page do not change."""
    httpd.modules.append("include")
    documents = httpd.dir / "htdocs"
    (documents / "page.shtml").write_text(
        '<!--#include virtual="/shop/echo" -->')
    httpd.directives += [f'<Directory "{httpd.dir / "htdocs"}">',
                         "Options +Includes", "</Directory>",
                         '<Files "*.shtml">', "SetOutputFilter INCLUDES",
                         "</Files>"]
    httpd.app("shop", location="/shop")
    httpd.start()
    with Raw(httpd.port, b"GET /page.shtml HTTP/1.1\r\nHost: status\r\n"
             b"X-Mine: 1\r\n"
             + b"".join(name + b": /evil\r\n" for name in PREFIXES)
             + b"X-Sendfile-Type: X-Evil\r\nX-Accel-Mapping: /=/evil\r\n\r\n"
             ) as client:
        response = client.response()
    assert "evil" not in response.text.lower()
    assert names(response)["x-forwarded-prefix"] == "/shop"
    assert names(response)["x-mine"] == "1"
