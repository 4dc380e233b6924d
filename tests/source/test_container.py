# Licensed under the Apache License, Version 2.0; see LICENSE.
"""packaging/container/: the names, numbers and paths of its files agree.
tests/container builds and runs them."""
import re
import subprocess
from pathlib import Path

import pytest

import manifests
from source import TOP

PLACE = manifests.PLACE
CONTAINERFILE = (PLACE / "Containerfile").read_text()
DIRECTIVES = dict(re.findall(r"^(\w+) +(\S.*)$",
                             (PLACE / "httpd.conf").read_text(), re.M))
POD = manifests.kubernetes()["Deployment"]["spec"]["template"]
CONTAINER, = POD["spec"]["containers"]


def test_files() -> None:
    """All that they name is there, and the manual names them."""
    for file in re.findall(r"^COPY (?!--from)(\S+) ", CONTAINERFILE, re.M):
        app = re.search(r"^ARG APP=(\S+)$", CONTAINERFILE, re.M)
        assert app and (TOP / file.replace("${APP}", app[1])).exists(), file
    build = manifests.compose()["services"]["shop-a"]["build"]
    assert (PLACE / build["context"]).resolve() == TOP
    assert TOP / build["dockerfile"] == PLACE / "Containerfile"
    page = (TOP / "doc" / "containers.md").read_text()
    for file in PLACE.iterdir():
        assert file.name in page, file.name


def test_not_root() -> None:
    user = re.search(r"^USER (\d+):(\d+)$", CONTAINERFILE, re.M)
    rights = POD["spec"]["securityContext"]
    assert user and rights["runAsNonRoot"] is True
    assert (int(user[1]), int(user[2])) \
        == (rights["runAsUser"], rights["runAsGroup"]) != (0, 0)


def test_writable() -> None:
    """What httpd.conf needs is writable in each of both, and nothing else is."""
    needed = {DIRECTIVES["DefaultRuntimeDir"], DIRECTIVES["AppPoolSpoolDir"]}
    assert {mount["mountPath"] for mount in CONTAINER["volumeMounts"]} == needed
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"] is True
    services = manifests.compose()["services"]
    for name, one in services.items():
        assert one["read_only"] is True, name
        if name != "haproxy":
            assert {line.partition(":")[0] for line in one["tmpfs"]} == needed
    runtime = DIRECTIVES["AppPoolRuntimeDir"]
    assert f"APPPOOL_RUNTIME_DIR={runtime}\n" in CONTAINERFILE
    assert str(Path(runtime).parent) in needed


def test_ports_and_urls() -> None:
    port, = re.findall(r"^EXPOSE (\d+)$", CONTAINERFILE, re.M)
    assert DIRECTIVES["Listen"] == "${PORT}"
    assert f"ENV PORT={port} " in CONTAINERFILE
    declared, = CONTAINER["ports"]
    assert str(declared["containerPort"]) == port
    service = manifests.kubernetes()["Service"]["spec"]["ports"][0]
    asked = CONTAINER["readinessProbe"]["httpGet"]
    assert asked["port"] == service["targetPort"] == declared["name"]
    text = (PLACE / "httpd.conf").read_text()
    url, = re.findall(r"<Location (\S+)>\n *SetHandler apppool-health\n", text)
    # What sends requests asks for a process.
    assert asked["path"] == f"{url}?ready"
    assert f'$PORT{url}?ready"' in CONTAINERFILE
    haproxy = manifests.HAPROXY.read_text()
    assert f" uri {url}?ready " in haproxy
    assert f'$PORT{url}"' in CONTAINER["livenessProbe"]["exec"]["command"][-1]
    assert set(re.findall(r"^    server \w (\S+) ", haproxy, re.M)) == {
        f"{name}:{port}" for name in manifests.compose()["services"]
        if name != "haproxy"}


def test_labels() -> None:
    parts = manifests.kubernetes()
    labels = POD["metadata"]["labels"]
    assert parts["Service"]["spec"]["selector"] == labels
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert parts[kind]["spec"]["selector"]["matchLabels"] == labels
    assert parts["PodDisruptionBudget"]["spec"]["minAvailable"] \
        < parts["Deployment"]["spec"]["replicas"]


def test_sizes_and_times() -> None:
    """The processes fit into the container, which is given the time to stop."""
    assert DIRECTIVES["AppPreStart"] == "On"
    assert int(DIRECTIVES["MinInstances"]) >= 1
    memory = int(DIRECTIVES["MaxPoolSize"]) * int(
        DIRECTIVES["AppMemoryLimit"].rstrip("M"))
    assert CONTAINER["resources"]["limits"]["memory"] == "3Gi"
    assert manifests.compose()["services"]["shop-a"]["mem_limit"] == "3g"
    assert memory <= 0.8 * 3 * 1024
    stop = CONTAINER["lifecycle"]["preStop"]["exec"]["command"][-1]
    sleep = re.fullmatch(r"apppoolctl out && sleep (\d+)", stop)
    assert sleep
    assert POD["spec"]["terminationGracePeriodSeconds"] >= int(sleep[1]) + 60


def test_haproxy_is_that_of_the_manual() -> None:
    """But for the addresses, the query, and the cookie."""
    own = {line.strip() for line in manifests.HAPROXY.read_text().splitlines()}
    page = (TOP / "doc" / "balancer.md").read_text()
    recipe = page.split("\n## haproxy\n")[1].split("\n* ")[0]
    lines = {line.strip().replace("?app=shop", "?ready").replace("*:80", ":8080")
             for line in recipe.splitlines() if line.startswith("    ")}
    missing = {line for line in lines if not line.startswith("server ")
               and not any(mine.startswith(line) for mine in own)}
    assert len(lines) > 20 and missing == set()


@pytest.mark.parametrize("word, lives", [
    ("ok", True), ("out", True), ("drained", True), ("full", True),
    ("failing", True), ("starting", True), ("unkillable", False), ("broken", False), ("", False)])
def test_liveness(tmp_path: Path, word: str, lives: bool) -> None:
    """Only what a new container heals makes it restart."""
    curl = tmp_path / "curl"
    curl.write_text(f"#!/bin/sh\n[ -z '{word}' ] || echo '{word}'\n")
    curl.chmod(0o755)
    done = subprocess.run(CONTAINER["livenessProbe"]["exec"]["command"],
                          env={"PATH": f"{tmp_path}:/usr/bin:/bin", "PORT": "1"})
    assert (done.returncode == 0) == lives
