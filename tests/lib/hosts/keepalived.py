# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's keepalived on each host: it moves the virtual address. Its file is
that of doc/store.md."""
import os
import re
import signal
import subprocess
import textwrap
from pathlib import Path
from typing import Optional

from hosts.network import VIP, Host

TOP = Path(__file__).resolve().parents[3]
UNPACKED = TOP / "build" / "packaged" / "keepalived" / "usr/sbin/keepalived"
ADVERTISE = 0.5  # s; three of them missing, and another host takes the address

READY = "/usr/bin/apppoolctl store ready"
USABLE = "/usr/bin/apppoolctl store usable"
SECTION = "## Who has the address"


def sample() -> str:
    """keepalived.conf of doc/store.md."""
    section = (TOP / "doc" / "store.md").read_text().split(SECTION)[1]
    found = re.search(r"\n\n((?:    .*\n)+)", section)
    assert found, f"{SECTION}: there is no file"
    return textwrap.dedent(found[1])


def config(host: Host, ready: Path, fall: int) -> str:
    """The sample with the places, addresses and times of a test."""
    peers = [other.address for other in host.network.nodes if other is not host]
    text = sample()
    for old, new in {
            READY: str(ready), USABLE: str(ready),
            "fall 2": f"fall {fall}",
            "10.0.0.1\n": f"{host.address}\n",
            "        10.0.0.2\n        10.0.0.3\n":
                "".join(f"        {peer}\n" for peer in peers),
            "10.0.0.9/": f"{VIP}/", "priority 100": f"priority {90-host.number}",
            "advert_int 1\n": f"advert_int {ADVERTISE}\n",
            "global_defs {\n": "global_defs {\n    vrrp_version 3\n"
                               "    vrrp_rt_priority 50\n"}.items():
        assert text.count(old) == 1, f"{SECTION}: {old!r}"
        text = text.replace(old, new)
    return text


def program() -> list[str]:
    """That of tests/run, or the installed one. Version 2.3 reads a file of its
    package in /etc."""
    if not UNPACKED.exists():
        return ["keepalived"]
    etc = UNPACKED.parents[2] / "etc"
    options = "keepalived/keepalived.config-opts"
    if not (etc / options).exists() or Path("/etc", options).exists():
        return [str(UNPACKED)]
    return ["unshare", "--mount", "sh", "-c",
            f'mount -t overlay -o "lowerdir={etc}:/etc" none /etc && exec "$@"',
            "sh", str(UNPACKED)]


class Keepalived:
    def __init__(self, host: Host, place: Path, ready: str,
                 fall: int = 1) -> None:
        """@param ready a command of sh: may this host become the master?
        @param fall     how often it has to say no"""
        self.host, self.place = host, place
        self.words = place / "keepalived"
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.wrapper: list[str] = []  # a command that runs it
        script = place / "ready"
        script.write_text(f"#!/bin/sh\n{ready}\n")
        script.chmod(0o755)
        self.config = place / "keepalived.conf"
        self.config.write_text(config(host, script, fall))
        self.config.chmod(0o644)

    def start(self) -> None:
        with self.words.open("ab") as words:
            self.process = self.host.popen(
                [*self.wrapper, *program(), "--dont-fork", "--log-console",
                 "--log-detail", "--no-syslog", "--vrrp",
                 f"--use-file={self.config}", f"--pid={self.place}/k.pid",
                 f"--vrrp_pid={self.place}/kv.pid"],
                stdin=subprocess.DEVNULL, stdout=words, stderr=words)

    def end(self, sign: int = signal.SIGTERM) -> None:
        """SIGTERM: it gives the address away at once. SIGKILL: the address
        stays, and another host takes it as well."""
        if self.process:
            children = self.children() if sign == signal.SIGKILL else []
            self.process.send_signal(sign)
            for pid in children:
                try:
                    os.kill(pid, sign)
                except ProcessLookupError:
                    pass
            self.process.wait(60)
            self.process = None

    def children(self) -> list[int]:
        """One of them does the work. It does not notice that its parent is
        killed before it has asked the kernel for that."""
        assert self.process
        pid = self.process.pid
        try:
            return [int(child) for child in Path(
                f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def output(self) -> str:
        """The last lines of its log."""
        if not self.words.exists():
            return ""
        lines = self.words.read_text(errors="replace").splitlines()
        return "\n".join(line for line in lines[-60:] if "ARP" not in line)
