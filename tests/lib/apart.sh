# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# apart COMMAND...: run it with a process namespace of its own. It does not see
# the processes of others: so it does not wait for those that block whoever
# reads them, and has not thousands of them to read. To be sourced.

# can_be_apart: may we make such a namespace?
can_be_apart() {
    unshare --pid --fork --mount-proc true 2>/dev/null
}

# The shell is process 1 there, and reaps what nobody else waits for. It does
# not say which signal has ended the command. Functions have to be exported.
apart() {
    unshare --pid --fork --mount-proc --kill-child \
        bash -c 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit' _ "$@"
}
