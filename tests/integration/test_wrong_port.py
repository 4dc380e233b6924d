# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application that listens on a TCP port and not where it should: the log
says so while it starts, and the error of its start does, too."""
import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.ports import reserve_port
from harness.wait import wait_until

# It listens on TCP ports, in a grandchild that may leave the session, and later
# at the right place if a file tells it to.
LISTENS = """
import os, socket, sys, time
for _ in range(2):
    if os.fork():
        os.wait()
if "away" in sys.argv:
    os.setsid()
servers = [socket.create_server((host, int(port or os.environ["PORT"])),
                                family=socket.AF_INET6 if ":" in host
                                else socket.AF_INET)
           for host, _, port in (one.rpartition("/") for one in sys.argv[1:]
                                 if "/" in one)]
while not os.path.exists("tmp/go"):
    time.sleep(0.05)
pool = socket.socket(fileno=3)
while True:
    client = pool.accept()[0]
    if client.recv(9999):
        client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello")
    client.close()
"""
# AppListen, what it listens on, the ports that are named, the right place
APPS = {
    "shop": ("fd", "127.0.0.1/{0}", "port {0}", "descriptor 3"),
    "blog": ("unix", "::1/{0} 127.0.0.1/{1}", "ports ({0}, {1}|{1}, {0})",
             r"\$APPPOOL_SOCKET"),
    "wiki": ("tcp", "127.0.0.1/{0}", "port {0}", r"127\.0\.0\.1 port \d+"),
    "late": ("fd", "127.0.0.1/{0}", "port {0}", "descriptor 3"),
    "away": ("fd", "127.0.0.1/{0} away", "port {0}", "descriptor 3"),
    "host": ("tcp", "::1/", r"port \d+ of ::1", r"127\.0\.0\.1 port \d+"),
}


@pytest.mark.mpms("event")
def test_the_log_and_the_error_say_it(httpd: Httpd) -> None:
    """One start fails. Another one goes on, and is a success."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.WRONG_PORT)
    claims, apps, says = [], {}, {}
    for name, (listen, places, named, right) in APPS.items():
        pairs = [reserve_port() for _ in range(2)]
        claims += pairs
        ports = [port for port, _ in pairs]
        says[name] = (
            f"listens on TCP {named.format(*ports)}, where httpd does not connect "
            rf"\(process \d+, python3; .*\$PORT\), and did not accept connections "
            f"on {right}")
        apps[name] = httpd.app(
            name, f"AppListen {listen}", "AppPreStart On", "MinInstances 1",
            f"AppStartTimeout {10 if name == 'shop' else 60}",
            command=f"/usr/bin/python3 -IS listens.py {places.format(*ports)}")
        (apps[name].root / "listens.py").write_text(LISTENS)
    httpd.start()
    for name, said in says.items():
        httpd.log.wait_for(rf"{name}\[\d+\] {said} yet$")
    (apps["late"].root / "tmp" / "go").touch()
    assert httpd.get("/", "late").text == "hello"
    httpd.log.wait_for(
        rf"shop\[\d+\] could not be started: it {says['shop']} within 10 s")
    error = wait_until(lambda: httpd.group(apps["shop"])["last_error"],
                       "the error reaches the pool")
    assert "where httpd does not connect" in error
    for _, claim in claims:
        claim.close()


OPEN = """
import os, socket, sys
if os.fork():
    os.wait()
host = sys.argv[1]
server = socket.create_server((host, int(os.environ["PORT"])),
                              family=socket.AF_INET6 if ":" in host
                              else socket.AF_INET, dualstack_ipv6=host == "::")
while True:
    client = server.accept()[0]
    if client.recv(9999):
        client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello")
    client.close()
"""


@pytest.mark.mpms("event")
def test_everyone_can_connect(httpd: Httpd) -> None:
    """Past all rules of httpd: the log says so once. On 127.0.0.1 it is quiet."""
    said = r"listens on {} \(AppListen tcp\): other hosts may connect"
    hosts = {"shop": r"0\.0\.0\.0", "blog": "::", "calm": ""}
    httpd.log.expect(said.format("[0.:]+"))
    for name, host in hosts.items():
        app = httpd.app(name, "AppListen tcp", "MinInstances 2", "AppPreStart On",
                        command="/usr/bin/python3 -IS open.py "
                        + (host.replace("\\", "") or "127.0.0.1"))
        (app.root / "open.py").write_text(OPEN)
    httpd.start()
    for app in httpd.apps:
        assert httpd.get("/", app.name).text == "hello"
        httpd.settles(active=0, count=6)
    assert len([line for line in httpd.log.lines()
                if "other hosts may connect" in line]) == 2
    for name in ("shop", "blog"):
        httpd.log.wait_for(rf"{name}\[\d+\] {said.format(hosts[name])}")
