# Licensed under the Apache License, Version 2.0; see LICENSE.
"""X-Sendfile: an app names a file, httpd sends it."""
import os
import subprocess
from itertools import product
from pathlib import Path
from typing import Optional

import pytest

from harness.cases import cases
from harness.client import Raw, Response
from harness.config import App
from harness.httpd import Httpd
from harness.web import SERVERS, mount

pytestmark = pytest.mark.one_mpm(
    "the file is opened, and the response is made, within one request")

TEXT = b"".join(b"line %d\n" % n for n in range(5000))
REFUSED = "shop: X-Sendfile .* is not a file below AppRoot"


def start(httpd: Httpd, *directives: str) -> App:
    app = httpd.app("shop", *(directives or ("AppSendFile On",)))
    (app.root / "storage").mkdir()
    (app.root / "storage" / "report").write_bytes(TEXT)
    httpd.start()
    return app


def fetch(httpd: Httpd, name: object, query: str = "",
          headers: Optional[dict[str, str]] = None,
          method: str = "GET") -> Response:
    return httpd.request(method, f"/sendfile?x=1{query}", "shop",
                         headers={"X-Name": str(name), **(headers or {})})


# ---- a file

def test_file_is_sent(httpd: Httpd) -> None:
    """With the headers of the app and those of a file, but without the header
    that named it."""
    app = start(httpd)
    for name in (app.root / "storage" / "report", "storage/report"):
        for size in ("", "&n=0", "&n=100000"):
            response = fetch(httpd, name, size)
            assert (response.status, response.body) == (200, TEXT)
            assert response.headers["Content-Length"] == str(len(TEXT))
            assert response.headers["Accept-Ranges"] == "bytes"
            assert response.headers["Content-Type"] == "text/plain"
            assert response.headers["Content-Disposition"] == "attachment"
            assert response.headers["X-App"] == "here"
            assert response.headers["Last-Modified"]
            assert response.headers["ETag"]
            assert "X-Sendfile" not in response.headers
    httpd.settles(active=0, count=1)


def test_head_and_empty_file(httpd: Httpd) -> None:
    app = start(httpd)
    response = fetch(httpd, "storage/report", method="HEAD")
    assert (response.status, response.body) == (200, b"")
    assert response.headers["Content-Length"] == str(len(TEXT))
    (app.root / "empty").touch()
    response = fetch(httpd, "empty")
    assert (response.status, response.body) == (200, b"")


def test_ranges(httpd: Httpd) -> None:
    start(httpd)
    for (ranges, body), case in cases([("bytes=0-4", TEXT[:5]),
                                       ("bytes=100-", TEXT[100:]),
                                       ("bytes=-7", TEXT[-7:])]):
        with case:
            response = fetch(httpd, "storage/report",
                             headers={"Range": ranges})
            assert (response.status, response.body) == (206, body)
            assert response.headers["Content-Range"].endswith(f"/{len(TEXT)}")
    response = fetch(httpd, "storage/report",
                     headers={"Range": "bytes=9999999-"})
    assert response.status == 416


def test_conditions(httpd: Httpd) -> None:
    start(httpd)
    first = fetch(httpd, "storage/report")
    for header, value in (("If-None-Match", first.headers["ETag"]),
                          ("If-Modified-Since",
                           first.headers["Last-Modified"])):
        response = fetch(httpd, "storage/report", headers={header: value})
        assert (response.status, response.body) == (304, b"")
    response = fetch(httpd, "storage/report", headers={"If-None-Match": '"x"'})
    assert (response.status, response.body) == (200, TEXT)
    response = fetch(httpd, "storage/report", headers={"If-Match": '"x"'})
    assert response.status == 412
    response = fetch(httpd, "storage/report", "&etag=1")
    assert response.headers["ETag"] == '"mine"'


