# A server for one bench: simhash built for it in a folder of its own, without being installed, and a cluster there on a socket of its
# own. Sourced, after scripts/lib.sh, by the benches that measure inside a server, with $pg_config. Called as root it drops to the user
# postgres. $work is the folder; it goes when the bench ends.
# shellcheck shell=bash disable=SC2154
bin=$("$pg_config" --bindir)
work=$(mktemp -d)
trap 'as_server "$bin/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
as_server() { if [ "$(id -u)" = 0 ]; then setpriv --reuid postgres --regid postgres --clear-groups "$@"; else "$@"; fi; }
psql() { as_server "$bin/psql" -h "$work" -XqAt -v ON_ERROR_STOP=1 postgres "$@"; }

# start_bench_server SETTING=VALUE...: the server can read what is in $work by then.
start_bench_server() {
    cp -r "$root"/Makefile "$root"/simhash* "$root"/src "$root"/scripts "$root"/test "$work"
    make -C "$work" -s clean PG_CONFIG="$pg_config" >/dev/null
    make -C "$work" -s -j2 PG_CONFIG="$pg_config" CXX="${CXX:-g++}" >/dev/null 2>&1
    install_sql "$work/simhash" >"$work/install.sql"
    if [ "$(id -u)" = 0 ]; then chown -R postgres "$work"; fi
    as_server "$bin/initdb" -D "$work/data" -E UTF8 --locale=C.UTF-8 -A trust >/dev/null
    as_server "$bin/pg_ctl" -w -D "$work/data" -l "$work/log" -o "-k $work -c listen_addresses='' ${*/#/-c }" start >/dev/null
    psql -c "SET client_min_messages = warning" -f "$work/install.sql"
}

# start_document_server DOCUMENTS SETTING=VALUE...: the same, with a table of documents of about 1 kB, every tenth a near-copy.
start_document_server() {
    python3 "$root/test/bench/documents.py" "$1" >"$work/documents"
    start_bench_server "${@:2}"
    psql -c 'CREATE TABLE document (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)' \
        -c "\\copy document (body) FROM '$work/documents'" -c 'VACUUM ANALYZE document'
}
