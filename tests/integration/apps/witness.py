#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A command of AppNotify that writes down what it got, and its user.

    witness.py DIRECTORY [WAY...]

WAY: hang (does not end), deaf (does not read, and ends), loud (prints a lot),
fail (exit code 3), and ways that leave a process: child (in the background),
orphan (in a session of its own), hidden (also without a mark)"""
import json
import os
import signal
import sys
import time

directory, ways = sys.argv[1], sys.argv[2:]
if "deaf" in ways:
    sys.exit(0)


def leave(way):
    """Leave a process behind. @return its pid"""
    pid = os.fork()
    if pid == 0:
        if way != "child":
            os.setsid()
        os.execve("/bin/sleep", ["sleep", "600"],
                  {} if way == "hidden" else os.environ)
    return pid


left = [leave(way) for way in ways if way in ("child", "orphan", "hidden")]
text = sys.stdin.read()
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
with open("/proc/self/limits") as file:
    limits = file.read()
with open("/proc/self/stat") as file:
    forked = int(file.read().rpartition(")")[2].split()[19])
name = f"{directory}/{time.monotonic_ns()}"
with open(f"{name}.new", "w") as file:
    json.dump({"input": text, "pid": os.getpid(), "uid": os.getresuid(),
               "gid": os.getresgid(), "groups": os.getgroups(),
               "sid": os.getsid(0), "cwd": os.getcwd(),
               "environment": dict(os.environ),
               "fds": sorted(os.listdir("/proc/self/fd"), key=int),
               "left": left, "limits": limits,
               "forked": forked / os.sysconf("SC_CLK_TCK"),
               "no_new_privs": status["NoNewPrivs"],
               "mask": status["SigBlk"], "ignored": status["SigIgn"]}, file)
os.rename(f"{name}.new", f"{name}.done")
if "hang" in ways:
    signal.pause()
if "loud" in ways:
    sys.stdout.write("one\x1b[31m\ntwo\n" + "x" * 200000)
if "fail" in ways:
    print("no mail today", file=sys.stderr)
    sys.exit(3)
