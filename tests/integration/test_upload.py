# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Request bodies. They are read before a process is taken, or passed on as
they come."""
import http.client
import os
import re
import zlib
from itertools import product

import pytest

from harness import procs
from harness.cases import cases
from harness.client import Raw
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.long import lasts
from harness.places import can_mount, mounted
from harness.recorder import add
from harness.wait import wait_until
from harness.web import SERVERS, mount

pytestmark = pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")

MEGABYTE = 1 << 20
MEMORY = 64 * 1024  # bytes of a body that are kept in memory


def head(url: str, *lines: str, host: str = "shop") -> bytes:
    lines = (f"POST {url} HTTP/1.1", f"Host: {host}", *lines, "", "")
    return "\r\n".join(lines).encode()


def sized(url: str, size: int, *lines: str) -> bytes:
    return head(url, f"Content-Length: {size}", *lines)


def chunked(url: str, *lines: str) -> bytes:
    return head(url, "Transfer-Encoding: chunked", *lines)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def noise(size: int) -> bytes:
    return bytes(range(251)) * (size // 251) + b"e" * (size % 251)


# ---- a slow client

@pytest.mark.mpms("prefork", "event")
@pytest.mark.parametrize("kind", ["sized", "chunked"])
def test_half_sent_upload_holds_no_process(httpd: Httpd, kind: str) -> None:
    """A pool of one process serves other requests meanwhile, and then the
    upload."""
    httpd.directives.append("MaxPoolSize 1")
    httpd.app("shop")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    half = b"a" * 200000
    sent, rest = ((sized("/sum", 400000) + half, half) if kind == "sized"
                  else (chunked("/sum") + chunk(half), chunk(half) + chunk(b"")))
    with Raw(httpd.port, sent) as client:
        wait_until(httpd.spools, "some of it is stored")
        assert httpd.get("/pid", "shop").text == pid
        httpd.settles(active=0, count=1)
        assert len(httpd.requests_seen()) == 2
        client.send(rest)
        seen = client.response("POST").json()
    assert (seen["length"], seen["crc"]) == (400000, zlib.crc32(half * 2))
    wait_until(lambda: not httpd.spools(), "nothing is kept")


@pytest.mark.parametrize("name", ["php", "libfcgi", "uwsgi", "uwsgi-scgi"])
def test_half_sent_upload_by_any_protocol(httpd: Httpd, name: str) -> None:
    """In chunks, which these protocols do not have."""
    place, _ = mount(httpd, SERVERS[name])
    httpd.start()
    half = noise(200000)
    with Raw(httpd.port, head("/up", "Transfer-Encoding: chunked",
                              host=place.host) + chunk(half)) as client:
        wait_until(httpd.spools, "some of it is stored")
        assert place.get("/").status == 200
        httpd.settles(active=0, count=1)
        client.send(chunk(half) + chunk(b""))
        assert client.response("POST").body == half * 2


@pytest.mark.parametrize("kind", ["sized", "chunked"])
def test_client_leaves_within_its_body(httpd: Httpd, kind: str) -> None:
    """Its request reaches no app"""
    httpd.app("shop")
    httpd.start()
    sent = sized("/sum", 400000) if kind == "sized" \
        else chunked("/sum") + b"61a80\r\n"
    with Raw(httpd.port, sent + b"a" * 200000):
        wait_until(httpd.spools, "some of it is stored")
    wait_until(lambda: httpd.log.matching("shop: the request body was not"),
               "httpd knows")
    wait_until(lambda: not httpd.spools(), "nothing is kept")
    assert httpd.counts() == (0, 0, 0)
    assert httpd.requests_seen() == []


@pytest.mark.mpms("prefork", "event")
def test_continue_while_no_process_is_free(httpd: Httpd) -> None:
    """httpd sends 100 Continue. It takes a process only later."""
    httpd.directives.append("MaxPoolSize 1")
    httpd.app("shop")
    httpd.start()
    held = httpd.hold("shop", "k")
    with Raw(httpd.port, sized("/echo", 5, "Expect: 100-continue")) as client:
        assert client.head()[0] == 100
        assert httpd.counts() == (1, 1, 0)
        client.send(b"12345")
        httpd.settles(active=1, count=1, waiting=1)
        held.release()
        seen = client.response("POST").json()
    assert seen["body"] == "12345"
    assert "expect" not in [name.lower() for name, _ in seen["headers"]]


# ---- the body that arrives

def test_stored_body_arrives(httpd: Httpd) -> None:
    """All of it, and with a length."""
    httpd.app("shop")
    httpd.start()
    sizes = 1, MEMORY, MEMORY + 1, 3 * MEGABYTE
    for (kind, size), case in cases(product(("sized", "chunked"), sizes)):
        body = noise(size)
        parts = [chunk(body[at:at + 100000]) for at in range(0, size, 100000)]
        sent = sized("/sum", size) + body if kind == "sized" else b"".join(
            [chunked("/sum"), *parts, b"0\r\nX-Trailer: 1\r\n\r\n"])
        with case, Raw(httpd.port) as client:
            for _ in (1, 2):  # over one connection
                client.send(sent)
                seen = client.response("POST").json()
                assert (seen["length"], seen["crc"]) == (size, zlib.crc32(body))
                assert seen["names"].count("content-length") == 1
                assert "transfer-encoding" not in seen["names"]


def test_decoded_body_has_its_own_length(httpd: Httpd) -> None:
    """A filter of httpd changes the body before it is stored."""
    httpd.modules.append("deflate")
    httpd.app("shop", "SetInputFilter DEFLATE")
    httpd.start()
    body = "".join(map(str, range(60000))).encode()
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(body) + packer.flush()
    seen = httpd.post("/sum", "shop", packed,
                      headers={"Content-Encoding": "gzip"}).json()
    assert (seen["length"], seen["crc"]) == (len(body), zlib.crc32(body))


def test_decoded_body_is_stored_for_its_length(httpd: Httpd) -> None:
    """uwsgi needs a length, and so does HTTP/1.0. That of the client is not that
    of the body."""
    httpd.modules += ["deflate", "env"]
    streams = "SetInputFilter DEFLATE", "AppBufferRequest Off"
    add(httpd, "uwsgi", "blog", *streams)
    httpd.app("shop", *streams, "SetEnv force-proxy-request-1.0 1")
    httpd.start()
    body = "".join(map(str, range(60000))).encode()
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(body) + packer.flush()
    coded = {"Content-Encoding": "gzip"}
    assert httpd.post("/?echo", "blog", packed, headers=coded).body == body
    seen = httpd.post("/sum", "shop", packed, headers=coded)
    assert (seen.status, seen.json()["crc"]) == (200, zlib.crc32(body))
    assert httpd.post("/?echo", "blog", b"as it is").body == b"as it is"


@pytest.mark.mpms("prefork", "event")
def test_many_small_pieces_take_little_memory(httpd: Httpd) -> None:
    """A single byte is stored in a byte."""
    httpd.app("shop")
    httpd.start()
    size = 20000
    with Raw(httpd.port, sized("/sum", 1) + b"x") as client:
        # The child now has the memory that any request needs.
        assert client.response("POST").json()["length"] == 1
        before = max(map(procs.peak_memory, httpd.children()))
        client.send(sized("/sum", size))
        for _ in range(size):
            client.send(b"x")
        assert client.response("POST").json()["length"] == size
    after = max(map(procs.peak_memory, httpd.children()))
    assert after - before < 8 * MEGABYTE  # 400 bytes for each of them


def test_body_is_not_the_error_document_s(httpd: Httpd) -> None:
    """The page of an error is requested without the body of the request."""
    httpd.log.expect("AH01630")  # denied
    app = httpd.app("shop", "ErrorDocument 403 /echo")
    httpd.directives += ['<Location "/closed">', "Require all denied",
                         "</Location>"]
    httpd.start()
    inner = b"GET /inner HTTP/1.1\r\nHost: shop\r\n\r\n"
    with Raw(httpd.port, sized("/closed", len(inner))) as client:
        wait_until(httpd.requests_seen, "the page is asked for")
        httpd.settles(active=0, count=1)
        client.send(inner + head("/pid", "Content-Length: 0"))
        response = client.response("POST")
        assert response.status == 403
        assert response.json()["method"] == "GET"
        assert response.json()["length"] == 0
        assert client.response("POST").status == 200
    assert [line.split()[3] for line in httpd.requests_seen()] == \
        ["/echo", "/pid"]
    assert len(httpd.pids(app)) == 1


# ---- limits

@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_too_long_by_its_header(httpd: Httpd, buffer: str) -> None:
    """413 before the client sends any of the body."""
    httpd.app("shop", "LimitRequestBody 100000", f"AppBufferRequest {buffer}")
    httpd.log.expect("AH01095", "gave no response") if buffer == "Off" else None
    httpd.start()
    with Raw(httpd.port, sized("/sum", 100001)) as client:
        assert client.response("POST").status == 413
        assert client.rest() == b""
    with Raw(httpd.port, sized("/sum", 100001,
                               "Expect: 100-continue")) as client:
        assert client.head()[0] == 413
    assert httpd.requests_seen() == []
    assert httpd.post("/sum", "shop", b"x" * 100000).status == 200
    httpd.settles(active=0, count=1)


@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_too_long_in_chunks(httpd: Httpd, buffer: str) -> None:
    """413 as soon as the body is too long. No more than the limit is
    stored."""
    httpd.app("shop", "LimitRequestBody 100000", f"AppBufferRequest {buffer}")
    httpd.log.expect("AH01095|AH02608|AH01097", "gave no response") \
        if buffer == "Off" else None
    httpd.start()
    with Raw(httpd.port, chunked("/echo") + chunk(b"x" * 99999)) as client:
        client.send(chunk(b"yz"))
        assert client.response("POST").status == 413
    httpd.settles(active=0, count=0 if buffer == "On" else 1)
    assert httpd.post("/sum", "shop", b"x" * 100000).status == 200


# ---- an app that does not read it

@pytest.mark.parametrize("listen", ["fd", "tcp"])
@pytest.mark.parametrize("buffer", ["On", "Off"])
def test_response_without_reading(httpd: Httpd, buffer: str,
                                listen: str) -> None:
    """The app closes the connection before it has read the body, which is
    larger than the kernel's buffers. The client gets the response."""
    httpd.app("shop", f"AppBufferRequest {buffer}", f"AppListen {listen}",
              "MaxInstances 1")
    httpd.start()
    for how, case in cases(("length", "close")):
        before = len(httpd.requests_seen())
        with case:
            for _ in range(3):
                response = httpd.post(f"/early?how={how}", "shop",
                                      b"x" * 16 * MEGABYTE)
                assert response.status == 413
                assert response.body == b"n" * 10000
            assert httpd.post("/sum", "shop", b"x" * 70000).status == 200
            httpd.settles(active=0, count=1)
            assert len(httpd.requests_seen()) - before == 4


