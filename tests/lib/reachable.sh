# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Tests run applications as other users, which execute helpers of the build. So
# below a directory that other users cannot enter, like /root, the tests run in a
# copy. It is in /tmp, as tests hide /var, /srv and /run. It has no builds: these
# know where they are, and build() has left a file .wish in them. Of the copy,
# build/flaky is kept (second_look.sh). To be sourced.

# others_enter DIR: may other users enter it and all directories above?
others_enter() {
    local dir=$1
    while :; do
        (($(stat -c '0%a' "$dir") & 1)) || return 1
        [ "$dir" != / ] || return 0
        dir=$(dirname "$dir")
    done
}

# run_reachable TOP PROGRAM ARGUMENT...: where others cannot enter TOP, run the
# program of TOP in a copy, and exit as it does.
run_reachable() {
    local top=$1 program=$2 status first
    shift 2
    [ "$(id -u)" = 0 ] || return 0
    ! others_enter "$top" || return 0
    copy=$(mktemp -d /tmp/apppool-XXXXXX) || exit 1
    trap 'rm -rf "$copy"' EXIT
    chmod 755 "$copy"
    printf 'other users cannot enter %s: the tests run in %s\n' "$top" "$copy"
    (cd "$top" && tar -c --exclude=./build --exclude-tag-all=.wish .) |
        tar -x -C "$copy" --no-same-owner
    "$copy/$program" "$@"
    status=$?
    for first in "$copy"/build/flaky/*; do
        [ -e "$first" ] || continue
        mkdir -p "$top/build/flaky"
        rm -rf "$top/build/flaky/${first##*/}"
        cp -r "$first" "$top/build/flaky/"
    done
    exit "$status"
}
