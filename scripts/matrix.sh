#!/usr/bin/env bash
# Runs scripts/test.sh on every PostgreSQL that the code is written for, each in a system of its own with that system's
# compilers, and ends with a table. Exit status 1 when a cell of the table has a failure, or is missing.
#
#   scripts/matrix.sh           all of them
#   scripts/matrix.sh 17 18     these
#
# As root on Debian. The systems are folders in $MATRIX_SYSTEMS (/var/cache/simhash-matrix), made by debootstrap where
# they are missing, some 2 GB each, and kept. No suite of Debian has PostgreSQL 16: install it into /opt/postgresql-16
# of its system, postgresql-16, by hand. The output of each run is in build/matrix.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

systems=${MATRIX_SYSTEMS:-/var/cache/simhash-matrix}
logs=$root/build/matrix
all_majors=(15 16 17 18 19)

suite_of() { # MAJOR
    case "$1" in
    15) echo bookworm ;;
    16 | 17) echo trixie ;;
    18 | 19) echo sid ;;
    *) die "not one of ${all_majors[*]}: $1" ;;
    esac
}
is_experimental() { [ "$1" = 19 ]; }
is_in_debian() { [ "$1" != 16 ]; }

# ---- the systems ----

# The server's packages come from the suite experimental, all others do not.
offer_experimental() { # SYSTEM
    sed 's/ sid / experimental /' "$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/experimental.list"
    printf 'Package: src:postgresql-*\nPin: release a=experimental\nPin-Priority: 990\n' >"$1/etc/apt/preferences.d/experimental"
}

make_system() { # MAJOR SYSTEM
    local suite
    suite=$(suite_of "$1")
    say "Making a system of Debian $suite in $2"
    rm -rf "$2.new"
    as_root debootstrap --variant=minbase "$suite" "$2.new"
    # Lists of the suites that change daily may be older than they allow themselves to be.
    echo 'Acquire::Check-Valid-Until "false";' >"$2.new/etc/apt/apt.conf.d/simhash-matrix"
    if is_experimental "$1"; then offer_experimental "$2.new"; fi
    mv "$2.new" "$2"
}

mounted=()
mount_in() { # FOLDER TYPE
    mkdir -p "$1"
    ! mountpoint -q "$1" || return 0
    mount -t "$2" "$2" "$1"
    mounted+=("$1")
}
unmount_all() {
    local folder
    for folder in "${mounted[@]}"; do umount "$folder"; done
    mounted=()
}
trap unmount_all EXIT

# ---- a run ----

# The system's own user of the server and clang come with the packages of the server, which this one is without.
prepare_own_server() { # SYSTEM
    [ -x "$1/opt/postgresql-16/bin/pg_config" ] || die "please install PostgreSQL 16 into $1/opt/postgresql-16"
    chroot "$1" apt-get update -qq
    chroot "$1" apt-get install -qq -y --no-install-recommends clang postgresql-common
}

test_in() { # MAJOR SYSTEM
    local server=PG_MAJOR=$1
    if ! is_in_debian "$1"; then
        prepare_own_server "$2"
        server=PG_CONFIG=/opt/postgresql-$1/bin/pg_config
    fi
    rm -rf "$2/simhash"
    copy_sources "$2/simhash"
    chroot "$2" env LC_ALL=C.UTF-8 "$server" /simhash/scripts/test.sh
}

run() { # MAJOR
    local system=$systems/postgresql-$1
    [ -e "$system" ] || make_system "$1" "$system"
    mount_in "$system/proc" proc
    mount_in "$system/dev/shm" tmpfs
    say "PostgreSQL $1: $(date +%H:%M), output in $logs/$1.log"
    (test_in "$1" "$system") >"$logs/$1.log" 2>&1 </dev/null || say "PostgreSQL $1 has failures"
}

# ---- the table ----

# cell MAJOR LABEL: how many tests passed, and how many failed, by the lines of the log that begin so.
cell() {
    sed -n "s/^$2.* \([0-9]*\) passed *\([0-9]*\) failed$/\1 \2/p" "$logs/$1.log" |
        awk '{ passed += $1; failed += $2 }
             END { if (!NR) print "missing"; else if (failed) print passed " passed, " failed " failed"; else print passed " passed" }'
}
row() { # MAJOR
    local cells=() label versions all
    versions=$(grep -E '^PostgreSQL [0-9]+[^ ]*, g\+\+ ' "$logs/$1.log" | tail -n 1) || versions="PostgreSQL $1, missing"
    for label in 'build with' 'unit tests' 'SQL tests' 'isolation tests' 'ALTER EXTENSION' 'TAP tests'; do
        cells+=("$(cell "$1" "$label")")
    done
    # The run's own last line counts what has no column, too.
    all=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$1.log" | tail -n 1) || all=missing
    cells+=("$all")
    printf '| %s | %s |' "${versions%%, *}" "${versions#*, }"
    printf ' %s |' "${cells[@]}"
    printf '\n'
}
table() { # MAJOR...
    local major rows
    rows=$(for major in "$@"; do row "$major"; done)
    printf '| server | compilers | build | unit | SQL | isolation | update | TAP | all |\n|---|---|---|---|---|---|---|---|---|\n%s\n' "$rows"
    # All that a run counts as failed is in the row, and so is a 0.
    ! grep -qE 'missing|[1-9][0-9]* failed' <<<"$rows"
}

majors=("$@")
[ $# -gt 0 ] || majors=("${all_majors[@]}")
for major in "${majors[@]}"; do suite_of "$major" >/dev/null; done
[ "$(id -u)" = 0 ] || die "please run as root: it makes systems and enters them"
command -v debootstrap >/dev/null || as_root bash -c "$installation" installation debootstrap || die "debootstrap is missing"
mkdir -p "$systems" "$logs"
for major in "${majors[@]}"; do run "$major"; done
table "${majors[@]}"
