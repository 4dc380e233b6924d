# Licensed under the Apache License, Version 2.0; see LICENSE.
"""apachectl graceful, again and again, under load (acceptance B3)."""
import time

from harness.figures import say
from harness.history import History
from harness.httpd import Httpd
from harness.load import Crowd, Load
from harness.long import lasts
from harness.wait import wait_until

RESTARTS = lasts(3, 10)
INTERVAL = 1.0  # seconds
PROCESSES = 4
CROWDS = [Crowd(100, "shop", kept=True, pause=0.1),
          Crowd(100, "shop", kept=False, pause=0.1)]

# Children of old generations finish while the new ones run.
LIMITS = {
    "prefork": ["ServerLimit 500", "MaxRequestWorkers 500",
                "StartServers 200", "MinSpareServers 20",
                "MaxSpareServers 200"],
    "event": ["ServerLimit 64", "ThreadsPerChild 32", "StartServers 8",
              "MinSpareThreads 128", "MaxSpareThreads 256",
              "MaxRequestWorkers 512"],
}


def test_gracefuls(httpd: Httpd) -> None:
    """No request fails, and the processes stay the same."""
    httpd.directives += LIMITS[httpd.mpm] + ["MaxKeepAliveRequests 0"]
    app = httpd.app("shop", f"MinInstances {PROCESSES}",
                    f"MaxInstances {PROCESSES}", "AppMaxQueue 300",
                    "AppSetEnv APP_THREADS 1")
    httpd.start()
    assert httpd.get("/pid", "shop").status == 200
    httpd.settles(active=0, count=PROCESSES)
    pids = httpd.pids(app)
    helpers = httpd.watchdog_now(), httpd.spawner_now()
    load = Load(httpd.port, httpd.dir / "record", CROWDS)
    try:
        for _ in range(RESTARTS):
            began = time.monotonic()
            httpd.graceful()
            before = httpd.status()["counters"]["requests"]
            wait_until(lambda: httpd.status()["counters"]["requests"]
                       > before + 200, "requests are served")
            time.sleep(max(0, began + INTERVAL - time.monotonic()))
        attempts = load.end()
    finally:
        load.kill()
    history = History(attempts, httpd.ledgers, [], {"shop": 1})
    say(f"{httpd.mpm}, {RESTARTS} graceful restarts: {history.summary()}")
    assert not history.lost + history.wrong, history.complaints()
    httpd.settles(active=0, count=PROCESSES)
    assert httpd.pids(app) == pids
    assert (httpd.watchdog_now(), httpd.spawner_now()) == helpers
    httpd.check()
