#!/usr/bin/env bash
# Runs .ci/run on every supported PostgreSQL version, each in its own Debian system with that system's compilers, and prints a table
# at the end. Exits with status 1 if a cell of the table has a failure or is missing.
#
#   scripts/matrix.sh           all versions
#   scripts/matrix.sh 17 18     these versions
#
# Needs root, on Debian. The systems are folders in $MATRIX_SYSTEMS (/var/cache/simhash-matrix), some 2 GB each. debootstrap
# makes missing ones, and the script keeps them. No suite of Debian has PostgreSQL 16: install it by hand into /opt/postgresql-16 of
# the system postgresql-16. The output of each run is in build/matrix.
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

# Offers the suite experimental, from which only the server's packages are taken.
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
    # The package lists of a suite that changes daily expire after some days.
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

# Debian's packages of the server bring the user postgres and clang. A system with a server built by hand needs them, too.
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
    chroot "$2" env LC_ALL=C.UTF-8 "$server" /simhash/.ci/run
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

# cell MAJOR LABEL: how many tests passed and how many failed, by the lines of the log that begin with LABEL.
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
    # The last line of the run also counts the tests that have no column.
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
    # "0 failed" is in every row, so only other numbers count.
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
