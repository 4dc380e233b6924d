# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppStore with the program apppool-store: what an application stores survives
what happens to the store and to httpd."""
import os
import pwd
import re
import socket
import subprocess

import pytest

from harness import procs, sentences
from harness.httpd import Httpd
from harness.places import BUILD
from harness.upgrade import install, this_build
from harness.wait import wait_until

pytestmark = pytest.mark.one_mpm("httpd's children do not use the store")

GET, HELLO = b"get a\r\n", b"VALUE a 0 5\r\nhello\r\nEND\r\n"
CLIENT = """import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b"get a\\r\\n")
print(client.recv(100))"""


def ask(path: str, command: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(40)
        client.connect(path)
        client.sendall(command)
        response = b""
        while not response.endswith((b"STORED\r\n", b"END\r\n")):
            more = client.recv(4096)
            assert more, response
            response += more
        return response


def socket_of(httpd: Httpd, name: str) -> str:
    """The socket that the application finds in its environment."""
    response = httpd.get("/process", name)
    assert response.status == 200, response.body
    path = response.json()["environment"]["MEMCACHE_SERVERS"]
    wait_until(lambda: os.path.exists(path), "the store has made the socket")
    return path


def store_pid(httpd: Httpd) -> int:
    return int((httpd.runtime / "store.pid").read_text().split()[0])


@pytest.mark.mpms("prefork", "event")
def test_survives(httpd: Httpd) -> None:
    """The death of the store, a new configuration, and a stop of httpd."""
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    path = socket_of(httpd, "shop")
    assert ask(path, b"set a 0 0 5\r\nhello\r\n") == b"STORED\r\n"
    pid = store_pid(httpd)
    httpd.log.expect(rf"apppool: store {pid} ended: signal 9")
    procs.kill9(pid)
    assert ask(path, GET) == HELLO  # waits for the next store
    assert store_pid(httpd) != pid
    httpd.app("blog", "AppStore 9M")
    httpd.graceful()
    assert ask(path, GET) == HELLO
    assert ask(socket_of(httpd, "blog"), GET) == b"END\r\n"
    httpd.stop()
    assert not httpd.remains()
    httpd.start()
    assert ask(socket_of(httpd, "shop"), GET) == HELLO


@pytest.mark.mpms("prefork", "event")
def test_survives_the_death_of_httpd(httpd: Httpd) -> None:
    """The parent alone is killed. The watchdog stops the store, which saves."""
    httpd.log.expect("AH00098", sentences.PARENT_GONE,
                     sentences.NO_TERM)
    httpd.directives.append(f"AppStoreSave {httpd.dir}/saved")
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    path = socket_of(httpd, "shop")
    assert ask(path, b"set a 0 0 5\r\nhello\r\n") == b"STORED\r\n"
    pid, children = store_pid(httpd), httpd.children()
    procs.kill9(httpd.pid)
    for child in children:
        procs.kill9_if_alive(child)
    assert httpd.process is not None
    httpd.process.wait(40)
    wait_until(lambda: not procs.alive(pid), "the store ends")
    httpd.start()
    assert ask(socket_of(httpd, "shop"), GET) == HELLO


def test_only_for_its_users(httpd: Httpd) -> None:
    """Another user gets nothing, although the user knows the path."""
    httpd.directives.append("AppStoreSave Off")
    httpd.app("shop", "AppStore 8M")
    httpd.start()
    path = socket_of(httpd, "shop")
    assert ask(path, b"set a 0 0 5\r\nhello\r\n") == b"STORED\r\n"

    def as_user(name: str) -> str:
        done = subprocess.run(
            ["setpriv", f"--reuid={name}", f"--regid={name}", "--clear-groups",
             "/usr/bin/python3", "-IS", "-c", CLIENT, path], text=True,
            capture_output=True, timeout=60, check=False)
        return done.stdout + done.stderr

    assert "hello" in as_user("www-data")
    line = rf"apppool: store: space .*: a connection of user " \
        rf"{pwd.getpwnam('games').pw_uid} is refused, because no app with"
    httpd.log.expect(line)
    refused = as_user("games")
    assert "hello" not in refused
    assert re.search(r"^b''|Broken|reset|denied", refused, re.M), refused
    httpd.log.wait_for(line)


GATE = """#!/bin/sh
test "$1" = --version || while ! test -e {gate}; do sleep 0.01; done
exec {store} "$@"
"""
AT_ONCE = """/usr/bin/python3 -IS -c 'import os, socket
with socket.socket(socket.AF_UNIX) as client:
    client.connect(os.environ["MEMCACHE_SERVERS"])' && exec {command}
"""


def test_app_begins_with_a_socket(httpd: Httpd) -> None:
    """An application that starts at once finds its socket, although the store
    begins later."""
    httpd.directives.append("AppStoreSave Off")
    httpd.libexec = httpd.dir / "lib"
    install(httpd.libexec, this_build())
    gate = httpd.dir / "gate"
    program = httpd.libexec / "apppool-store"
    program.unlink()
    program.write_text(GATE.format(gate=gate, store=BUILD / "apppool-store"))
    program.chmod(0o755)
    app = httpd.app("shop", "AppStore 8M", "MinInstances 1", "AppPreStart On")
    script = app.root / "start.sh"
    script.write_text(AT_ONCE.format(command=app.command))
    app.command = f"/bin/sh {script}"
    httpd.start()
    spawner = httpd.helper("spawner")
    wait_until(lambda: [
        pid for pid in procs.children(spawner) if not procs.executed(pid)
        and any("poll" in place for place in procs.waits(pid))],
        "the application waits for the store")
    gate.touch()
    assert httpd.get("/pid", "shop").status == 200
