# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The longer forms of the suites, cut into parts of at most an hour each. They
# run one after the other. To be sourced by tests/run.

longest=60 # minutes

# all_parts: the suite, the name of the part, its minutes on a machine with two
# processors that has nothing else to do, and the arguments of tests/SUITE/run,
# behind the variables that it gets. `workers` stands for the arguments of pytest
# for tests that run side by side, and `npm` for nothing: the part needs npm.
# tests/README.md says which part is for which folder.
all_parts() {
    cat <<'PARTS'
source all 1
unit all 20 WALKS=2000 long
crash all 3 long
model lock 3 lock:
model doorbell 3 doorbell:
model stop 1 stop:
fuzz pool 12 600 pool segment
fuzz spawner 22 600 app control fork_order table
fuzz module 12 600 fcgi http
fuzz store 22 600 store store_memory store_reply
fuzz cluster 22 600 store_apply store_peer store_wire
mutants shm 13 shm/
mutants store 12 store/
mutants spawner 14 spawner/
mutants ground 6 base/ system/ detect/ watchdog/
mutants module 25 mod_apppool/
mutants helpers 7 helpers/ ctl/
sanitized all 10 long
integration prefork 15 long workers --dist loadgroup -k prefork -o python_files=test_*.py
integration event 20 long workers --dist loadgroup -k not(prefork) -o python_files=test_*.py
integration chaos 20 long -o python_files=chaos_*.py
integration alone 8 long -o python_files=alone_*.py
integration packages 5 may_skip=1 long -n 3 -o python_files=packages_*.py
integration npm 8 may_skip=1 long npm -n 2 -o python_files=npm_*.py
store plain 40 long -n 2 --ignore-glob=test_cluster_*.py
store cluster 20 long -n 8 -o python_files=test_cluster_*.py
store sanitized 8 long sanitized
bench pool 4 steps lines checkout contend calls held scale
bench programs 9 heal memory hosts crowd store_memory
bench layouts 8 layouts
cross all 40 WALKS=2000
debian trixie 50 trixie
debian testing 30 testing
packages bookworm 15 may_skip=1 bookworm
packages trixie 15 may_skip=1 trixie
packages rpm 10 may_skip=1 rpm
container all 15
vm bookworm 30 bookworm
vm trixie 30 trixie
PARTS
}

# parts [SUITE [PART]]: those lines of all_parts.
parts() {
    all_parts | awk -v suite="${1-}" -v part="${2-}" \
        '(suite == "" || $1 == suite) && (part == "" || $2 == part)'
}

# part SUITE PART MINUTES WORD...: run it. It has a log of its own in $scratch.
part() {
    local suite=$1 name=$2 log=$scratch/suite-$1-$2 start=$SECONDS
    local with=() words=() word minutes workers
    shift 3
    pytest_workers "$((6 * $(getconf _NPROCESSORS_ONLN)))"
    for word; do
        case $word in
        WALKS=* | may_skip=*) with+=("$word") ;;
        workers) words+=("${workers[@]}") ;;
        npm) need_npm ;;
        *) words+=("$word") ;;
        esac
    done
    say "== long $suite $name begins"
    env "${with[@]}" "$top/tests/$suite/run" "${words[@]}" </dev/null 2>&1 |
        tee "$log"
    close_log "$log" "$suite" "${PIPESTATUS[0]}"
    minutes=$(((SECONDS - start) / 60 + 1))
    say "== long $suite $name took $minutes min"
    if [ "$minutes" -gt "$longest" ]; then
        say "!! long $suite $name took $minutes min, and $longest are the limit:" \
            "cut it in tests/lib/long.sh" | tee -a "$scratch/too-long"
    fi
}

# need_npm: install it, unless another package has brought it.
need_npm() {
    command -v npm >/dev/null || install_packages npm
}

# list_parts: as a table.
list_parts() {
    all_parts | awk '{ printf "%-12s %-10s %2d min\n", $1, $2, $3 }'
}

# long parts: list them. long [SUITE [PART]]: install, build, run them, end.
long() {
    local chosen words passed failed skipped
    if [ "$*" = parts ]; then
        list_parts
        exit
    fi
    chosen=$(parts "$@")
    if [ -z "$chosen" ] || [ $# -gt 2 ]; then
        say "there is no part '$*'; these are the parts:" >&2
        list_parts >&2
        exit 1
    fi
    # shellcheck disable=SC2086 # a list of words
    install_packages $packages_first
    install_others
    if grep -q '^integration packages ' <<<"$chosen"; then
        unpack_applications "$top/build/packaged/applications"
        # shellcheck disable=SC2086 # a list of words
        unpack_packages "$top/build/packaged" $packages_metrics
    fi
    generate
    build_gcc || die "it does not build"
    while read -r -a words; do
        part "${words[@]}"
    done <<<"$chosen"
    read -r passed failed skipped < <(sum_up "$scratch"/suite-*)
    say "== $skipped skipped"
    grep -h '^skipped - ' "$scratch"/suite-*
    cat "$scratch/too-long" 2>/dev/null
    say "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}
