# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Packages of other Debians. To be sourced after setup.sh; expects $scratch.

# archive: where this machine gets the packages of its own Debian. Nothing, if
# that is not known.
archive() (
    # shellcheck source=/dev/null
    . /etc/os-release
    # shellcheck disable=SC2016 # they are variables of apt
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
        'Created-By: Packages' 'Origin: Debian' 'Component: main' |
        awk -v name="$VERSION_CODENAME" '$2 == name { print $1; exit }'
)

# fetch_release DIR RELEASE APT PACKAGE...: see unpack_release. APT is a directory
# for what apt keeps.
fetch_release() {
    local dir=$1 release=$2 apt=$3 from
    shift 3
    mkdir -p "$dir" "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    from=$(archive)
    [ "$from" ] || { apt-get update && from=$(archive); }
    printf 'deb %s %s main\n' "$from" "$release" >"$apt/sources.list"
    local own=(apt-get -o Dir::Etc::SourceList="$apt/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null
        -o Dir::Etc::PreferencesParts=/dev/null -o APT::Default-Release=
        -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status"
        -o Dir::Cache="$apt/cache" -o Acquire::Languages=none
        -o Acquire::Retries=3 -o APT::Sandbox::User=root
        -o Debug::NoLocking=true)
    # shellcheck disable=SC2016 # expanded by that shell
    "${own[@]}" update &&
        "${own[@]}" install -y --download-only --no-install-recommends "$@" &&
        find "$apt/cache/archives" -name '*.deb' -print0 |
        xargs -0 -n 1 sh -c 'dpkg-deb -x "$1" "$0"' "$dir"
}

# unpack_release DIR RELEASE PACKAGE...: put the packages of another Debian, with
# all that they need, below DIR. The apt of this machine learns nothing of them.
# If they are not to be had, say so: the tests that need them are skipped.
unpack_release() {
    local dir=$1 release=$2 log=$scratch/release.log
    shift 2
    [ ! -d "$dir" ] || return 0
    say "unpacking $* of Debian $release"
    rm -rf "$dir.new"
    if fetch_release "$dir.new" "$release" "$scratch/apt-$release" "$@" \
        >"$log" 2>&1 </dev/null; then
        mv "$dir.new" "$dir"
    else
        say "the tests with $1 of Debian $release are skipped, as it is not to" \
            "be had: $(grep -m 1 '^[EW]:' "$log")" >&2
    fi
    rm -rf "$dir.new" "$scratch/apt-$release"
}
