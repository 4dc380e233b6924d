# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apppool-store, started as the watchdog starts it."""
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, Optional

from harness.places import TOP
from harness.servers import PATIENCE, Server, wait_until

BUILD = Path(os.environ.get("APPPOOL_BUILD", TOP / "build"))
STORE = BUILD / "apppool-store"
UNDER = os.environ.get("APPPOOL_UNDER", "").split()
# A number that no user has: the store does not run as root.
USER = 65534 if os.getuid() == 0 else os.getuid()


def contract(name: str) -> int:
    text = (TOP / "base" / "contract.h").read_text()
    found = re.search(rf"#define CONTRACT_{name} +(\d+)", text)
    assert found, name
    return int(found[1])


FDS = {name: contract(f"{name}_FD") for name in (
    "LIFE", "PARENT", "ITEMS", "FIGURES", "MAILBOX", "MAILBOX_END", "BELL")}


def space(name: str, size: int = 64 << 20, **more: Any) -> dict[str, Any]:
    return {"name": name, "key": name, "size": size, "evict": True,
            "max_connections": 1024, "uids": [os.getuid()]} | more


class Store(Server):
    """It has what httpd's parent has: the descriptors that outlive a store, and
    its runtime directory."""
    name = "apppool-store"

    def __init__(self, *spaces: dict[str, Any], threads: int = 4,
                 save: Optional[Path] = None,
                 max_object: int = 1 << 20) -> None:
        super().__init__()
        self.table: dict[str, Any] = {
            "threads": threads, "max_object": max_object,
            "spaces": list(spaces) or [space("shop")]}
        self.printed = ""
        self.fds: dict[str, int] = {}
        self.ours: list[int] = []
        (self.dir / "m").mkdir(mode=0o711)
        (self.dir / "m").chmod(0o711)
        if os.getuid() == 0:
            os.chown(self.dir / "m", USER, USER)
        if save:
            (self.dir / "store.save").symlink_to(save)
        self.write_table()
        self.make_descriptors()

    @property
    def path(self) -> Path:
        return self.socket_of(self.table["spaces"][0]["key"])

    def socket_of(self, key: str) -> Path:
        return self.dir / "m" / key

    def listens_at(self, key: str) -> bool:
        """Is the space served? The store sets the mode when its socket
        listens."""
        try:
            mode = self.socket_of(key).stat().st_mode
        except FileNotFoundError:
            return False
        return mode & 0o666 == 0o666

    def write_table(self, text: Optional[str] = None) -> None:
        new = self.dir / "m" / "new"
        new.write_text(text or json.dumps(self.table))
        new.chmod(0o400)
        if os.getuid() == 0:
            os.chown(new, USER, USER)
        new.rename(self.dir / "m" / "table")

    def ring(self) -> None:
        os.eventfd_write(self.fds["BELL"], 1)

    def make_descriptors(self) -> None:
        life, ours = os.pipe()
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # As httpd's parent does it. Only root may use SO_SNDBUFFORCE (32).
        pair[0].setsockopt(socket.SOL_SOCKET,
                           32 if os.getuid() == 0 else socket.SO_SNDBUF,
                           1 << 20)
        self.fds = {
            "LIFE": life, "PARENT": os.pidfd_open(os.getpid()),
            "ITEMS": os.memfd_create("items"),
            "FIGURES": os.memfd_create("figures"),
            "MAILBOX": pair[0].detach(), "MAILBOX_END": pair[1].detach(),
            "BELL": os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)}
        self.ours = [ours]

    def forget(self) -> None:
        for fd in [*self.fds.values(), *self.ours]:
            os.close(fd)
        self.make_descriptors()

    def destroy(self) -> None:
        self.printed = self.output()
        try:
            super().destroy()
        finally:  # also if its end is late
            for fd in [*self.fds.values(), *self.ours]:
                os.close(fd)
            assert not self.reports(), self.printed

    def reports(self) -> list[str]:
        """Those of sanitizers. They are known when the files are gone, too."""
        return [line for line in (self.output() or self.printed).splitlines()
                if "Sanitizer" in line]

    def damage(self) -> list[str]:
        return [*super().damage(), *self.reports()]

    def command(self) -> list[str]:
        return [*UNDER, str(STORE), str(self.dir)]

    def options(self) -> dict[str, Any]:
        def place() -> None:
            high = {name: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
                    for name, fd in self.fds.items()}
            for name, fd in high.items():
                os.dup2(fd, FDS[name])
        return {"preexec_fn": place, "pass_fds": list(FDS.values())}

    def start(self) -> None:
        printed = self.output().count(" has started: ")
        with self.words.open("ab") as words:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL,
                stdout=words, stderr=words, **self.options())
        wait_until(lambda: self.output().count(" has started: ") > printed
                   or self.process is None or self.process.poll() is not None,
                   "the store has started")

    def output(self) -> str:
        return self.words.read_text(errors="replace") \
            if self.words.exists() else ""

    def wait_logged(self, text: str) -> None:
        """Wait for a line of its log."""
        wait_until(lambda: text in self.output(), f"the log has: {text}")

    def connect(self) -> socket.socket:
        return self.connect_to(self.table["spaces"][0]["key"])

    def connect_to(self, key: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self.socket_of(key)))
        except OSError:
            connection.close()
            raise
        connection.settimeout(PATIENCE)
        return connection

    def lost_long_ago(self, name: str) -> bool:
        """Change the entry of a space in the directory (base/store_format.h).
        @return False: the store has not noted yet that it is lost"""
        items = self.fds["ITEMS"]
        for at in range(256, 256 * 257, 256):
            entry = os.pread(items, 256, at)
            if entry.startswith(name.encode() + b"\0") and any(entry[88:92]):
                os.pwrite(items, b"\1\0\0\0", at + 88)
                return True
        return False

    def memory(self) -> int:
        """Bytes of its own, without the items."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"RssAnon:\s+(\d+) kB", status)
        assert found
        return int(found[1]) * 1024

    def kill(self) -> None:
        self.end(signal.SIGKILL)
