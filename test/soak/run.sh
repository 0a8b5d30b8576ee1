#!/usr/bin/env bash
# A mixed load: 4 writers, 3 readers and VACUUM, for SECONDS. Then the check of each index, and a comparison with brute force.
#   make soak [SECONDS=n] [LOAD=codes|scopes|documents|passages] [SEED=n]
#
# A load is a folder beside this file: setup.sql makes its tables, write.sql and read.sql are the transactions of a client, and each line
# that compare.sql prints ends in a number of differences.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
seconds=${1:-600}
load=${2:-codes}
seed=${3:-$RANDOM}
folder=$root/test/soak/$load
[ -e "$folder/setup.sql" ] || die "no such load: $load"

find_pg_config
start_workspace "soak-$load"
say "SEED=$seed"
# A server that has lost a process stays down: the clients see it, and nothing after them runs.
start_server soak "autovacuum = on" "autovacuum_naptime = 5s" "max_connections = 50" "checkpoint_timeout = 60s" "restart_after_crash = off"
run_psql -c "CREATE EXTENSION simhash" -f "$folder/setup.sql"
printf 'VACUUM;\n\\sleep 2 s\n' >"$workspace/vacuum.sql"
clients=()
load_with() { # CLIENTS SCRIPT
    "$bindir/pgbench" -n --random-seed "$seed" -c "$1" -T "$seconds" -f "$2" >"$workspace/$(basename "$2" .sql).log" 2>&1 &
    clients+=($!)
}
load_with 4 "$folder/write.sql"
load_with 3 "$folder/read.sql"
load_with 1 "$workspace/vacuum.sql"
for client in "${clients[@]}"; do
    wait "$client" || { tail -n 5 "$workspace"/*.log "$data/server.log"; die "a client failed"; }
done
for kind in write read vacuum; do
    sed -n "s/^number of transactions actually processed/$kind/p" "$workspace/$kind.log"
done
if grep -hE 'ERROR|FATAL|PANIC' "$workspace"/*.log; then die "errors under load"; fi
run_psql <<'SQL'
VACUUM;
SELECT i.oid::regclass AS index, pg_size_pretty(pg_relation_size(i.oid)) AS size, c.*
FROM pg_class i JOIN pg_am ON pg_am.oid = relam AND amname = 'simhash', simhash_index_check(i.oid, true) c;
SQL
run_psql -At -f "$folder/compare.sql" | tee "$workspace/differences"
! grep -vE '^[1-9][0-9]* .*, 0 differences$' "$workspace/differences" && [ -s "$workspace/differences" ]
