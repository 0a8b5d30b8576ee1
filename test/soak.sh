#!/usr/bin/env bash
# Mixed load on a table of a million rows for SECONDS (default 600), then the check and a comparison with brute force.
#   make soak [SECONDS=n]
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
seconds=${1:-600}

find_pg_config
start_workspace soak
start_server soak "autovacuum = on" "autovacuum_naptime = 5s" "max_connections = 50" "checkpoint_timeout = 60s"
run_psql <<'SQL'
CREATE EXTENSION simhash;
-- A code is four times as far from another as their fingerprints are.
CREATE TABLE docs (id bigint, fp bigint,
    code bit(256) GENERATED ALWAYS AS ((fp::bit(64) || (~fp)::bit(64) || fp::bit(64) || (fp # 4711)::bit(64))::bit(256)) STORED);
INSERT INTO docs SELECT i, CASE WHEN i % 10 < 7 THEN hashint8extended(i, 1) ELSE hashint8extended(i - i % 10, 1) # (1::bigint << (i % 64)::integer) END
    FROM generate_series(1, 1000000) i;
CREATE INDEX docs_id ON docs (id);
CREATE INDEX docs_fp ON docs USING simhash (fp);
CREATE INDEX docs_code ON docs USING simhash (code);
SQL
cat >"$workspace/write.sql" <<'SQL'
\set i random(1, 1000000)
INSERT INTO docs SELECT 1000000 + :i + j, hashint8extended(:i + j, 2) FROM generate_series(1, 10) j;
UPDATE docs SET fp = fp # 6 WHERE id = :i;
UPDATE docs SET id = id WHERE id = :i + 1;
DELETE FROM docs WHERE id BETWEEN :i + 2 AND :i + 10;
SQL
cat >"$workspace/read.sql" <<'SQL'
\set i random(1, 1000000)
SELECT count(*) FROM docs WHERE fp <~> hashint8extended(:i, 1) <= 3;
SELECT count(*) FROM (SELECT FROM docs ORDER BY fp <~> hashint8extended(:i, 1) LIMIT 10) d;
SELECT count(*) FROM docs WHERE code =~~ (SELECT code FROM docs WHERE id = :i LIMIT 1);
SQL
cat >"$workspace/vacuum.sql" <<'SQL'
VACUUM docs;
\sleep 2 s
SQL
chmod 644 "$workspace"/*.sql
for client in write:4 read:3 vacuum:1; do
    "$bindir/pgbench" -n -c "${client#*:}" -T "$seconds" -f "$workspace/${client%:*}.sql" >"$workspace/${client%:*}.log" 2>&1 &
done
wait
grep -h 'actually processed' "$workspace"/*.log
if grep -hE 'ERROR|FATAL|PANIC' "$workspace"/*.log | grep -v 'could not serialize'; then die "errors under load"; fi
run_psql -c "VACUUM docs" -c "SELECT i, pg_size_pretty(pg_relation_size(i)) AS size, c.* FROM unnest(ARRAY['docs_fp', 'docs_code']::regclass[]) i, simhash_index_check(i, true) c"
# 200 queries against brute force.
run_psql -At <<'SQL' | tee "$workspace/differences"
CREATE TEMP TABLE query AS SELECT fp AS q, code FROM docs TABLESAMPLE SYSTEM (1) REPEATABLE (1) WHERE fp IS NOT NULL LIMIT 200;
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS SELECT q, (SELECT count(*) FROM docs WHERE fp <~> q <= 3) AS rows,
    (SELECT count(*) FROM docs d WHERE d.code <~~> query.code <= 12) AS codes FROM query;
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
CREATE TEMP TABLE scanned AS SELECT fp, count(*) AS rows FROM docs GROUP BY fp; -- most rows repeat a fingerprint, after hours
CREATE TEMP TABLE by_scan AS SELECT q, sum(rows)::bigint AS rows FROM query JOIN scanned ON bit_count(int8send(fp # q)) <= 3 GROUP BY q;
SELECT count(*) || ' queries, ' || count(*) FILTER (WHERE i.rows IS DISTINCT FROM s.rows OR i.codes IS DISTINCT FROM s.rows) || ' differences' FROM by_index i FULL JOIN by_scan s USING (q);
SQL
grep -q ' 0 differences' "$workspace/differences"
