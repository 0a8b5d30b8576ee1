#!/usr/bin/env bash
# The SQL tests on a server under valgrind's memcheck. Fails where a report names simhash.
#   make valgrind [REGRESS='index_answers index_check']   with VALGRIND_SUPPRESSIONS=.../src/tools/valgrind.supp of PostgreSQL's source
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

find_pg_config
start_workspace valgrind
source=$workspace/source
copy_sources "$source"
chown -R "$server_user" "$source"
start_server valgrind "jit = off"
stop_server
logs=$workspace/logs
mkdir "$logs" && chown "$server_user" "$logs"
(cd / && as_server_user valgrind --quiet --trace-children=yes --leak-check=no --log-file="$logs/%p" \
    --suppressions="$root/test/valgrind.supp" ${VALGRIND_SUPPRESSIONS:+--suppressions="$VALGRIND_SUPPRESSIONS"} \
    "$bindir/postgres" -D "$data/data" >"$data/server.log" 2>&1) &
for _ in $(seq 120); do
    "$bindir/psql" -X -At -c 'SELECT 1' >/dev/null 2>&1 && break
    sleep 1
done
(cd "$source" && as_server_user make -s PG_CONFIG="$PG_CONFIG" ${REGRESS:+REGRESS="$REGRESS"} regress PGHOST="$PGHOST" PGPORT="$PGPORT" PGUSER="$PGUSER") || failed=true
(cd / && as_server_user "$bindir/pg_ctl" -D "$data/data" -m fast -w -s stop)
reports=$(cat "$logs"/* | grep -c simhash || true)
echo "$(find "$logs" -type f | wc -l) processes, $reports lines of reports that name simhash"
if [ "$reports" != 0 ]; then
    grep -h -B 4 -A 12 simhash "$logs"/* | head -100
    exit 1
fi
[ -z "${failed:-}" ]
