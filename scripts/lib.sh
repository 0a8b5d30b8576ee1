# shellcheck shell=bash
# Functions that the scripts share: they install missing packages, build, and run a throwaway server. To be sourced by bash with
# `set -euo pipefail`. Sets `root`, the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# The oldest server that the code is written for, and the clang-format and clang-tidy that it is checked with.
OLDEST_POSTGRESQL=15
FORMAT_MAJOR=14

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$0: $*"
    exit 1
}

# Runs the command, and meanwhile prints a dot every five seconds.
with_dots() {
    local dots status=0
    # It ends by itself if this script is killed, and holds no file open for whoever reads the output.
    (while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do printf . >&2; done) &
    dots=$!
    "$@" || status=$?
    kill "$dots" 2>/dev/null || true
    wait "$dots" 2>/dev/null || true
    say ""
    return "$status"
}

# Creates a file for a command's output, in the workspace if there is one, and prints its name.
log_file() { mktemp -p "${workspace:-${TMPDIR:-/tmp}}" log.XXXXXX; }

# ---- the version ----

# The version as SQL has it (1.0), which is written in the control file, and as releases have it (1.0.0).
extension_version() { sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/simhash.control"; }
release_version() { extension_version | sed 's/^[0-9]*\.[0-9]*$/&.0/'; }

# What CREATE EXTENSION would run, for the library $1 without its ending.
install_sql() { # LIBRARY
    sed "s|MODULE_PATHNAME|$1|; /^\\\\echo/d" "$root/simhash--$(extension_version).sql"
}

# ---- packages ----

# The libraries that the build needs. They are named in one place, the Build-Depends of debian/control.in. `test` and `check` add those
# of the unit tests.
library_packages() { # [test|check]
    awk -v purpose="${1:-}" '
        /^[^ ]/ { wanted = /^Build-Depends:/ }
        wanted && /^ lib/ && (purpose ~ /^(test|check)$/ || !/<!nocheck>/) { sub(/,$/, ""); print $1 }' "$root/debian/control.in"
}

# The packages for building and running. An argument adds those of a purpose: `test` for the tests, `check` for the checks of the
# source, `bench` for the speed bench, `sqlsmith` for random statements, `release` for the zip and the Debian package, `cross` for
# the architecture whose GNU type is CROSS_TYPE.
packages() {
    local list=(g++ make)
    # With PG_CONFIG a server is installed already.
    [ -n "${PG_CONFIG:-}" ] || list+=("postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR")
    case "${1:-}" in
    test) list+=(libipc-run-perl perl python3-psycopg) ;;
    check) list+=(perl python3) ;;
    bench) list+=(python3-psycopg) ;;
    sqlsmith) list+=(sqlsmith perl) ;;
    cross) list+=("g++-$CROSS_TYPE" qemu-user) ;;
    release) list+=(build-essential debhelper devscripts git lintian perl postgresql-server-dev-all unzip) ;;
    esac
    printf '%s\n' "${list[@]}"
    library_packages "$@"
}

# Packages without which tests, checks and bench run, and report or leave out what they skipped: not every suite of Debian has them.
optional_packages() {
    case "${1:-}" in
    test)
        # JIT is a package of its own from PostgreSQL 18 on.
        [ -n "${PG_CONFIG:-}" ] || printf '%s\n' "postgresql-$PG_MAJOR-pgvector" "postgresql-$PG_MAJOR-jit"
        # Drivers of docs/programs.md, which take minutes to install, for DRIVERS=1. node-postgres comes from npm where Node.js is not
        # Debian's own; a JDK is too large to bring.
        if [ -n "${DRIVERS:-}" ]; then
            printf '%s\n' python3-psycopg2 python3-asyncpg alembic python3-django
            command -v npm >/dev/null || echo node-pg
            ! command -v javac >/dev/null || echo libpostgresql-jdbc-java
        fi
        ;;
    check) printf '%s\n' "clang-format-$FORMAT_MAJOR" "clang-tidy-$FORMAT_MAJOR" \
        "clang-$FORMAT_MAJOR" "libclang-rt-$FORMAT_MAJOR-dev" ;;
    bench)
        [ -n "${PG_CONFIG:-}" ] || echo "postgresql-$PG_MAJOR-pgvector"
        echo python3-faiss
        ;;
    esac
}

