# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Build the image of packaging/container/, and run it as compose.yaml and
kubernetes.yaml say: scenes.py TOP SCRATCH."""
import json
import os
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import yaml

TOP, SCRATCH = Path(sys.argv[1]), Path(sys.argv[2])
sys.path += [str(TOP / "tests" / place) for place in ("packages", "source")]
sys.argv[1:3] = []

import manifests  # noqa: E402
from steps import run, shell, until  # noqa: E402
from traffic import Haproxy, free_port, load  # noqa: E402

SOURCE = SCRATCH / "source"
STORAGE = SCRATCH / "storage.conf"
IMAGE = "localhost/shop"
HEALTH = "/apppool-health"
# What this machine may not give to a container: higher limits and cgroups.
ANYWHERE = ("--network=host --cgroups=disabled --ulimit nofile=4096:4096 "
            "--ulimit nproc=4096:4096")


def podman(words: str, limit: float = 120) -> str:
    return shell(f"podman {words}", limit, env={
        **os.environ, "CONTAINERS_STORAGE_CONF": str(STORAGE)})


def get(port: int, path: str = "/") -> tuple[int, str]:
    """Status and body; 0 without a response."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}",
                                    timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


def start(name: str, port: int, flags: str) -> None:
    """A container with these rights. The image has all else."""
    podman(f"run --detach --name {name} {ANYWHERE} --env PORT={port} {flags} "
           f"{IMAGE}")
    until(lambda: get(port, HEALTH) == (200, "ok\n"), f"{name} is healthy")


def stop(name: str) -> None:
    """As the platform does. httpd is process 1, and ends by itself."""
    podman(f"stop --time 60 {name}", limit=100)
    state = json.loads(podman(f"inspect {name}"))[0]["State"]
    assert state["ExitCode"] == 0, state
    podman(f"rm {name}")


@contextmanager
def container(name: str, flags: str) -> Iterator[int]:
    """@yield the port on which it listens"""
    port = free_port()
    try:
        start(name, port, flags)
        yield port
    except BaseException:
        print(podman(f"logs {name} 2>&1"))
        podman(f"rm --force --time 1 {name}")
        raise
    stop(name)


def of_compose(service: str) -> str:
    """The rights that compose.yaml gives to a service, as podman's flags."""
    one = manifests.compose()["services"][service]
    flags = ["--read-only"] if one["read_only"] else []
    for key, flag in (("cap_drop", "--cap-drop"), ("tmpfs", "--tmpfs"),
                      ("security_opt", "--security-opt")):
        flags += [f"{flag}={value}" for value in one[key]]
    flags += [f"--env={name}={value}"
              for name, value in one["environment"].items()]
    return shlex.join(flags)


def of_kubernetes() -> str:
    """The same of the Deployment: an emptyDir is a directory of root in which
    everybody may write."""
    pod = manifests.kubernetes()["Deployment"]["spec"]["template"]["spec"]
    one, = pod["containers"]
    assert pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    rights = one["securityContext"]
    flags = ["--user={runAsUser}:{runAsGroup}".format(**pod["securityContext"])]
    flags += [f"--cap-drop={name}" for name in rights["capabilities"]["drop"]]
    flags += ["--read-only", "--read-only-tmpfs=false"] \
        if rights["readOnlyRootFilesystem"] else []
    flags += ["--security-opt=no-new-privileges"] \
        if not rights["allowPrivilegeEscalation"] else []
    flags += [f"--tmpfs={mount['mountPath']}:mode=0777"
              for mount in one["volumeMounts"]]
    return shlex.join(flags)


def exec_in(name: str, command: list[str]) -> int:
    """@return its status"""
    return subprocess.run(
        ["podman", "exec", name, *command], timeout=60,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={
            **os.environ, "CONTAINERS_STORAGE_CONF": str(STORAGE)}).returncode


def processes(name: str) -> list[dict[str, str]]:
    """/proc/PID/status of all that runs in the container."""
    text = podman(f"exec {name} sh -c "
                  "'cat /proc/[0-9]*/status 2>/dev/null || true'")
    return [dict(line.split(":\t", 1) for line in one.splitlines()
                 if ":\t" in line)
            for one in ("\n" + text).split("\nName:")[1:]]


# ---- the steps

def build() -> None:
    """By the lines of the Containerfile. Only BASE is another one."""
    STORAGE.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{SCRATCH}/images"'
                       f'\nrunroot = "{SCRATCH}/run"\n')
    podman(f"import {SCRATCH}/base.tar localhost/base", limit=600)
    begin = time.monotonic()
    podman("build --format docker --layers=false --isolation=chroot "
           "--network=host --build-arg BASE=localhost/base "
           f"-f packaging/container/Containerfile -t {IMAGE} {SOURCE}",
           limit=2400)
    facts = json.loads(podman(f"inspect {IMAGE}"))[0]
    print(f"the image took {time.monotonic() - begin:.0f} s and has "
          f"{facts['Size'] >> 20} MB")
    assert facts["Config"]["User"] == "33:33"
    assert facts["Config"]["StopSignal"] == "SIGWINCH"
    assert "apppool-health" in str(facts["Healthcheck"])


def rights() -> None:
    """No process has root's rights, or can write beside its two directories."""
    with container("shop", of_compose("shop-a")) as port:
        status, text = get(port)
        assert (status, text.split()[0]) == (200, "a"), text
        found = processes("shop")
        assert len(found) >= 5, found
        for one in found:
            assert set(one["Uid"].split()) == {"33"}, one
            assert int(one["CapEff"], 16) == int(one["CapBnd"], 16) == 0, one
            assert (one["NoNewPrivs"], one["Seccomp"]) == ("1", "2"), one
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
                     ("failureThreshold: 60", "failureThreshold: often"),
                     ("minAvailable: 1", "minAvailble: 1"),
                     ("runAsNonRoot: true", "runAsNonRoot: sure"),
                     ("  selector:\n    matchLabels: {app: shop}\n  strategy",
                      "  strategy")):
        assert old in text, old
        wrong = list(yaml.safe_load_all(text.replace(old, new)))
        assert check(wrong) != "", new


run([build, rights, health_check, probes, replicas, schemas])
