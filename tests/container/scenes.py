# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Build the image of packaging/container/, and run it as compose.yaml and
kubernetes.yaml say: scenes.py [STEP...]. The first step is `build`."""
import json
import subprocess
import time
from typing import Any

import hostile
import manifests
import yaml
from engine import (HEALTH, IMAGE, SCRATCH, SOURCE, TOP, check_rights,
                    configure, container, exec_in, get, is_ready,
                    of_compose, of_kubernetes, podman, start, state, stop)
from steps import run, shell, until
from traffic import Haproxy, free_port, load

# The image of haproxy that compose.yaml names, as far as it matters here.
HAPROXY = """FROM localhost/base
RUN apt-get update && apt-get install -y --no-install-recommends haproxy
USER haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
"""
BUILD = "build --format docker --layers=false --isolation=chroot --network=host"


def build() -> None:
    """By the lines of the Containerfile. Only BASE is another one."""
    configure()
    podman(f"import {SCRATCH}/base.tar localhost/base", limit=600)
    begin = time.monotonic()
    podman(f"{BUILD} --build-arg BASE=localhost/base "
           f"-f packaging/container/Containerfile -t {IMAGE} {SOURCE}",
           limit=2400)
    facts = json.loads(podman(f"inspect {IMAGE}"))[0]
    print(f"the image took {time.monotonic() - begin:.0f} s and has "
          f"{facts['Size'] >> 20} MB")
    assert facts["Config"]["User"] == "33:33"
    assert facts["Config"]["StopSignal"] == "SIGWINCH"
    assert "apppool-health" in str(facts["Healthcheck"])
    file = SCRATCH / "Containerfile"
    file.write_text(HAPROXY)
    name = manifests.compose()["services"]["haproxy"]["image"]
    podman(f"{BUILD} -f {file} -t {name} {SCRATCH}", limit=600)


def rights() -> None:
    """No process has root's rights, or can write beside its two directories."""
    with container("shop", of_compose("shop-a")) as port:
        status, text = get(port)
        assert (status, text.split()[0]) == (200, "a"), text
        check_rights("shop", "33")
        for path in ("/x", "/srv/shop/x", "/etc/x"):
            assert exec_in("shop", ["touch", path]) != 0, path
        assert exec_in("shop", ["sh", "-c", "test -e /src || which gcc"]) != 0
        assert "shop" in podman("exec shop apppoolctl status")


def health_check() -> None:
    """Of the image: it is about the application, and not only about httpd."""
    with container("shop", of_compose("shop-a")) as port:
        podman("healthcheck run shop")
        assert exec_in("shop", ["apppoolctl", "drain", "shop"]) == 0
        assert get(port, HEALTH) == (503, "drained\n")
        assert "unhealthy" in podman("healthcheck run shop || true")


def probes() -> None:
    """Of the Deployment, with its rights. preStop takes the replica out of the
    Service, and does not make it restart."""
    pod = manifests.kubernetes()["Deployment"]["spec"]["template"]["spec"]
    one, = pod["containers"]
    path = one["readinessProbe"]["httpGet"]["path"]
    alive = one["livenessProbe"]["exec"]["command"]
    with container("shop", of_kubernetes()) as port:
        assert get(port)[0] == 200
        assert get(port, path)[0] == 200
        assert exec_in("shop", alive) == 0
        assert exec_in("shop", one["lifecycle"]["preStop"]["exec"]["command"]) == 0
        assert get(port, path) == (503, "out\n")
        assert exec_in("shop", alive) == 0
        assert get(port)[0] == 200


def replicas() -> None:
    """Behind haproxy, with its configuration. Each one is taken out, stopped, and
    replaced by a new container. No request fails."""
    names = ["shop-a", "shop-b"]
    ports = {name: free_port() for name in names}
    try:
        for name in names:
            start(name, ports[name], of_compose(name))
            until(lambda: is_ready(ports[name]), f"{name} is ready")
        with Haproxy(ports) as balancer:
            until(lambda: all(map(balancer.uses, "ab")), "it uses both")
            with load(balancer.port) as clients:
                for name in names:
                    letter = name[-1]
                    until(lambda: clients.served(letter, 20), "it serves")
                    podman(f"exec {name} apppoolctl out")
                    until(lambda: not balancer.uses(letter), "haproxy sees it")
                    clients.more(40)
                    stop(name)
                    clients.more(40)
                    start(name, ports[name], of_compose(name))
                    until(lambda: balancer.uses(letter), "it is back")
                    clients.served_again(letter)
            # The cookie keeps a client at its replica.
            for letter in "ab":
                answers = {balancer.get(f"replica={letter}").split()[0]
                           for _ in range(20)}
                assert answers == {letter}, answers
    finally:
        for name in names:
            podman(f"rm --force --ignore --time 1 {name}")


def schemas() -> None:
    """The manifests have no field that Kubernetes does not know."""
    place = SCRATCH / "npm"
    place.mkdir()
    (place / "check.mjs").write_text(
        (TOP / "tests/container/check.mjs").read_text())
    shell("npm install --no-audit --no-fund --ignore-scripts "
          "kubernetes-models@5", cwd=place)

    def check(documents: list[Any]) -> str:
        return subprocess.run(
            ["node", "check.mjs"], cwd=place, text=True, timeout=60, check=True,
            input=json.dumps(documents), stdout=subprocess.PIPE).stdout

    documents = list(manifests.kubernetes().values())
    assert check(documents) == "", check(documents)
    # It would find mistakes.
    text = manifests.KUBERNETES.read_text()
    for old, new in (("readinessProbe", "readynessProbe"),
                     ("failureThreshold: 6", "failureThreshold: often"),
                     ("minAvailable: 1", "minAvailble: 1"),
                     ("runAsNonRoot: true", "runAsNonRoot: sure"),
                     ("  selector:\n    matchLabels: {app: shop}\n  strategy",
                      "  strategy")):
        assert old in text, old
        wrong = list(yaml.safe_load_all(text.replace(old, new)))
        assert check(wrong) != "", new


run([build, rights, health_check, probes, replicas, *hostile.STEPS, schemas])
