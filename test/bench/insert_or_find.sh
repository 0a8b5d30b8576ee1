#!/usr/bin/env bash
# Documents that arrive from 32 clients, one in three a near-copy of the one that came a thousand before: the function of
# scripts/insert_or_find.sql that inserts a document or finds the row of its near-duplicate, beside INSERT ... ON CONFLICT (key) DO UPDATE
# by the text's md5:
#
#   test/bench/insert_or_find.sh PG_CONFIG CALLS
#
# Three rounds in turns, CALLS in each, into tables that begin empty in the first. Builds simhash for that server, without installing
# it, and measures in a throwaway cluster on a socket of its own, with fsync as PostgreSQL sets it (FSYNC=off: without). Afterwards no
# near-duplicates may be left. Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
calls=$(($2 / 32 * 32))
rounds=3
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

python3 test/bench/documents.py $((calls * rounds)) >"$work/documents"
# Each client takes the next document.
echo "SELECT n.* FROM arrival a, notice(a.body) n WHERE a.id = (SELECT nextval('turn'))" >"$work/notice.sql"
echo "INSERT INTO keyed (key, body) SELECT md5(body), body FROM arrival WHERE id = (SELECT nextval('turn'))
      ON CONFLICT (key) DO UPDATE SET body = EXCLUDED.body RETURNING id" | tr '\n' ' ' >"$work/keyed.sql"

start_bench_server "fsync=${FSYNC:-on}" shared_buffers=2GB max_wal_size=16GB
psql -f scripts/insert_or_find.sql
psql <<SQL
CREATE TABLE document (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);
\copy document (body) FROM '$work/documents'
-- Each third is another one with three of its words exchanged. If that came just before, it would wait for its transaction.
CREATE FUNCTION near_copy(body text) RETURNS text LANGUAGE sql AS \$\$
    SELECT string_agg(CASE WHEN place IN (20, 60, 100) THEN 'another' ELSE word END, ' ' ORDER BY place)
    FROM string_to_table(body, ' ') WITH ORDINALITY w (word, place)
\$\$;
CREATE TABLE arrival AS
    SELECT d.id, CASE d.id % 3 WHEN 0 THEN near_copy(before.body) ELSE d.body END AS body
    FROM document d LEFT JOIN document before ON before.id = d.id - CASE WHEN d.id > 1000 THEN 1000 ELSE 1 END;
ALTER TABLE arrival ADD PRIMARY KEY (id);
CREATE SEQUENCE turn CACHE 1;
CREATE TABLE keyed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text UNIQUE, body text);
VACUUM ANALYZE;
CHECKPOINT;
SQL
throughput() { # SCRIPT ROUND
    psql -c "SELECT setval('turn', $2 * $calls + 1, false)" >/dev/null
    as_server "$bin/pgbench" -h "$work" -n -c 32 -j 2 -t $((calls / 32)) -M prepared -f "$work/$1" postgres 2>"$work/errors" |
        sed -n 's/^tps = \([0-9]*\).*/\1/p'
    grep -E 'ERROR|aborted' "$work/errors" >&2 || true
}
echo '| round | insert or find, a second | upsert, a second | ratio |'
echo '|--:|--:|--:|--:|'
for round in $(seq 0 $((rounds - 1))); do
    near=$(throughput notice.sql "$round")
    keyed=$(throughput keyed.sql "$round")
    echo "| $((round + 1)) | $near | $keyed | $(awk "BEGIN { printf \"%.2f\", $near / $keyed }") |"
done
psql <<SQL
SELECT format('%s documents, %s rows, %s near-duplicates left', (SELECT count(*) FROM arrival WHERE id <= $((calls * rounds))),
              (SELECT count(*) FROM notices), (SELECT count(*) FROM near_duplicate_pairs('SELECT id, body FROM notices')));
SQL
