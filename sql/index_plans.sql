-- Which queries use the index: every form a user would write, with its plan, and the same answer as without the
-- index. The planner chooses by its own costs; only bitmap scans are off where not asked for, to keep this stable.

CREATE FUNCTION word(i int) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql AS
$$ SELECT ('x' || left(md5(i::text), 16))::bit(64)::bigint $$;
-- 20 000 documents: half alone, half in groups of five within two bits of word(-group); every thousandth has no fingerprint.
CREATE TABLE documents (id int PRIMARY KEY, site int, fp bigint);
INSERT INTO documents
SELECT i, i % 4, CASE WHEN i % 1000 = 0 THEN NULL WHEN i % 2 = 0 THEN word(i)
                      ELSE word(-i / 10) # CASE i % 10 WHEN 1 THEN 0 WHEN 3 THEN 5 ELSE 1::bigint << (i % 60) END END
FROM generate_series(1, 20000) i;
CREATE INDEX documents_fp ON documents USING simhash (fp);
CREATE TABLE queries (q bigint, radius int);
INSERT INTO queries SELECT word(-i), i % 5 FROM generate_series(1, 20) i;
VACUUM ANALYZE documents;
ANALYZE queries;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; lines text; name text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        -- PostgreSQL 19 says which table it need not read.
        IF line !~ '^ *Replaces: ' THEN lines := concat_ws(E'\n', lines, line); END IF;
    END LOOP;
    -- Plans within plans, and what they return, have other names in PostgreSQL 17, and others yet in 19.
    FOR name IN SELECT m[1] FROM regexp_matches(lines, 'returns (\$\d+)', 'g') m LOOP
        lines := replace(lines, name, '?');
    END LOOP;
    lines := regexp_replace(lines, '\(InitPlan \w+\)\.col1', '?', 'g');
    RETURN regexp_replace(lines, '(InitPlan|SubPlan) \w+( \(returns \?\))?', '\1', 'g');
END $$;
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
    EXECUTE format($q$SELECT count(*) || ' rows ' || coalesce(sum(hashtext(s::text)::bigint), 0) FROM (%s) s$q$, query)
    INTO result;
    RETURN result;
END $$;
-- A scan that is switched off counts as dear, up to PostgreSQL 17, so that every such query would be compiled.
CREATE FUNCTION answer_without_index(query text) RETURNS text LANGUAGE plpgsql
    SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET jit = off AS
