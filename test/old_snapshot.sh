#!/usr/bin/env bash
# old_snapshot_threshold (PostgreSQL 15 and 16): vacuum may remove what an old snapshot would see, and the snapshot must then get an error
# instead of fewer rows, by every kind of scan. Takes 2.5 minutes: the least threshold is one minute, counted in whole ones.
#   make old-snapshot    with the extension installed
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

find_pg_config
start_workspace old-snapshot
start_server old-snapshot "old_snapshot_threshold = 1"
run_psql <<'SQL'
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT i AS id, (i % 50)::bigint AS fp, ((i % 50)::bit(64) || (i % 50)::bit(64))::bit(128) AS code FROM generate_series(1, 1000) i;
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_code ON docs USING simhash (code);
CREATE TABLE clock (tick integer);
SQL
queries=(
    "SELECT count(id) FROM docs WHERE fp = 7"
    "SELECT count(id) FROM docs WHERE fp <~> 7 <= 3"
    "SELECT count(fp) FROM docs WHERE fp <~> 7 <= 3"
    "SELECT count(*) FROM (SELECT id FROM docs ORDER BY fp <~> 7) d"
    "SELECT count(id) FROM docs WHERE code =~~ (7::bit(64) || 7::bit(64))::bit(128)"
    "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SELECT count(id) FROM docs WHERE fp <~> 7 <= 3")
readers=()
# The readers wait behind this lock, with their snapshots, until the rows are gone.
coproc gate { "$bindir/psql" -X -q -At; }
echo 'SELECT 1 FROM pg_advisory_lock(1);' >&"${gate[1]}"
read -r -u "${gate[0]}" _
for i in "${!queries[@]}"; do
    "$bindir/psql" -X -q -At -c "SET enable_seqscan = off" -c "BEGIN ISOLATION LEVEL REPEATABLE READ" -c "SELECT FROM clock" \
        -c "SELECT FROM pg_advisory_lock_shared(1)" -c "${queries[i]}" >"$workspace/answer.$i" 2>&1 &
    readers+=($!)
done
until [ "$(run_psql -At -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")" = "${#queries[@]}" ]; do
    sleep 0.2
done
run_psql -c "DELETE FROM docs WHERE fp = 7"
# The server notes the time of a transaction id when a snapshot is taken.
for _ in $(seq 43); do
    run_psql -c "INSERT INTO clock VALUES (1)"
    sleep 3
done
run_psql -c "VACUUM docs"
rows=$(run_psql -At -c "SELECT rows FROM simhash_index_check('docs_fp', true)")
[ "$rows" = 980 ] || die "vacuum has not removed the rows: $rows are in the index"
eval "exec ${gate[1]}>&-" # ends that session
wait "${readers[@]}" || true
for i in "${!queries[@]}"; do
    grep -q 'snapshot too old' "$workspace/answer.$i" || die "${queries[i]}: $(cat "$workspace/answer.$i")"
done
echo "${#queries[@]} queries, each told that its snapshot is too old"
