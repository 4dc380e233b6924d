# Licensed under the Apache License, Version 2.0; see LICENSE.
"""A build with sanitizers (APPPOOL_BUILD=build-asan): the environment that
httpd needs to load such a module, and the reports."""
import os
import re
import subprocess
from functools import lru_cache

from harness.places import MODULE

REPORT = re.compile(r"(Address|Leak|UndefinedBehavior)Sanitizer|"
                    r"runtime error: |incompatible ASan runtimes")

# test_helpers.py makes a helper print this, which is no finding.
FAKE = "heap-use-after-free on address 0x602", "heap-use-after-free x.c:7 in f"

# httpd never frees what it gets from malloc().
OPTIONS = "detect_leaks=0:detect_stack_use_after_return=1"


@lru_cache(maxsize=None)
def runtime() -> str:
    """The library that must be loaded first, or "" without sanitizers."""
    module = MODULE.read_bytes()
    if b"libasan.so" in module:
        command = ["gcc", "-print-file-name=libasan.so"]
    elif b"__asan_init" in module:
        command = ["clang", "-print-file-name=libclang_rt.asan-x86_64.so"]
    else:
        return ""
    done = subprocess.run(command, check=True, text=True, capture_output=True)
    return os.path.realpath(done.stdout.strip())


def environment() -> dict[str, str]:
    """The environment of httpd. httpd does not pass it on to the programs that
    it starts."""
    if not runtime():
        return dict(os.environ)
    return {**os.environ, "LD_PRELOAD": runtime(), "ASAN_OPTIONS": OPTIONS,
            "UBSAN_OPTIONS": "print_stacktrace=1"}


def reports(*texts: str) -> list[str]:
    return [line for text in texts for line in text.splitlines()
            if REPORT.search(line) and not line.endswith(FAKE)]