$$ BEGIN RETURN answer(query); END $$;
CREATE FUNCTION shown(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text := answer(query);
BEGIN
    RETURN concat_ws(E'\n', '', '* ' || query, plan(query), split_part(result, ' ', 1) || ' rows, ' ||
                     CASE WHEN result = answer_without_index(query) THEN 'as without the index' ELSE 'WRONG' END);
END $$;
\pset format unaligned
\pset tuples_only on

-- ==== One table ====

SELECT shown('SELECT * FROM documents WHERE ' || predicate)
FROM unnest(ARRAY[
    'fp <~> word(-7) <= 3', 'fp <~> word(-7) < 4', 'fp <~> word(-7) = 0', 'fp <~> word(-7) = 2',
    '3 >= fp <~> word(-7)', '4 > fp <~> word(-7)', '2 = word(-7) <~> fp',
    'hamming(fp, word(-7)) <= 3', 'hamming(word(-7), fp) < 4', '3 >= hamming(fp, word(-7))',
    'hamming_within(fp, word(-7), 3)', 'hamming_within(word(-7), fp, 3)',
    'fp <@ hamming_ball(word(-7), 3)', 'hamming_ball(word(-7), 3) @> fp', 'fp <@ ''(0,12)''', 'fp ~= word(-7)', 'word(-7) ~= fp',
    'fp <~> word(-7) <= 3::smallint', 'fp <~> word(-7) <= 3::bigint', '4::bigint > fp <~> word(-7)', 'fp <~> word(-7) <= ''3''',
    'fp <~> word(-7) <= (SELECT max(radius) FROM queries)', 'fp <~> (SELECT min(q) FROM queries) < (SELECT max(radius) FROM queries)',
    'fp <~> word(-7) BETWEEN 1 AND 2', 'NOT fp <~> word(-7) > 2', 'fp <~> word(-7) <= 3 AND fp <~> word(-8) <= 64',
    'fp <~> word(-7) <= 3 AND site = 1', 'fp <~> word(-7) <= 0', 'fp <~> word(-7) <= 6',
    'fp = word(2)', 'fp IS NULL', 'fp <~> word(-7) <= -1', 'fp <~> word(-7) < -2147483648',
    'fp <~> word(-7) < ''-9223372036854775808''::bigint']) predicate;

-- Two balls: both are searched for. Lists of fingerprints and balls.
SET enable_bitmapscan = on;
SELECT shown('SELECT * FROM documents WHERE ' || predicate)
FROM unnest(ARRAY[
    'fp <~> word(-7) <= 3 OR fp <~> word(-8) <= 3', 'fp <~> word(-7) < 2 OR word(-8) ~= fp OR fp = word(4)',
    'fp = ANY (ARRAY[word(2), word(4), word(6)])', 'fp <@ ANY (ARRAY[hamming_ball(word(-7), 3), hamming_ball(word(-8), 2)])',
    'fp ~= ANY (ARRAY[word(-7), word(-7) # 1, word(-8), NULL])']) predicate;
SET enable_indexscan = off;
SELECT plan('SELECT * FROM documents WHERE fp <~> word(-7) <= 3');
RESET enable_indexscan;
SET enable_bitmapscan = off;

-- Where the index does not help, it is left alone: wide radii, everything, the outside, a small table.
SELECT shown('SELECT * FROM documents WHERE ' || predicate)
FROM unnest(ARRAY[
    'fp <~> word(-7) <= 32', 'fp <~> word(-7) <= 40', 'fp <~> word(-7) <= 64', 'fp <~> word(-7) <= 5000000000', 'fp <~> word(-7) > 3',
    'fp <~> word(-7) >= -5', 'fp <~> word(-7) <> 3', 'fp <~> word(-7) <= NULL', 'fp <~> NULL <= 3']) predicate;
CREATE TABLE few AS SELECT * FROM documents WHERE id <= 20;
CREATE INDEX ON few USING simhash (fp);
ANALYZE few;
SELECT plan('SELECT * FROM few WHERE fp <~> word(-7) <= 3');

-- ==== The first statement of a session, and a search path without the extension ====

\c
EXPLAIN (COSTS OFF) SELECT * FROM documents WHERE fp <~> 42 <= 3;
\c
SET search_path = pg_catalog;
EXPLAIN (COSTS OFF) SELECT * FROM public.documents WHERE fp OPERATOR(public.<~>) 42 <= 3;
\c
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

-- ==== Joins and subqueries ====

SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT * FROM queries JOIN documents ON fp <~> q <= 3',
    'SELECT * FROM queries JOIN documents ON q <~> fp <= radius',
    'SELECT * FROM queries JOIN documents ON fp <~> q < radius',
    'SELECT * FROM queries JOIN documents ON fp <~> q = radius',
    'SELECT * FROM queries, documents WHERE fp ~= q AND site = 1',
    'SELECT * FROM queries LEFT JOIN documents ON hamming(q, fp) <= 3 AND site = 1',
    'SELECT * FROM queries WHERE EXISTS (SELECT FROM documents WHERE fp <~> q <= 3)',
    'SELECT * FROM queries WHERE NOT EXISTS (SELECT FROM documents WHERE fp <~> q <= 0)',
    'SELECT q, q IN (SELECT q FROM documents WHERE fp <~> q <= 1) FROM queries',
    'SELECT q, (SELECT count(*) FROM documents WHERE fp <~> q <= radius) FROM queries',
    'SELECT * FROM queries, LATERAL (SELECT count(*), min(id) FROM documents WHERE fp <~> q <= 3) near',
    'SELECT a.id, b.id AS other FROM documents a JOIN documents b ON a.fp <~> b.fp <= 3 AND a.id < b.id WHERE a.id < 50',
    'WITH near AS (SELECT * FROM documents WHERE fp <~> word(-7) <= 3) SELECT * FROM near a JOIN near b USING (fp)',
    'SELECT * FROM (SELECT fp, count(*) FROM documents GROUP BY fp) groups WHERE fp <~> word(-7) <= 3',
    'SELECT fp, count(*) FROM documents GROUP BY fp HAVING fp <~> word(-7) <= 3',
    'SELECT max(id) FROM documents WHERE fp <~> word(-7) <= 3 AND site >= 0']) query;

