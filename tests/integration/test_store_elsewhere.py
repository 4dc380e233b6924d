# Licensed under the Apache License, Version 2.0; see LICENSE.
"""AppStore memcached://HOST:PORT: the app gets servers that exist
already, memcached and yrmcds. The store of the module does not run."""
import socket
import subprocess
from typing import Any, Callable, Iterator

import pytest

from harness.deploy import restart_under_load
from harness.httpd import Httpd
from harness.members import Club, site
from harness.packaged import UNPACKED
from harness.ports import reserve_port
from harness.wait import wait_until

CONF = """
port = {port}
repl_port = {other}
virtual_ip = 127.0.0.1
temp_dir = "{dir}"
workers = 2
buckets = 10007
memory_limit = 64M
log.threshold = warning
"""


def memcached(httpd: Httpd, port: int) -> list[str]:
    return [str(UNPACKED / "memcached/usr/bin/memcached"), "-u", "root",
            "-l", "127.0.0.1", "-p", str(port), "-m", "64"]


def yrmcds(httpd: Httpd, port: int) -> list[str]:
    other, claim = reserve_port()
    claim.close()
    conf = httpd.dir / "yrmcds.conf"
    conf.write_text(CONF.format(port=port, other=other, dir=httpd.dir))
    return [str(UNPACKED / "yrmcds/usr/sbin/yrmcdsd"), "-f", str(conf)]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def port(request: pytest.FixtureRequest, httpd: Httpd) -> Iterator[int]:
    """Where one of them listens."""
    command: Callable[[Httpd, int], list[str]] = request.param
    number, claim = reserve_port()
    with claim, subprocess.Popen(command(httpd, number),
                                 cwd=httpd.dir) as server:
        try:
            wait_until(lambda: listens(number), "it listens")
            yield number
        finally:
            server.kill()


DJANGO, RACK, PHP = "Django", "Sinatra and other Rack applications", "PHP"


def pair(server: Callable[[Httpd, int], list[str]], name: str,
         *marks: pytest.MarkDecorator) -> Any:
    return pytest.param(server, name, id=f"{server.__name__}-{name.split()[0]}",
                        marks=marks)


again = pytest.mark.in_long("the other server has it, too")


@pytest.mark.mpms("event")
@pytest.mark.parametrize("port,name", [
    pair(memcached, DJANGO), pair(yrmcds, DJANGO, again),
    pair(memcached, RACK, again), pair(yrmcds, RACK),
    pair(memcached, PHP, again), pair(yrmcds, PHP)], indirect=["port"])
def test_recipe(httpd: Httpd, port: int, name: str) -> None:
    app = site(httpd, name, f"AppStore memcached://127.0.0.1:{port}")
    if name == PHP:  # yrmcds needs it
        with open(app.public / ".user.ini", "a") as ini:
            ini.write("memcached.sess_binary_protocol = Off\n")
    httpd.start()
    club = Club(httpd)
    restart_under_load(httpd, app, club.visit)
    assert httpd.helpers("store") == []