@pytest.mark.mpms("prefork", "event")
def test_large_file_for_a_slow_client(httpd: Httpd) -> None:
    """It holds no process, whatever AppBufferResponse says."""
    httpd.directives.append("MaxPoolSize 1")
    app = start(httpd, "AppSendFile On", "AppBufferResponse Off")
    size = 20 << 20
    with open(app.root / "large", "wb") as file:
        file.truncate(size)
    with Raw(httpd.port, b"GET /sendfile HTTP/1.1\r\nHost: shop\r\n"
             b"X-Name: large\r\n\r\n", receive_buffer=16384) as client:
        assert client.stream.file.read(15) == b"HTTP/1.1 200 OK"
        assert httpd.get("/pid", "shop").status == 200
        rest = client.stream.file.read(size)
        assert rest.count(b"\0") > size - 1000


@pytest.mark.parametrize("name", ["php", "uwsgi", "uwsgi-scgi"])
def test_by_any_protocol(httpd: Httpd, name: str) -> None:
    """With a body of the app, and without one."""
    place, _ = mount(httpd, SERVERS[name], "AppSendFile On")
    root = httpd.apps[0].root
    (root / "report").write_bytes(TEXT)
    if name == "php":
        (root / "index.php").write_text(
            "<?php header('X-Sendfile: report');"
            "echo str_repeat('its own', $_SERVER['HTTP_X_TIMES']);")
    else:
        (root / "wsgi.py").write_text(
            "def application(environ, start_response):\n"
            "    start_response('200 OK', [('X-Sendfile', 'report')])\n"
            "    return [b'its own' * int(environ['HTTP_X_TIMES'])]\n")
    httpd.start()
    for times, case in cases(("0", "1", "10000")):
        with case:
            for _ in range(2):
                response = place.get("/", **{"X-Times": times})
                assert (response.status, response.body) == (200, TEXT)
                assert response.headers["Content-Length"] == str(len(TEXT))
                assert "X-Sendfile" not in response.headers
            part = place.get("/", Range="bytes=3-5", **{"X-Times": times})
            assert part.body == TEXT[3:6]
            httpd.settles(active=0, count=1)