-- In parallel.
CREATE TABLE many_queries AS SELECT word(-i) AS q FROM generate_series(1, 5000) i;
ANALYZE many_queries;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM many_queries JOIN documents ON fp <~> q <= 3;
SELECT count(*) FROM many_queries JOIN documents ON fp <~> q <= 3;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- ==== Nearest neighbours ====

-- Distances only: which of several documents at one distance come first is not fixed.
SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT fp <~> word(-7) AS distance FROM documents ORDER BY fp <~> word(-7) LIMIT 10',
    'SELECT hamming(fp, word(-7)) AS distance FROM documents ORDER BY hamming(fp, word(-7)) LIMIT 10',
    'SELECT word(-7) <~> fp AS distance FROM documents ORDER BY word(-7) <~> fp LIMIT 10',
    'SELECT fp <~> word(-7) AS distance FROM documents WHERE fp <~> word(-7) <= 3 ORDER BY 1 LIMIT 3',
    'SELECT fp <~> word(-7) AS distance FROM documents WHERE fp <~> word(-7) < 20 AND site = 1 ORDER BY hamming(fp, word(-7)) LIMIT 3',
    'SELECT q, distance FROM queries, LATERAL (SELECT fp <~> q AS distance FROM documents ORDER BY fp <~> q LIMIT 3) nearest',
    'SELECT q, distance FROM queries, LATERAL (SELECT fp <~> q AS distance FROM documents WHERE fp <~> q <= radius ORDER BY 1 LIMIT 3) nearest',
    'SELECT fp <~> word(-7) AS distance FROM documents ORDER BY fp <~> word(-7) LIMIT 0']) query;
SET plan_cache_mode = force_generic_plan;
PREPARE nearest AS SELECT fp <~> $1 AS distance FROM documents ORDER BY fp <~> $1 LIMIT 2;
SELECT plan('EXECUTE nearest(1)');
EXECUTE nearest(NULL);
RESET plan_cache_mode;

-- ==== Statements that write ====

BEGIN;
SELECT E'\n* ' || query || E'\n' || plan(query) FROM unnest(ARRAY[
    'UPDATE documents SET site = 9 WHERE fp <~> word(-7) <= 3',
    'UPDATE documents SET site = 9 FROM queries WHERE fp <~> q < radius',
    'DELETE FROM documents WHERE 3 >= fp <~> word(-7)',
    'DELETE FROM documents USING queries WHERE hamming(fp, q) <= 3',
    'INSERT INTO queries SELECT fp, id FROM documents WHERE fp <~> word(-7) <= 3',
    'MERGE INTO documents USING queries ON fp <~> q <= 3 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING',
    'SELECT * FROM documents WHERE fp <~> word(-7) <= 3 FOR UPDATE']) query;
WITH updated AS (UPDATE documents SET site = 9 WHERE fp <~> word(-7) <= 3 RETURNING id, site) SELECT * FROM updated ORDER BY id;
WITH deleted AS (DELETE FROM documents WHERE fp <~> word(-7) < 4 RETURNING id) SELECT * FROM deleted ORDER BY id;
ROLLBACK;

-- ==== Prepared statements: untyped and typed parameters, custom and generic plans ====

