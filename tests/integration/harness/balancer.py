# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Two hosts behind a load balancer, with the configurations of
doc/balancer.md: only addresses and paths differ."""
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Optional, Type

import haproxy
from harness.httpd import Httpd
from harness.packaged import UNPACKED
from harness.places import TOP, apxs
from harness.ports import reserve_port
from harness.wait import wait_until

PAGE = TOP / "doc" / "balancer.md"
HOST = "shop.example"
HAPROXY = UNPACKED / "haproxy" / "usr" / "sbin" / "haproxy"


def recipe(heading: str) -> str:
    """The first configuration below this heading of the page."""
    text = PAGE.read_text().split(f"\n## {heading}\n")[1]
    found = re.search(r"^    .*\n(?:(?:    .*)?\n)*", text, re.M)
    assert found
    return re.sub(r"^    ", "", found[0], flags=re.M)


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Replace the parts that a test cannot use."""
    for old, new in pairs:
        assert old in text, f"doc/balancer.md has no {old}"
        text = text.replace(old, new)
    return text


def configure_host(httpd: Httpd) -> None:
    """An httpd as in "The hosts"."""
    app = httpd.app("shop")
    httpd.apps.clear()
    httpd.modules += ["remoteip"]
    httpd.directives += replaced(
        recipe("The hosts"), ("*:80", f"*:{httpd.port}"),
        ("AppRoot      /srv/shop", "\n".join(app.lines())),
        ("/srv/shop", str(app.root)), ("10.0.0.0/24", "127.0.0.1"),
    ).splitlines()


class Haproxy:
    """with Haproxy(hosts) as balancer: ... balancer.port"""

    def __init__(self, hosts: list[Httpd]) -> None:
        self.port, self.claim = reserve_port()
        self.place = tempfile.TemporaryDirectory(prefix="haproxy-")
        self.socket = Path(self.place.name) / "admin.sock"
        self.output = Path(self.place.name) / "log"
        self.config = Path(self.place.name) / "haproxy.cfg"
        self.names = dict(zip("ab", hosts))
        self.config.write_text(replaced(
            recipe("haproxy"), ("/run/haproxy/admin.sock", str(self.socket)),
            ("bind *:80", f"bind 127.0.0.1:{self.port}"),
            ("10.0.0.11:80", f"127.0.0.1:{hosts[0].port}"),
            ("10.0.0.12:80", f"127.0.0.1:{hosts[1].port}")))
        self.process: Optional[subprocess.Popen[bytes]] = None

    def __enter__(self) -> "Haproxy":
        assert HAPROXY.exists(), "haproxy is not there: tests/run unpacks it"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                [str(HAPROXY), "-db", "-f", str(self.config)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(lambda: self.process.poll() is not None
                   or haproxy.listens(self.socket), "haproxy runs")
        assert self.process.poll() is None, self.output.read_text()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]],
                 error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        assert self.process is not None
        if kind is not None:
            print(self.output.read_text())
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(40)
        self.claim.close()
        self.place.cleanup()

    def uses(self, host: Httpd) -> bool:
        name = next(n for n, one in self.names.items() if one is host)
        return haproxy.uses(self.socket, name)


class HttpdBalancer:
    """The same, of an httpd that has not been started yet."""

    def __init__(self, front: Httpd, hosts: list[Httpd]) -> None:
        self.front = front
        # While a host is stopped, its health checks fail. And a request may
        # have chosen a host that is out before it connects; it goes to the
        # other one.
        front.log.expect("AH00957: HCOH: attempt to connect to ",
                         "AH01114: HTTP: failed to make connection to backend")
        self.port = front.port
        front.modules += ["slotmem_shm", "proxy_balancer",
                          "lbmethod_bybusyness", "proxy_hcheck", "headers"]
        if (Path(apxs("LIBEXECDIR")) / "mod_watchdog.so").exists():
            front.modules.insert(0, "watchdog")
        front.directives += replaced(
            recipe("A balancer made of httpd"), ("*:80", f"*:{front.port}"),
            ("10.0.0.11:80", f"127.0.0.1:{hosts[0].port}"),
            ("10.0.0.12:80", f"127.0.0.1:{hosts[1].port}")).splitlines()

    def __enter__(self) -> "HttpdBalancer":
        self.front.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.front.stop()

    def uses(self, host: Httpd) -> bool:
        # httpd logs an error for a request without Referer.
        place = f"http://{HOST}/balancer-manager"
        page = self.front.get("/balancer-manager", HOST,
                              headers={"Referer": place})
        assert page.status == 200, page.text
        row, = [row for row in page.text.split("<tr>")
                if f"//127.0.0.1:{host.port}</a>" in row]
        words = set(re.findall(r"\b(?:Ok|Err|HcFl|Dis|Stop)\b", row))
        return words == {"Ok"}
