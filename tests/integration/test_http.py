# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A request and its response on their way through httpd."""
import json
import socket
from contextlib import closing

import pytest

from harness import sentences
from harness.cases import cases
from harness.client import Connection
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.procs import kill9, sockets
from harness.wait import wait_until

MEGABYTE = 1 << 20


def echo(httpd: Httpd, *what: object, **more: object) -> dict:
    response = httpd.request(*what, **more)  # type: ignore[arg-type]
    assert response.status == 200
    return response.json()


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_request_arrives_as_it_was_sent(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    seen = echo(httpd, "GET", "/a%20b/echo?x=1&y=%2F", "shop",
                headers={"X-Mine": "yes", "Cookie": "c=1"})
    headers = {name.lower(): value for name, value in seen["headers"]}
    assert seen["method"] == "GET"
    assert seen["target"] == "/a%20b/echo?x=1&y=%2F"
    assert headers["host"].split(":")[0] == "shop"
    assert headers["x-mine"] == "yes"
    assert headers["cookie"] == "c=1"
    assert headers["x-forwarded-for"] == "127.0.0.1"
    assert headers["x-forwarded-host"] == "shop"


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_response_arrives_as_it_was_sent(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    response = httpd.get("/echo", "shop")
    assert response.headers.get_all("X-Two") in (["1", "2"], ["1, 2"])
    assert response.headers.get_all("Set-Cookie") == ["a=1", "b=2"]
    assert response.headers["Content-Type"] == "application/json"
    assert httpd.get("/big?n=3000000", "shop").body == b"x" * 3000000
    assert httpd.get("/chunked?n=50", "shop").text == \
        "".join(f"part {n}\n" for n in range(50))
    assert httpd.get("/close", "shop").text == "to the end"


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_methods(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert echo(httpd, method, "/echo", "shop")["method"] == method


@pytest.mark.one_mpm("it is mod_proxy that reads it")
def test_statuses(httpd: Httpd) -> None:
    """The client gets the status of the app, also for errors."""
    httpd.app("shop")
    httpd.start()
    for code, case in cases((200, 204, 304, 404, 500, 503)):
        with case, closing(Connection(httpd.port)) as client:
            response = client.request("GET", f"/status?code={code}", "shop")
            assert response.status == code
            assert response.headers["ETag"] == '"tag"'
            assert response.body == (b"" if code in (204, 304) else b"a body")
            # The same connection still works: there was neither a byte too
            # many nor one too few.
            assert client.request("GET", "/pid", "shop").status == 200


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_head(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    client = Connection(httpd.port)
    response = client.request("HEAD", "/status?code=200", "shop")
    assert (response.status, response.body) == (200, b"")
    assert response.headers["X-App"] == "here"
    assert client.request("GET", "/pid", "shop").status == 200
    client.close()


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_post(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    for size, case in cases((0, 1, 16384, 3 * MEGABYTE)):
        with case:
            seen = echo(httpd, "POST", "/echo", "shop", b"y" * size)
            assert (seen["method"], seen["length"]) == ("POST", size)
            headers = {name.lower(): value for name, value in seen["headers"]}
            assert headers["content-length"] == str(size)


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_post_chunked(httpd: Httpd) -> None:
    httpd.app("shop")
    httpd.start()
    for size, case in cases((0, 10, 3 * MEGABYTE)):
        parts = [b"z" * min(size - at, 5000) for at in range(0, size, 5000)]
        with case:
            seen = echo(httpd, "POST", "/echo", "shop", iter(parts),
                        chunked=True, headers={"Transfer-Encoding": "chunked"})
            assert (seen["method"], seen["length"]) == ("POST", size)


def test_expect_continue(httpd: Httpd) -> None:
    """An app that does not know 100 Continue does not stop the client."""
    httpd.app("shop")
    httpd.start()
    with socket.create_connection(("127.0.0.1", httpd.port), 10) as client:
        client.sendall(b"POST /echo HTTP/1.1\r\nHost: shop\r\n"
                       b"Content-Length: 5\r\nExpect: 100-continue\r\n"
                       b"Connection: close\r\n\r\n")
        stream = client.makefile("rb")
        assert stream.readline().startswith(b"HTTP/1.1 100")
        client.sendall(b"12345")
        rest = stream.read()
    assert b"HTTP/1.1 200" in rest
    assert json.loads(rest.rpartition(b"\r\n\r\n")[2])["body"] == "12345"


def test_kept_client_connection(httpd: Httpd) -> None:
    """One client connection, many requests, one process."""
    httpd.app("shop")
    httpd.start()
    client = Connection(httpd.port)
    pids = {client.request("GET", "/pid", "shop").text for _ in range(20)}
    bodies = {client.request("POST", "/echo", "shop", b"b" * n).json()[
        "length"] for n in range(20)}
    client.close()
    assert len(pids) == 1
    assert bodies == set(range(20))


def test_last_request_of_a_connection(httpd: Httpd) -> None:
    """MaxKeepAliveRequests also counts requests for apps. httpd does not count
    the first request."""
    httpd.directives.append("MaxKeepAliveRequests 3")
    httpd.app("shop")
    httpd.start()
    client = Connection(httpd.port)
    connections = [client.request("GET", "/pid", "shop").headers["Connection"]
                   for _ in range(4)]
    client.close()
    assert [word == "close" for word in connections] == [False] * 3 + [True]


def test_idle_client_holds_no_process(httpd: Httpd) -> None:
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    client = Connection(httpd.port)
    assert client.request("GET", "/pid", "shop").status == 200
    httpd.settles(active=0, count=1)
    assert httpd.get("/pid", "shop").status == 200
    client.close()


@pytest.mark.one_mpm("it is mod_proxy that reads it")
@pytest.mark.parametrize("url", ["nothing", "garbage", "head"])
def test_app_sends_nonsense(httpd: Httpd, url: str) -> None:
    """502. The process lives and serves other requests."""
    httpd.log.expect(sentences.HTTP_WRONG, sentences.CUT_OFF,
                     sentences.NO_RESPONSE)
    httpd.app("shop", "MaxInstances 1")
    httpd.start()
    pid = httpd.get("/pid", "shop").text
    assert httpd.get(f"/{url}", "shop").status == 502
    httpd.log.wait_for(rf"shop\[{pid}\] gave no response: GET /{url}: error ")
    assert httpd.get("/pid", "shop").text == pid
    httpd.settles(active=0, count=1)


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
@pytest.mark.parametrize("url", ["nothing", "garbage", "head"])
def test_connection_is_not_used_again(httpd: Httpd, url: str) -> None:
    """Where connections are kept, this one is not used again, but the other
    ones are."""
    httpd.log.expect(sentences.HTTP_WRONG, sentences.CUT_OFF,
                     sentences.NO_RESPONSE)
    httpd.app("shop", "MaxInstances 1", "AppConcurrency 2",
              "AppSetEnv APP_THREADS 1")
    httpd.start()
    client = Connection(httpd.port)
    pid = client.request("GET", "/pid", "shop").text
    for _ in range(3):
        assert client.request("GET", f"/{url}", "shop").status == 502
        response = client.request("GET", "/pid", "shop")
        assert (response.status, response.text) == (200, pid)
    client.close()


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_static_files_first(httpd: Httpd) -> None:
    """httpd serves the files of DocumentRoot, and the app everything else."""
    app = httpd.app("shop")
    (app.public / "style.css").write_text("static")
    (app.public / "sub").mkdir()
    (app.root / "secret.py").write_text("source")
    httpd.start()
    assert httpd.get("/style.css", "shop").text == "static"
    assert httpd.requests_seen() == []
    assert httpd.get("/other.css", "shop").text.startswith("shop ")
    assert httpd.get("/", "shop").text.startswith("shop ")
    assert httpd.get("/sub/", "shop").text.startswith("shop ")
    assert httpd.get("/secret.py", "shop").text.startswith("shop ")
    assert httpd.get("/style.css/more", "shop").text.startswith("shop ")
    assert len(httpd.requests_seen()) == 5


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_index_file_is_static(httpd: Httpd) -> None:
    app = httpd.app("shop")
    (app.public / "index.html").write_text("front page")
    httpd.start()
    assert httpd.get("/", "shop").text == "front page"
    assert httpd.get("/pid", "shop").status == 200


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_sub_uris(httpd: Httpd) -> None:
    """Two apps on one host. Each learns where it is mounted."""
    shop = httpd.app("shop", location="/shop")
    blog = httpd.app("blog", location="/a/blog")
    httpd.start()
    assert httpd.get("/shop/who").text.startswith("shop ")
    assert httpd.get("/shop").text.startswith("shop ")
    assert httpd.get("/a/blog/who").text.startswith("blog ")
    seen = httpd.get("/shop/x/echo?q=1").json()
    headers = {name.lower(): value for name, value in seen["headers"]}
    assert headers["x-forwarded-prefix"] == "/shop"
    assert seen["target"].endswith("/x/echo?q=1")
    assert httpd.get("/shopping").status == 404
    assert httpd.get("/elsewhere").status == 404
    assert len(httpd.pids(shop)) == 1 and len(httpd.pids(blog)) == 1


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_root_app_beside_a_sub_uri(httpd: Httpd) -> None:
    httpd.app("blog", location="/blog")
    httpd.app("shop")
    httpd.start()
    assert httpd.get("/who", "shop").text.startswith("shop ")
    assert httpd.get("/blog/who", "shop").text.startswith("blog ")


def test_kept_app_connections(httpd: Httpd) -> None:
    """AppConcurrency > 1: connections to the app are kept, and end with it."""
    httpd.log.expect(*KILLED)
    app = httpd.app("shop", "AppConcurrency 8", "MaxInstances 1",
                    "AppSetEnv APP_THREADS 1")
    httpd.start()
    client = Connection(httpd.port)
    pids = {client.request("GET", "/pid", "shop").text for _ in range(20)}
    assert len(pids) == 1
    assert client.request("POST", "/echo", "shop",
                          b"b" * 50000).json()["length"] == 50000
    kill9(int(pids.pop()))
    assert client.request("GET", "/pid", "shop").status == 200
    assert len(httpd.pids(app)) == 1
    client.close()


@pytest.mark.mpms("event")  # prefork keeps none for so few
def test_connection_is_closed_when_concurrency_changes(httpd: Httpd) -> None:
    """After a reload, AppConcurrency also holds for running processes. With
    auto, the number from the earlier configuration is not their own number."""
    # With a global queue, httpd's children share one connection.
    app = httpd.app("shop", "MaxInstances 1", "AppSetEnv APP_THREADS 1",
                    "AppGlobalQueue Off")
    seen = []

    def probe() -> None:
        fields = dict(httpd.get("/echo", "shop").json()["headers"])
        process, = httpd.group(app)["processes"]
        seen.append((fields.get("Connection") != "close", process["pid"],
                     process["concurrency"]))

    app.directives.append("AppConcurrency 8")
    httpd.start()
    probe()
    app.directives[-1] = "AppConcurrency 1"
    httpd.graceful()
    probe()
    app.directives[-1] = "AppConcurrency auto"
    httpd.graceful()
    probe()
    pid, = httpd.pids(app)
    assert seen == [(True, pid, 8), (False, pid, 1), (False, pid, 1)]


@pytest.mark.mpms("event")  # it keeps connections to such apps
def test_kept_connections_of_many_apps(httpd: Httpd) -> None:
    """A child keeps as many connections as it has threads: 16. Then it uses
    the record of one for another app, but not its connection."""
    names = [f"app{n}" for n in range(18)]
    httpd.directives.append(f"MaxPoolSize {len(names)}")
    for name in names:
        httpd.app(name, "AppConcurrency 8", "AppSetEnv APP_THREADS 1",
                  "MaxInstances 1")
    httpd.start()
    client = Connection(httpd.port)
    for _ in range(5):
        for name in names:
            response = client.request("GET", "/who", name)
            assert response.text.split()[0] == name
    client.close()
    assert len(httpd.requests_seen()) == 5 * len(names)


@pytest.mark.one_mpm("httpd's core and mod_proxy read and send it")
def test_body_gets_a_new_connection(httpd: Httpd) -> None:
    """The app closes the kept connection at the moment in which a request
    comes. A request with a body cannot be sent again."""
    httpd.app("shop", "AppConcurrency 8", "AppSetEnv APP_THREADS 1",
              "MaxInstances 1")
    httpd.start()
    client = Connection(httpd.port)
    for _ in range(3):
        assert client.request("GET", "/fickle", "shop").status == 200
        response = client.request("POST", "/sum", "shop", b"b" * 5000)
        assert response.status == 200 and response.json()["length"] == 5000
        assert client.request("GET", "/fickle", "shop").status == 200
        assert client.request("GET", "/pid", "shop").status == 200
    client.close()


@pytest.mark.parametrize("concurrency", [0, 8])
def test_idle_app_connections_are_closed(httpd: Httpd,
                                         concurrency: int) -> None:
    """No later request is needed for that."""
    app = httpd.app("shop", f"AppConcurrency {concurrency}",
                    "AppSetEnv APP_THREADS 1",
                    "MinInstances 1", "AppPreStart On", "MaxInstances 1")
    httpd.start()
    httpd.settles(active=0, count=1)
    pid, = httpd.pids(app)
    before = sockets(pid)
    pending = [httpd.get_async("/sleep?s=0.2", "shop") for _ in range(4)]
    for one in pending:
        assert one.result().status == 200
    # The check whether it is ready may still have had one.
    wait_until(lambda: sockets(pid) <= before, "all are closed")
