# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What may happen to a container: its end, little room, other users, and code that
does not start."""
import http.client
import os
import signal
import socket
import subprocess

import manifests
from engine import (ENVIRONMENT, READY, SCRATCH, check_rights,
                    container, exec_in, get, is_ready, of_kubernetes, podman,
                    state)
from steps import until

# A user of OpenShift: no entry in the user database, and root's group.
SOMEBODY = "1000660000"


def logs(name: str) -> str:
    return podman(f"logs {name} 2>&1")


def half_a_request(port: int) -> socket.socket:
    """httpd waits for the body. @return the connection"""
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(b"POST / HTTP/1.1\r\nHost: shop.example\r\n"
                   b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n")
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        said += client.recv(1)
    assert said.startswith(b"HTTP/1.1 100 "), said
    return client


def refuses(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) != 0


def stopped_during_a_request() -> None:
    """The request gets its response, and then the container ends by itself."""
    with container("shop", of_kubernetes()) as port:
        client = half_a_request(port)
        with subprocess.Popen(["podman", "stop", "--time", "60", "shop"],
                              env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as ends:
            until(lambda: refuses(port), "it takes no more connections")
            assert ends.poll() is None
            client.sendall(b"body")
            with client.makefile("rb") as response:
                assert response.readline().startswith(b"HTTP/1.1 200 ")
                assert b"\r\n\r\nshop " in response.read()
        assert ends.returncode == 0
        assert state("shop")["ExitCode"] == 0, state("shop")


def killed() -> None:
    """Without httpd's first process nothing runs on. A container that is started
    again serves, whatever the dead one has left."""
    with container("shop", of_kubernetes()) as port:
        first = state("shop")["Pid"]
        assert isinstance(first, int)
        os.kill(first, signal.SIGKILL)
        until(lambda: not state("shop")["Running"], "it has ended")
        assert state("shop")["ExitCode"] == 128 + signal.SIGKILL
        assert refuses(port)
        podman("start shop")
        until(lambda: is_ready(port), "it serves again")
        assert get(port)[0] == 200


def little_room() -> None:
    """The writable directories are full: a large upload is refused, everything else
    goes on, and a process that dies is replaced."""
    with container("shop", of_kubernetes(size="1m")) as port:
        fill = "cat /dev/zero >/tmp/full; cat /dev/zero >/run/httpd/full"
        exec_in("shop", ["sh", "-c", fill])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/", bytes(1 << 20))
        refused = connection.getresponse()
        assert refused.status == 507, refused.status
        status, text = get(port)
        assert status == 200 and is_ready(port)
        exec_in("shop", ["sh", "-c", f"kill -9 {text.split()[1]}"])
        until(lambda: is_ready(port) and get(port)[1] not in ("", text),
              "another process serves")
        assert exec_in("shop", ["apppoolctl", "status"]) == 0


def any_user() -> None:
    """The platform chooses the user."""
    flags = f"{of_kubernetes(user=SOMEBODY + ':0')} --passwd=false"
    with container("shop", flags) as port:
        assert get(port)[0] == 200
        check_rights("shop", SOMEBODY)
        for words in ("status", "why shop", "restart shop --wait", "out", "in"):
            assert exec_in("shop", ["apppoolctl", *words.split()]) == 0, words


def little_shared_memory() -> None:
    """/dev/shm has 64 KB, or is not there."""
    for flag in ("--shm-size=64k", "--ipc=none"):
        with container("shop", f"{of_kubernetes()} {flag}") as port:
            assert get(port)[0] == 200


def code_that_does_not_start() -> None:
    """It is never ready. The container lives on, because another one would heal
    nothing, and the log says what is wrong."""
    pod = manifests.kubernetes()["Deployment"]["spec"]["template"]["spec"]
    alive = pod["containers"][0]["livenessProbe"]["exec"]["command"]
    code = SCRATCH / "broken.py"
    code.write_text("import nothing_such\n")
    flags = f"{of_kubernetes()} --volume={code}:/srv/shop/wsgi.py:ro"
    with container("shop", flags, ready=False) as port:
        words = set()

        def failed_three_times() -> bool:
            words.add(get(port, READY))
            return logs("shop").count("could not be started") >= 3

        until(failed_three_times, "three starts have failed")
        assert words <= {(503, "starting\n"), (503, "failing\n")}, words
        assert exec_in("shop", alive) == 0
        assert get(port)[0] == 503
        for said in (logs("shop"), podman("exec shop apppoolctl why shop || true")):
            assert "No module named 'nothing_such'" in said, said


STEPS = [stopped_during_a_request, killed, little_room, any_user,
         little_shared_memory, code_that_does_not_start]
