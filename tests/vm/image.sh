# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# The disk of a virtual machine: Debian with systemd and apache2, without the
# package of this module, which lies in /packages with all that it needs. To be
# sourced after setup.sh and debian_root.sh; expects $top.

# The agent needs python3, and the scenes need the rest.
packages_guest=(systemd-sysv udev linux-image-cloud-amd64 initramfs-tools
    apache2 curl python3 procps)
modules_guest=(virtio_pci virtio_blk virtio_console virtio_rng ext4)
# They would run while the scenes do, and some need a network.
masked=(apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer
    e2scrub_all.timer fstrim.timer man-db.timer systemd-networkd.service
    serial-getty@ttyS0.service getty@tty1.service)

# apt_in ROOT WORDS
apt_in() {
    in_root "$1" / "DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        --no-install-recommends -o Acquire::Retries=3 $2"
}

# make_package ROOT TARBALL: `make deb` there. The package is ROOT/packages/this.deb.
make_package() {
    local root=$1
    mkdir -p "$root/packages/source/build"
    tar -xf "$2" -C "$root/packages/source" --strip-components=1 &&
        apt_in "$root" "install build-essential" &&
        apt_in "$root" "build-dep /packages/source" &&
        in_root "$root" /packages/source/build "
            ../configure -q &&
            DEB_BUILD_OPTIONS='nocheck noautodbgsym parallel=2' make deb" &&
        cp "$root"/packages/source/build/deb/libapache2-mod-apppool_*.deb \
            "$root/packages/this.deb"
}

# make_guest ROOT: put into ROOT all that the guest needs, except our package.
make_guest() {
    local root=$1 here=$top/tests/vm
    # No daemon starts while it is made.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
    # The initrd gets what this machine needs, and no driver of another one.
    mkdir -p "$root/etc/initramfs-tools/conf.d" \
        "$root/usr/share/initramfs-tools/modules.d" "$root/vm"
    echo 'MODULES=list' >"$root/etc/initramfs-tools/conf.d/vm"
    printf '%s\n' "${modules_guest[@]}" \
        >"$root/usr/share/initramfs-tools/modules.d/vm"
    apt_in "$root" "install ${packages_guest[*]}" &&
        # This hook of the machine would remove what is downloaded here.
        rm -f "$root/etc/apt/apt.conf.d/docker-clean" &&
        apt_in "$root" "install --download-only /packages/this.deb" || return
    rm "$root/usr/sbin/policy-rc.d"
    echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
    echo guest >"$root/etc/hostname"
    echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
    cp "$here"/guest/*.py "$root/vm/"
    cp "$here/guest/agent.service" "$root/etc/systemd/system/"
    # The emulation is slow. What a stop may take is left as it is.
    mkdir -p "$root/etc/systemd/system.conf.d"
    printf '[Manager]\nDefaultTimeoutStartSec=900\n' \
        >"$root/etc/systemd/system.conf.d/vm.conf"
    in_root "$root" / "systemctl -q enable agent && systemctl -q mask \
        ${masked[*]}"
}

# make_image RELEASE DIR TARBALL: DIR/vmlinuz, DIR/initrd and DIR/disk. What is
# printed goes to DIR.log.
make_image() (
    local release=$1 dir=$2 root=$2/root
    mkdir "$dir"
    make_root "$root" "$release" || exit
    set -e
    exec >"$dir.log" 2>&1 </dev/null
    apt_in "$root" update
    cp -a "$root" "$dir/build"
    make_package "$dir/build" "$3"
    mkdir "$root/packages"
    cp "$dir/build/packages/this.deb" "$top/debian/tests/first-page" \
        "$root/packages/"
    rm -rf --one-file-system "$dir/build"
    make_guest "$root"
    cp "$root"/boot/vmlinuz-* "$dir/vmlinuz"
    cp "$root"/boot/initrd.img-* "$dir/initrd"
    mke2fs -q -t ext4 -d "$root" "$dir/disk" 4G
    rm -rf --one-file-system "$root"
)
