# Licensed under the Apache License, Version 2.0; see LICENSE.
"""An application that listens on a TCP port and not where it should: the log
says so while it starts, and the error of its start does, too."""
import pytest

from harness import sentences
from harness.httpd import Httpd
from harness.ports import reserve_port
from harness.wait import wait_until

# It listens on a TCP port, in a child process, and later at the right place if
# a file tells it to.
LISTENS = """
import os, socket, sys, time
if os.fork():
    os.wait()
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while not os.path.exists("tmp/go"):
    time.sleep(0.05)
pool = socket.socket(fileno=3)
while True:
    client = pool.accept()[0]
    if client.recv(9999):
        client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello")
    client.close()
"""


@pytest.mark.mpms("event")
def test_the_log_and_the_error_say_it(httpd: Httpd) -> None:
    """One start fails. Another one goes on, and is a success."""
    httpd.log.expect(sentences.NOT_STARTED, sentences.START_ERROR,
                     sentences.WRONG_PORT)
    places = {"shop": "descriptor 3", "blog": r"\$APPPOOL_SOCKET",
              "wiki": r"port \d+", "late": "descriptor 3"}
    listen = {"blog": "unix", "wiki": "tcp"}
    ports, claims, apps, said = {}, [], {}, ""
    for name in places:
        ports[name], claim = reserve_port()
        claims.append(claim)
        apps[name] = httpd.app(
            name, f"AppListen {listen.get(name, 'fd')}", "AppPreStart On",
            "MinInstances 1",
            f"AppStartTimeout {10 if name == 'shop' else 60}",
            command=f"/usr/bin/python3 -IS listens.py {ports[name]}")
        (apps[name].root / "listens.py").write_text(LISTENS)
    httpd.start()
    for name, place in places.items():
        says = (f"listens on TCP port {ports[name]}, where httpd does not "
                rf"connect \(.*\), and did not accept connections on {place}")
        httpd.log.wait_for(rf"{name}\[\d+\] {says} yet$")
        if name == "shop":
            said = says
    (apps["late"].root / "tmp" / "go").touch()
    assert httpd.get("/", "late").text == "hello"
    httpd.log.wait_for(
        rf"shop\[\d+\] could not be started: it {said} within 10 s")
    error = wait_until(lambda: httpd.group(apps["shop"])["last_error"],
                       "the error reaches the pool")
    assert f"listens on TCP port {ports['shop']}," in error
    for claim in claims:
        claim.close()


OPEN = """
import os, socket
server = socket.create_server(("", int(os.environ["PORT"])))
while True:
    client = server.accept()[0]
    if client.recv(9999):
        client.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nhello")
    client.close()
"""


@pytest.mark.mpms("event")
def test_everyone_can_connect(httpd: Httpd) -> None:
    """Past all rules of httpd: the log says so once. On 127.0.0.1 it is quiet."""
    said = r"listens on 0\.0\.0\.0 \(AppListen tcp\): other hosts may connect"
    httpd.log.expect(said)
    for name, text in (("shop", OPEN), ("calm", OPEN.replace('""', '"127.1"'))):
        app = httpd.app(name, "AppListen tcp", "MinInstances 2", "AppPreStart On",
                        command="/usr/bin/python3 -IS open.py")
        (app.root / "open.py").write_text(text)
    httpd.start()
    for app in httpd.apps:
        assert httpd.get("/", app.name).text == "hello"
        httpd.settles(active=0, count=4)
    assert len([line for line in httpd.log.lines()
                if "other hosts may connect" in line]) == 1
    httpd.log.wait_for(rf"shop\[\d+\] {said}")
