# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppListen unix: the app makes its socket itself, in a directory of its own.
httpd, and the probe of root, connect only to that socket. Anything else at the
app's path is not trusted (apps/swapper.py)."""
import os
import socket
import stat
import threading
from pathlib import Path
from typing import Iterator

import pytest

from harness.config import App
from harness.httpd import USER, Httpd
from harness.procs import alive, environment, kill9
from harness.wait import wait_until

pytestmark = pytest.mark.mpms("event")


class Victim:
    """A server of another user, to which the app may not connect."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        path.chmod(0o700)
        self.socket.listen(64)
        self.connections = 0
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nvictim")
            client.close()

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(40)
        self.path.unlink()


@pytest.fixture
def victim(httpd: Httpd) -> Iterator[Victim]:
    one = Victim(httpd.dir / "victim")
    yield one
    one.end()


def start(httpd: Httpd, victim: Victim, what: str, *directives: str) -> App:
    app = httpd.app("shop", "AppListen unix", f"AppSetEnv WHAT {what}",
                    f"AppSetEnv VICTIM {victim.path}", *directives,
                    program="swapper.py")
    httpd.start()
    return app


@pytest.mark.parametrize("what", ["symlink", "directory", "fifo", "file",
                                  "hard link"])
def test_not_its_own_socket(httpd: Httpd, victim: Victim,
                            what: str) -> None:
    """httpd does not connect, and the error says what is wrong."""
    httpd.log.expect("shop.*(could|did) not (be started|start)")
    # Time for the start of the app, and for the link of this test.
    seconds = 10
    start(httpd, victim, "nothing" if what == "hard link" else what,
          f"AppStartTimeout {seconds}")
    request = httpd.get_async("/", "shop")
    if what == "hard link":
        # The kernel forbids that to the app: fs.protected_hardlinks.
        own = wait_until(lambda: list((httpd.runtime / "a").glob("*")),
                         "it has its directory")[0]
        os.link(victim.path, own / "s")
    assert request.result().status in (500, 502, 503)
    httpd.log.wait_for("it did not make its own socket at "
                       rf"\$APPPOOL_SOCKET within {seconds} s")
    assert victim.connections == 0


def test_race(httpd: Httpd, victim: Victim) -> None:
    """The app changes the path between a check and the use of its result."""
    httpd.log.expect("shop.*(could|did) not (be started|start)")
    start(httpd, victim, "race", "MaxRequests 1", "AppStartTimeout 20")
    responses = [httpd.get("/", "shop") for _ in range(20)]
    assert {one.text[:4] for one in responses if one.status == 200} == {"own "}
    assert victim.connections == 0


def test_swapped_when_ready(httpd: Httpd, victim: Victim) -> None:
    """The next spawner also keeps the original socket."""
    app = start(httpd, victim, "later")
    first = httpd.get("/swap", "shop").text
    pid, = httpd.pids(app)
    assert Path(environment(pid)["APPPOOL_SOCKET"]).is_symlink()
    assert httpd.get("/", "shop").text == first == f"own {pid}"
    spawner = httpd.helper("spawner")
    kill9(spawner)
    wait_until(lambda: httpd.spawner_now() not in (0, spawner), "the next one")
    assert httpd.get("/", "shop").text == first
    httpd.graceful()
    assert httpd.get("/", "shop").text == first
    assert victim.connections == 0


def test_socket_is_bound_again(httpd: Httpd, victim: Victim) -> None:
    """This is another socket, whose process is not ready. The next request
    gets another process."""
    app = start(httpd, victim, "rebind")
    pid, = [int(httpd.get("/swap", "shop").text.split()[1])]
    response = httpd.get("/", "shop")
    assert response.text.startswith("own ") and response.text != f"own {pid}"
    wait_until(lambda: not alive(pid), "it ends")
    assert pid not in httpd.pids(app)


def test_only_its_group_may_connect(httpd: Httpd, victim: Victim) -> None:
    """The socket is in a directory that only its group may enter, whatever
    mode the app has given to the socket."""
    app = start(httpd, victim, "later")
    assert httpd.get("/", "shop").status == 200
    pid, = httpd.pids(app)
    own = Path(environment(pid)["APPPOOL_SOCKET"])
    linked, = (httpd.runtime / "s").iterdir()
    assert linked.name == own.parent.name
    assert os.path.samestat(linked.lstat(), own.lstat())
    assert stat.S_IMODE(linked.lstat().st_mode) == 0o660
    assert stat.S_IMODE(own.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(linked.parent.stat().st_mode) == 0o710
    notify = Path(environment(pid)["NOTIFY_SOCKET"])
    assert stat.S_IMODE(notify.stat().st_mode) == 0o600
    assert notify.owner() == USER


def test_litter(httpd: Httpd, victim: Victim) -> None:
    """A tree that is deeper than any path is removed when the process has
    ended."""
    app = start(httpd, victim, "litter")
    assert httpd.get("/", "shop").status == 200
    pid, = httpd.pids(app)
    own = Path(environment(pid)["APPPOOL_SOCKET"]).parent
    assert own.exists()
    app.touch()
    wait_until(lambda: httpd.get("/", "shop").text != f"own {pid}",
               "there is a new one")
    wait_until(lambda: not own.exists(), "the directory is removed")
    assert list((httpd.runtime / "s").glob(own.name)) == []
