# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# pytest_suite DIR [ARGUMENT...]: run pytest in DIR, end with `N passed, N
# failed`.
# To be sourced. Debian's python3 is the one that has Debian's pytest.

PYTHON=${PYTHON:-/usr/bin/python3}

pytest_suite() {
    local dir=$1 scratch status
    shift
    scratch=$(mktemp -d /tmp/pytest-XXXXXX) || return 1
    (cd "$dir" && PYTHONDONTWRITEBYTECODE=1 "$PYTHON" -m pytest -q \
        -p no:cacheprovider --rootdir=. --junitxml="$scratch/report" \
        -o junit_logging=no --basetemp="$scratch/tmp" "$@")
    status=$?
    "$PYTHON" - "$scratch/report" "$status" <<'SUM'
import sys
import xml.etree.ElementTree as tree

report, status = sys.argv[1], int(sys.argv[2])
good = bad = 0
try:
    for case in tree.parse(report).iter("testcase"):
        words = {child.tag for child in case}
        bad += bool(words & {"failure", "error"})
        good += not words & {"failure", "error", "skipped"}
except (OSError, tree.ParseError):
    pass
if status != 0 and bad == 0:
    bad = 1
print(f"{good} passed, {bad} failed")
sys.exit(bad != 0)
SUM
    status=$?
    rm -rf "$scratch"
    return "$status"
}
