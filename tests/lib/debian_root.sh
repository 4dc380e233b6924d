# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# A directory with a Debian of its own, in which a command runs as in a machine
# of its own, but with our kernel and our network. To be sourced after setup.sh.

# make_root DIR RELEASE [PACKAGE...]: put the smallest Debian of that release,
# with the packages, into the new directory DIR. RELEASE is a name such as trixie
# or testing; its updates come from where those of this machine come from. What
# is printed goes to DIR.log.
make_root() {
    local root=$1 release=$2 with=ca-certificates from secure script
    shift 2
    [ "$(id -u)" = 0 ] || die "not root"
    install_packages debootstrap util-linux
    from=$(archive)
    [ "$from" ] || { apt-get -q update >/dev/null 2>&1 && from=$(archive); }
    [ "$from" ] || die "nothing says where this machine gets Debian's packages"
    # debootstrap has no script for a release that is younger than itself.
    script=/usr/share/debootstrap/scripts/$release
    [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
    with+=$([ $# -eq 0 ] || printf ',%s' "$@")
    # It mounts /proc there: nothing may stay mounted if it is ended.
    unshare --mount --propagation private --pid --fork --kill-child \
        debootstrap --variant=minbase --include="$with" "$release" "$root" \
        "$from" "$script" >"$root.log" 2>&1 </dev/null || {
        tail "$root.log" >&2
        die "debootstrap $release has failed"
    }
    secure=$(security_archive)
    {
        say "deb $from $release main"
        [ "$release" = sid ] || say "deb $from $release-updates main"
        [ "$release" = sid ] || [ -z "$secure" ] ||
            say "deb $secure $release-security main"
    } >"$root/etc/apt/sources.list"
    cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
    cp -L /etc/resolv.conf "$root/etc/"
}

# security_archive: where this machine gets the updates of Debian's security team.
security_archive() {
    # shellcheck disable=SC2016 # a variable of apt
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Label: Debian-Security' | head -n 1
}

# clone_into DIR TOP PATH: put a clone of the last commit of TOP into the root
# DIR, below its PATH.
clone_into() {
    git -c safe.directory='*' clone -q "$2" "$1/$3"
}

# in_root DIR PLACE COMMAND: run the line of the shell there, in the directory
# PLACE of the root, with the variables that a login of root has. Its mounts and
# its processes end with it. Returns its status.
in_root() {
    # shellcheck disable=SC2016 # expanded by that process
    unshare --mount --propagation private --pid --fork --kill-child bash -c '
        set -e
        mount --bind "$1" "$1"
        cd "$1"
        mount -t proc none proc
        mount --rbind /sys sys
        mount --rbind /dev dev
        mount -t tmpfs -o mode=1777 none dev/shm
        mkdir -p old
        pivot_root . old
        cd "$2"
        umount -l /old
        rmdir /old
        exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            bash -c "$3"' bash "$@"
}
