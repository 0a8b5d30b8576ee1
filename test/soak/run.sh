#!/usr/bin/env bash
# A mixed load for so many seconds: 4 writers, 3 readers and VACUUM. Then the check of each index, and a comparison with brute force.
#   make soak [SECONDS=n] [LOAD=codes|scopes|documents]
#
# A load is a folder beside this file: what setup.sql makes, the transactions of a writer and of a reader, and compare.sql, each of whose
# lines ends in the number of differences.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
seconds=${1:-600}
load=${2:-codes}
folder=$root/test/soak/$load
[ -e "$folder/setup.sql" ] || die "no such load: $load"

find_pg_config
start_workspace "soak-$load"
start_server soak "autovacuum = on" "autovacuum_naptime = 5s" "max_connections = 50" "checkpoint_timeout = 60s"
run_psql -c "CREATE EXTENSION simhash" -f "$folder/setup.sql"
printf 'VACUUM docs;\n\\sleep 2 s\n' >"$workspace/vacuum.sql"
cp "$folder"/{write,read}.sql "$workspace"
chmod 644 "$workspace"/*.sql
for client in write:4 read:3 vacuum:1; do
    "$bindir/pgbench" -n -c "${client#*:}" -T "$seconds" -f "$workspace/${client%:*}.sql" >"$workspace/${client%:*}.log" 2>&1 &
done
wait
for kind in write read vacuum; do
    sed -n "s/^number of transactions actually processed/$kind/p" "$workspace/$kind.log"
done
if grep -hE 'ERROR|FATAL|PANIC' "$workspace"/*.log; then die "errors under load"; fi
run_psql <<'SQL'
VACUUM docs;
SELECT i.oid::regclass AS index, pg_size_pretty(pg_relation_size(i.oid)) AS size, c.*
FROM pg_class i JOIN pg_am ON pg_am.oid = relam AND amname = 'simhash', simhash_index_check(i.oid, true) c;
SQL
run_psql -At -f "$folder/compare.sql" | tee "$workspace/differences"
! grep -v ' 0 differences$' "$workspace/differences" && [ -s "$workspace/differences" ]