PREPARE untyped AS SELECT id FROM documents WHERE fp <~> $1 <= $2;
PREPARE untyped_less AS SELECT id FROM documents WHERE $2 > hamming($1, fp);
PREPARE untyped_equal AS SELECT id FROM documents WHERE fp <~> $1 = $2;
PREPARE untyped_within AS SELECT id FROM documents WHERE hamming_within(fp, $1, $2);
PREPARE untyped_ball AS SELECT id FROM documents WHERE fp <@ hamming_ball($1, $2);
PREPARE smallint_limit(bigint, smallint) AS SELECT id FROM documents WHERE fp <~> $1 <= $2;
PREPARE bigint_limit(bigint, bigint) AS SELECT id FROM documents WHERE fp <~> $1 < $2;
PREPARE small_query(int, int) AS SELECT id FROM documents WHERE fp <~> $1 <= $2;
PREPARE ball_parameter(hamming_ball) AS SELECT id FROM documents WHERE fp <@ $1;
PREPARE near_parameter(bigint) AS SELECT id FROM documents WHERE fp ~= $1;
SET plan_cache_mode = force_generic_plan;
SELECT E'\n* ' || statement || E'\n' || plan('EXECUTE ' || statement) FROM unnest(ARRAY[
    'untyped(1, 3)', 'untyped_less(1, 3)', 'untyped_equal(1, 3)', 'untyped_within(1, 3)', 'untyped_ball(1, 3)',
    'smallint_limit(1, 3::smallint)', 'bigint_limit(1, 3)', 'small_query(1, 3)', 'ball_parameter(''(1,3)'')', 'near_parameter(1)']) statement;
-- One generic plan, any radius: from the nothing below 0 to the everything above 64.
PREPARE count_within(bigint, bigint) AS SELECT count(*) FROM documents WHERE fp <~> $1 <= $2;
PREPARE count_less(bigint, bigint) AS SELECT count(*) FROM documents WHERE fp <~> $1 < $2;
EXECUTE count_within(0, -9223372036854775808);
EXECUTE count_within(0, -1);
EXECUTE count_within(0, 64);
EXECUTE count_within(0, 5000000000);
EXECUTE count_within(0, NULL);
EXECUTE count_within(NULL, 3);
EXECUTE count_less(0, -9223372036854775808);
EXECUTE count_less(0, -2147483648);
EXECUTE count_less(0, 65);
EXECUTE count_less(0, 9223372036854775807);
SET plan_cache_mode = force_custom_plan;
SELECT E'\n* ' || statement || E'\n' || plan('EXECUTE ' || statement) FROM unnest(ARRAY['untyped(1, 3)', 'untyped_less(1, 3)', 'bigint_limit(1, 3)']) statement;
EXECUTE count_less(0, -9223372036854775808);
EXECUTE count_within(0, 5000000000);
EXECUTE count_within(0, NULL);
RESET plan_cache_mode;

-- ==== Views, functions, cursors ====

CREATE VIEW near_seven AS SELECT * FROM documents WHERE fp <~> word(-7) <= 3;
CREATE VIEW distances AS SELECT id, fp <~> word(-7) AS distance FROM documents;
CREATE VIEW all_twice AS SELECT id, fp FROM documents UNION ALL SELECT id + 100000, fp FROM documents;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM documents WHERE site < 3;
CREATE FUNCTION near(query bigint, radius int) RETURNS SETOF documents STABLE LANGUAGE sql AS
$$ SELECT * FROM documents WHERE fp <~> query <= radius $$;
CREATE FUNCTION is_near(a bigint, b bigint) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$ SELECT a <~> b <= 3 $$;
SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT * FROM near_seven', 'SELECT * FROM distances WHERE distance <= 3', 'SELECT * FROM distances WHERE distance < 2 AND id > 5',
    'SELECT * FROM all_twice WHERE fp <~> word(-7) <= 3', 'SELECT * FROM all_twice WHERE fp <@ hamming_ball(word(-7), 3)',
    'SELECT * FROM queries JOIN all_twice ON fp <~> q <= 3', 'SELECT fp <~> 42 AS distance FROM all_twice ORDER BY 1 LIMIT 3', 'SELECT * FROM barrier WHERE fp <~> word(-7) <= 3',
    'SELECT * FROM near(word(-7), 3)', 'SELECT * FROM queries, near(q, radius)',
    'SELECT * FROM documents WHERE is_near(fp, word(-7))', 'SELECT * FROM queries JOIN documents ON is_near(q, fp)']) query;

