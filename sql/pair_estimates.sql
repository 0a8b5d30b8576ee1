-- How many rows the planner expects of simhash_pairs, simhash_join and their relatives.
CREATE FUNCTION expected_rows(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

-- 5 000 documents, of which 3 000 have a near-duplicate or two.
CREATE TABLE docs AS
SELECT i AS id, hashint8extended(CASE WHEN i % 5 < 3 THEN i % 1000 ELSE i END, 1) # (1::bigint << (i / 1000)) AS fp
FROM generate_series(1, 5000) i;
CREATE TABLE arrivals AS SELECT id, fp FROM docs WHERE id % 50 = 0;
ANALYZE docs, arrivals;
SET max_parallel_workers_per_gather = 0;

-- Of a query, which is planned; of an array that an aggregate or a subquery collects; of a constant.
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs'')') AS of_query,
       expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs WHERE id <= 100'', 64)') AS of_100_at_64,
       expected_rows('SELECT FROM simhash_pairs((SELECT array_agg(fp) FROM docs))') AS of_aggregate,
       expected_rows('SELECT FROM simhash_pairs(ARRAY(SELECT fp FROM docs))') AS of_subquery,
       expected_rows('WITH d AS MATERIALIZED (SELECT fp FROM docs) SELECT FROM simhash_pairs((SELECT array_agg(fp) FROM d))') AS of_cte,
       expected_rows('SELECT FROM simhash_pairs(''{1,2,3,4}'', 64)') AS of_constant;
SELECT expected_rows('SELECT FROM simhash_join_of(''SELECT fp FROM arrivals'', ''SELECT fp FROM docs'')') AS of_queries,
       expected_rows('SELECT FROM simhash_join((SELECT array_agg(fp) FROM docs), (SELECT array_agg(fp) FROM arrivals))') AS of_aggregates,
       expected_rows('SELECT FROM simhash_join(''{1,2,3}'', ''{1,2}'', 64)') AS of_constants;
-- Within ten times of what is found.
SELECT query, expected_rows('SELECT FROM ' || query) BETWEEN actual / 10.0 AND actual * 10.0 AS near
FROM (SELECT 'simhash_pairs_of(''SELECT fp FROM docs'')' AS query, count(*) AS actual FROM simhash_pairs_of('SELECT fp FROM docs')
      UNION ALL
      SELECT 'simhash_join_of(''SELECT fp FROM arrivals'', ''SELECT fp FROM docs'')', count(*)
      FROM simhash_join_of('SELECT fp FROM arrivals', 'SELECT fp FROM docs')) q;
-- In parallel: the rows of all processes.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT expected_rows('SELECT FROM simhash_pairs((SELECT array_agg(fp) FROM docs))') BETWEEN 2500 AND 10000 AS near;
RESET ALL;
SET max_parallel_workers_per_gather = 0;

-- The radius: no pair of different fingerprints at 0 (a plan has at least one row), all of them at 64, none at NULL or -1.
SELECT radius, expected_rows(format('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs'', %s)', radius))
FROM unnest('{0,1,3,8,24,64,65,-1,"NULL"}'::text[]) radius;

-- A parameter that is known, one that is not, a function of the planner's time.
PREPARE pairs(text, integer) AS SELECT FROM simhash_pairs_of($1, $2);
SELECT expected_rows('EXECUTE pairs(''SELECT fp FROM docs'', 3)') AS known, expected_rows('EXECUTE pairs(NULL, 3)') AS known_null;
SET plan_cache_mode = force_generic_plan;
SELECT expected_rows('EXECUTE pairs(''SELECT fp FROM docs'', 3)') AS unknown;
RESET plan_cache_mode;
SELECT expected_rows('SELECT FROM simhash_pairs_of(format(''SELECT fp FROM %I'', ''docs''))') AS of_format;

