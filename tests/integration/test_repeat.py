# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Which requests may be sent again. After the first byte: a GET, HEAD or
OPTIONS request without a body, once, over a new connection. Nobody knows what
the process has read when a connection breaks."""
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Optional

import pytest

from harness import procs, sentences
from harness.cases import cases
from harness.client import UPGRADE, Connection
from harness.errorlog import KILLED
from harness.httpd import Httpd
from harness.preloaded import preload
from harness.wait import wait_until
from missed import Missed

pytestmark = pytest.mark.mpms("event")

KEPT = 5  # connections


def test_number_of_tries(httpd: Httpd) -> None:
    rude(httpd)
    for (listen, method, path, times), case in cases([
            ("fd", "GET", "/unread", 2), ("fd", "DELETE", "/unread", 1),
            ("fd", "POST", "/unread", 1), ("fd", "GET", "/read", 1),
            ("fd", "HEAD", "/unread", 1),
            ("tcp", "GET", "/unread", 2), ("tcp", "DELETE", "/unread", 1),
            ("tcp", "POST", "/unread", 1), ("tcp", "GET", "/read", 1)]):
        with case:
            check(httpd, listen, method, path, times)


@pytest.mark.mpms("prefork", "event")
def test_number_of_tries_of_an_upgrade(httpd: Httpd) -> None:
    """In prefork, mod_proxy sends it."""
    rude(httpd)
    for (path, times), case in cases([("/unread", 2), ("/read", 1)]):
        with case:
            check(httpd, "fd", "GET", path, times, UPGRADE)


def rude(httpd: Httpd) -> None:
    """Start httpd with an app for each kind of socket."""
    httpd.log.expect(r"(fd|tcp)\[\d+\] gave no response: [A-Z]+ /(un)?read: error ",
                     sentences.NO_BACKEND)
    for listen in ("fd", "tcp"):
        httpd.app(listen, f"AppListen {listen}", program="rude.py")
    httpd.start()


def check(httpd: Httpd, host: str, method: str, path: str, times: int,
          headers: Optional[dict[str, str]] = None) -> None:
    before = len(httpd.requests_seen())
    body = b"a body" if method in ("POST", "HEAD") else None
    with closing(Connection(httpd.port)) as client:
        assert client.request(method, path, host, body, headers).status == 502
        seen = httpd.requests_seen()[before:]
    assert httpd.get("/", host).text == "ok"
    pid = seen[0].split()[1]
    assert seen == [f"shop {pid} {method} {path}"] * times
    assert httpd.requests_seen()[-1] == f"shop {pid} GET /"


# protocol, method, bytes of a header, body, headers, processes that get it
POISON = [
    ("http", "GET", 10, None, {}, 1),  # all of it was read
    ("http", "GET", 3000, None, {}, 2),
    ("http", "GET", 3000, None, UPGRADE, 2),
    ("http", "HEAD", 3000, None, {}, 2),
    ("http", "POST", 10, None, {}, 1),
    ("http", "POST", 3000, None, {}, 1),
    ("http", "POST", 3000, b"abc", {}, 1),
    ("http", "DELETE", 3000, None, {}, 1),
    ("fcgi", "GET", 10, None, {}, 2),
    ("fcgi", "GET", 3000, None, {}, 2),
    ("fcgi", "POST", 10, None, {}, 1),
    ("fcgi", "POST", 3000, None, {}, 1),
    ("fcgi", "POST", 3000, b"abc", {}, 1),
    ("uwsgi", "GET", 10, None, {}, 2),
    ("uwsgi", "GET", 3000, None, {}, 2),
    ("uwsgi", "POST", 10, None, {}, 1),
    ("uwsgi", "POST", 3000, None, {}, 1),
    ("uwsgi", "POST", 3000, b"abc", {}, 1),
    ("scgi", "GET", 3000, None, {}, 2),
    ("scgi", "POST", 3000, None, {}, 1),
]


@pytest.mark.mpms("prefork", "event")
def test_poison(httpd: Httpd) -> None:
    """The process has read a part of the request, and may have acted on it. The
    request kills each process that gets it. In prefork, mod_proxy sends an
    upgrade; the rest is as in event."""
    rows = [row for row in POISON if httpd.mpm == "event" or row[4]]
    httpd.log.expect(*KILLED, sentences.NO_BACKEND, sentences.DIED,
                     "End of script output before headers",
                     "AH00860: error reading response headers")
    httpd.directives += [f"MaxPoolSize {3 * len(rows)}"]
    for number, (protocol, *_) in enumerate(rows):
        httpd.app(f"poison{number}", f"AppProtocol {protocol}",
                  program="poisoned.py")
    httpd.start()
    for (number, row), case in cases(enumerate(rows)):
        _, method, size, body, headers, times = row
        with case:
            name = f"poison{number}"
            assert httpd.request(method, "/", name, body, {
                "Cookie": "c" * size, **headers}).status == 502
            seen = [line.split()[1] for line in httpd.requests_seen()
                    if line.split()[0] == name]
            assert len(seen) == len(set(seen)) == times


def test_all_kept_connections_were_closed(httpd: Httpd) -> None:
    """The next request goes over a new one"""
    httpd.app("shop", "AppConcurrency 0", "MaxInstances 1",
              f"AppSetEnv PARTIES {KEPT}", program="fickle.py")
    httpd.directives += ["StartServers 1", "ServerLimit 1",
                         "ThreadsPerChild 16", "MaxRequestWorkers 16",
                         "MinSpareThreads 1"]
    httpd.start()
    with ThreadPoolExecutor(KEPT) as pool:
        for status in pool.map(
                lambda _: httpd.get("/", "shop").status, range(KEPT)):
            assert status == 200
    httpd.settles(active=0, count=1)
    assert httpd.get("/", "shop").status == 200
    seen = httpd.requests_seen()
    if not seen:
        raise Missed("all kept connections were idle for a second")
    assert seen == ["closed"]


# httpd sends a request only when the app has closed the connection.
CLOSED_FIRST = r"""
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct sockaddr_un peer = {0};
    socklen_t n = sizeof peer;
    struct pollfd end = {fd, POLLHUP, 0};

    if (getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
        peer.sun_family == AF_UNIX && strstr(peer.sun_path, "/apppool-p/s/"))
        while (!(end.revents & POLLHUP))
            poll(&end, 1, -1);
    return syscall(SYS_sendmsg, fd, message, flags);
}
"""

# It writes the pid of the client: the spawner connects, too.
CLOSES = r"""
import os, socket, struct
server = socket.socket(fileno=3)
while True:
    connection = server.accept()[0]
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    with open(os.environ["APP_TRACE"], "a") as trace:
        trace.write(f"{struct.unpack('3i', found)[0]}\n")
    connection.close()
