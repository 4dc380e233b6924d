# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Debian's keepalived on each host: it moves the virtual address."""
import signal
import subprocess
from pathlib import Path
from typing import Optional

from hosts.network import VIP, Host

TOP = Path(__file__).resolve().parents[3]
UNPACKED = TOP / "build" / "packaged" / "keepalived" / "usr/sbin/keepalived"
ADVERTISE = 0.1  # s; three of them missing, and another host takes the address

# The sample of doc/store.md, but for the times and the places of files.
CONFIG = """\
global_defs {
    router_id host%(number)d
    script_user root
    enable_script_security
    vrrp_version 3
    vrrp_rt_priority 50
    vrrp_garp_master_delay 1
}
vrrp_script ready {
    script "%(script)s"
    interval 1
    timeout 10
    fall %(fall)d
    rise 1
    init_fail
}
vrrp_instance store {
    state BACKUP
    nopreempt
    interface eth0
    virtual_router_id 77
    priority %(priority)d
    advert_int %(advertise)s
    unicast_src_ip %(address)s
    unicast_peer {
        %(peers)s
    }
    virtual_ipaddress {
        %(vip)s/32 dev eth0
    }
    track_script {
        ready
    }
}
"""


def program() -> str:
    """That of tests/run, or the installed one."""
    return str(UNPACKED) if UNPACKED.exists() else "keepalived"


class Keepalived:
    def __init__(self, host: Host, place: Path, ready: str,
                 fall: int = 1) -> None:
        """@param ready a command of sh: may this host become the master?
        @param fall     how often it has to say no"""
        self.host, self.place = host, place
        self.words = place / "keepalived"
        self.process: Optional[subprocess.Popen[bytes]] = None
        script = place / "ready"
        script.write_text(f"#!/bin/sh\n{ready}\n")
        script.chmod(0o755)
        peers = [other.address for other in host.network.nodes
                 if other is not host]
        self.config = place / "keepalived.conf"
        self.config.write_text(CONFIG % {
            "number": host.number, "script": script, "fall": fall,
            "advertise": ADVERTISE,
            "priority": 100 - host.number, "address": host.address,
            "peers": "\n        ".join(peers), "vip": VIP})
        self.config.chmod(0o644)

    def start(self) -> None:
        with self.words.open("ab") as words:
            self.process = self.host.popen(
                [program(), "--dont-fork", "--log-console",
                 "--log-detail", "--no-syslog", "--vrrp",
                 f"--use-file={self.config}", f"--pid={self.place}/k.pid",
                 f"--vrrp_pid={self.place}/kv.pid"],
                stdin=subprocess.DEVNULL, stdout=words, stderr=words)

    def end(self, sign: int = signal.SIGTERM) -> None:
        """SIGTERM: it gives the address away at once. SIGKILL: the address
        stays, and another host takes it as well."""
        if self.process:
            self.process.send_signal(sign)
            self.process.wait(60)
            self.process = None
