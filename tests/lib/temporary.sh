# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Sets TMPDIR to a file system in memory, where there is one with enough room.
# The tests make and remove some hundred thousand files. For five seconds, ext4
# does not give the number of a removed file to a new one. Its search for
# another number takes longer and longer: a fifth of the CPU time of a test
# that starts httpd. To be sourced.

# room_in_memory DIR: is it in memory, with room for 4 GB, and may programs be
# executed there?
room_in_memory() {
    local type block blocks probe
    read -r type block blocks < <(stat -f -c '%T %S %a' "$1" 2>/dev/null)
    [ "${type:-}" = tmpfs ] || return 1
    [ "$((block * blocks))" -ge "$((4 << 30))" ] || return 1
    probe=$(mktemp -p "$1" probe-XXXXXX) || return 1
    printf '#!/bin/sh\n' >"$probe"
    chmod 755 "$probe"
    "$probe"
    set -- "$?"
    rm -f "$probe"
    return "$1"
}

if [ -z "${TMPDIR:-}" ] && room_in_memory /dev/shm 2>/dev/null; then
    export TMPDIR=/dev/shm
fi
