#!/usr/bin/env bash
# One document against many others by an index on the texts, the texts compared, beside pg_trgm's % with GIN and GiST on the same table:
#
#   test/bench/document_search.sh PG_CONFIG DOCUMENTS [gin] [gist]
#
# Builds simhash for that server, without installing it, and measures in a throwaway cluster on a socket of its own: one session, no
# parallel workers, each query planned and timed by itself. pg_trgm's indexes, which take long, are made only where they are named.
# Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
cd "$root"
pg_config=$1
documents=$2
shift 2
# shellcheck source=test/bench/throwaway.sh
. test/bench/throwaway.sh

start_document_server "$documents" fsync=off shared_buffers=2GB max_wal_size=8GB maintenance_work_mem=1GB
psql <<SQL
-- Times single queries for the documents that come before a near-copy; the first tenth is not counted.
CREATE FUNCTION measure(condition text, queries integer) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
    begun timestamptz; asked text; found bigint; rows bigint := 0; times float8[] := '{}';
BEGIN
    FOR i IN 0 .. queries + queries / 10 - 1 LOOP
        SELECT body INTO asked FROM document WHERE id = 1 + 10 * (i * 7919 % ($documents / 10));
        begun := clock_timestamp();
        EXECUTE 'SELECT count(*) FROM document WHERE ' || condition INTO found USING asked;
        IF i >= queries / 10 THEN
            times := times || 1000 * extract(epoch FROM clock_timestamp() - begun)::float8;
            rows := rows + found;
        END IF;
    END LOOP;
    RETURN (SELECT format('%s | %s ms | %s ms | %s ms | %s |', queries, round(max(p[1])::numeric, 2), round(max(p[2])::numeric, 2),
                          round(max(p[3])::numeric, 2), rows)
            FROM (SELECT percentile_cont('{.5,.9,.99}'::float8[]) WITHIN GROUP (ORDER BY t) AS p FROM unnest(times) t) x);
END \$\$;
-- method CONDITION INDEX QUERIES, as a row of the table.
CREATE PROCEDURE method(condition text, index text, queries integer) LANGUAGE plpgsql AS \$\$
DECLARE
    begun timestamptz := clock_timestamp(); built interval;
BEGIN
    SET max_parallel_maintenance_workers = 0;
    SET max_parallel_workers_per_gather = 0;
    SET enable_seqscan = off;
    SET jit = off;
    EXECUTE 'CREATE INDEX measured ON document USING ' || index;
    built := clock_timestamp() - begun;
    RAISE INFO '| % | % s | % MB | % ', '\`' || condition || '\`, ' || split_part(index, ' ', 1), round(extract(epoch FROM built), 1),
        pg_relation_size('measured') / 1000000, measure(condition, queries);
    DROP INDEX measured;
END \$\$;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
ALTER DATABASE postgres SET pg_trgm.similarity_threshold = 0.8;
SQL
printf '| %s documents, method | build | size | queries | median | 90 %% | 99 %% | rows |\n|---|--:|--:|--:|--:|--:|--:|--:|\n' "$documents"
method() { psql -c "CALL method('$1', '$2', $3)" 2>&1 | sed -n 's/^INFO:  //p'; }
# shellcheck disable=SC2016 # $1 is the query's parameter
{
    method 'body =~~ $1' 'simhash (body)' 1000
    method 'near_duplicate(body, $1, 0.9)' 'simhash (body)' 1000
    for other in "$@"; do method 'body % $1' "$other (body ${other}_trgm_ops)" 20; done
}
