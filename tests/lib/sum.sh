# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The last line of a suite: `N passed, N failed, N skipped`, the third only in
# suites that can skip. Before it there is a line `skipped - NAME: why` for each
# skipped test.
# To be sourced.

# sum_up FILE...: add up the last lines in the output of suites, or of parts of
# a suite. Prints the three numbers. A file that ends with another line is one
# failure. So is a file that does not name all its skipped tests.
sum_up() {
    local file p=0 f=0 s=0 last
    for file; do
        last=$(tail -n 1 "$file" 2>/dev/null)
        if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]] &&
            [ "${BASH_REMATCH[4]:-0}" -eq "$(grep -c '^skipped - ' "$file")" ]; then
            p=$((p + BASH_REMATCH[1]))
            f=$((f + BASH_REMATCH[2]))
            s=$((s + ${BASH_REMATCH[4]:-0}))
        else
            f=$((f + 1))
        fi
    done
    echo "$p $f $s"
}

# say_failures FILE...: print what failed in the output of suites, with the lines
# around it. Of a file that names no failed test, the end.
say_failures() {
    local file p f s
    for file; do
        read -r p f s < <(sum_up "$file")
        [ "$f" -gt 0 ] || continue
        echo "-- ${file##*/suite-}: $f failed"
        if grep -q '^not ok' "$file"; then
            grep --no-group-separator -B 12 -A 26 '^not ok' "$file" | head -n 200
        else
            tail -n 40 "$file"
        fi | cut -c -300
    done
}

# close_log LOG SUITE STATUS: end the output of a suite with its sum, also where the
# suite ran no test, or failed and did not say so. Prints the lines that it adds.
close_log() {
    local sum p f s
    sum=$(sum_up "$1")
    read -r p f s <<<"$sum"
    {
        if [ $((p + f)) -eq 0 ]; then
            f=1
            echo "not ok - $2 ran no test"
        elif [ "$3" -ne 0 ] && [ "$f" -eq 0 ]; then
            f=1
            echo "not ok - $2 ended with $3"
        fi
        [ "$p $f $s" = "$sum" ] || echo "$p passed, $f failed, $s skipped"
    } | tee -a "$1"
}

# sum_line PASSED FAILED SKIPPED: the last line. @return 1 if a test
# failed, or none was run
sum_line() {
    if [ $(($1 + $2)) -eq 0 ]; then
        echo "not ok - no test was run"
        set -- 0 1 "$3"
    fi
    echo "$1 passed, $2 failed, $3 skipped"
    [ "$2" -eq 0 ]
}
