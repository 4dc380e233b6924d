# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# pytest_suite DIR [ARGUMENT...]: run pytest in DIR, end with the names of
# tests that failed or were skipped, and `N passed, N failed, N skipped`. It fails if no test was run;
# with may_skip=1, if none was skipped either. With second_look=RECORDS, tests
# that only were late are in that directory and not in the sum (second_look.py).
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
    (cd "$dir" && APPPOOL_SECOND_LOOK=${second_look:-} \
        PYTHONDONTWRITEBYTECODE='' \
        PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$scratch/compiled} \
        "$PYTHON" -m pytest -q \
        -p no:cacheprovider --rootdir=. --junitxml="$scratch/report" \
        -o junit_logging=no --basetemp="$scratch/tmp" "$@")
    status=$?
    "$PYTHON" - "$scratch/report" "$status" "${may_skip:-0}" <<'SUM'
import sys
import xml.etree.ElementTree as tree

report, status = sys.argv[1], int(sys.argv[2])
good = bad = skipped = late = 0
cases = {}  # a test whose fixtures fail afterwards, too, is there twice
try:
    for case in tree.parse(report).iter("testcase"):
        key = case.get("classname", ""), case.get("name")
        cases.setdefault(key, {}).update({child.tag: child for child in case})
except (OSError, tree.ParseError):
    pass
for (file, name), words in cases.items():
    if words.keys() & {"failure", "error"}:
        look = [one for one in words.get("properties", ())
                if one.get("name") == "second look" and not one.get("value")]
        late += bool(look)
        bad += not look
        if not look:
            print(f"not ok - {file and file.split('.')[-1] + '.py '}{name}")
            child = words.get("failure", words.get("error"))
            for line in (child.text or "").splitlines()[-25:]:
                print(f"# {line}")
    elif "skipped" in words:
        skipped += 1
        why = " ".join(words["skipped"].get("message", "").split())
        print(f"skipped - {file.split('.')[-1]}.py {name}: {why}")
    else:
        good += 1
if status > (late > 0) and bad == 0:
    print(f"not ok - pytest ended with {status}")
    bad = 1
if good + bad + late + skipped * int(sys.argv[3]) == 0:
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