@pytest.mark.parametrize("listen", ["fd", "tcp"])
@pytest.mark.parametrize("how", ["length", "close"])
def test_response_without_reading_what_was_sent(httpd: Httpd, how: str,
                                              listen: str) -> None:
    """All or most of the body is in the kernel when the app closes the
    connection, so no write fails. The reset comes when the response has been
    read."""
    httpd.app("shop", f"AppListen {listen}", "MaxInstances 1")
    httpd.start()
    for _ in range(10):
        for size in (100000, 400000, MEGABYTE, 2 * MEGABYTE, 4 * MEGABYTE):
            response = httpd.post(f"/early?how={how}", "shop", b"x" * size)
            assert response.status == 413
            assert response.body == b"n" * 10000


@pytest.mark.parametrize("listen", ["fd", "tcp"])
def test_large_response_without_reading(httpd: Httpd, listen: str) -> None:
    """Over TCP, the kernel forgets what the app has sent and nobody has
    received. What is left is no complete response."""
    httpd.log.expect(r"shop\[\d+\] has closed the connection before the end")
    httpd.app("shop", f"AppListen {listen}", "MaxInstances 1")
    httpd.start()
    for size in (100000, 3 * MEGABYTE) * 5:
        try:
            response = httpd.post("/early?how=large", "shop", b"x" * size)
            assert (response.status, len(response.body)) == (413, 3000000)
        except http.client.IncompleteRead:
            assert listen == "tcp"


