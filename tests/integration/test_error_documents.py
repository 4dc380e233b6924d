# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Each error that the module makes: its page says what a visitor can do, and an
ErrorDocument has precedence, wherever it comes from."""
import re
from typing import Iterator, NamedTuple

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Raw, Response
from harness.config import App
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.page import Page
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("the module decides, in any process")

HTML = {"Accept": "text/html"}
# How the query ends, and what ErrorDocument is there.
DOCUMENTS = {"text": '"we are sorry"', "local": "/sorry.html", "own": "/pid",
             "moved": "/moved", "other": "/other/", "remote":
             "http://127.0.0.1:9/sorry"}
STATUSES = (413, 500, 501, 502, 503, 504)


class Case(NamedTuple):
    host: str
    status: int
    words: str  # of the page for visitors
    request: str = "GET /pid"
    serves: bool = False  # the application can serve the ErrorDocument
    retry: tuple[int, int] = (0, 0)  # Retry-After


CASES = (
    Case("full", 503, "there is no place left to wait", retry=(5, 60)),
    Case("late", 503, "Your turn did not come in time", retry=(5, 60)),
    Case("starting", 503, "It will be there soon", retry=(1, 30)),
    Case("broken", 502, "It could not be started"),
    Case("drained", 503, "Somebody works on it", retry=(30, 30)),
    Case("shop", 502, "Something went wrong", "DELETE /crash", True),
    Case("shop", 502, "Something went wrong", "GET /garbage", True),
    Case("silent", 504, "has not answered in time", "GET /sleep", True),
    Case("shop", 413, "Send less, or a smaller file", "POST /pid", True),
    Case("links", 503, "there is no place left. ", "GET /events", True, (1, 1)),
    Case("shop", 501, "in another form than expected", "PUT /pid", True),
)


def app(httpd: Httpd, name: str, *directives: str, command: str = "") -> App:
    one = httpd.app(name, *directives, command=command)
    for kind, document in DOCUMENTS.items():
        one.directives += [f"<If \"%{{QUERY_STRING}} =~ /{kind}$/\">", *(
            f"ErrorDocument {status} {document}" for status in STATUSES),
            "</If>"]
    one.directives += [
        "<Location /told>", "AppFriendlyErrors On", "</Location>",
        "<Location /moved>", "RewriteEngine On", "RewriteRule .* /pid",
        "</Location>"]
    (one.public / "sorry.html").write_text("httpd is sorry")
    return one


@pytest.fixture
def busy(httpd: Httpd) -> Iterator[Httpd]:
    httpd.log.expect(*KILLED, sentences.QUEUE_FULL, sentences.QUEUE_LATE,
                     sentences.STILL_STARTING, sentences.DRAINED,
                     sentences.NO_RESPONSE, sentences.SILENT,
                     sentences.LONG_LIVED_FULL, sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.HTTP_WRONG)
    httpd.modules.append("rewrite")
    httpd.directives.append("MaxPoolSize 40")
    httpd.app("other", "AppFriendlyErrors On", location="/other",
              command="/bin/sh -c 'exit 3'")
    one = "MaxInstances 1"
    app(httpd, "full", one, "AppMaxQueue 1")
    app(httpd, "late", one, "AppQueueTimeout 100ms")
    app(httpd, "starting", one, "AppQueueTimeout 100ms",
        command="/bin/sleep 1000")
    app(httpd, "broken", command="/bin/sh -c 'exit 3'")
    app(httpd, "drained")
    app(httpd, "silent", "AppTimeout 400ms")
    app(httpd, "shop", "LimitRequestBody 10")
    app(httpd, "links", "AppMaxLongLived 1", f"AppSetEnv GO {httpd.dir}/go",
        "AppConcurrency 10", command=httpd.command_of("long_lived.py"))
    httpd.start()
    stream = Raw(httpd.port, b"GET /events HTTP/1.1\r\nHost: links\r\n\r\n")
    assert stream.head()[0] == 200
    # Its start may take longer than its queue waits.
    wait_until(lambda: httpd.get("/pid", "late").status == 200, "it runs")
    held = [httpd.hold(host, host) for host in ("full", "late")]
    waits = httpd.get_async("/pid", "full")
    wait_until(lambda: httpd.pool("waiting") == 1, "the queue is full")
    assert httpd.get("/pid", "drained").status == 200
    assert httpd.ctl("drain", "drained").returncode == 0
    with stream:
        yield httpd
    for one in held:
        assert one.release().status == 200
    assert waits.result().status == 200


def fetch(httpd: Httpd, case: Case, kind: str, **more: str) -> Response:
    method, path = case.request.split()
    path = f"{path}?s=3&{kind}"
    if path.startswith("/crash"):  # after a success, it is no failed start
        assert httpd.get("/pid", case.host).status == 200
    if method == "PUT":  # a coding that nothing here can decode
        with Raw(httpd.port, f"PUT {path} HTTP/1.1\r\nHost: {case.host}\r\n"
                 "Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n"
                 f"Accept: {more.get('Accept', '*/*')}\r\n\r\n0\r\n\r\n"
                 .encode()) as line:
            return line.response()
    return httpd.request(method, path, case.host,
                         b"x" * 11 if method == "POST" else None, more)


def own(httpd: Httpd, case: Case, response: Response) -> str:
    """It is a page of the module: @return its error id"""
    assert response.headers["Content-Type"].startswith("text/")
    assert case.words in response.text
    match = re.search(r"name this: error ([0-9a-f]{16}), "
                      r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\.",
                      response.text)
    assert match, response.text
    httpd.log.wait_for(f"error {match[1]}")
    least, most = case.retry
    if most:
        assert least <= int(response.headers["Retry-After"]) <= most
    return match[1]


def is_status(case: Case, response: Response) -> bool:
    return response.status == case.status or (
        case.host == "broken" and response.status == 503)  # a pause


def test_each_error(busy: Httpd) -> None:
    for case, within in cases(CASES):
        with within:
            plain = fetch(busy, case, "")
            assert is_status(case, plain)
            assert plain.headers["Content-Type"] == "text/plain; charset=utf-8"
            number = own(busy, case, plain)
            html = fetch(busy, case, "", **HTML)
            page = Page(html.text)
            assert case.words in page.text["p"]
            assert page.text["h1"] == plain.text.split("\n")[0]
            if case.host not in ("starting", "broken"):  # one start, one id
                assert own(busy, case, html) != number
            text = fetch(busy, case, "text")
            assert (is_status(case, text), text.text) == (True, "we are sorry")
            local = fetch(busy, case, "local")
            assert (is_status(case, local), local.text) == (
                True, "httpd is sorry")
            remote = fetch(busy, case, "remote")
            assert (remote.status, remote.headers["Location"]) == (
                302, DOCUMENTS["remote"])
            for kind in ("own", "moved", "other"):
                document = fetch(busy, case, kind)
                assert is_status(case, document), kind
                if case.serves and kind != "other":
                    assert document.text.isdigit(), kind
                else:  # the page is about the first error, and for a visitor
                    own(busy, case, document)
    # These did not wait once more.
    left = "late: no process was free; the request has left the queue after"
    assert len(busy.log.matching(f"{left} 0 ms")) == 2


# What the log says, and the page for developers.
WHY = {
    "full": "full: the queue is full: as many as AppMaxQueue 1 wait; its only "
            r"process has been busy for [0-9]+ s \(MaxInstances 1\)",
    "late": "late: no process was free; the request has left the queue after "
            r"100 ms \(AppQueueTimeout\): its only process has been busy for "
            r"[0-9]+ s \(MaxInstances 1\)",
    "drained": "drained is drained: GET /told is refused",
}


def test_why(busy: Httpd) -> None:
    for case, within in cases(one for one in CASES if one.host in WHY):
        with within:
            page = Page(busy.get("/told", case.host, headers=HTML).text)
            number = page.rows["Error"]
            assert page.rows["Application"] == case.host
            assert re.fullmatch(WHY[case.host] + ".*", page.text["p"])
            busy.log.wait_for(WHY[case.host] + f": error {number}$")
            told = busy.get("/told", case.host).text
            assert re.search(rf"\nReason:\n{WHY[case.host]}\n", told)
            assert "\nWhat to try:\n" in told
            # A path may be long, and look like HTML.
            long = busy.get("/told/%3Cscript%3E" + "/x" * 1500, case.host,
                            headers=HTML)
            page = Page(long.text)
            assert ("script", {}) not in page.elements
            busy.log.wait_for(f": error {page.rows['Error']}$")
            # A visitor learns nothing of it.
            assert "Instances" not in busy.get("/pid", case.host).text
