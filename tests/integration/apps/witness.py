#!/usr/bin/python3
# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A command of AppNotify: writes down what it was told, and who it is.

    witness.py DIRECTORY [WAY]

WAY: hang (does not end), deaf (does not read, and ends), loud (prints a lot),
fail (exit code 3), orphan (leaves a process behind)
"""
import json
import os
import signal
import sys
import time

directory, way = sys.argv[1], (sys.argv[2:] or [""])[0]
if way == "deaf":
    sys.exit(0)
said = sys.stdin.read()
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
name = f"{directory}/{time.monotonic_ns()}"
with open(f"{name}.new", "w") as file:
    json.dump({"said": said, "pid": os.getpid(), "uid": os.getresuid(),
               "gid": os.getresgid(), "groups": os.getgroups(),
               "sid": os.getsid(0), "cwd": os.getcwd(),
               "environment": dict(os.environ),
               "fds": sorted(os.listdir("/proc/self/fd"), key=int),
               "no_new_privs": status["NoNewPrivs"],
               "mask": status["SigBlk"], "ignored": status["SigIgn"]}, file)
os.rename(f"{name}.new", f"{name}.told")
if way == "hang":
    signal.pause()
if way == "loud":
    sys.stdout.write("one\x1b[31m\ntwo\n" + "x" * 200000)
if way == "fail":
    print("no mail today", file=sys.stderr)
    sys.exit(3)
if way == "orphan" and os.fork() == 0:
    os.setsid()
    time.sleep(600)
