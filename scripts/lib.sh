# shellcheck shell=bash
# What the scripts share: installing what is missing, building, and a throwaway server.
# To be sourced by bash with `set -euo pipefail`; sets `root`, the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_MAJOR=${PG_MAJOR:-15}

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$0: $*"
    exit 1
}

# A new file for a command's output, in the workspace where there is one.
log_file() { mktemp -p "${workspace:-${TMPDIR:-/tmp}}" log.XXXXXX; }

# ---- what is installed ----

# Packages for building and running; `packages test` adds those for the tests, `packages bench` those for the speed bench,
# `packages sqlsmith` that for random statements.
packages() {
    local list=("postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR" g++ make libxxhash-dev libutf8proc-dev libicu-dev)
    # The compiler of the server's bitcode step.
    list+=(clang-14 llvm-14)
    if [ "${1:-}" = test ]; then
        list+=(libgtest-dev clang-format-14 clang-tidy-14 libipc-run-perl perl python3-psycopg)
        # node-postgres comes from npm where Node.js is not Debian's own.
        command -v npm >/dev/null || list+=(node-pg)
    fi
    [ "${1:-}" != bench ] || list+=(python3-psycopg)
    [ "${1:-}" != sqlsmith ] || list+=(sqlsmith perl)
    printf '%s\n' "${list[@]}"
}

missing_packages() {
    local package
    for package in $(packages "$@"); do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
    done
}

# Run as root: installs the packages named. The server's package would create and start a cluster of its own,
# which nobody asked for: its setting says no meanwhile, and is put back.
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
    apt-get update || echo "apt-get update failed; trying with the lists that are here"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends -o Dpkg::Options::=--force-confold "$@"
'

# Installs what is missing, as root or through sudo; says the one command where it cannot.
install_missing() { # [test|bench|sqlsmith]
    command -v dpkg-query >/dev/null || {
        say "This is not a Debian system: PostgreSQL $PG_MAJOR with server headers, g++, xxHash, utf8proc and ICU are taken as given."
        return 0
    }
    local missing sudo=() log
    read -r -a missing <<<"$(missing_packages "$@")"
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        sudo=(sudo)
        if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            die "please install what is missing, as root: apt-get install --no-install-recommends ${missing[*]}"
        fi
    fi
    say "Installing: ${missing[*]}"
    log=$(log_file)
    if ! "${sudo[@]}" bash -c "$installation" installation "${missing[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install; by hand: apt-get install --no-install-recommends ${missing[*]}"
    fi
    rm -f "$log"
}

find_pg_config() {
    if [ -z "${PG_CONFIG:-}" ]; then
        PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
        [ -x "$PG_CONFIG" ] || PG_CONFIG=$(command -v pg_config) || die "pg_config not found: set PG_CONFIG"
    fi
    export PG_CONFIG
    bindir=$("$PG_CONFIG" --bindir)
}

# ---- building ----

# Runs make in $1 with the arguments that follow; its output is shown only when it fails.
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

# A copy of the sources that are wanted in a build folder: the clone is left as it is.
copy_sources() {
    mkdir -p "$1"
    (cd "$root" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' --exclude=./build .) |
        tar -xf - -C "$1"
}

# ---- the throwaway server ----

# PostgreSQL refuses to run as root: these run the command as another user then.
if [ "$(id -u)" = 0 ]; then
    server_user=postgres
    as_server_user() { setpriv --reuid="$server_user" --regid="$server_user" --init-groups env HOME=/tmp "$@"; }
else
    server_user=$(id -un)
    as_server_user() { "$@"; }
fi

# Makes a folder under /tmp for everything, removed at exit together with the server.
start_workspace() {
    workspace=$(mktemp -d "/tmp/simhash-$1.XXXXXX")
    chmod 755 "$workspace"
    trap stop_workspace EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

stop_workspace() {
    local status=$?
    # A second Ctrl-C must not leave the server running.
    trap '' INT TERM HUP
    trap - EXIT
    stop_server
    cd /
    rm -rf "$workspace"
    exit "$status"
}

# start_server NAME [SETTING]...: a new cluster, reached through a socket in the workspace only.
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
    # Nothing that the caller has set for a server of his own reaches this one.
    unset PGHOSTADDR PGSERVICE PGOPTIONS PGPASSWORD PGTARGETSESSIONATTRS PGCHANNELBINDING PGSSLMODE
    export PGHOST=$data PGUSER=postgres PGDATABASE=postgres PGPORT=5432 PGCLIENTENCODING=UTF8
}

stop_server() {
    [ -n "${data:-}" ] && [ -e "$data/data/postmaster.pid" ] || return 0
    (cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m immediate -w -s stop) || true
}

run_psql() { "$bindir/psql" -X -q -P pager=off -v ON_ERROR_STOP=1 "$@"; }
