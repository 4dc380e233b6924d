# Licensed under the Apache License, Version 2.0; see LICENSE.
"""Clients that send requests until SIGTERM: load.py FILE URL HOST. FILE has what
they have seen: {"counts": [...], "failed": [...]}."""
import json
import os
import signal
import sys
import threading
import time
import urllib.request

CLIENTS = 4
PAUSE = 0.1  # s: the emulation is slow, and has more to do
FILE, URL, HOST = sys.argv[1:]

counts = [0] * CLIENTS
failed: list[str] = []
stop = threading.Event()


def client(i: int) -> None:
    request = urllib.request.Request(URL, headers={"Host": HOST})
    while not stop.is_set():
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                response.read()
        except OSError as trouble:
            failed.append(f"{time.time():.1f}: {trouble}")
        counts[i] += 1
        time.sleep(PAUSE)


def report() -> None:
    with open(f"{FILE}.new", "w") as file:
        json.dump({"counts": counts, "failed": failed}, file)
    os.rename(f"{FILE}.new", FILE)


signal.signal(signal.SIGTERM, lambda *_: stop.set())
threads = [threading.Thread(target=client, args=(i,)) for i in range(CLIENTS)]
for thread in threads:
    thread.start()
while not stop.wait(0.2):
    report()
for thread in threads:
    thread.join()
report()
