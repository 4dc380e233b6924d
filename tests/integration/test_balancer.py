# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Two hosts behind the load balancers of doc/balancer.md."""
import signal
from typing import Iterator, Union

import pytest

from harness.balancer import HOST, Haproxy, HttpdBalancer, configure_host
from harness.httpd import Httpd
from harness.threads import Threads
from harness.wait import wait_until

Balancer = Union[Haproxy, HttpdBalancer]

# s between two requests of a client. Most of the time, a test waits for the
# checks of the balancer, and two httpds and an app work on each request.
PAUSE = 0.1


@pytest.fixture(params=["haproxy", "httpd"])
def balancer(request: pytest.FixtureRequest, hosts: list[Httpd]
             ) -> Iterator[Balancer]:
    """The balancer runs, and uses both hosts."""
    for host in hosts:
        configure_host(host)
        host.start()
    made = Haproxy(hosts) if request.param == "haproxy" else \
        HttpdBalancer(request.getfixturevalue("front"), hosts)
    with made as one:
        wait_until(lambda: all(map(one.uses, hosts)), "it uses both hosts")
        yield one


def pids(host: Httpd) -> set[int]:
    """The processes of its app."""
    group, = host.status()["groups"]
    return {process["pid"] for process in group["processes"]}


def serves(host: Httpd) -> None:
    """Wait until the balancer sends requests to this host."""
    seen = len(host.requests_seen())
    wait_until(lambda: len(host.requests_seen()) > seen + 10,
               "this host serves requests")


def leaves(host: Httpd, balancer: Balancer, clients: Threads) -> None:
    """Wait until the balancer has noticed that the host is out, and the host
    gets no more requests. A process of the balancer may have chosen the host
    before, for one more request."""
    def is_quiet() -> bool:
        seen = host.requests_seen()
        clients.more(40)
        return host.requests_seen() == seen

    wait_until(lambda: not balancer.uses(host), "the balancer has noticed it")
    wait_until(is_quiet, "it gets no more requests")


@pytest.mark.parametrize("balancer", [
    "haproxy", pytest.param("httpd", marks=pytest.mark.in_long(
        "test_out_and_in has the same steps"))], indirect=True)
@pytest.mark.one_mpm("it is about the balancer")
def test_upgrade_one_host_after_the_other(hosts: list[Httpd],
                                          balancer: Balancer) -> None:
    """Each host is taken out, stopped, configured anew and started, under load.
    No request fails."""
    with Threads(balancer, HOST, 8, kept=4, pause=PAUSE) as clients:
        for host in hosts:
            for one in hosts:
                serves(one)
            assert host.ctl("out").returncode == 0
            assert host.get("/apppool-health").text == "out\n"
            leaves(host, balancer, clients)
            host.stop(sign=signal.SIGWINCH)  # systemctl stop
            clients.more(40)
            host.directives = [line.replace("APP_NAME shop", "APP_NAME new")
                               for line in host.directives]
            host.start()
            assert host.get("/apppool-health").text == "ok\n"
            wait_until(lambda: balancer.uses(host), "it is back")
            serves(host)
            assert host.get("/who", HOST).text.split()[0] == "new"
    assert clients.failed == []


@pytest.mark.one_mpm("it is about the balancer")
def test_out_and_in(hosts: list[Httpd], balancer: Balancer) -> None:
    """A host that is out keeps its processes, through a graceful restart, too,
    and is back without a start."""
    host = hosts[0]
    with Threads(balancer, HOST, 4, kept=2, pause=PAUSE) as clients:
        serves(host)
        assert host.ctl("out").returncode == 0
        leaves(host, balancer, clients)
        before = pids(host)
        host.graceful()
        leaves(host, balancer, clients)
        assert host.ctl("in").returncode == 0
        wait_until(lambda: balancer.uses(host), "it is back")
        serves(host)
        assert before <= pids(host)
    assert clients.failed == []
