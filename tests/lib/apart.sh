# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# apart COMMAND...: run it with namespaces of its own. It does not see other
# processes: some of them block each process that reads them, and alone_crowd.py
# has thousands. It does not share TCP ports with others: a port that was free
# when an application was told to listen there is free when it does. To be
# sourced.

# can_be_apart: may we make such namespaces?
can_be_apart() {
    unshare --pid --net --fork --mount-proc ip link set lo up 2>/dev/null
}

# apart_exec COMMAND...: the same in place of this shell. Whoever ends this
# process ends all of them.
# With --online as the first argument, they have our network, for downloads. A
# shell is process 1 there, and reaps orphans. The exit status does not show
# which signal has ended the command. Functions must be exported. APPPOOL_APART
# says to the command that it is apart.
apart_exec() {
    local net=--net lo='ip link set lo up;'
    if [ "$1" = --online ]; then
        net='' lo=''
        shift
    fi
    exec unshare --pid ${net:+"$net"} --fork --mount-proc --kill-child \
        bash -c "$lo"' export APPPOOL_APART=1
            exec 3>&2 2>/dev/null
            "$@" 2>&3 3>&-
            exit' _ "$@"
}

apart() {
    (apart_exec "$@")
}
