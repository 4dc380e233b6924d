# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The application of the scenes: it uses its store, leaves processes behind, and
takes memory."""
import json
import os
import socket
import subprocess
from urllib.parse import parse_qs

# A process that has left the session, whose parent has ended, which ignores
# SIGTERM, and of whose environment nothing is left.
STUBBORN = """trap '' TERM HUP INT
bash -c 'exec -a left-behind sleep 1000000' >/dev/null 2>&1 & echo $!"""
# It has another pid at each moment.
RUNNER = """import os, time
while True:
    if os.fork():
        os._exit(0)
    time.sleep(0.2)"""

taken = []


def value(n: int) -> bytes:
    return b"session %d " % n * 8


def ask(lines: bytes, last: bytes) -> bytes:
    """@param last the end of the last reply"""
    got = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ["MEMCACHE_SERVERS"])
        s.sendall(lines)
        while not got.endswith(last):
            more = s.recv(65536)
            if not more:
                break
            got += more
    return got


def put(numbers: range) -> int:
    """@return how many the store has acknowledged"""
    lines = b"".join(b"set s%d 0 0 %d\r\n%s\r\n" % (n, len(value(n)), value(n))
                     for n in numbers)
    return ask(lines + b"mn\r\n", b"MN\r\n").count(b"STORED\r\n")


def missing(numbers: range) -> list[int]:
    got = ask(b"".join(b"get s%d\r\n" % n for n in numbers) + b"mn\r\n",
              b"MN\r\n")
    return [n for n in numbers if b"VALUE s%d 0 %d\r\n%s\r\n"
            % (n, len(value(n)), value(n)) not in got]


def leave_behind() -> int:
    subprocess.Popen(["python3", "-c", RUNNER, "left-behind"],
                     start_new_session=True, env={})
    return int(subprocess.check_output(["bash", "-c", STUBBORN],
                                       start_new_session=True, env={}))


def take(megabytes: int) -> int:
    taken.append(b"x" * (megabytes << 20))
    return len(taken)


def application(environ, start_response):  # type: ignore
    words = {key: int(values[0]) for key, values in
             parse_qs(environ.get("QUERY_STRING", "")).items()}
    numbers = range(words.get("from", 0), words.get("to", 0))
    answer = {"/": os.getpid, "/put": lambda: put(numbers),
              "/missing": lambda: missing(numbers),
              "/leave": leave_behind,
              "/take": lambda: take(words["mb"])}[environ["PATH_INFO"]]()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