"""


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_not_a_byte_was_sent(httpd: Httpd, method: str) -> None:
    """Such a request may be sent again, whatever its method is. But a process
    that always closes does not get it without end"""
    httpd.log.expect(sentences.NO_RESPONSE)
    preload(httpd, CLOSED_FIRST)
    program = httpd.dir / "closes.py"
    program.write_text(CLOSES)
    httpd.app("shop", "MinInstances 1", "AppPreStart On",
              f"AppSetEnv APP_TRACE {httpd.trace}",
              command=f"/usr/bin/python3 -IS {program}")
    httpd.start()
    httpd.settles(active=0, count=1)
    assert httpd.request(method, "/", "shop").status == 502
    children = httpd.children()
    assert len([pid for pid in httpd.requests_seen()
                if int(pid) in children]) == 4


@pytest.mark.parametrize("protocol", ["http", "uwsgi", "scgi"])
def test_a_dying_process_gets_none(httpd: Httpd, protocol: str) -> None:
    """A process that is being killed still accepts connections. A request that
    is not repeated does not go there."""
    httpd.directives += ["MaxPoolSize 12"]
    rows = [("DELETE", None), ("POST", None), ("POST", b"a body")]
    for number, _ in enumerate(rows):
        httpd.app(f"shop{number}", f"AppProtocol {protocol}",
                  "MinInstances 2", "AppPreStart On", program="half_dead.py")
    httpd.start()
    httpd.settles(active=0, count=6)
    with procs.frozen(httpd.helper("spawner")):
        for (number, (method, body)), case in cases(enumerate(rows)):
            with case:
                dying = int(httpd.get("/", f"shop{number}").text)
                wait_until(lambda: "Z" in procs.threads(dying), "it is dying")
                assert httpd.get("/", f"shop{number}").text == str(dying)
                response = httpd.request(method, "/", f"shop{number}", body)
                assert response.status == 200
                assert int(response.text) != dying
