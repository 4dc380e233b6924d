# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# pytest_suite DIR [ARGUMENT...]: run pytest in DIR, end with the names of
# skipped tests and `N passed, N failed, N skipped`. It fails if no test was run;
# with may_skip=1, if none was skipped either.
# pytest_workers N: set the array `workers` to the arguments of pytest for N
# processes that run tests, with namespaces of their own where that is possible.
# Tests read all processes and sockets again and again, and so do the programs
# under test. To be sourced, after apart.sh.
# Debian's python3 is the one that has Debian's pytest.

PYTHON=${PYTHON:-/usr/bin/python3}

pytest_suite() {
    local dir=$1 scratch status
    shift
    scratch=$(mktemp -d -t pytest-XXXXXX) || return 1
    # Compiled tests are kept for the other processes of pytest, and not in DIR.
    (cd "$dir" && PYTHONDONTWRITEBYTECODE='' \
        PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$scratch/compiled} \
        "$PYTHON" -m pytest -q \
        -p no:cacheprovider --rootdir=. --junitxml="$scratch/report" \
        -o junit_logging=no --basetemp="$scratch/tmp" "$@")
    status=$?
    "$PYTHON" - "$scratch/report" "$status" "${may_skip:-0}" <<'SUM'
import sys
import xml.etree.ElementTree as tree

report, status = sys.argv[1], int(sys.argv[2])
good = bad = skipped = 0
try:
    for case in tree.parse(report).iter("testcase"):
        words = {child.tag: child for child in case}
        if words.keys() & {"failure", "error"}:
            bad += 1
        elif "skipped" in words:
            skipped += 1
            file = case.get("classname", "").split(".")[-1]
            why = " ".join(words["skipped"].get("message", "").split())
            print(f"skipped - {file}.py {case.get('name')}: {why}")
        else:
            good += 1
except (OSError, tree.ParseError):
    pass
if status != 0 and bad == 0:
    print(f"not ok - pytest ended with {status}")
    bad = 1
if good + bad + skipped * int(sys.argv[3]) == 0:
    print("not ok - no test was run")
    bad = 1
print(f"{good} passed, {bad} failed, {skipped} skipped")
sys.exit(bad != 0)
SUM
    status=$?
    rm -rf "$scratch"
    return "$status"
}

pytest_workers() {
    local lib
    lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    # shellcheck disable=SC2034 # read by the caller
    workers=(-n "$1")
    ! can_be_apart ||
        workers=(--tx "$1*popen//python=$(printf %q "$lib/apart_python")")
}
