-- How the planner rewrites comparisons of a distance with a limit. No index here, unless a comment says so: the
-- rewriting shows in the filters.

CREATE TABLE rewritten (id int, fp bigint, radius int, wide_radius bigint, narrow_radius smallint);
CREATE FUNCTION condition(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ '(Filter|Cond): ' THEN RETURN NEXT btrim(line); END IF;
    END LOOP;
END $$;

-- The library is not preloaded: the first statement of a new session is rewritten too.
\c
EXPLAIN (COSTS OFF) SELECT * FROM rewritten WHERE fp <~> 42 <= 3;

-- Every form, each way round, with every type of limit.
SELECT form, condition('SELECT * FROM rewritten WHERE ' || form)
FROM unnest(ARRAY[
    'fp <~> 42 <= 3', 'fp <~> 42 < 4', 'fp <~> 42 = 0', '3 >= fp <~> 42', '4 > fp <~> 42', '0 = fp <~> 42',
    '42 <~> fp <= 3', 'hamming(fp, 42) <= 3', 'hamming(42, fp) < 4', '3 >= hamming(fp, 42)',
    'fp <~> 42 <= 3::smallint', 'fp <~> 42 < 4::smallint', '3::smallint = fp <~> 42', '4::smallint > fp <~> 42',
    'fp <~> 42 <= 3::bigint', 'fp <~> 42 < 4::bigint', '3::bigint = fp <~> 42', '3::bigint >= fp <~> 42',
    'fp <~> 42 <= ''3''', 'NOT fp <~> 42 > 3', 'fp <~> 42 BETWEEN 1 AND 3',
    'fp <~> 42 <= radius', 'fp <~> 42 < radius', 'fp <~> 42 = radius', 'wide_radius > fp <~> 42',
    'narrow_radius >= fp <~> 42', 'fp <~> 42 <= radius + 1',
    'fp <~> 42 <= 3 OR fp <~> 43 <= 3 AND id = 5', '(fp <~> 42 <= 3) IS TRUE',
    'CASE WHEN id = 1 THEN fp <~> 42 <= 3 END',
    'fp <~> 42 <= 3.5', '3.5 > fp <~> 42', 'fp <~> 42 < 3.0', 'fp <~> 42 = 3.0', 'fp <~> 42 = 2.5',
    'fp <~> 42 < radius::numeric', 'fp <~> 42 = radius::numeric', 'id = 1 OR id = 2 AND fp <~> 42 = 3']) form;

-- Limits no radius can reach: no error, no overflow.
SELECT form, condition('SELECT * FROM rewritten WHERE ' || form)
FROM unnest(ARRAY[
    'fp <~> 42 <= -1', 'fp <~> 42 <= 65', 'fp <~> 42 <= 5000000000', 'fp <~> 42 < -2147483648',
    'fp <~> 42 < ''-9223372036854775808''::bigint', 'fp <~> 42 = ''-9223372036854775808''::bigint',
    'fp <~> 42 <= NULL', 'fp <~> NULL <= 3',
    'fp <~> 42 <= -0.5', 'fp <~> 42 < 0.0', 'fp <~> 42 <= 64.5', 'fp <~> 42 < 1e100', 'fp <~> 42 <= ''NaN''::numeric',
    'fp <~> 42 = ''Infinity''::numeric']) form;

-- Left as they are: what no index serves, limits of float8, volatile conditions, other people's comparisons and other types.
SELECT form, condition('SELECT * FROM rewritten WHERE ' || form)
FROM unnest(ARRAY[
    'fp <~> 42 > 3', 'fp <~> 42 >= 4', 'fp <~> 42 <> 3', '3 < fp <~> 42', '4 <= fp <~> 42', '3.5 <= fp <~> 42',
    'fp <~> 42 IN (1, 2)', 'fp <~> 42 <= 3::float8', '3::real > fp <~> 42',
    'fp <~> 42 <= (random() * 3)::int', 'fp <~> (random() * 3)::int <= 3', '(fp <~> 42) + 1 <= 3', 'id <= 3', '-(fp <~> 42) <= 3']) form;

-- An equality of one table's distance with another's limit may be a hash join, and stays one; others are rewritten.
SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT condition('SELECT * FROM rewritten a JOIN rewritten b ON a.fp <~> 42 = b.radius');
RESET enable_mergejoin; RESET enable_nestloop;
SELECT condition('SELECT * FROM rewritten a JOIN rewritten b ON a.fp <~> b.fp = b.radius');
SELECT condition('SELECT * FROM rewritten a, rewritten b, rewritten c WHERE a.fp <~> b.fp = c.radius');

-- Where there is an index on this very distance, the comparison stays, also beside an index of ours.
CREATE INDEX rewritten_distance ON rewritten ((fp <~> 42));
SELECT condition('SELECT * FROM rewritten WHERE ' || form)
FROM unnest(ARRAY['fp <~> 42 <= 3', 'hamming(fp, 42) <= 3', 'fp <~> 43 <= 3', 'fp <~> 42 <= 3 AND id = 1', '42 <~> fp <= 3']) form;
CREATE INDEX rewritten_fp ON rewritten USING simhash (fp);
SET enable_bitmapscan = off;
SELECT condition('SELECT * FROM rewritten WHERE ' || form) FROM unnest(ARRAY['fp <~> 42 <= 3', 'fp <~> 43 <= 3']) form;
RESET enable_bitmapscan;
DROP INDEX rewritten_distance, rewritten_fp;

-- What a subquery is compared with stays as written: the executor takes it apart.
CREATE TABLE compared AS SELECT i AS id, hashint8extended(i, 1) AS fp FROM generate_series(1, 1000) i;
CREATE TABLE radii AS SELECT 3 AS radius;
SELECT count(*) FROM compared WHERE fp <~> 4711 NOT IN (SELECT radius FROM radii);
SELECT count(*) FROM compared WHERE fp <~> 4711 IN (SELECT radius FROM radii) OR id = 7;
SELECT count(*) FROM compared WHERE fp <~> 4711 IN (SELECT radius FROM radii);
SELECT count(*) FROM compared c WHERE EXISTS (SELECT FROM radii WHERE radius = fp <~> 4711) OR id = 7;
SELECT count(*) FROM compared WHERE (fp <~> 4711 <= ANY (SELECT radius FROM radii)) IS NOT TRUE;
SELECT count(*) FROM compared WHERE ((fp <~> 4711, id) IN (SELECT radius, radius FROM radii)) OR fp <~> 4711 <= 3 OR id = 7;
-- An equality is right for every limit, also where it is NULL.
SELECT count(*) FILTER (WHERE by_equality <> by_scan) AS wrong, sum(by_equality) AS rows
FROM generate_series(-1, 65) k,
    LATERAL (SELECT count(*) AS by_equality FROM compared WHERE fp <~> 4711 = k) e,
    LATERAL (SELECT count(*) AS by_scan FROM compared WHERE (fp <~> 4711) + 0 = k) s;
SELECT k, (SELECT count(*) FROM compared WHERE fp <~> 4711 = k) = (SELECT count(*) FROM compared WHERE (fp <~> 4711) + 0 = k) AS same,
       (SELECT count(*) FROM compared WHERE (fp <~> 4711 = k) IS NULL) AS unknown
FROM unnest(ARRAY[30, 30.0, 29.5, 1e100, -0.5, 'NaN', NULL]::numeric[]) k;
-- A subplan runs once for each row, though an equality becomes two predicates.
CREATE SEQUENCE calls;
SELECT count(*) FROM compared c WHERE fp <~> (SELECT nextval('calls') WHERE c.id > 0) = 30;
SELECT last_value FROM calls;
DROP SEQUENCE calls;
DROP TABLE compared, radii;

-- hamming is the operator, so that ORDER BY matches the index.
EXPLAIN (COSTS OFF) SELECT * FROM rewritten ORDER BY hamming(fp, 42);

-- Conditions in every place.
SELECT form, condition(form) FROM unnest(ARRAY[
    'SELECT * FROM rewritten a JOIN rewritten b ON a.fp <~> b.fp <= 3',
    'SELECT * FROM rewritten a LEFT JOIN rewritten b ON a.fp <~> b.fp < b.radius',
    'SELECT * FROM rewritten a WHERE EXISTS (SELECT FROM rewritten b WHERE a.fp <~> b.fp <= 3)',
    'SELECT * FROM rewritten a WHERE NOT EXISTS (SELECT FROM rewritten b WHERE a.fp <~> b.fp <= 3)',
    'SELECT (SELECT min(id) FROM rewritten b WHERE a.fp <~> b.fp <= 3) FROM rewritten a',
    'UPDATE rewritten SET id = 1 WHERE fp <~> 42 <= 3',
    'DELETE FROM rewritten WHERE fp <~> 42 <= 3',
    'INSERT INTO rewritten SELECT * FROM rewritten WHERE fp <~> 42 <= 3',
    'SELECT fp FROM rewritten GROUP BY fp HAVING fp <~> 42 <= 3',
    'SELECT * FROM (SELECT DISTINCT fp FROM rewritten) d WHERE fp <~> 42 <= 3',
    'SELECT * FROM (SELECT fp FROM rewritten UNION ALL SELECT fp FROM rewritten) u WHERE fp <~> 42 <= 3',
    'SELECT fp FROM rewritten WHERE fp <~> 42 <= 3 UNION ALL SELECT fp FROM rewritten WHERE fp <~> 42 <= 3',
    'SELECT min(id) FROM rewritten WHERE fp <~> 42 <= 3',
    'WITH w AS MATERIALIZED (SELECT * FROM rewritten WHERE fp <~> 42 <= 3) SELECT * FROM w WHERE fp <~> 43 <= 3']) form;

-- Row-level security; and a user who may not call what a condition would become.
CREATE ROLE regress_rewriting_reader;
GRANT SELECT ON rewritten TO regress_rewriting_reader;
CREATE POLICY near ON rewritten USING (fp <~> 42 <= 3);
ALTER TABLE rewritten ENABLE ROW LEVEL SECURITY;
SET ROLE regress_rewriting_reader;
EXPLAIN (COSTS OFF) SELECT * FROM rewritten WHERE id = 1;
RESET ROLE;
ALTER TABLE rewritten DISABLE ROW LEVEL SECURITY;
DROP POLICY near ON rewritten;
CREATE INDEX rewritten_fp ON rewritten USING simhash (fp);
REVOKE EXECUTE ON FUNCTION hamming_within(bigint, bigint, bigint) FROM PUBLIC;
SET ROLE regress_rewriting_reader;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT fp FROM rewritten WHERE fp <~> 42 <= 3;
SELECT fp FROM rewritten WHERE hamming_within(fp, 42, 3);
RESET enable_seqscan; RESET enable_bitmapscan;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_within(bigint, bigint, bigint) TO PUBLIC;
DROP INDEX rewritten_fp;
REVOKE SELECT ON rewritten FROM regress_rewriting_reader;
DROP ROLE regress_rewriting_reader;

-- A run of the planner inside another (a function evaluated while planning) does not disturb the outer one.
CREATE FUNCTION planned_inside() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE n int;
BEGIN
    EXECUTE 'SELECT count(*) FROM rewritten WHERE fp <~> 42 <= 3' INTO n;
    BEGIN
        EXECUTE 'SELECT 1 FROM rewritten WHERE fp <~> 42 <= 1 / (SELECT 0)' INTO n;
        EXECUTE 'SELECT 1/0 FROM rewritten WHERE fp <~> 42 <= 3';
    EXCEPTION WHEN division_by_zero THEN NULL;
    END;
    RETURN 3;
END $$;
SELECT condition('SELECT * FROM rewritten WHERE fp <~> 42 <= planned_inside() AND fp <~> planned_inside() <= 3');

-- Any schema, and one of the same names in front.
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
CREATE FUNCTION hamming_within(bigint, bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION hamming(bigint, bigint) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
SELECT condition('SELECT * FROM rewritten WHERE fp OPERATOR(elsewhere.<~>) 42 <= 3');
SELECT condition('SELECT * FROM rewritten WHERE hamming(fp, 42) <= 3');
SELECT condition('SELECT * FROM rewritten WHERE elsewhere.hamming(fp, 42) <= 3');
DROP FUNCTION hamming_within(bigint, bigint, bigint);
DROP FUNCTION hamming(bigint, bigint);
-- Without its siblings a condition is left as it is, and right.
ALTER FUNCTION elsewhere.hamming_within(bigint, bigint, bigint) RENAME TO moved;
SELECT condition('SELECT * FROM rewritten WHERE fp OPERATOR(elsewhere.<~>) 42 <= 3');
ALTER FUNCTION elsewhere.moved(bigint, bigint, bigint) RENAME TO hamming_within;
ALTER EXTENSION simhash SET SCHEMA public;

DROP TABLE rewritten;
DROP SCHEMA elsewhere;
DROP FUNCTION condition, planned_inside;
