# shellcheck shell=bash
# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Applications of Debian 12, for tests/integration/packages_*.py. They are
# unpacked, with all that they need and this machine does not have: some of their
# packages would start services. To be sourced after setup.sh; expects $scratch.

packages_applications="wordpress wordpress-theme-twentytwentythree mediawiki
    phpmyadmin adminer roundcube-core roundcube-sqlite3 shaarli icingaweb2
    mariadb-server-core php-mysql php-sqlite3 php-mbstring
    libapache2-mod-php8.2 php8.2-fpm
    graphite-web radicale klaus python3-webpy python3-pyramid
    libdancer2-perl libcatalyst-perl libcatalyst-devel-perl
    libcatalyst-action-renderview-perl libcatalyst-plugin-configloader-perl
    libcatalyst-plugin-static-simple-perl
    ruby-bootsnap ruby-byebug ruby-capybara ruby-jbuilder ruby-listen
    ruby-sass-rails ruby-selenium-webdriver ruby-spring ruby-web-console"
# Their documentation has programs. It may be missing although they are installed.
packages_examples="python-flask-doc python-bottle-doc libdancer2-perl
    libmojolicious-perl libplack-perl ruby-sinatra"

# fetch_applications DIR APT: see unpack_applications. APT is a directory for what
# apt keeps.
fetch_applications() {
    local dir=$1 apt=$2 package name
    local own=(apt-get -o Dir::Cache="$apt" -o Acquire::Retries=3
        -o APT::Sandbox::User=root -o Debug::NoLocking=true)
    # shellcheck disable=SC2206 # a list of words
    own+=(install -y --download-only --no-install-recommends
        $packages_applications)
    mkdir -p "$apt/archives/partial"
    for name in bin sbin lib lib64; do
        mkdir -p "$dir/usr/$name"
        ln -s "usr/$name" "$dir/$name"
    done
    "${own[@]}" || { apt-get update && "${own[@]}"; } || return
    # shellcheck disable=SC2086 # a list of words
    (cd "$apt/archives" && apt-get -o APT::Sandbox::User=root \
        -o Acquire::Retries=3 download $packages_examples) || return
    # shellcheck disable=SC2016 # variables of dpkg
    dpkg-query -W -f '${Package} ${Version}\n' >"$dir/versions"
    for package in "$apt"/archives/*.deb; do
        # shellcheck disable=SC2016
        dpkg-deb -W --showformat '${Package} ${Version}\n' "$package" \
            >>"$dir/versions"
        dpkg-deb --fsys-tarfile "$package" |
            tar -x -C "$dir" --keep-directory-symlink \
                --exclude=./usr/share/{locale,man} || return
    done
    printf '%s\n' "$packages_applications $packages_examples" >"$dir/packages"
}

# unpack_applications DIR: put them below DIR. If they are not to be had, say so:
# the tests that need them are skipped.
unpack_applications() {
    local dir=$1 log=$scratch/applications.log
    [ "$(cat "$dir/packages" 2>/dev/null)" != \
        "$packages_applications $packages_examples" ] || return 0
    say "unpacking wordpress and other applications"
    rm -rf "$dir" "$dir.new"
    if fetch_applications "$dir.new" "$scratch/apt-applications" \
        >"$log" 2>&1 </dev/null; then
        mv "$dir.new" "$dir"
    else
        say "the tests with applications of Debian are skipped, as these are not" \
            "to be had: $(grep -m 1 '^[EW]:' "$log")" >&2
    fi
    rm -rf "$dir.new" "$scratch/apt-applications"
}