@pytest.mark.mpms("prefork", "event")
def test_response_without_reading_on_a_kept_connection(httpd: Httpd) -> None:
    """The connection is not used again."""
    httpd.app("shop", "AppConcurrency 8", "AppSetEnv APP_THREADS 1",
              "MaxInstances 1")
    httpd.start()
    for _ in range(3):
        assert httpd.get("/pid", "shop").status == 200
        response = httpd.post("/early?how=length", "shop", b"x" * 3 * MEGABYTE)
        assert response.status == 413


@pytest.mark.parametrize("how", ["half", "dead"])
def test_half_a_response_without_reading(httpd: Httpd, how: str) -> None:
    """It is not a complete response."""
    httpd.log.expect(*KILLED)
    httpd.app("shop")
    httpd.start()
    if how == "dead":
        response = httpd.post("/early?how=dead", "shop", b"x" * 3 * MEGABYTE)
        assert response.status == 502
        return
    with pytest.raises(http.client.IncompleteRead):
        httpd.post("/early?how=half", "shop", b"x" * 3 * MEGABYTE)


# ---- AppBufferRequest Off

@pytest.mark.mpms("prefork", "event")
def test_streamed_body(httpd: Httpd) -> None:
    """The app reads while the client sends. This occupies a process."""
    httpd.app("shop", "AppBufferRequest Off")
    httpd.start()
    with Raw(httpd.port, sized("/sum", 200000) + b"a" * 100000) as client:
        wait_until(httpd.requests_seen, "the app reads")
        assert httpd.counts() == (1, 1, 0)
        assert httpd.spools() == []
        client.send(b"a" * 100000)
        assert client.response("POST").json()["length"] == 200000
    httpd.settles(active=0, count=1)
    seen = httpd.request("POST", "/echo", "shop",
                         iter([b"z" * 5000] * 100), chunked=True,
                         headers={"Transfer-Encoding": "chunked"}).json()
    assert seen["length"] == 500000
    assert "transfer-encoding" in [name.lower() for name, _
                                   in seen["headers"]]


