#!/usr/bin/env bash
# All pairs of documents with a similarity of .8 or more inside the server, text in, pairs out, beside the
# same documents outside it (verified_pairs.cpp):
#
#   test/bench/verified_pairs.sh PG_CONFIG DOCUMENTS BYTES CORPUS...
#
# Builds simhash for that server, without installing it, and measures in a throwaway cluster on a socket of
# its own: processor time of the one backend, and the time by the clock of a call that has a worker, too.
# Called as root it drops to the user postgres.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
pg_config=$1
shift
# shellcheck source=test/bench/throwaway.sh
. "$root/test/bench/throwaway.sh"

build/verified_pairs 0 "$@" >"$work/documents"

start_bench_server fsync=off shared_buffers=1GB max_wal_size=4GB
psql <<SQL
CREATE TABLE document (id bigint GENERATED ALWAYS AS IDENTITY, body text);
\copy document (body) FROM '$work/documents'
VACUUM ANALYZE document;
-- Of this backend, in seconds: utime and stime, in hundredths.
CREATE FUNCTION processor_time() RETURNS numeric LANGUAGE sql AS \$\$
    SELECT (split_part(line, ' ', 12)::numeric + split_part(line, ' ', 13)::numeric) / 100
    FROM (SELECT regexp_replace(pg_read_file('/proc/' || pg_backend_pid() || '/stat'), '^.*\) ', '. ')) AS stat (line)
\$\$;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1GB';
CREATE FUNCTION measure(fingerprint text, radius integer) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
    began numeric := processor_time();
    made numeric; near numeric; verified numeric;
    candidates bigint; pairs bigint;
BEGIN
    EXECUTE format('CREATE TEMP TABLE page AS SELECT id, %s AS fp FROM document', fingerprint);
    made := processor_time();
    CREATE TEMP TABLE candidate AS
        SELECT x.id AS a, y.id AS b
        FROM unnest((SELECT simhash_pairs_agg(fp, radius) FROM page)) near
        JOIN page x ON x.fp = near.a
        JOIN page y ON y.fp = near.b
        UNION ALL
        SELECT x.id, y.id FROM page x JOIN page y ON x.fp = y.fp AND x.id < y.id;
    near := processor_time();
    SELECT count(*) INTO candidates FROM candidate;
    ANALYZE candidate;
    -- A set for each document that is in a candidate, and the sets last.
    CREATE TEMP TABLE page_shingles AS
        SELECT id, simhash_shingles(body) AS shingles FROM document
        WHERE id IN (SELECT a FROM candidate UNION SELECT b FROM candidate);
    ANALYZE page_shingles;
    SELECT count(*) INTO pairs
    FROM candidate JOIN page_shingles x ON x.id = a JOIN page_shingles y ON y.id = b
    WHERE shingle_similarity(x.shingles, y.shingles) >= 0.8;
    verified := processor_time();
    DROP TABLE page, candidate, page_shingles;
    RETURN format('| %s within %s | %s | %s | %s | **%s** | %s | %s |', fingerprint, radius, round(made - began, 1),
                  round(near - made, 1), round(verified - near, 1), round(verified - began, 1), candidates, pairs);
END \$\$;
\echo '| in the server | make, s | search, s | verify, s | processor, s | pairs compared | pairs found |'
\echo '|---|--:|--:|--:|--:|--:|--:|'
SELECT measure('minhash(body)', 8);
SELECT measure('minhash(body)', 10);
SELECT measure('simhash(body)', 8);
-- In one call.
CREATE FUNCTION measure_call(name text, call text, memory text, workers integer DEFAULT 0) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
    clock timestamptz := clock_timestamp();
    began numeric := processor_time();
    ended numeric; found bigint;
BEGIN
    PERFORM set_config('work_mem', memory, true), set_config('max_parallel_workers_per_gather', workers::text, true);
    EXECUTE 'SELECT count(*) FROM ' || call INTO found;
    ended := processor_time();
    RETURN format('| %s | %s | %s | **%s** | **%s** | %s |', name, memory, workers + 1, round(ended - began, 1),
                  round(extract(epoch FROM clock_timestamp() - clock), 1), found);
END \$\$;
ALTER TABLE document SET (parallel_workers = 1);
\echo
\echo '| in one call | work_mem | processes | processor of the backend, s | clock, s | found |'
\echo '|---|--:|--:|--:|--:|--:|'
SELECT measure_call('near_duplicate_pairs: pairs', \$\$near_duplicate_pairs('SELECT id, body FROM document')\$\$, '64MB');
SELECT measure_call('near_duplicate_groups: copies', \$\$near_duplicate_groups('SELECT id, body FROM document') g WHERE g.id <> original\$\$, '64MB');
SELECT measure_call('near_duplicate_pairs of sets: pairs', \$\$near_duplicate_pairs('SELECT id, simhash_shingles(body) FROM document')\$\$, '64MB');
SELECT measure_call('near_duplicate_pairs of sets: pairs', \$\$near_duplicate_pairs('SELECT id, simhash_shingles(body) FROM document')\$\$, '64MB', 1);
SELECT measure_call('near_duplicate_pairs: pairs', \$\$near_duplicate_pairs('SELECT id, body FROM document')\$\$, '1GB');
SELECT measure_call('near_duplicate_groups: copies', \$\$near_duplicate_groups('SELECT id, body FROM document') g WHERE g.id <> original\$\$, '1GB');
SQL
