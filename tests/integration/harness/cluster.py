# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A whole httpd with its store on each of two hosts, keepalived, and what sends
requests to both."""
import re
import shutil
import socket
import subprocess
import textwrap
import threading
from contextlib import suppress
from typing import Any, Callable, Optional

from harness import procs
from harness.httpd import Httpd
from harness.places import CTL, TOP
from harness.ports import reserve_port
from hosts.keepalived import Keepalived
from hosts.network import VIP, Host

SECTION = "## Two and more hosts"
KEY = "/etc/apache2/store.key"
# The user of the recipe is not on this machine.
USER = "games"


def recipe() -> tuple[str, str, str]:
    """That of doc/store.md: the commands that make the secret, those for each
    host, and the directives."""
    section = (TOP / "doc" / "store.md").read_text().split(f"\n{SECTION}\n")[1]
    secret, user, directives = [
        textwrap.dedent(block) for block in
        re.findall(r"\n\n((?:    .*\n)+)", section)[:3]]
    assert user == "useradd --system apppool-store\n", user
    return secret, user, directives


class Hosted(Httpd):
    """An httpd on a host of its own."""

    def __init__(self, host: Host, first: "Optional[Hosted]" = None) -> None:
        """@param first the host on which the secret was made"""
        super().__init__("event")
        self.host = host
        self.key = self.dir / "store.key"
        secret, _, directives = recipe()
        if first:
            shutil.copy2(first.key, self.key)
        else:
            subprocess.run(["sh", "-e", "-c", self.here(secret)], check=True)
        self.directives += self.here(directives).splitlines()
        assert len(self.directives) >= 4
        place = self.dir / "keepalived"
        place.mkdir()
        self.keepalived = Keepalived(
            host, place, f"exec {CTL} --dir {self.runtime} store ready", 2)
        self.runs = False

    def here(self, text: str) -> str:
        """The same with the addresses, the file and the user of this test."""
        peers = " ".join(other.address for other in self.host.network.nodes)
        for old, new in {
                KEY: str(self.key), "10.0.0.9": VIP, "apppool-store": USER,
                "10.0.0.1 10.0.0.2 10.0.0.3": peers}.items():
            text = text.replace(old, new)
        assert "10.0.0." not in text and "/etc/" not in text, text
        return text

    def launch(self, *words: str) -> None:
        with self.host.entered():
            super().launch(*words)

    def listening(self) -> bool:
        with self.host.entered():
            return super().listening()

    def ctl(self, *words: str) -> "subprocess.CompletedProcess[str]":
        with self.host.entered():
            return super().ctl(*words)

    def boot(self) -> None:
        self.host.plug()
        self.start()
        self.keepalived.start()
        self.runs = True

    def crash(self) -> None:
        """The host dies, with all that runs on it."""
        self.host.unplug()
        self.runs = False
        self.keepalived.end(9)
        while left := list(procs.marked(str(self.dir), self.born)):
            for pid in left:
                procs.kill9_if_alive(pid)
        assert self.process
        self.process.wait(60)
        self.process = None
        if self.host.has_vip():
            self.host.drop_vip()

    def is_ready(self) -> bool:
        """May it become the master?"""
        return self.ctl("store", "ready").returncode == 0

    def end(self) -> None:
        self.keepalived.end(9)
        self.destroy()


class Balancer:
    """Gives each connection to the next host that takes it."""

    def __init__(self, hosts: list[Hosted]) -> None:
        self.hosts, self.next = hosts, 0
        self.port, self.claim = reserve_port()
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.threads: list[threading.Thread] = []
        self._thread(self._accept)

    def _thread(self, run: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=run, args=args, daemon=True)
        thread.start()
        self.threads.append(thread)

    def _accept(self) -> None:
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            self.next += 1
            self._thread(self._join, client, self.next)

    def _server(self, first: int) -> Optional[socket.socket]:
        for n in range(len(self.hosts)):
            httpd = self.hosts[(first + n) % len(self.hosts)]
            if httpd.runs:
                with suppress(OSError):
                    return httpd.host.connect("127.0.0.1", httpd.port, 40)
        return None

    def _join(self, client: socket.socket, first: int) -> None:
        with client:
            server = self._server(first)
            if server:
                with server:
                    back = threading.Thread(target=self._copy,
                                            args=(server, client), daemon=True)
                    back.start()
                    self._copy(client, server)
                    back.join()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.claim.close()
        for thread in self.threads:
            thread.join(60)
