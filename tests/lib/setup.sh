# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# What tests/run and demo/run share: install what is missing, build.
# To be sourced; expects $top, the top of the source tree.
#
# The lists hold for each Debian. A package counts as installed if another one
# provides its name: libuv1 is libuv1t64 in Debian 13. A name with ? stands for
# what a Debian has of it. NAME=PACKAGE is unpacked below NAME.

packages_build="gcc libc6-dev make autoconf automake libtool pkg-config
    apache2-bin apache2-dev libjansson-dev libssl-dev"
packages_apps="python3 gunicorn ruby puma nodejs"
packages_demo="$packages_build $packages_apps curl procps util-linux"
packages_servers="uvicorn uwsgi-core uwsgi-plugin-python3 starman php-cgi
    libfcgi-dev python3-websockets python3-h2 python3-flask python3-django
    python3-fastapi python3-bottle python3-falcon python3-quart
    python3-hypercorn python3-daphne python3-waitress thin
    python3-django-channels python3-socketio
    libmojolicious-perl ruby-sinatra ruby-railties
    node-express node-busboy node-cookie-parser"
# The dependencies of redmine and dokuwiki, which themselves are only unpacked.
packages_libraries="ruby-actionpack-action-caching ruby-actionpack-xml-parser
    ruby-addressable ruby-bundler ruby-capybara ruby-commonmarker
    ruby-html-pipeline ruby-jquery-rails ruby-listen ruby-mail ruby-marcel
    ruby-mini-magick ruby-mini-mime ruby-mocha ruby-net-ldap ruby-rails
    ruby-rails-observers ruby-rbpdf ruby-redcarpet ruby-request-store
    ruby-roadie-rails ruby-rotp ruby-rouge ruby-rqrcode ruby-sanitize
    ruby-selenium-webdriver ruby-simplecov ruby-sqlite3 ruby-task-list ruby-zip
    libjs-chart.js libjs-jquery-ui libjs-jquery-cookie libjs-raphael
    libphp-simplepie php-constant-time php-geshi php-phpseclib php-phpseclib3
    php-random-compat php-xml"
# Dependencies that Debian 12 does not have, those of redis 5 too.
packages_newer="ruby-rails-propshaft php-kissifrot-php-ixr ruby-redis-client"
packages_unpacked="redmine dokuwiki haproxy apache2 ruby-redis python3-redis"
# The load balancer is only unpacked, too: its package would start its service.
packages_balancer_need="liblua5.3-0 libopentracing-c-wrapper0 libsystemd0"
# Servers beside which tests/store and tests/bench/run store test, and
# keepalived, which moves their address. They are only unpacked, because a package
# would start its service.
packages_daemons="memcached nutcracker keepalived"
release_of_yrmcds=bookworm # the last Debian that has it
# For tests/bench/run store only: redis, whose program is in redis-tools.
packages_redis="redis-tools liblzf1 libatomic1 libjemalloc2 liblua5.1-0 lua-cjson lua-bitop"
packages_daemons_need="libevent-2.1-7 libsasl2-2 libtcmalloc-minimal4 libyaml-0-2
    libglib2.0-0 libmnl0 libnftnl11 libnl-3-200 libnl-genl-3-200 libpcre2-8-0
    libsnmp40 libsystemd0"
# Clients of them, 1 MB in all.
packages_clients="libmemcached-tools libsasl2-modules python3-pymemcache
    python3-pylibmc python3-binary-memcached ruby-dalli php-memcached
    libcache-memcached-fast-perl"
# For tests/integration/packages_monitoring.py, 19 MB. It is only unpacked, because
# the package would start its service.
packages_metrics="prometheus"
# What the recipes of doc/store.md need besides them.
packages_recipes="python3-flask-session ruby-connection-pool netcat-openbsd"
# The programs with which tests/bench/run compares, and their libraries.
packages_peers="passenger libapache2-mod-passenger libapache2-mod-fcgid
    libapache2-mod-wsgi-py3 php-fpm=php8.?-fpm"
packages_peers_need="libapparmor1 libargon2-1 libev4 libpython3.1? libuv1
    ruby-rack"
# Other versions of puma: those of these Debians, with their Ruby.
releases_of_puma="trixie testing"
packages_puma="puma ruby-rack"
# What the first build of tests/run needs, and lib/apart.sh.
packages_first="$packages_build libcmocka-dev iproute2"
# For tests/cross alone.
packages_cross="gcc-aarch64-linux-gnu qemu-user"
packages_test="$packages_demo $packages_servers $packages_libraries
    $packages_balancer_need $packages_daemons_need $packages_clients
    $packages_recipes
    libcmocka-dev python3-pytest python3-pytest-xdist clang libclang-rt-dev
    clang-format cppcheck wrk nghttp2-client iproute2 elfutils
    strace spin chromium python3-prometheus-client python3-yaml lowdown"

