# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Eight clients of a server, by wrk."""
import subprocess
from typing import NamedTuple

from servers import Server

# Requests that were served, failures, microseconds of the run, p99 in
# microseconds. summary.requests has those of the failed ones that got a
# response.
SCRIPT = """done = function(summary, latency)
    local e = summary.errors
    print("figures", summary.requests - e.status,
          e.connect + e.read + e.write + e.status + e.timeout,
          summary.duration, latency:percentile(99))
end
"""


class Figures(NamedTuple):
    rate: float  # requests per second
    p99: float  # ms
    served: int
    failed: int


class Load:
    def __init__(self, server: Server, seconds: float) -> None:
        script = server.httpd.dir / "wrk.lua"
        script.write_text(SCRIPT)
        url = f"http://127.0.0.1:{server.httpd.port}{server.path}"
        self.wrk = subprocess.Popen(
            ["wrk", "-t1", "-c8", f"-d{seconds:.0f}s", "-s", script, "-H",
             "Host: hello", url], text=True, stdout=subprocess.PIPE)

    def end(self) -> Figures:
        """Wait until it ends."""
        out = self.wrk.communicate()[0]
        line = next(line for line in out.splitlines() if "figures" in line)
        served, failed, took, p99 = map(float, line.split()[1:])
        return Figures(served / took * 1e6, p99 / 1000, int(served),
                       int(failed))
