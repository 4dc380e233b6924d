# Licensed under the Apache License, Version 2.0; see LICENSE.
"""podman, and containers with the rights that compose.yaml and kubernetes.yaml
give. run has set TMPDIR."""
import json
import os
import shlex
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import manifests
from steps import shell, until
from traffic import free_port

TOP = manifests.TOP
SCRATCH = Path(os.environ["TMPDIR"])
SOURCE = SCRATCH / "source"
IMAGE = "localhost/shop"
HEALTH = "/apppool-health"
READY = HEALTH + "?ready"
ENVIRONMENT = {**os.environ,
               "CONTAINERS_CONF": str(SCRATCH / "containers.conf"),
               "CONTAINERS_STORAGE_CONF": str(SCRATCH / "storage.conf")}


def configure() -> None:
    """Everything is kept in the scratch directory. The machine may not give higher
    limits and cgroups to a container; and where it is a container itself, it has no
    overlays."""
    overlays = subprocess.run(
        'mkdir -p upper work over && mount -t overlay none -o '
        'lowerdir=/etc,upperdir=upper,workdir=work over && umount over',
        shell=True, cwd=SCRATCH, stderr=subprocess.DEVNULL).returncode == 0
    (SCRATCH / "storage.conf").write_text(
        f'[storage]\ndriver = "{"overlay" if overlays else "vfs"}"\n'
        f'graphroot = "{SCRATCH}/images"\nrunroot = "{SCRATCH}/run"\n')
    (SCRATCH / "containers.conf").write_text(
        '[containers]\ncgroups = "disabled"\n'
        'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n'
        '[network]\nnetwork_backend = "netavark"\n'
        f'network_config_dir = "{SCRATCH}/networks"\n')


def podman(words: str, limit: float = 120) -> str:
    return shell(f"podman {words}", limit, env=ENVIRONMENT)


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
    podman(f"run --detach --name {name} --network=host --env PORT={port} {flags} "
           f"{IMAGE}")


def is_ready(port: int) -> bool:
    return get(port, READY) == (200, "ok\n")


def state(name: str) -> dict[str, object]:
    found = json.loads(podman(f"inspect {name}"))[0]["State"]
    assert isinstance(found, dict)
    return found


def stop(name: str) -> None:
    """As the platform does. httpd is process 1, and ends by itself."""
    podman(f"stop --time 60 {name}", limit=100)
    assert state(name)["ExitCode"] == 0, state(name)
    podman(f"rm {name}")


@contextmanager
def container(name: str, flags: str, ready: bool = True) -> Iterator[int]:
    """@yield the port on which it listens"""
    port = free_port()
    try:
        start(name, port, flags)
        until(lambda: is_ready(port) if ready else get(port, HEALTH)[0],
              f"{name} is healthy")
        yield port
        if state(name)["Running"]:
            stop(name)
        else:
            podman(f"rm {name}")
    except BaseException:
        print(podman(f"logs {name} 2>&1"))
        podman(f"rm --force --time 1 {name}")
        raise


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


def of_kubernetes(user: str = "", size: str = "") -> str:
    """The same of the Deployment: an emptyDir is a directory of root in which
    everybody may write. Another user may be given, and a size of these
    directories."""
    pod = manifests.kubernetes()["Deployment"]["spec"]["template"]["spec"]
    one, = pod["containers"]
    assert pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    rights = one["securityContext"]
    user = user or "{runAsUser}:{runAsGroup}".format(**pod["securityContext"])
    flags = [f"--user={user}"]
    flags += [f"--cap-drop={name}" for name in rights["capabilities"]["drop"]]
    flags += ["--read-only", "--read-only-tmpfs=false"] \
        if rights["readOnlyRootFilesystem"] else []
    flags += ["--security-opt=no-new-privileges"] \
        if not rights["allowPrivilegeEscalation"] else []
    flags += [f"--tmpfs={mount['mountPath']}:mode=0777{size and ',size=' + size}"
              for mount in one["volumeMounts"]]
    return shlex.join(flags)


def exec_in(name: str, command: list[str]) -> int:
    """@return its status"""
    return subprocess.run(
        ["podman", "exec", name, *command], timeout=60, env=ENVIRONMENT,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode


def processes(name: str) -> list[dict[str, str]]:
    """/proc/PID/status of all that runs in the container."""
    text = podman(f"exec {name} sh -c "
                  "'cat /proc/[0-9]*/status 2>/dev/null || true'")
    return [dict(line.split(":\t", 1) for line in one.splitlines()
                 if ":\t" in line)
            for one in ("\n" + text).split("\nName:")[1:]]


def check_rights(name: str, user: str) -> None:
    """No process has root's rights."""
    found = processes(name)
    assert len(found) >= 5, found
    for one in found:
        assert set(one["Uid"].split()) == {user}, one
        assert int(one["CapEff"], 16) == int(one["CapBnd"], 16) == 0, one
        assert (one["NoNewPrivs"], one["Seccomp"]) == ("1", "2"), one
