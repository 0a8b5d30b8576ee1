#!/usr/bin/env bash
# A server with assertions, which see mistakes that change no answer, such as a page that is changed under a shared lock. Builds it from
# Debian's source package of the server that is used, once, and prints its pg_config as the last line.
#   test/assert_server.sh [FOLDER]    the folder (/var/tmp/simhash-assert) keeps the source and the server; ten minutes at the first time
# Needs root or sudo for packages, and the package archive's sources (deb-src); or PG_SOURCE=/path/to/postgresql-15.x, an unpacked source.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

choose_postgresql
[ -n "${PG_MAJOR:-}" ] || find_pg_config
folder=${1:-/var/tmp/simhash-assert}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# Debian's source installs into folders of its own unless the prefix contains "postgres".
prefix=$folder/postgres-$PG_MAJOR
if [ ! -x "$prefix/bin/pg_config" ]; then
    source=${PG_SOURCE:-}
    if [ -z "$source" ]; then
        say "Fetching the source of PostgreSQL $PG_MAJOR"
        grep -rqsE '^(deb-src|Types:.*deb-src)' /etc/apt/sources.list /etc/apt/sources.list.d || die "no deb-src line in apt's sources: add one, or set PG_SOURCE"
        refresh_package_lists
        as_root apt-get install -y --no-install-recommends dpkg-dev flex bison libreadline-dev zlib1g-dev libicu-dev pkg-config perl
        as_root env -C "$folder" apt-get source "postgresql-$PG_MAJOR"
        source=$(find "$folder" -maxdepth 1 -type d -name "postgresql-$PG_MAJOR-*" | sort -V | tail -n 1)
    fi
    say "Building it with assertions, into $prefix"
    log=$(log_file)
    (
        cd "$source" &&
            ./configure -q --prefix="$prefix" --enable-cassert --enable-debug --with-icu --enable-tap-tests CFLAGS='-Og -fno-omit-frame-pointer' &&
            make -s -j"$(nproc)" install && make -s -C contrib -j"$(nproc)" install &&
            make -s -C src/test/isolation install && make -s -C src/test/regress install
    ) >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "the server does not build"; }
    rm -f "$log"
fi
echo "$prefix/bin/pg_config"