# grep -q would stop reading early. The command before it would then die of a broken pipe, and pipefail make the answer a no.
is_installed() { dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null | grep -x installed >/dev/null; }
is_offered() { apt-cache policy "$1" 2>/dev/null | grep '^  Candidate: [^(]' >/dev/null; }
missing_packages() { # [test|check|bench|sqlsmith|cross|release]
    local package
    for package in $(packages "$@"); do
        is_installed "$package" || printf '%s ' "$package"
    done
}
missing_optional_packages() {
    local package
    for package in $(optional_packages "$@"); do
        is_installed "$package" || ! is_offered "$package" || printf '%s ' "$package"
    done
}

# The major versions at the end of package names that begin with $1, as far as the code is written for them.
versions_in() { sed -n "s/^$1\([0-9][0-9]*\)\( .*\)\{0,1\}$/\1/p" | awk -v oldest="$OLDEST_POSTGRESQL" '$1 >= oldest' | sort -n; }
installed_versions() { # BEGINNING-OF-PACKAGE
    { dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$1[0-9]*" 2>/dev/null || true; } | versions_in "installed $1"
}
offered_versions() { apt-cache search --names-only '^postgresql-server-dev-[0-9]+$' | versions_in postgresql-server-dev-; }
# The newest server that is installed, if its headers are installed or offered.
newest_installed() {
    { grep -Fxf <(installed_versions postgresql-server-dev- && offered_versions) <(installed_versions postgresql-) || true; } |
        tail -n 1
}

# Sets PG_MAJOR to the newest server that is installed, or else offered. Leaves it where it or PG_CONFIG is set.
choose_postgresql() {
    [ -z "${PG_CONFIG:-}${PG_MAJOR:-}" ] || return 0
    PG_MAJOR=$(newest_installed)
    [ -z "$PG_MAJOR" ] || return 0
    # A new system, or a container, has no lists of packages yet.
    [ -n "$(offered_versions)" ] || refresh_package_lists
    PG_MAJOR=$(newest_installed)
    PG_MAJOR=${PG_MAJOR:-$(offered_versions | tail -n 1)}
    [ -n "$PG_MAJOR" ] ||
        die "this system offers no PostgreSQL from $OLDEST_POSTGRESQL on; https://wiki.postgresql.org/wiki/Apt has every version"
}

# A script that installs the packages named; to be run as root. The server's package would create and start a cluster, so a
# setting forbids that during the installation, and is put back afterwards.
installation='
    set -eu
    settings=/etc/postgresql-common/createcluster.conf
    kept=$(mktemp)
    [ ! -e "$settings" ] || cp -p "$settings" "$kept"
    put_back() {
        if [ -s "$kept" ]; then
            cp -p "$kept" "$settings"
        elif [ -e /usr/share/postgresql-common/createcluster.conf ]; then
            cp /usr/share/postgresql-common/createcluster.conf "$settings"
        else
            rm -f "$settings"
        fi
        rm -f "$kept"
    }
    trap put_back EXIT
    trap "exit 130" INT
    trap "exit 143" TERM HUP
    mkdir -p /etc/postgresql-common
    printf "\ncreate_main_cluster = false\n" >>"$settings"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold "$@"
'

# as_root COMMAND...: runs the command as root or through sudo, and shows its output only when it fails.
as_root() {
    local log sudo=()
    [ "$(id -u)" = 0 ] || sudo=(sudo)
    log=$(log_file)
    if ! "${sudo[@]}" "$@" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
can_be_root() {
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; }
}

refresh_package_lists() {
    can_be_root || die "this system has no package lists; run as root: apt-get update"
    as_root apt-get update || say "apt-get update failed; continuing with the present package lists"
}

# Prints the first line of each script: the server that it uses, and why. It has no minor version, since the server may not be
# installed yet.
say_postgresql() {
    if [ -n "${PG_CONFIG:-}" ]; then
        say "Using $("$PG_CONFIG" --version), from PG_CONFIG"
    elif [ -n "${PG_MAJOR:-}" ]; then
        say "Using PostgreSQL $PG_MAJOR, from PG_MAJOR"
    elif ! command -v dpkg-query >/dev/null; then
        say "Using PostgreSQL of $(command -v pg_config || echo 'pg_config, which was not found') (set PG_CONFIG=/path/to/pg_config for another)"
    else
        choose_postgresql
        local why="the newest installed version"
        [ "$(newest_installed)" = "$PG_MAJOR" ] || why="the newest available version"
        say "Using PostgreSQL $PG_MAJOR, $why (set PG_MAJOR=16 for another)"
    fi
}

# Installs the missing packages as root or through sudo. If it cannot, prints the command and fails.
install_missing() { # [test|check|bench|sqlsmith|cross|release]
    command -v dpkg-query >/dev/null || {
        say "This is not a Debian system, so PostgreSQL with server headers, g++ and xxHash must be installed already."
        return 0
    }
    choose_postgresql
    local missing command
    read -r -a missing <<<"$(missing_packages "$@") $(missing_optional_packages "$@")"
    [ ${#missing[@]} -gt 0 ] || return 0
    command="apt-get install --no-install-recommends ${missing[*]}"
    can_be_root || die "packages are missing; run as root: $command"
    refresh_package_lists
    read -r -a missing <<<"$(missing_packages "$@") $(missing_optional_packages "$@")"
    say "Installing, some minutes: ${missing[*]}"
    with_dots as_root bash -c "$installation" installation "${missing[@]}" || die "could not install packages; run as root: $command"
}

# Sets PG_CONFIG, unless it is set, and bindir and PG_MAJOR to those of that server.
find_pg_config() {
    if [ -z "${PG_CONFIG:-}" ]; then
        ! command -v dpkg-query >/dev/null || PG_MAJOR=${PG_MAJOR:-$(newest_installed)}
        PG_CONFIG=/usr/lib/postgresql/${PG_MAJOR:-}/bin/pg_config
        [ -x "$PG_CONFIG" ] || PG_CONFIG=$(command -v pg_config) || die "pg_config not found: set PG_CONFIG"
    fi
    export PG_CONFIG
    PG_MAJOR=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
    [ -e "$("$PG_CONFIG" --pgxs)" ] || die "$PG_CONFIG has no server headers (postgresql-server-dev-$PG_MAJOR)"
    bindir=$("$PG_CONFIG" --bindir)
}

# ---- building ----

# Runs make in the folder $1 with the arguments that follow, and shows its output only when it fails.
quiet_make() {
    local folder=$1 log
    shift
    log=$(log_file)
    if ! make -C "$folder" PG_CONFIG="$PG_CONFIG" -j"$(nproc)" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# The clang that the server was built with, which its package of headers brings, or else any.
find_clang() {
    local servers
    servers=$("$PG_CONFIG" --configure | sed -n "s/.*'CLANG=\([^']*\)'.*/\1/p")
    command -v "${servers:-clang}" || command -v clang
}

install_extension() {
    local sudo=()
    if [ ! -w "$("$PG_CONFIG" --pkglibdir)" ]; then
        command -v sudo >/dev/null || die "please run as root (or with sudo installed): the extension goes into $("$PG_CONFIG" --pkglibdir)"
        sudo=(sudo)
    fi
    local log
    log=$(log_file)
    "${sudo[@]}" make -s -C "$1" PG_CONFIG="$PG_CONFIG" install >"$log" 2>&1 || { tail -n 20 "$log" >&2; die "make install failed"; }
    rm -f "$log"
}

# Copies the sources into the folder $1, so that the clone is not built in.
copy_sources() {
    mkdir -p "$1"
    (cd "$root" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.d' --exclude='*.so' --exclude=./build .) |
        tar -xf - -C "$1"
}

# ---- the throwaway server ----

# PostgreSQL refuses to run as root. If this script does, the server runs as the user postgres.
if [ "$(id -u)" = 0 ]; then
    server_user=postgres
    as_server_user() { setpriv --reuid="$server_user" --regid="$server_user" --init-groups env HOME=/tmp "$@"; }
else
    server_user=$(id -un)
    as_server_user() { "$@"; }
fi

# Makes a folder under /tmp. At exit the server in it is stopped and the folder removed, unless `workspace_is_kept` is set.
start_workspace() {
    workspace=$(mktemp -d "/tmp/simhash-$1.XXXXXX")
    chmod 755 "$workspace"
    trap stop_workspace EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# stop_workspace [STATUS]: exits with it, or with that of the last command.
stop_workspace() {
    local status=${1:-$?}
    [ -z "${workspace_is_kept:-}" ] || exit "$status"
    # A second Ctrl-C must not leave the server running.
    trap '' INT TERM HUP
    trap - EXIT
    # Of scripts/counting.sh.
    ! declare -F stop_progress >/dev/null || stop_progress
    for data in "$workspace"/*; do stop_server; done
    cd /
    rm -rf "$workspace"
    exit "$status"
}

# start_server NAME [SETTING]...: starts a server with a new cluster, which listens only on a socket in the workspace.
start_server() {
    local name=$1 setting
    shift
    data=$workspace/$name
    mkdir -p "$data"
    chown "$server_user" "$data"
    as_server_user "$bindir/initdb" -D "$data/data" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 >"$workspace/initdb.log" 2>&1 ||
        { cat "$workspace/initdb.log" >&2; die "initdb failed"; }
    {
        printf "listen_addresses = ''\nunix_socket_directories = '%s'\n" "$data"
        printf 'fsync = off\nshared_buffers = 256MB\nmax_wal_size = 4GB\nautovacuum = off\n'
        for setting in "$@"; do printf '%s\n' "$setting"; done
    } | as_server_user tee -a "$data/data/postgresql.conf" >/dev/null
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -l "$data/server.log" -w -s start) ||
        { cat "$data/server.log" >&2; die "the server did not start"; }
    # The caller may have set these for a server of his own.
    unset PGHOSTADDR PGSERVICE PGOPTIONS PGPASSWORD PGTARGETSESSIONATTRS PGCHANNELBINDING PGSSLMODE
    export PGHOST=$data PGUSER=postgres PGDATABASE=postgres PGPORT=5432 PGCLIENTENCODING=UTF8
}

stop_server() {
    [ -n "${data:-}" ] && [ -e "$data/data/postmaster.pid" ] || return 0
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m immediate -w -s stop) || true
}

# with_server NAME COMMAND...: runs a command, and a server for it alone. Transactions of another database of its server would change
# which rows and pages VACUUM takes for dead, and which plans are made.
with_server() {
    local status=0
    start_server "$1"
    "${@:2}" || status=$?
    stop_server
    return "$status"
}

# ---- tests of the sources in $source, which are built there, with the extension that is installed ----

# With TEST_LIMIT set, a test is ended after so many seconds.
test_limit() { [ -z "${TEST_LIMIT:-}" ] || printf '%s\n' timeout -k 10 "$TEST_LIMIT"; }

# run_suite MAKE-TARGET [ARGUMENT]...: a pg_regress-like run against the server of start_server.
run_suite() {
    # shellcheck disable=SC2046
    (cd "${source:?}" && as_server_user $(test_limit) make -s PG_CONFIG="$PG_CONFIG" "$@" \
        PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER")
}

# run_tap_file FILE: its servers have ports and folders of their own, in $source/tmp_check.
run_tap_file() {
    local pgxs
    pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")
    # A test that failed leaves its servers' data.
    rm -rf "$source/tmp_check/t_$(basename "$1" .pl)_"*
    # shellcheck disable=SC2046
    (cd "$source" && as_server_user env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE PATH="$bindir:$PATH" \
        PG_REGRESS="$pgxs/../test/regress/pg_regress" TESTDIR="$source" \
        TESTDATADIR="$source/tmp_check" TESTLOGDIR="$source/tmp_check/log" \
        PERL5LIB="$pgxs/../test/perl:$source/test/perl" $(test_limit) prove -v "$1")
}

run_psql() { "$bindir/psql" -X -q -P pager=off -v ON_ERROR_STOP=1 "$@"; }