@pytest.mark.parametrize("name", ["gunicorn", "php", "uwsgi", "uwsgi-scgi"])
@pytest.mark.mpms("event")
def test_refusal_by_any_protocol(httpd: Httpd, name: str) -> None:
    """It is a complete response, and the connection is kept."""
    httpd.log.expect("X-Sendfile .*nothing cannot be opened")
    httpd.modules.append("http2")
    httpd.directives.append("Protocols h2c http/1.1")
    mount(httpd, SERVERS[name], "AppSendFile On").__next__()
    root = httpd.apps[0].root
    (root / "report").write_bytes(TEXT)
    if name == "php":
        (root / "index.php").write_text(
            "<?php header('X-Sendfile: ' . $_SERVER['HTTP_X_NAME']);"
            "echo 'x';")
    else:
        (root / "wsgi.py").write_text(
            "def application(environ, start_response):\n"
            "    start_response('200 OK', [\n"
            "        ('X-Sendfile', environ['HTTP_X_NAME'])])\n"
            "    return [b'x']\n")
    httpd.start()
    words = ["-s", "-o", "/dev/null", "-w",
             "%{http_code} %{num_connects}\\n", "--connect-to",
             f"::127.0.0.1:{httpd.port}", "http://web/"]
    again = ["--next", *words, "--http1.1", "-H", "X-Name: report"]
    refused = [("404", ["-H", "X-Name: nothing"]),
               ("416", ["-H", "X-Name: report", "-H", "Range: bytes=9999999-"])]
    for ((wanted, options), version), case in cases(product(
            refused, ("--http1.1", "--http2-prior-knowledge"))):
        with case:
            # curl does not keep a connection that starts with HTTP/2.
            more = again if version == "--http1.1" else []
            done = subprocess.run(["curl", *words, version, *options, *more],
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done
            assert done.stdout.splitlines() == (
                [f"{wanted} 1", "200 0"] if more else [f"{wanted} 1"])
            httpd.settles(active=0, count=1)


@pytest.mark.parametrize("name", ["uwsgi", "uwsgi-scgi"])
def test_with_the_length_of_the_file(httpd: Httpd, name: str) -> None:
    """Without a body, as frameworks do it that leave the rest to the
    server."""
    place, _ = mount(httpd, SERVERS[name], "AppSendFile On")
    root = httpd.apps[0].root
    (root / "report").write_bytes(TEXT)
    (root / "wsgi.py").write_text(
        "def application(environ, start_response):\n"
        "    start_response('200 OK', [('X-Sendfile', 'report'),\n"
        f"                              ('Content-Length', '{len(TEXT)}')])\n"
        "    return []\n")
    httpd.start()
    for _ in range(2):
        response = place.get("/")
        assert (response.status, response.body) == (200, TEXT)
    httpd.settles(active=0, count=1)


def test_error_document_may_be_a_file(httpd: Httpd) -> None:
    app = start(httpd, "AppSendFile On", "ProxyErrorOverride On",
                "ErrorDocument 404 /sendfile")
    (app.root / "sorry").write_text("sorry")
    for _ in range(2):
        response = httpd.get("/status?code=404", "shop",
                             headers={"X-Name": "sorry", "Range": "bytes=1-2"})
        assert (response.status, response.text) == (404, "sorry")
        assert "X-Sendfile" not in response.headers
    httpd.settles(active=0, count=1)


# ---- rights

@pytest.mark.mpms("prefork", "event")
def test_app_may_name_files(httpd: Httpd) -> None:
    """httpd sets the header, and a client cannot."""
    start(httpd, "AppSendFile Off")
    response = fetch(httpd, "x", headers={"X-Sendfile-Type": "X-Sendfile"})
    assert response.headers["X-Was-Offered"] == ""
    assert response.text == "the app's own"
    httpd.apps[0].directives[0] = "AppSendFile On"
    httpd.graceful()
    response = fetch(httpd, "storage/report",
                     headers={"X-Sendfile-Type": "X-Accel-Redirect"})
    assert response.headers["X-Was-Offered"] == "X-Sendfile"
    assert response.body == TEXT


def test_only_for_200(httpd: Httpd) -> None:
    """The app's error page stays, and the client does not see the name."""
    start(httpd)
    response = fetch(httpd, "storage/report", "&code=404")
    assert (response.status, response.text) == (404, "the app's own")
    assert "X-Sendfile" not in response.headers


def test_other_directories(httpd: Httpd) -> None:
    place = httpd.dir / "files"
    place.mkdir()
    (place / "a b").write_text("elsewhere")
    start(httpd, f'AppSendFile On /nowhere "{place}"')
    assert fetch(httpd, place / "a b").text == "elsewhere"
    assert fetch(httpd, "storage/report").body == TEXT


def test_outside(httpd: Httpd) -> None:
    """403, a line in the log, and no byte of the file."""
    httpd.log.expect(REFUSED)
    app = start(httpd)
    outside = httpd.dir / "outside"
    outside.write_text("secret")
    (app.root / "link").symlink_to(outside)
    (app.root / "linked").symlink_to(httpd.dir / "elsewhere")
    (httpd.dir / "elsewhere").mkdir()
    (httpd.dir / "elsewhere" / "x").write_text("secret")
    os.mkfifo(app.root / "fifo")
    Path(f"{app.root}-too").mkdir()
    Path(f"{app.root}-too/x").write_text("secret")
    names = ("/etc/hostname", "../outside", "storage/../../outside", "link",
             "linked/x", "/proc/self/environ", "/dev/null", "storage", ".",
             "/", "fifo", "/proc/self/root/etc/hostname", f"{app.root}-too/x")
    for (n, name), case in cases(enumerate(names, 1)):
        with case:
            response = fetch(httpd, name)
            assert response.status == 403
            assert b"secret" not in response.body
            assert "X-Sendfile" not in response.headers
            assert "X-App" not in response.headers
            assert len(httpd.log.wait_for(REFUSED, n)) == n
    (app.root / "fifo").unlink()
    httpd.settles(active=0, count=1)


def test_link_within_is_followed(httpd: Httpd) -> None:
    """AppRoot may also be a link."""
    real = httpd.dir / "release"
    real.mkdir()
    (httpd.dir / "shop").symlink_to(real)
    app = start(httpd)
    (app.root / "link").symlink_to(app.root / "storage" / "report")
    assert fetch(httpd, app.root / "link").body == TEXT
    assert fetch(httpd, real / "link").body == TEXT


@pytest.mark.mpms("prefork", "event")
def test_moved_root_is_not_believed(httpd: Httpd) -> None:
    """The owner of the directory above AppRoot may replace AppRoot by another
    directory. Only the app's own files in it are sent, until httpd checks
    again."""
    httpd.log.expect(REFUSED)
    app = start(httpd)
    release = httpd.dir / "release"
    release.mkdir()
    user = app.root.stat().st_uid
    os.chown(release, user, user)
    for name, owner in (("own", user), ("other", 0)):
        (release / name).write_text(name)
        os.chown(release / name, owner, owner)
    app.root.rename(httpd.dir / "before")
    app.root.symlink_to(release)
    assert fetch(httpd, "other").status == 403
    assert fetch(httpd, release / "other").status == 403
    assert fetch(httpd, "own").text == "own"
    assert fetch(httpd, release / "own").text == "own"
    assert fetch(httpd, httpd.dir / "before/storage/report").status == 403
    httpd.graceful()
    assert fetch(httpd, "other").text == "other"


def test_moved_directory_is_not_believed(httpd: Httpd) -> None:
    httpd.log.expect(REFUSED)
    place = httpd.dir / "files"
    place.mkdir()
    (place / "x").write_text("elsewhere")
    os.chown(place / "x", 0, 0)
    app = start(httpd, f'AppSendFile On "{place}"')
    assert fetch(httpd, place / "x").text == "elsewhere"
    place.rename(httpd.dir / "before")
    place.symlink_to(httpd.dir / "other")
    (httpd.dir / "other").mkdir()
    for name, owner in (("own", app.root.stat().st_uid), ("secret", 0)):
        (httpd.dir / "other" / name).write_text(name)
        os.chown(httpd.dir / "other" / name, owner, owner)
    assert fetch(httpd, place / "secret").status == 403
    assert fetch(httpd, place / "own").text == "own"


def test_missing_and_unreadable(httpd: Httpd) -> None:
    httpd.log.expect("shop: X-Sendfile .* cannot be (opened|read)")
    app = start(httpd, "AppSendFile On", "ErrorDocument 404 /sorry.html")
    (app.public / "sorry.html").write_text("sorry")
    (app.root / "closed").write_text("secret")
    (app.root / "closed").chmod(0o000)
    response = fetch(httpd, "nothing")
    assert (response.status, response.text) == (404, "sorry")
    assert fetch(httpd, "storage/report/x").status == 404
    assert fetch(httpd, "closed").status == 403
    assert fetch(httpd, "storage/report").body == TEXT
    httpd.settles(active=0, count=1)


@pytest.mark.mpms("event")
def test_wrong_values(httpd: Httpd) -> None:
    app = httpd.app("shop")
    for (words, wrong), case in cases([
            ("Yes", '"Yes" is neither On nor Off'),
            ("", '"" is neither On nor Off'),
            ("Off /a", "Off takes no directories"),
            ("On /", '"/" is not a path below /'), ('On "/a\x07"', "UTF-8")]):
        app.directives = [f"AppSendFile {words}"]
        done = httpd.test()
        with case:
            assert done.returncode != 0
            assert "AppSendFile: " in done.stdout and wrong in done.stdout
