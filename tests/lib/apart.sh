# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# apart COMMAND...: run it with a process namespace of its own. It does not see
# other processes: neither those that block each process that reads them, nor
# the thousands of alone_crowd.py. To be sourced.

# can_be_apart: may we make such a namespace?
can_be_apart() {
    unshare --pid --fork --mount-proc true 2>/dev/null
}

# The shell is process 1 there, and reaps orphans. The exit status does not show
# which signal has ended the command. Functions must be exported.
apart() {
    unshare --pid --fork --mount-proc --kill-child \
        bash -c 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit' _ "$@"
}
