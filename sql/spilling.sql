-- Pairs, groups, clusters and joins of more fingerprints than memory holds: the same answers by temporary files, which are gone afterwards.

-- Random ones, near ones, repeated ones, and many that share most of their bits.
CREATE TABLE spill_source AS
SELECT i AS id, CASE WHEN i % 10 < 6 THEN hashint8extended(i, 1)
            WHEN i % 10 < 9 THEN hashint8extended(i - i % 10, 1) # (1::bigint << (i % 64)) # (5::bigint << (i % 61))
            ELSE hashint8extended(i % 700, 1) END AS fp
FROM generate_series(1, 20000) i
UNION ALL SELECT 20000 + i, (81985529216486895::bigint << 24) + (hashint4(i) & 16777215) FROM generate_series(1, 4000) i
UNION ALL SELECT 30000, NULL;

-- What statements write to temporary files, and what they leave.
CREATE FUNCTION temporary_blocks(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || statement INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Temp Written Blocks')::bigint;
END $$;
CREATE FUNCTION temporary_files() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%'
$$;

-- The answers in memory.
SET work_mem = '64MB';
CREATE TABLE spill_pairs AS
SELECT radius, p.* FROM unnest('{1,3,6}'::integer[]) radius, simhash_pairs('SELECT id, fp FROM spill_source', radius) p;
CREATE TABLE spill_pairs_agg AS
SELECT radius, (unnest(simhash_pairs_agg(fp, radius))).* FROM spill_source, unnest('{1,3,6}'::integer[]) radius GROUP BY radius;
CREATE TABLE spill_groups AS
SELECT radius, chains, g.* FROM unnest('{1,3,6}'::integer[]) radius, unnest('{f,t}'::boolean[]) chains,
    simhash_groups('SELECT id, fp FROM spill_source', radius, chains) g;
CREATE TABLE spill_clusters AS
SELECT radius, id, simhash_cluster(fp, radius) OVER (PARTITION BY radius) AS cluster
FROM unnest('{0,1,3}'::integer[]) radius, spill_source;
CREATE TABLE spill_joined AS
SELECT radius, p.* FROM unnest('{0,3,6}'::integer[]) radius,
    simhash_join('SELECT id, fp FROM spill_source WHERE id % 4 = 0', 'SELECT id, fp FROM spill_source WHERE id % 4 <> 0', radius) p;
SELECT temporary_blocks('SELECT count(*) FROM simhash_pairs(''SELECT id, fp FROM spill_source WHERE id < 9000'', 1)') AS blocks_in_memory;
SELECT radius, count(*) AS pairs FROM spill_pairs GROUP BY radius ORDER BY radius;
SELECT radius, count(*) AS pairs FROM spill_pairs_agg GROUP BY radius ORDER BY radius;
SELECT radius, chains, count(DISTINCT original) AS groups FROM spill_groups GROUP BY radius, chains ORDER BY radius, chains;
SELECT radius, count(DISTINCT cluster) AS clusters FROM spill_clusters GROUP BY radius ORDER BY radius;
SELECT radius, count(*) AS pairs FROM spill_joined GROUP BY radius ORDER BY radius;

-- The answers by files, with as little memory as can be set, and with more.
SET hash_mem_multiplier = 1;
CREATE FUNCTION wrong_answers(memory text, statement text, expected regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE wrong bigint;
BEGIN
    PERFORM set_config('work_mem', memory, true);
    EXECUTE 'CREATE TEMP TABLE found AS ' || statement;
    PERFORM set_config('work_mem', '64MB', true);
    EXECUTE format('SELECT count(*) FROM ((TABLE found EXCEPT ALL TABLE %1$s) UNION ALL (TABLE %1$s EXCEPT ALL TABLE found)) w', expected)
    INTO wrong;
    DROP TABLE found;
    RETURN wrong;
END $$;
SELECT memory,
       wrong_answers(memory, $$SELECT radius, p.* FROM unnest('{1,3,6}'::integer[]) radius,
           simhash_pairs('SELECT id, fp FROM spill_source', radius) p$$, 'spill_pairs') AS pairs,
       wrong_answers(memory, $$SELECT radius, (unnest(simhash_pairs_agg(fp, radius))).*
           FROM spill_source, unnest('{1,3,6}'::integer[]) radius GROUP BY radius$$, 'spill_pairs_agg') AS pairs_agg,
       wrong_answers(memory, $$SELECT radius, chains, g.* FROM unnest('{1,3,6}'::integer[]) radius, unnest('{f,t}'::boolean[]) chains,
           simhash_groups('SELECT id, fp FROM spill_source', radius, chains) g$$, 'spill_groups') AS groups,
       wrong_answers(memory, $$SELECT radius, p.* FROM unnest('{0,3,6}'::integer[]) radius,
           simhash_join('SELECT id, fp FROM spill_source WHERE id % 4 = 0',
                        'SELECT id, fp FROM spill_source WHERE id % 4 <> 0', radius) p$$, 'spill_joined') AS join
FROM unnest('{64kB,500kB,1500kB}'::text[]) memory;
SELECT wrong_answers('500kB', $$SELECT radius, id, simhash_cluster(fp, radius) OVER (PARTITION BY radius) AS cluster
           FROM unnest('{0,1,3}'::integer[]) radius, spill_source$$, 'spill_clusters') AS clusters;
SET work_mem = '64kB';
-- More rows than memory holds, of few fingerprints and NULL: each has one other in its cluster, which differs in the last bit.
SELECT count(*) AS rows, count(cluster) AS named, count(DISTINCT cluster) AS clusters, count(*) FILTER (WHERE cluster <> (fp & -2)) AS wrong
FROM (SELECT fp, simhash_cluster(fp, 1) OVER () AS cluster
      FROM (SELECT CASE WHEN i % 11 > 0 THEN hashint8extended(i % 301, 1) # (i % 2) END AS fp FROM generate_series(1, 50000) i) f) c;
SELECT temporary_blocks('SELECT count(*) FROM simhash_pairs(''SELECT id, fp FROM spill_source'', 1)') > 100 AS by_files;
SELECT count(*) AS pairs, bool_and(before IS NULL OR before < (id, other)) AS in_order
FROM (SELECT id, other, lag((id, other)) OVER () AS before FROM simhash_pairs('SELECT id, fp FROM spill_source ORDER BY id', 8)) p;
-- Repeated ones that do not meet in memory.
SELECT cardinality(simhash_pairs_agg(hashint8extended(i % 5000, 1), 12)) FROM generate_series(1, 50000) i;
SELECT cardinality(simhash_pairs_agg(hashint8extended(i, 1), 12)) FROM generate_series(0, 4999) i;
-- All within the radius of each other, and compared with each other.
SELECT count(*) FROM simhash_pairs('SELECT i, i::bigint FROM generate_series(1, 1800) i', 11);
SELECT count(*) FROM simhash_join('SELECT i, i::bigint FROM generate_series(1, 900) i', 'SELECT i, i::bigint FROM generate_series(901, 1800) i', 11);
-- Equal ones alone, of two sets of which both are in files.
SELECT count(*), min(id - other), max(id - other) FROM simhash_join('SELECT i, i::bigint FROM generate_series(1, 20000) i', 'SELECT i, i::bigint FROM generate_series(10001, 30000) i', 0);

-- Clusters: no links, a chain of all, and chains that few bits make.
SELECT count(DISTINCT simhash_cluster) FROM (
    SELECT simhash_cluster(hashint8extended(i, 1)) OVER () FROM generate_series(1, 20000) i) c;
SELECT count(DISTINCT simhash_cluster) FROM (SELECT simhash_cluster(i, 1) OVER () FROM generate_series(0, 16383) i) c;
SELECT count(DISTINCT simhash_cluster) FROM (SELECT simhash_cluster(i, 14) OVER () FROM generate_series(0, 16383) i) c;

-- Nothing is left after errors, cancelling, or groups that were not asked for.
SET work_mem = '64kB';
SELECT count(*) FROM simhash_pairs('SELECT i, hashint8extended(i, 1) / (30000 - i) FROM generate_series(1, 40000) i', 3);
SELECT temporary_files();
SELECT simhash_cluster(hashint8extended(i, 1), 3) OVER () / (i - 30000) FROM generate_series(1, 40000) i;
SELECT temporary_files();
SET temp_file_limit = '512kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_pairs('SELECT i, hashint8extended(i, 1) FROM generate_series(1, 200000) i', 3);
SELECT count(*) FROM simhash_groups('SELECT i, hashint8extended(i, 1) FROM generate_series(1, 200000) i', 3);
\set VERBOSITY default
RESET temp_file_limit;
SELECT temporary_files();
SET statement_timeout = '500ms';
-- The error says more where the inner query is cancelled.
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_pairs('SELECT i, hashint8extended(i, 1) FROM generate_series(1, 100000) i', 26);
\set VERBOSITY default
RESET statement_timeout;
SELECT temporary_files();
SET enable_sort = off;
SELECT cardinality(simhash_pairs_agg(hashint8extended(i, 1))) FROM generate_series(1, 40000) i GROUP BY i % 3 LIMIT 1;
RESET enable_sort;
SELECT simhash_pairs_agg(hashint8extended(i, 1), NULL) FROM generate_series(1, 20000) i;
SELECT temporary_files();
SELECT simhash_cluster(i % 300, 0) OVER () FROM generate_series(1, 40000) i LIMIT 2;
SELECT temporary_files();
BEGIN;
DECLARE names CURSOR FOR SELECT i % 300 AS fp, simhash_cluster(i % 300, 0) OVER () FROM generate_series(1, 40000) i;
FETCH 2 FROM names;
MOVE 30000 IN names;
SAVEPOINT before;
FETCH 2 FROM names;
ROLLBACK TO before;
MOVE 9000 IN names;
FETCH 2 FROM names;
SELECT temporary_files() > 0 AS has_rows_of_the_window;
COMMIT;
SELECT temporary_files();
-- One side spilled, and the other is empty: the files are released. So are those of a search that a LIMIT or an error in the
-- function's caller ends.
SELECT count(*) FROM simhash_join('SELECT i, i::bigint FROM generate_series(1, 20000) i', 'SELECT 1, 1::bigint WHERE false', 3);
SELECT count(*) FROM simhash_join('SELECT 1, 1::bigint WHERE false', 'SELECT i, i::bigint FROM generate_series(1, 20000) i', 3);
SELECT simhash_pairs('SELECT i, i::bigint FROM generate_series(1, 5000) i', 2) IS NULL LIMIT 1;
SELECT temporary_files();
DO $$ BEGIN
    PERFORM simhash_cluster(i % 300, 0) OVER () / (i - 30000) FROM generate_series(1, 40000) i;
EXCEPTION WHEN division_by_zero THEN RAISE INFO 'caught, % files', temporary_files();
END $$;
-- Nor does an error that nobody catches leave one, or a warning.
CREATE FUNCTION failing() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    RETURN count(*) FROM simhash_pairs('SELECT i, i::bigint / (i - 30000) FROM generate_series(1, 40000) i', 3);
END $$;
\set SHOW_CONTEXT never
SELECT failing();
SELECT temporary_files();
-- Less memory when a set is searched than when it was collected.
BEGIN;
SET LOCAL work_mem = '64MB';
SET LOCAL enable_sort = off;
DECLARE pairs CURSOR FOR SELECT cardinality(simhash_pairs_agg(hashint8extended(i / 4, 1), 0)) AS pairs FROM generate_series(0, 39999) i GROUP BY i % 2;
FETCH 1 FROM pairs;
SET LOCAL work_mem = '64kB';
FETCH 1 FROM pairs;
COMMIT;
SET work_mem = '64MB';
SELECT count(*) FROM simhash_join($$SELECT i, i::bigint FROM generate_series(1, 20000) i
    UNION ALL SELECT 0, 0 WHERE set_config('work_mem', '64kB', false) IS NULL$$, 'SELECT i, i::bigint FROM generate_series(1, 20000) i', 0);
RESET work_mem;
DROP TABLE spill_source, spill_pairs, spill_pairs_agg, spill_groups, spill_clusters, spill_joined;
DROP FUNCTION temporary_blocks, temporary_files, wrong_answers, failing;
