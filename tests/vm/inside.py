# Licensed under the Apache License, Version 2.0; see LICENSE.
"""What the scenes see and do in the virtual machine."""
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

sys.path.append(str(Path(__file__).resolve().parents[1] / "packages"))

import steps  # noqa: E402
from machine import Machine  # noqa: E402

vm = Machine()
LIMIT = 600  # s: the emulation is slow, and the machine may be busy
UNIT = "/sys/fs/cgroup/system.slice/apache2.service"
RUNTIME = "/run/apache2"
ON_DISK = "/srv/runtime"  # a runtime directory that a power cut leaves
PROGRAMS = "/usr/libexec/apppool/"


def until(condition: Callable[[], object], what: str,
          limit: float = LIMIT) -> object:
    return steps.until(condition, what, limit)


def get(path: str, host: str = "shop.test") -> Any:
    return json.loads(vm.shell(
        f"curl -sS --fail-with-body --max-time 300 -H 'Host: {host}' "
        f"'http://127.0.0.1{path}'"))


def serves(path: str = "/", host: str = "shop.test") -> bool:
    return vm.run(f"curl -sSf --max-time 300 -H 'Host: {host}' "
                  f"'http://127.0.0.1{path}'")[0] == 0


# ---- applications

# apppoolctl finds a runtime directory only at its usual place.
CTL = f"apppoolctl $(test ! -d {ON_DISK} || echo --runtime-dir {ON_DISK}) "


def ctl(words: str) -> str:
    return vm.shell(CTL + words)


def groups() -> dict[str, Any]:
    """By the last part of their name. A moment after a start of httpd, there is
    no spawner yet."""
    status, text = vm.run(f"{CTL} --json status")
    assert status in (0, 3), text
    found = json.loads(text)["groups"] if status == 0 else []
    return {group["name"].split()[0].split("/")[-1]: group for group in found}


def ids(*names: str) -> dict[int, str]:
    """The processes of these applications, or of all: pid and id."""
    return {process["pid"]: process["id"] for name, group in groups().items()
            if not names or name in names for process in group["processes"]}


def put(first: int, end: int) -> None:
    """Sessions into the store. The last reply is the store's."""
    for n in range(first, end, 1000):
        stop = min(n + 1000, end)
        stored = get(f"/put?from={n}&to={stop}")
        assert stored == stop - n, f"{stored} of {stop - n} acknowledged"


def missing(first: int, end: int) -> list[int]:
    return [n for start in range(first, end, 2000) for n in
            get(f"/missing?from={start}&to={min(start + 2000, end)}")]


# ---- processes and cgroups

def cgroups() -> dict[str, set[int]]:
    """Those of the processes of applications: id, and the pids in it."""
    text = vm.shell(f"cd {UNIT} 2>/dev/null || exit 0; for each in "
                    "apppool-*/*/; do ! cat $each/cgroup.procs "
                    ">/tmp/procs 2>/dev/null || echo $each $(cat /tmp/procs); "
                    "done")
    return {words[0].rstrip("/").split("/")[1]: set(map(int, words[1:]))
            for words in map(str.split, text.splitlines())}


def instances() -> list[str]:
    return vm.shell(f"ls -d {UNIT}/apppool-* 2>/dev/null || true").split()


def pid_of(program: str) -> int:
    """The newest process of a program of the module."""
    return int(vm.shell(f"pgrep -n -x -f '{PROGRAMS}{program} .*'"))


def left_behind() -> list[str]:
    """What /leave has started."""
    return vm.run("pgrep -a -f '[l]eft-behind'")[1].splitlines()


def ours() -> list[str]:
    """All that httpd and the module run."""
    return vm.run("pgrep -a -f '[l]eft-behind|^/usr/sbin/apache2|"
                  f"^{PROGRAMS}|/srv/(shop|blog)'")[1].splitlines()


def nothing_runs() -> None:
    """After a stop: nothing of httpd, and no cgroup of its unit."""
    assert ours() == [], ours()
    assert vm.run(f"test -e {UNIT}")[0] == 1, vm.shell(f"find {UNIT}")


# ---- httpd

def show(what: str) -> str:
    return vm.shell(f"systemctl show --value -p {what} apache2").strip()


def httpd() -> int:
    return int(show("MainPID"))


def drop_in(name: str, *lines: str) -> None:
    """Settings of the unit, until the next boot."""
    place = f"/run/systemd/system/apache2.service.d/{name}.conf"
    vm.shell(f"mkdir -p $(dirname {place}) && cat >{place} <<'EOT'\n[Service]\n"
             + "\n".join(lines) + "\nEOT\nsystemctl daemon-reload")


def drop_out(name: str) -> None:
    vm.shell(f"rm /run/systemd/system/apache2.service.d/{name}.conf && "
             "systemctl daemon-reload")


def configure(name: str, text: str) -> None:
    vm.shell(f"cat >/etc/apache2/conf-enabled/{name}.conf <<'EOT'\n{text}\nEOT")


def log() -> list[str]:
    """The error log, with what logrotate has put aside."""
    return vm.shell("cat /var/log/apache2/error.log").splitlines()


@contextmanager
def load(path: str = "/", host: str = "shop.test") -> Iterator[None]:
    """No request of these clients may fail."""
    begin_load(path, host)
    try:
        yield
        before = seen()["counts"]
        until(lambda: all(now > then + 3 for now, then in
                          zip(seen()["counts"], before)),
              "each client has had responses afterwards")
    finally:
        vm.shell("systemctl stop load")
    end = seen()
    assert not end["failed"], \
        f"{len(end['failed'])} of {sum(end['counts'])}: {end['failed'][0]}"
    print(f"{sum(end['counts'])} requests")


def begin_load(path: str = "/", host: str = "shop.test") -> None:
    vm.shell("rm -f /run/load; systemd-run -q --collect --unit=load "
             "-p TimeoutStopSec=600 "
             f"python3 /vm/load.py /run/load http://127.0.0.1{path} {host}")
    until(lambda: all(seen()["counts"]), "each client has had a response")


def seen() -> dict[str, list[Any]]:
    status, text = vm.run("cat /run/load")
    return dict(json.loads(text)) if status == 0 else {"counts": [0]}