CREATE FUNCTION count_near(query bigint, radius int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT count(*) FROM documents WHERE fp <~> query <= radius);
END $$;
SELECT count_near(word(-7), 3), count_near(word(-7), -1), count_near(word(-7), 64), count_near(NULL, 3), count_near(word(-7), NULL);

BEGIN;
DECLARE near_documents CURSOR FOR SELECT fp <~> word(-7) <= 3 FROM documents WHERE fp <~> word(-7) <= 3;
MOVE 2 FROM near_documents;
FETCH 2 FROM near_documents;
FETCH ALL FROM near_documents;
ROLLBACK;

-- ==== Expression indexes, partial indexes, partitions ====

CREATE TABLE pages (id int, body text, language text, fp bigint);
INSERT INTO pages SELECT i, 'page ' || i, CASE WHEN i % 3 = 0 THEN 'de' ELSE 'en' END, word(i) FROM generate_series(1, 20000) i;
CREATE FUNCTION fingerprint(body text) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
$$ BEGIN RETURN ('x' || left(md5(body), 16))::bit(64)::bigint; END $$;
CREATE INDEX pages_body ON pages USING simhash (fingerprint(body));
CREATE INDEX pages_german ON pages USING simhash (fp) WHERE language = 'de';
CREATE INDEX pages_near_zero ON pages (id) WHERE fp <~> 0 <= 20;
VACUUM ANALYZE pages;
SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT * FROM pages WHERE fingerprint(body) <~> fingerprint(''page 9'') <= 3',
    'SELECT * FROM pages WHERE 3 >= hamming(fingerprint(''page 9''), fingerprint(body))',
    'SELECT * FROM queries JOIN pages ON fingerprint(body) <~> q < 4',
    'SELECT fingerprint(body) <~> 42 AS distance FROM pages ORDER BY hamming(fingerprint(body), 42) LIMIT 3',
    'SELECT fp <~> 42 AS distance FROM pages WHERE language = ''de'' ORDER BY fp <~> 42 LIMIT 3',
    'SELECT * FROM pages WHERE fp <~> word(9) <= 3 AND language = ''de''',
    'SELECT * FROM pages WHERE fp <~> word(9) <= 3',
    'SELECT id FROM pages WHERE fp <~> 0 <= 20 AND id < 1000']) query;

CREATE TABLE crawl (day int, fp bigint) PARTITION BY RANGE (day);
CREATE TABLE crawl_1 PARTITION OF crawl FOR VALUES FROM (1) TO (2);
CREATE TABLE crawl_2 PARTITION OF crawl FOR VALUES FROM (2) TO (3) PARTITION BY LIST (day);
CREATE TABLE crawl_2_sub PARTITION OF crawl_2 FOR VALUES IN (2);
CREATE INDEX crawl_fp ON crawl USING simhash (fp);
INSERT INTO crawl SELECT 1 + i % 2, word(i) FROM generate_series(1, 20000) i;
CREATE TABLE old_crawl (fp bigint);
CREATE TABLE older_crawl () INHERITS (old_crawl);
INSERT INTO older_crawl SELECT word(i) FROM generate_series(1, 10000) i;
CREATE INDEX older_crawl_fp ON older_crawl USING simhash (fp);
VACUUM ANALYZE crawl, old_crawl, older_crawl;
SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT * FROM crawl WHERE fp <~> word(9) <= 3', 'SELECT * FROM crawl WHERE fp <~> word(9) <= 3 AND day = 2',
    'SELECT * FROM queries JOIN crawl ON q <~> fp <= 3', 'SELECT fp <~> 42 AS distance FROM crawl ORDER BY fp <~> 42 LIMIT 3', 'SELECT * FROM old_crawl WHERE fp <~> word(9) < 4']) query;