def test_buffering_of_one_location(httpd: Httpd) -> None:
    """One path of the app has another setting"""
    httpd.app("shop", '<Location "/live">', "AppBufferRequest Off",
              "</Location>")
    httpd.start()
    with Raw(httpd.port, sized("/live/sum", 10)) as streamed, \
            Raw(httpd.port, sized("/sum", 10)) as stored:
        wait_until(httpd.requests_seen, "the app has the first one")
        streamed.send(b"x" * 10)
        stored.send(b"x" * 10)
        assert streamed.response("POST").status == 200
        assert stored.response("POST").status == 200
    assert "/live/sum" in httpd.requests_seen()[0]


# ---- the temporary file

@pytest.mark.skipif(not can_mount(), reason="mount is denied")
def test_disk_full(httpd: Httpd) -> None:
    """507 and two lines in the log: the reason, and the id of the page. The
    request does not reach the app. When there is room again, uploads work
    again."""
    httpd.log.expect(r"shop: a request body of more than \d+ bytes cannot be "
                     r"stored in |gets the status 507: error ")
    place = httpd.dir / "spool"
    place.mkdir()
    httpd.wrapper = mounted("mount -t tmpfs -o size=256k,mode=1777 none "
                            f"{place} && export TMPDIR={place}")
    httpd.app("shop")
    httpd.start()

    def free() -> int:
        disk = os.statvfs(f"/proc/{httpd.pid}/root{place}")
        return disk.f_bfree * disk.f_bsize

    for n in (1, 2, 3):
        with Raw(httpd.port, sized("/sum", MEGABYTE)) as client:
            client.send(b"x" * MEGABYTE)
            response = client.response("POST")
            # Bytes that the client still sends are not another request.
            assert (response.status, response.headers["Connection"]) \
                == (507, "close")
        wait_until(lambda: free() == 256 * 1024, "the room is free again")
        assert len(httpd.log.bad()) == 2 * n
    assert re.search("No space left on device", httpd.log.bad()[0])
    assert httpd.requests_seen() == []
    assert httpd.post("/sum", "shop", b"x" * 200000).status == 200
    wait_until(lambda: free() == 256 * 1024, "the room is free again")


@pytest.mark.mpms("event")
def test_bulk_in_constant_memory(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    httpd.post("/sum", "shop", b"x" * 100000)
    before = {pid: procs.peak_memory(pid) for pid in httpd.children()}
    piece, count = b"g" * MEGABYTE, lasts(256, 1024)
    crc = 0
    with Raw(httpd.port, sized("/sum", count * MEGABYTE)) as client:
        client.sock.settimeout(100)
        for _ in range(count):
            client.send(piece)
            crc = zlib.crc32(piece, crc)
        assert client.response("POST").json()["crc"] == crc
    for pid, memory in before.items():
        assert procs.peak_memory(pid) - memory < 8 * MEGABYTE
