# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The rows of tests/bench/mixed: four processes, each with one request at a
time. A request for PATHn takes n milliseconds. The first server of a row is
mod_apppool."""
from pathlib import Path

from proxies import HELLO, Proxied
from rows import ModFcgid, OursPhp, Passenger, PhpFpm, fcgi
from servers import Ours, Server

PROCESSES = 4


class OursC(Ours):
    def configure(self) -> None:
        self.path = "/sleep-"
        self.add(HELLO)
        self.app(PROCESSES, command="./hello 1")


class OneSocket(Proxied):
    """Requests wait in the backlog of the one socket that all processes
    have."""
    name = "SetHandler proxy:unix, one socket"
    threads, processes = 1, PROCESSES
    way = ("<Location />\nSetHandler proxy:unix:{0}|http://hello/\n"
           "</Location>")

    def configure(self) -> None:
        super().configure()
        self.path = "/sleep-"


class RoundRobin(Server):
    """A balancer: each process has a socket, and gets requests in turn."""
    name = "mod_proxy_balancer"
    kind = Proxied.kind

    def configure(self) -> None:
        self.path = "/sleep-"
        self.add(HELLO)
        self.httpd.modules += ["slotmem_shm", "proxy_balancer",
                               "lbmethod_byrequests"]
        places = [f"{self.socket}{n}" for n in range(PROCESSES)]
        # The name of the host has to differ: mod_proxy takes a path for a
        # name only since 2.4.49.
        self.host("<Proxy balancer://hello>", *(
            f"BalancerMember unix:{place}|http://hello{n} disablereuse=on"
            for n, place in enumerate(places)), "</Proxy>",
            "ProxyPass / balancer://hello/")

    def command(self) -> list[str]:
        one = "./hello 1 {0}{1} 1 & ".format
        return ["/bin/sh", "-c", "trap 'kill $(jobs -p)' TERM; " + "".join(
            one(self.socket, n) for n in range(PROCESSES))
            + f": >{self.socket}; wait"]


FCGI = """#include <fcgi_stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void)
{
    while (FCGI_Accept() >= 0) {
        const char *uri = getenv("REQUEST_URI");
        const char *last = uri ? strrchr(uri, '/') : NULL;
        long ms = last ? strtol(last + 1, NULL, 10) : 0;
        struct timespec t = {ms / 1000, ms % 1000 * 1000000};

        nanosleep(&t, NULL);
        printf("Content-Type: text/plain\\r\\n\\r\\nhello\\n");
    }
    return 0;
}
"""


class OursFcgi(Ours):
    def configure(self) -> None:
        self.path = "/sleep/"
        fcgi(self.root, FCGI)
        self.app(PROCESSES)


class FcgidSlow(ModFcgid):
    source, processes = FCGI, PROCESSES

    def configure(self) -> None:
        super().configure()
        self.path = "/hello.fcgi/"


PHP = """<?php
usleep(1000 * (int) basename($_SERVER['REQUEST_URI']));
header('Content-Type: text/plain');
echo "hello\n";
"""


def php(root: Path) -> str:
    (root / "public" / "index.php").write_text(PHP)
    return "/index.php/"


class OursPhpSlow(OursPhp):
    processes = PROCESSES

    def configure(self) -> None:
        super().configure()
        self.path = php(self.root)


class FpmSlow(PhpFpm):
    processes = PROCESSES

    def configure(self) -> None:
        super().configure()
        self.path = php(self.root)


RACK = """run lambda { |env|
  sleep(env["PATH_INFO"][/[0-9]+/].to_i / 1000.0)
  [200, { "content-type" => "text/plain" }, ["hello\n"]]
}
"""


class OursRackSlow(Ours):
    def configure(self) -> None:
        self.path = "/sleep/"
        (self.root / "config.ru").write_text(RACK)
        self.app(PROCESSES, "AppConcurrency 1")


class PassengerRackSlow(Passenger):
    processes = PROCESSES

    def configure(self) -> None:
        self.path = "/sleep/"
        (self.root / "config.ru").write_text(RACK)
        super().configure()


MIXED: list[tuple[str, list[type[Server]]]] = [
    ("C", [OursC, OneSocket, RoundRobin]),
    ("FastCGI in C", [OursFcgi, FcgidSlow]),
    ("PHP", [OursPhpSlow, FpmSlow]),
    ("Ruby (Rack)", [OursRackSlow, PassengerRackSlow]),
]