# shellcheck source=tests/lib/releases.sh
. "$top/tests/lib/releases.sh"

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$0" "$*" >&2; exit 1; }

updated= # the lists of packages, by this shell
patient="-o Acquire::Retries=3 -o DPkg::Lock::Timeout=600"

# installed_names: the packages that are installed, and what they provide. Each has
# a space before and after it.
installed_names() {
    dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
        sed -n 's/([^)]*)//g; s/,/ /g; s/^installed / /p' | tr '\n' ' '
}

# install_packages PACKAGE...: install those that are missing. With MAY_MISS in the
# environment, a package that cannot be installed is named, and is no error: in
# Debian testing, some are always between two versions.
install_packages() {
    local package installed missing=()
    command -v dpkg-query >/dev/null ||
        die "this is no Debian: install by hand what ./configure asks for"
    installed=$(installed_names)
    for package; do
        # shellcheck disable=SC2027,SC2053 # it may be a pattern
        [[ $installed == *" "$package" "* ]] || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    [ "$(id -u)" = 0 ] || die "not root, so install first: ${missing[*]}"
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # Another apt may be running, and a mirror may fail once.
    # shellcheck disable=SC2086 # a list of words
    { [ "$updated" ] || apt-get $patient update; } \
        >"$scratch/apt.log" 2>&1 </dev/null &&
        apt_install "${missing[@]}" || install_each "${missing[@]}" || {
        tail -n 20 "$scratch/apt.log" >&2
        die "cannot install ${missing[*]}"
    }
    updated=yes
}

