# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The fastest application that there is (hello.c), behind mod_apppool and
behind mod_proxy. Each class is one way to run it."""
from harness.places import BUILD
from harness.plain import Plain
from servers import Ours, Server

HELLO = BUILD / "tests" / "bench" / "peer" / "hello"
# More than httpd keeps connections: a thread serves one at a time.
THREADS = 512


class OursKept(Ours):
    many = True
    threads = THREADS

    def configure(self) -> None:
        self.add(HELLO)
        self.app(2, "AppConcurrency 0", command=f"./hello {self.threads}")


class OursOne(Ours):
    def configure(self) -> None:
        self.add(HELLO)
        self.app(8, command="./hello 1")


class Proxied(Server):
    """mod_proxy, to a server that another program has started."""
    kind = Plain
    threads, processes = THREADS, 2
    way = "ProxyPass / unix:{0}|http://hello/"

    def configure(self) -> None:
        self.add(HELLO)
        self.host(*self.way.format(self.socket).split("\n"))

    def command(self) -> list[str]:
        return ["./hello", str(self.threads), str(self.socket),
                str(self.processes)]


class PassKept(Proxied):
    name = "ProxyPass"


class HandlerKept(Proxied):
    name = "SetHandler proxy:unix, enablereuse=on"
    way = ("<Proxy unix:{0}|http://hello/>\nProxySet enablereuse=on\n"
           "</Proxy>\n<Location />\nSetHandler proxy:unix:{0}|http://hello/\n"
           "</Location>")


class PassOne(Proxied):
    name = "ProxyPass, disablereuse=on"
    threads, processes = 1, 8
    way = "ProxyPass / unix:{0}|http://hello/ disablereuse=on"


class HandlerOne(Proxied):
    name = "SetHandler proxy:unix"
    threads, processes = 1, 8
    way = ("<Location />\nSetHandler proxy:unix:{0}|http://hello/\n"
           "</Location>")


class Http2(Server):
    """To be mixed into another class."""

    def configure(self) -> None:
        super().configure()
        self.httpd.modules.append("http2")
        self.httpd.directives.append("Protocols h2c http/1.1")


class OursHttp2(Http2, OursKept):
    pass


class HandlerHttp2(Http2, HandlerKept):
    pass


class ManyClients(Server):
    """To be mixed into another class. event closes kept connections when it has
    no idle thread. So there are twice as many threads as clients: the children
    get different numbers of clients."""
    threads = 1100

    def configure(self) -> None:
        super().configure()
        self.httpd.directives += [
            "ServerLimit 4", "StartServers 4", "ThreadLimit 512",
            "ThreadsPerChild 512", "MaxRequestWorkers 2048",
            "MaxSpareThreads 2048"]


class OursMany(ManyClients, OursKept):
    pass


class HandlerMany(ManyClients, HandlerKept):
    pass
