# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# apart COMMAND...: run it with a process namespace of its own. It does not see
# other processes. Some of them block each process that reads them, and
# alone_crowd.py has thousands. To be sourced.

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