# install_for_tests: all packages that the suites need.
install_for_tests() {
    local newer
    # shellcheck disable=SC2086 # lists of words
    newer=$(apt-cache show $packages_newer 2>/dev/null |
        sed -n 's/^Package: //p' | sort -u)
    # shellcheck disable=SC2086
    install_packages $packages_test $newer
    # Flask-Session 0.8 does not depend on what it imports.
    ! grep -qs '^import msgspec' \
        /usr/lib/python3/dist-packages/flask_session/*.py ||
        install_packages python3-msgspec
}

apt_install() {
    # shellcheck disable=SC2086 # a list of words
    apt-get $patient install -y --no-install-recommends "$@" \
        >>"$scratch/apt.log" 2>&1 </dev/null
}

# install_each PACKAGE...: see MAY_MISS above.
install_each() {
    local package
    [ "${MAY_MISS:-}" ] || return 1
    for package; do
        apt_install "$package" || say "cannot install $package"
    done
}

# wait_installed: wait until tests/run has installed all packages, if it does so.
# @return 1 if it could not
wait_installed() {
    [ "${APPPOOL_INSTALLING:-}" ] || return 0
    flock -s "$APPPOOL_INSTALLING" true
    [ -e "$APPPOOL_INSTALLING.done" ]
}

# unpack_packages DIR PACKAGE...: put their files below DIR/PACKAGE. They are not
# installed, because that would set up databases and web servers.
unpack_packages() {
    local dir=$1 word name package
    shift
    for word; do
        name=${word%%=*} package=${word#*=}
        [ -d "$dir/$name" ] && continue
        say "unpacking $name"
        rm -rf "$dir/$name.new" "$scratch/unpack"
        mkdir -p "$dir/$name.new" "$scratch/unpack"
        download "$package" >"$scratch/unpack.log" 2>&1 </dev/null &&
            dpkg-deb -x "$scratch"/unpack/*.deb "$dir/$name.new" || {
            cat "$scratch/unpack.log" >&2
            die "cannot unpack $name"
        }
        mv "$dir/$name.new" "$dir/$name"
    done
}

# download PACKAGE: into $scratch/unpack.
download() (
    cd "$scratch/unpack" || exit
    # shellcheck disable=SC2086 # a list of words
    apt-get $patient download "$1" ||
        { apt-get $patient update && apt-get $patient download "$1"; }
)

# unpack_daemons: those beside which the tests run the store. yrmcds comes from
# the last Debian that has it.
unpack_daemons() {
    local dir=$top/build/packaged
    # shellcheck disable=SC2086 # a list of words
    unpack_packages "$dir" $packages_daemons
    if [ -d "$dir/yrmcds" ] ||
        [ "$(apt-cache --names-only search '^yrmcds$')" ]; then
        unpack_packages "$dir" yrmcds
    else
        unpack_release "$dir/yrmcds" "$release_of_yrmcds" yrmcds
    fi
}

# generate: make configure and Makefile.in where they are older than their
# sources.
generate() {
    local made
    for made in configure Makefile.in; do
        if [ "$top/$made" -nt "$top/configure.ac" ] &&
            [ "$top/$made" -nt "$top/Makefile.am" ] &&
            [ "$top/$made" -nt "$top/sources.mk" ]; then
            continue
        fi
        (cd "$top" && autoreconf -fi) >"$scratch/autoreconf.log" 2>&1 || {
            cat "$scratch/autoreconf.log" >&2
            die "autoreconf failed"
        }
        touch "$top/configure" "$top/Makefile.in"
        return 0
    done
}

# The builds of tests/run: one by gcc, as for release, whose module httpd loads;
# one by clang, with sanitizers and the counters of the fuzzers; and one with
# ThreadSanitizer. Their arguments are targets of make. APR takes an offset from
# a null pointer, of which clang warns, unless stddef.h is included first. A
# machine of CI builds the last two once, so it needs no record of what depends
# on what. gold links programs with sanitizers faster. ThreadSanitizer sees more
# of what -O1 makes than of -O2, which puts functions into functions that it does
# not look at. Reports need lines, and no variables: -g1 compiles sooner.
once=${CI:+--disable-dependency-tracking}
# MORE_CFLAGS in the environment is for gcc.
build_gcc() {
    targets=$* build build --enable-werror \
        CFLAGS="-g1 -O2${MORE_CFLAGS:+ $MORE_CFLAGS}"
}
build_clang() {
    wait_installed || return
    # shellcheck disable=SC2086 # nothing, or an option
    targets=$* build build-clang --enable-werror CC=clang $once \
        CFLAGS="-g1 -include stddef.h -include $top/tests/sanitized/window.h" \
        LDFLAGS="$(command -v ld.gold >/dev/null && echo -fuse-ld=gold)" \
        --enable-sanitize=fuzzer-no-link,address,undefined
}
build_threads() {
    # shellcheck disable=SC2086 # nothing, or an option
    targets=$* build build-tsan --enable-werror CFLAGS="-g1 -O1" $once \
        --enable-sanitize=thread
}

# build DIR [VARIABLE=VALUE | --OPTION]...: configure where it is new or was
# configured otherwise, then make $targets. Quiet unless it fails. configure and
# libtool take half the time with Debian's sh that they take with bash, and
# libtool has a faster stand-in. Suites that run side by side may need the same
# build: one makes it, and the others wait.
build() {
    mkdir -p "$top/$1"
    (
        flock 6
        build_alone "$@" 6>&-
    ) 6>"$top/$1/.lock"
}

# Write the empty records of what depends on what, where there is none. Otherwise
# configure starts three processes for each of 800 files.
empty_records() {
    local words name
    read -r -d '' -a words < <(sed -n '/^am__depfiles_remade = /,/[^\\]$/ {
        s/.*= //; s/\\$//; p; }' "$top/Makefile.in")
    # shellcheck disable=SC2016 # a variable of make
    words=("${words[@]/'$(DEPDIR)'/.deps}")
    mkdir -p "${words[@]%/*}"
    for name in "${words[@]}"; do
        [ -e "$name" ] || echo '# dummy' >"$name"
    done
}

build_alone() {
    local dir=$top/$1 log=$scratch/${1//\//-}.log wish jobs
    shift
    wish="$* $([ -e /usr/include/cmocka.h ] && echo cmocka)"
    wish+=$([ -e /usr/include/openssl/ssl.h ] && echo openssl)
    jobs=$(getconf _NPROCESSORS_ONLN)
    if [ "$(cat "$dir/.wish" 2>/dev/null)" != "$wish" ] ||
        ! [ "$dir/config.status" -nt "$top/configure" ]; then
        (cd "$dir" && empty_records &&
            CONFIG_SHELL=/bin/sh /bin/sh "$top/configure" -q "$@") \
            >"$log" 2>&1 || {
            cat "$log" >&2
            return 1
        }
        printf '%s\n' "$wish" >"$dir/.wish"
    fi
    # shellcheck disable=SC2086 # a list of words
    make -C "$dir" -j "$jobs" LIBTOOL="$top/tests/lib/libtool" \
        ${targets:-all} >"$log" 2>&1 || {
        grep -v '^make' "$log" | tail -n 60 >&2
        return 1
    }
}