-- A query that cannot be planned yet, or ever, is no error before it is called; nothing is known of it.
SELECT query, expected_rows(format('SELECT FROM simhash_pairs_of(%L)', query))
FROM unnest(ARRAY['SELECT fp FROM missing', 'SELECT fp FRM docs', 'SELECT 1::bigint; SELECT 2::bigint', 'DELETE FROM docs', '']) query;
CREATE FUNCTION pairs_of_a_new_table() RETURNS bigint LANGUAGE sql AS $$
    CREATE TEMP TABLE new_docs AS SELECT i::bigint AS fp FROM generate_series(0, 1) i;
    SELECT count(*) FROM simhash_pairs_of('SELECT fp FROM new_docs');
$$;
SELECT pairs_of_a_new_table();
SELECT count(*) FROM simhash_pairs_of('SELECT fp FROM missing');
-- What the query does in the planner is undone, and the rest of the transaction goes on.
BEGIN;
INSERT INTO arrivals VALUES (-1, 1);
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM missing'')');
INSERT INTO arrivals VALUES (-2, 2);
COMMIT;
SELECT count(*) FROM arrivals WHERE id < 0;
-- That is also so where nothing is wrong with the query; and the planner's functions cannot write, whatever they are declared.
CREATE FUNCTION reads_only() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'transaction_read_only is %', current_setting('transaction_read_only');
    PERFORM set_config('simhash_test.planned', 'yes', true), pg_advisory_xact_lock(1);
    RETURN 1;
END $$;
CREATE FUNCTION insert_arrival() RETURNS bigint LANGUAGE sql AS 'INSERT INTO arrivals VALUES (-3, 3) RETURNING id';
CREATE FUNCTION writes() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN insert_arrival(); END';
BEGIN;
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs WHERE id <= 100 * reads_only()'', 64)');
SELECT current_setting('simhash_test.planned', true) AS setting, count(*) AS locks
FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR relation = 'docs'::regclass);
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs WHERE id = writes()'', 64)');
SHOW transaction_read_only;
COMMIT;
SELECT count(*) FROM arrivals WHERE id < 0;
-- A query in a query is not planned: with each there may be more of them, as here.
CREATE FUNCTION two_of(queries integer) RETURNS text STABLE LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'two of %', queries;
    IF queries = 0 THEN RETURN 'SELECT fp FROM docs'; END IF;
    RETURN format('SELECT a FROM simhash_pairs_of(two_of(%1$s)) UNION ALL SELECT a FROM simhash_pairs_of(two_of(%1$s))', queries - 1);
END $$;
SELECT expected_rows('SELECT FROM simhash_pairs_of(two_of(3))');
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs'')') AS as_before;
-- Who may not read a table is not told what the planner knows of it; who may read some columns, only of these.
CREATE ROLE regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs WHERE id <= 100'', 64)') AS of_another,
       expected_rows('SELECT FROM simhash_join_of(''SELECT 1::bigint'', ''SELECT fp FROM docs WHERE id <= 100'', 64)') AS of_one_and_another,
       expected_rows('SELECT FROM simhash_pairs_of(''SELECT 1::bigint WHERE EXISTS (SELECT FROM docs WHERE id <= 100)'', 64)') AS of_a_subquery;
RESET ROLE;
GRANT SELECT (fp) ON docs TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs'')') AS of_its_column,
       expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM docs WHERE id <= 100'', 64)') AS of_another_column;
RESET ROLE;
-- A view is read with its owner's rights.
CREATE VIEW first_docs AS SELECT fp FROM docs WHERE id <= 100;
GRANT SELECT ON first_docs TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
SELECT expected_rows('SELECT FROM simhash_pairs_of(''SELECT fp FROM first_docs'', 64)') AS of_a_view;
RESET ROLE;

DROP VIEW first_docs;
DROP TABLE docs, arrivals;
DROP FUNCTION expected_rows, pairs_of_a_new_table, reads_only, insert_arrival, writes, two_of;
DROP ROLE regress_simhash_reader;