SELECT plan('DELETE FROM crawl WHERE fp <~> word(9) <= 3');

-- ==== Row-level security: leakproof conditions reach the index past the policies ====

CREATE ROLE regress_index_plans_reader;
ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_site ON documents FOR SELECT USING (site = current_setting('simhash_test.site')::int);
GRANT SELECT ON documents, queries TO regress_index_plans_reader;
SET simhash_test.site = 1;
SET ROLE regress_index_plans_reader;
SELECT shown(query)
FROM unnest(ARRAY[
    'SELECT * FROM documents WHERE fp <~> word(-7) <= 3', 'SELECT * FROM documents WHERE fp ~= word(-7)',
    'SELECT * FROM documents WHERE fp <@ hamming_ball(word(-7), 3)', 'SELECT * FROM documents WHERE hamming(fp, word(-7)) < 4',
    'SELECT * FROM queries JOIN documents ON fp <~> q < radius']) query;
RESET ROLE;
-- ... and a policy that is such a condition itself.
CREATE POLICY own_neighbourhood ON documents AS RESTRICTIVE FOR SELECT USING (fp <~> word(-7) <= 3);
SET ROLE regress_index_plans_reader;
SELECT plan('SELECT * FROM documents');
SELECT count(*) FROM documents;
RESET ROLE;
DROP POLICY own_site ON documents;
DROP POLICY own_neighbourhood ON documents;
ALTER TABLE documents DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON documents, queries FROM regress_index_plans_reader;
DROP ROLE regress_index_plans_reader;

-- ==== Every radius and comparison, against distances computed apart from the condition ====

CREATE TABLE comparisons AS
SELECT q, comparison, radius, kind,
       format('SELECT id FROM documents WHERE fp <~> %s %s ''%s''::%s', q, comparison, radius, kind) AS query,
       format('SELECT id FROM documents WHERE ''%s''::%s %s hamming(%s, fp)', radius, kind, mirrored, q) AS mirrored,
       format('SELECT id FROM (SELECT id, fp <~> %s AS distance FROM documents OFFSET 0) s WHERE distance %s ''%s''::%s',
              q, comparison, radius, kind) AS apart
FROM unnest(ARRAY[word(-7), word(2)]) q,
     (VALUES ('<=', '>='), ('<', '>'), ('=', '='), ('>=', '<='), ('>', '<'), ('<>', '<>')) c(comparison, mirrored),
     (VALUES (-9223372036854775808, 'bigint'), (-2147483649, 'bigint'), (-2147483648, 'int'), (-32768, 'smallint'), (-1, 'int'),
             (0, 'smallint'), (0, 'int'), (1, 'int'), (2, 'bigint'), (3, 'smallint'), (4, 'int'), (8, 'bigint'), (31, 'int'), (32, 'int'),
             (40, 'smallint'), (63, 'int'), (64, 'bigint'), (65, 'int'), (32767, 'smallint'), (2147483647, 'int'),
             (2147483648, 'bigint'), (9223372036854775807, 'bigint')) r(radius, kind);
SELECT plan(apart) FROM comparisons WHERE q = word(2) AND comparison = '<=' AND radius = 4;
SET enable_seqscan = off;
SET jit = off;
SELECT count(*) AS compared, count(*) FILTER (WHERE answer(query) <> answer_without_index(apart)) AS different,
       count(*) FILTER (WHERE answer(mirrored) <> answer_without_index(apart)) AS mirrored_different
FROM comparisons;
RESET enable_seqscan;
RESET jit;
DROP TABLE comparisons;

DROP VIEW near_seven, distances, all_twice, barrier;
DROP FUNCTION near, is_near, count_near;
DROP TABLE documents, queries, many_queries, few, pages, crawl, old_crawl, older_crawl;
DROP FUNCTION word, fingerprint, plan, answer, answer_without_index, shown;
