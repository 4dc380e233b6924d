# Licensed under the Apache License, Version 2.0; see LICENSE.
"""compose.yaml, run by podman-compose in a network of its own, with the image that
scenes.py has built: replaced.py."""
import re
import socket
from collections.abc import Callable
from pathlib import Path

import haproxy
import manifests
from engine import ENVIRONMENT, IMAGE, SCRATCH, SOURCE, TOP, podman, state
from steps import run, shell, until
from traffic import Load, load

PLACE = SOURCE / "packaging" / "container"
PORT = 80  # of compose.yaml
# It takes longer to find out than haproxy takes to trust a server.
BROKEN = f"""FROM {IMAGE}
USER 0
RUN echo 'import time; time.sleep(6); import nothing_such' >/srv/shop/wsgi.py
USER 33:33
"""


def of_the_manual(replica: str) -> list[str]:
    """The commands of doc/containers.md that take a replica out, stop it, and make it
    anew."""
    page = (TOP / "doc" / "containers.md").read_text()
    found = re.findall(r"^    (podman-compose (?:exec|stop|up)\b.* shop-a\b.*)$",
                       page, re.M)
    assert len(found) == 3, found
    return [command.replace("shop-a", replica) for command in found]


def compose(command: str) -> str:
    """podman-compose ends with 0 even if one of podman's commands has failed."""
    said = shell(command, cwd=PLACE, env=ENVIRONMENT, limit=200)
    assert not re.search(r"^exit code: [1-9]", said, re.M), said
    return said


def full_name(service: str) -> str:
    return f"{PLACE.name}_{service}_1"


def replaced(letter: str, uses: Callable[[str], bool], clients: Load) -> None:
    """Without a failed request."""
    out, stop, again = of_the_manual(f"shop-{letter}")
    until(lambda: clients.served(letter, 20), "it serves")
    compose(out)
    until(lambda: not uses(letter), "haproxy sees it")
    said = compose(stop)
    grace = manifests.compose()["services"]["shop-a"]["stop_grace_period"]
    assert f"podman stop -t {grace.rstrip('s')} " in said, said
    compose(again)


def two_replicas() -> None:
    """Each is replaced while clients send requests. Code that does not start gets
    none."""
    file = PLACE / "compose.yaml"
    text = file.read_text()
    # This machine may not give limits to a container.
    file.write_text(re.sub(r"\n *mem_limit:.*", "", text))
    compose("podman-compose up -d")
    admin = Path("/proc", str(state(full_name("haproxy"))["Pid"]), "root",
                 "run/haproxy/admin.sock")

    def uses(letter: str) -> bool:
        return haproxy.uses(admin, letter)

    until(lambda: haproxy.listens(admin), "haproxy runs")
    until(lambda: all(map(uses, "ab")), "it uses both")
    with load(PORT) as clients:
        for letter in "ab":
            replaced(letter, uses, clients)
            until(lambda: uses(letter), "it is back")
            clients.served_again(letter)
        podman(f"tag {IMAGE} localhost/good")
        (SCRATCH / "Containerfile").write_text(BROKEN)
        podman("build --format docker --layers=false --isolation=chroot "
               f"--network=host -t {IMAGE} -f {SCRATCH}/Containerfile")
        replaced("a", uses, clients)
        before = clients.by["a"]
        until(lambda: "could not be started" in podman(
            f"logs {full_name('shop-a')} 2>&1"), "its start has failed")
        clients.more(100)
        assert not uses("a") and clients.by["a"] == before
        podman(f"tag localhost/good {IMAGE}")
        compose(of_the_manual("shop-a")[-1])
        until(lambda: uses("a"), "the old code is back")
        clients.served_again("a")
    compose("podman-compose down -t 60")
    with socket.socket() as one:
        assert one.connect_ex(("127.0.0.1", PORT)) != 0


run([two_replicas])
