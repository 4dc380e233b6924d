# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The clients of a server: wrk, or h2load for HTTP/2."""
import re
import subprocess
from typing import NamedTuple, Optional

from servers import Server

# Requests that were served, failures, microseconds of the run, percentiles in
# microseconds. summary.requests has those of the failed ones that got a
# response.
SCRIPT = """done = function(summary, latency)
    local e = summary.errors
    print("figures", summary.requests - e.status,
          e.connect + e.read + e.write + e.status + e.timeout,
          summary.duration, latency:percentile(50), latency:percentile(99),
          latency:percentile(99.9))
end
"""


class Traffic(NamedTuple):
    """What the clients ask for."""
    path: Optional[str] = None  # None: that of the server
    clients: int = 8
    script: str = ""  # more Lua for wrk
    http2: bool = False
    seconds: int = 1


def one_in(n: int, rare: str, usual: str) -> str:
    """Lua: one request in n, by chance, is for the rare path. The same seed for
    each server, so that all get the same requests."""
    return f"""local seed = 4711
init = function() math.randomseed(seed) end
request = function()
    return wrk.format("GET", math.random({n}) == 1 and "{rare}" or "{usual}")
end
"""


def upload(size: int) -> str:
    """Lua: each request has a body of this size."""
    return f'wrk.method = "PUT"\nwrk.body = string.rep("x", {size})\n'


class Figures(NamedTuple):
    rate: float  # requests per second
    p50: float  # ms, as the next two; HTTP/2: not known
    p99: float
    p999: float
    served: int
    failed: int


def figures_of_wrk(out: str) -> Figures:
    line = next(line for line in out.splitlines() if "figures" in line)
    served, failed, took, *ms = map(float, line.split()[1:])
    return Figures(served / took * 1e6, *(us / 1000 for us in ms), int(served),
                   int(failed))


def figures_of_h2load(out: str) -> Figures:
    rate = re.search(r"finished in .*?, ([0-9.]+) req/s", out)
    assert rate is not None, out
    good = re.search(r"status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, "
                     r"(\d+) 5xx", out)
    failed = re.search(r"(\d+) failed, (\d+) errored, (\d+) timeout", out)
    assert good is not None and failed is not None, out
    served, *bad = map(int, good.groups())
    return Figures(float(rate[1]), 0, 0, 0, served,
                   sum(bad) + sum(map(int, failed.groups())))


class Load:
    def __init__(self, server: Server, seconds: Optional[float] = None,
                 traffic: Traffic = Traffic()) -> None:
        self.traffic = traffic
        seconds = seconds or traffic.seconds
        path = traffic.path or server.path
        url = f"http://127.0.0.1:{server.httpd.port}{path}"
        if traffic.http2:
            words = ["h2load", f"-c{traffic.clients}", "-m8",
                     f"-D{seconds:.0f}", "-H", ":authority: hello", url]
        else:
            script = server.httpd.dir / "wrk.lua"
            script.write_text(traffic.script + SCRIPT)
            words = ["wrk", "-t1", f"-c{traffic.clients}",
                     f"-d{seconds:.0f}s", "--timeout", "30s", "-s",
                     str(script), "-H", "Host: hello", url]
        self.clients = subprocess.Popen(words, text=True,
                                        stdout=subprocess.PIPE)

    def end(self) -> Figures:
        """Wait until it ends."""
        out = self.clients.communicate()[0]
        return figures_of_h2load(out) if self.traffic.http2 \
            else figures_of_wrk(out)
