# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# A test that failed only because something did not come within its time runs
# once more, alone, when all others have ended. If it passes then, it counts as
# passed, and is named: `flaky: NAME`. Its first failure stays in build/flaky/.
# This is no pardon: a test that stands in tests/flaky fails the run, and so do
# more than two. To be sourced, after apart.sh, pytest.sh and sum.sh.

flaky_known=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/flaky
flaky_kept=${flaky_known%/tests/flaky}/build/flaky
flaky_most=2
# More late tests than this have one cause. To run all of them again would take
# long.
looks_most=10

# second_look RECORD: run the test of this record again, as it ran before.
# @return 0 if it passes
second_look() {
    local environment with=
    mapfile -t environment <"$1/environment"
    # shellcheck disable=SC2030,SC2031 # the subshell is meant
    (
        export PYTHON "${environment[@]}"
        export -f pytest_suite
        [ -z "${APPPOOL_APART:-}" ] || with=apart
        second_look='' $with pytest_suite "$(<"$1/suite")" "$(<"$1/test")"
    )
}

# flaky NAME RECORD: what a run says of a test that passed the second time.
# @return 1 if it fails the run
flaky() {
    local name=${1%%[\[ ]*} line
    line=$(awk -v name="$name" '$1 == name' "$flaky_known")
    echo "flaky: $1"
    sed 's/^/    /' "$2/output"
    if [ "$line" ]; then
        echo "not ok - $1 is flaky again: tests/flaky has $line"
        return 1
    fi
    echo "find the cause of this failure, and add this line to tests/flaky:"
    echo "$name $(date +%F)"
}

# second_looks DIR FILE: look at all records in DIR. The output also goes to
# FILE, and ends with a sum. Without a record, there is none.
second_looks() {
    local records=("$1"/late-*)
    [ -e "${records[0]}" ] || return 0
    second_looks_at "${records[@]}" | tee "$2"
}

second_looks_at() {
    local record name kept passed=0 failed=0 flaky=0
    echo "== a second look at $# late tests"
    for record; do
        name=$(<"$record/name")
        kept=$flaky_kept/${name//\//_}
        rm -rf "$kept"
        mkdir -p "$flaky_kept"
        cp -r "$record" "$kept" || # for example, the disk is full
            echo "build/flaky/${kept##*/} is not complete"
        if [ $# -gt "$looks_most" ]; then
            echo "not ok - $name: too many tests were late"
            failed=$((failed + 1))
        elif ! second_look "$record" >"$record/again" 2>&1; then
            sed 's/^/    /' "$record/again"
            echo "not ok - $name was late, and failed again;" \
                "its first failure is in build/flaky/${kept##*/}"
            failed=$((failed + 1))
        else
            flaky=$((flaky + 1))
            if flaky "$name" "$record"; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
            fi
        fi
    done
    if [ "$flaky" -gt "$flaky_most" ]; then
        echo "not ok - more than $flaky_most tests are flaky: $flaky"
        failed=$((failed + 1))
    fi
    sum_line "$passed" "$failed" 0
}
