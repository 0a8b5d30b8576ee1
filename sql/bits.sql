-- Codes: bit strings, their distance, their balls, and how the planner knows them. Random codes of any length are made of md5().
CREATE FUNCTION code(n integer, bits integer) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT substring(string_agg(('x' || md5(n || ' ' || i))::bit(128)::text, ''), 1, bits)::bit varying FROM generate_series(0, (bits - 1) / 128) i
$$;
-- The planner compiles where a method that was switched off seems to be the only one.
SET jit = off;
-- The code with bits `first`, `first` + 3, ... of it inverted, as many as wanted.
CREATE FUNCTION changed(code bit, wanted integer, first integer DEFAULT 0) RETURNS bit LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE place integer;
BEGIN
    FOR i IN 0 .. wanted - 1 LOOP
        place := (first + 3 * i + 3 * i / length(code)) % length(code);
        code := set_bit(code, place, 1 - get_bit(code, place));
    END LOOP;
    RETURN code;
END $$;

-- ---- distance ----

-- The distance equals the count of ones in a # b, for every length to a few words, and for long ones.
SELECT count(*) AS lengths, min(bits) FILTER (WHERE (a <~~> b = length(replace((a # b)::text, '0', '')) AND a <~~> b = b <~~> a
    AND hamming(a, b) = a <~~> b AND a <~~> a = 0 AND a <~~> ~a = bits) IS NOT TRUE) AS wrong
FROM (SELECT bits, code(1, bits) AS a, code(2, bits) AS b FROM generate_series(1, 300) bits
    UNION ALL SELECT bits, code(1, bits), code(2, bits) FROM unnest(ARRAY[512, 576, 1023, 1024, 1025, 20000]) bits) c;
SELECT B'101010' <~~> B'100110' AS of_bits, B'101010' <~~> '100110' AS untyped, X'AB' <~~> B'10101010' AS hexadecimal,
       '1010'::varbit <~~> B'0110' AS varying, ''::varbit <~~> ''::varbit AS empty, NULL::bit(6) <~~> B'101010' AS of_null;
-- Stored in a table: short, compressed and out of line.
CREATE TABLE stored (id integer, code bit varying);
INSERT INTO stored SELECT bits, code(1, bits) FROM unnest(ARRAY[1, 64, 900, 9000]) bits;
INSERT INTO stored VALUES (100000, repeat('01', 50000)::varbit), (80000, code(1, 80000));
SELECT id, code <~~> ~code = id AS all_bits, code <~~> code AS none FROM stored ORDER BY id;

SELECT radius, hamming_within(B'0000', B'0111', radius) AS within
FROM unnest(ARRAY[-9223372036854775808, -1, 0, 2, 3, 4, 9223372036854775807]) radius;
-- The radius of =~~ follows from the length.
SELECT count(*) AS lengths, min(length(a)) FILTER (WHERE (changed(a, radius) =~~ a AND NOT changed(a, radius + 1) =~~ a AND a =~~ a) IS NOT TRUE) AS wrong
FROM (SELECT code(1, bits) AS a, (bit_lane_layout(bits))[2] AS radius FROM generate_series(2, 1024, 7) bits) c;
SELECT bits, bit_lane_layout(bits) FROM unnest(ARRAY[-1, 0, 1, 64, 65, 100, 128, 192, 256, 257, 512, 576, 1024, NULL]) bits;
SELECT bits, array_length(bit_lanes(code(1, bits)), 1) AS lanes FROM unnest(ARRAY[1, 64, 65, 128, 129, 1024]) bits;
SELECT bit_lanes(''::varbit) AS empty, bit_lanes(NULL) AS of_null;

-- ---- balls ----
SELECT bit_ball(B'101010', 2), '( 101010 , -2 )'::bit_ball AS blanks, bit_ball(B'1', 5000000000) AS greatest, '(,3)'::bit_ball AS empty,
       bit_ball(NULL, 3) AS no_center, bit_ball(B'1', NULL) AS no_radius;
SELECT text, text::bit_ball::text = text AS same FROM (SELECT '(' || code(3, bits)::text || ',31)' AS text FROM unnest(ARRAY[1, 7, 8, 65]) bits) b;
SELECT radius, B'0111' <@ bit_ball(B'0000', radius) AS contained, bit_ball(B'0000', radius) @> B'0111' AS contains
FROM unnest(ARRAY[-1, 2, 3, 4]) radius;
SELECT bit_ball_send('(10101,3)');
CREATE TABLE balls (ball bit_ball);
INSERT INTO balls SELECT bit_ball(code(1, bits), bits / 4) FROM unnest(ARRAY[1, 100, 256, 20000]) bits;
SELECT length(ball::text) FROM balls ORDER BY 1;
SELECT CASE length(ball::text) WHEN 261 THEN ball @> code(1, 256) END AS has FROM balls ORDER BY length(ball::text);
DROP TABLE balls, stored;

-- ---- errors ----
SELECT B'101' <~~> B'10';
SELECT hamming_within(B'101', B'10', -1);
SELECT B'101' =~~ B'10';
SELECT B'101' <@ '(10,1)'::bit_ball;
SELECT '(102,1)'::bit_ball;
SELECT '(101;1)'::bit_ball;
SELECT '(101,1'::bit_ball;
SELECT '(101,1)x'::bit_ball;
SELECT '101,1'::bit_ball;
SELECT '(101,)'::bit_ball;
SELECT '(101,9223372036854775808)'::bit_ball;
SELECT bit_lanes(repeat('1', 1025)::bit(1025));
SELECT bit_lane_layout(1025);
-- Untyped arguments alone may be fingerprints or codes; with a known radius they are fingerprints, as ever. Servers differ
-- in what is detail and what is hint.
\set VERBOSITY terse
SELECT hamming('1', '10');
SELECT hamming_within('1', '10', 2), hamming_ball('1', 2);
SELECT x <~> 5 FROM (VALUES (B'101')) v(x);
SELECT 5::bigint <~~> B'101';
\set VERBOSITY default

-- ---- the planner ----

-- Filters, without an index.
CREATE TABLE pictures (id integer, pdq bit(256), radius integer, wide_radius bigint, narrow_radius smallint);
CREATE FUNCTION condition(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || replace(query, 'Q', quote_literal(code(4711, 256)::text) || '::bit(256)') LOOP
        IF line ~ '(Filter|Cond|Order By): ' THEN RETURN NEXT replace(replace(btrim(line), code(4711, 256)::text, 'Q'), '::"bit"', ''); END IF;
    END LOOP;
END $$;
SELECT form, condition('SELECT * FROM pictures WHERE ' || form)
FROM unnest(ARRAY[
    'pdq <~~> Q <= 31', 'pdq <~~> Q < 32', 'pdq <~~> Q = 0', '31 >= pdq <~~> Q', '32 > Q <~~> pdq', '0 = pdq <~~> Q',
    'hamming(pdq, Q) <= 31', 'hamming(Q, pdq) < 32', 'pdq <~~> Q <= 31::smallint', 'pdq <~~> Q < 32::bigint',
    'pdq <~~> Q <= ''31''', 'NOT pdq <~~> Q > 31', 'pdq <~~> Q BETWEEN 1 AND 31',
    'pdq <~~> Q <= radius', 'wide_radius > pdq <~~> Q', 'narrow_radius >= pdq <~~> Q', 'pdq <~~> Q <= radius + 1',
    'pdq <~~> Q <= 100.5', 'pdq <~~> Q < 100.0', 'pdq <~~> Q = 100.0', 'pdq <~~> Q < radius::numeric', 'pdq <~~> Q = radius',
    'pdq <~~> Q <= 1e100', 'pdq <~~> Q <= ''NaN''::numeric', 'pdq <~~> Q <= -1', 'pdq <~~> NULL <= 31', 'pdq <~~> Q <= NULL',
    'pdq <~~> Q > 31', 'pdq <~~> Q <> 31', 'pdq <~~> Q IN (1, 2)', 'pdq <~~> Q <= (random() * 3)::int', '(pdq <~~> Q) + 1 <= 31']) form;
SELECT condition('SELECT * FROM pictures a JOIN pictures b ON a.pdq <~~> b.pdq <= 31');

-- An index finds what the scan finds: every length, radii to a fifth of it, and codes of few and of many bits set.
CREATE TABLE codes (id integer, of_65 bit(65), of_100 bit(100), of_256 bit(256), of_512 bit(512));
INSERT INTO codes
    SELECT i, changed(code(o, 65), d, i), changed(code(o, 100), d, i), changed(code(o, 256), 2 * d, i), changed(code(o, 512), 4 * d, i)
    FROM (SELECT i, CASE WHEN i % 3 = 0 THEN i ELSE i % 100 END AS o, CASE WHEN i % 3 = 0 THEN 0 ELSE i % 25 END AS d FROM generate_series(1, 3000) i) s;
INSERT INTO codes VALUES (3001, repeat('0', 65)::bit(65), repeat('0', 100)::bit(100), repeat('0', 256)::bit(256), repeat('0', 512)::bit(512)),
    (3002, repeat('1', 65)::bit(65), repeat('1', 100)::bit(100), repeat('1', 256)::bit(256), repeat('1', 512)::bit(512)), (3003, NULL, NULL, NULL, NULL);
CREATE INDEX codes_65 ON codes USING simhash (of_65);
CREATE INDEX codes_100 ON codes USING simhash (of_100);
CREATE INDEX codes_256 ON codes USING simhash (of_256);
CREATE INDEX codes_512 ON codes USING simhash (of_512);
ANALYZE codes;
-- Ids of the rows that a query returns, by the index or by the scan.
CREATE FUNCTION found(query text, by_index boolean, bitmaps boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', (by_index AND NOT bitmaps)::text, true),
        set_config('enable_bitmapscan', (by_index AND bitmaps)::text, true);
    EXECUTE 'SELECT string_agg(id::text, '','' ORDER BY id) FROM (' || query || ') q' INTO found;
    RETURN found;
END $$;
SELECT bits, count(*) AS queries, count(expected) AS with_rows, count(*) FILTER (WHERE by_index IS DISTINCT FROM expected OR by_bitmap IS DISTINCT FROM expected) AS wrong
FROM (SELECT bits, found(query, true) AS by_index, found(query, true, true) AS by_bitmap, found(query, false) AS expected
    FROM unnest(ARRAY[65, 100, 256, 512]) bits, unnest(ARRAY[0, 1, 4, 8, 13]) sixty_fourths, unnest(ARRAY[7, 301, 3001]) query_id,
        LATERAL (SELECT format('SELECT id FROM codes WHERE of_%s <~~> (SELECT of_%1$s FROM codes WHERE id = %s) <= %s', bits, query_id, bits * sixty_fourths / 64) AS query) q) answers
GROUP BY bits ORDER BY bits;
-- In order of distance: the same distances.
SELECT bits, count(*) FILTER (WHERE by_index <> expected) AS wrong
FROM (SELECT bits, found(query, true) AS by_index, found(query, false) AS expected
    FROM unnest(ARRAY[65, 100, 256, 512]) bits, unnest(ARRAY[7, 301, 3001]) query_id,
        LATERAL (SELECT format('SELECT distance * 10000 + row_number() OVER () AS id FROM (SELECT of_%s <~~> (SELECT of_%1$s FROM codes WHERE id = %s) AS distance FROM codes
            WHERE of_%1$s IS NOT NULL ORDER BY 1 LIMIT 200) s', bits, query_id) AS query) q) answers
GROUP BY bits ORDER BY bits;

-- A row that no word has found yet is at least as far away as the distances to which the words have come, added up. So the search for a
-- row that is 7 bits away in each word ends where that of one 4 bits away does. By the distance of one word it would read all postings.
CREATE TABLE many AS SELECT i AS id, ('x' || md5(i::text))::bit(128) AS c FROM generate_series(1, 60000) i;
INSERT INTO many SELECT -d, changed(code(0, 128), d)::bit(128) FROM unnest(ARRAY[8, 14]) d;
CREATE INDEX many_c ON many USING simhash (c);
CREATE FUNCTION pages_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
SET enable_seqscan = off;
SELECT id FROM many ORDER BY c <~~> code(0, 128) LIMIT 2;
SELECT pages_of('SELECT id FROM many ORDER BY c <~~> code(0, 128) LIMIT 2') < 1.5 * pages_of('SELECT id FROM many ORDER BY c <~~> code(0, 128) LIMIT 1') AS few_pages;
RESET enable_seqscan;
DROP TABLE many;
DROP FUNCTION pages_of;
-- The index's cache is dropped between two searches of one scan, which goes on with the layout that it began with.
BEGIN;
SET LOCAL enable_seqscan = off;
INSERT INTO codes (id) VALUES (3004);
DECLARE nearest_of_each CURSOR FOR SELECT id, (SELECT o.of_256 <~~> c.of_256 FROM codes o ORDER BY o.of_256 <~~> c.of_256 LIMIT 1) AS distance
    FROM codes c WHERE id IN (7, 301, 3001);
FETCH nearest_of_each;
ANALYZE codes;
FETCH ALL FROM nearest_of_each;
ROLLBACK;

-- Every form that the index serves.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true);
    RETURN QUERY SELECT condition(query);
END $$;
SELECT form, plan('SELECT id FROM codes WHERE ' || form) FROM unnest(ARRAY[
    'of_256 <~~> Q <= 31', 'of_256 <~~> Q < 32', 'of_256 <~~> Q = 31', '31 >= Q <~~> of_256', 'hamming(of_256, Q) <= 31', 'hamming_within(of_256, Q, 31)',
    'of_256 <~~> Q <= 31.5', 'of_256 <~~> Q IN (1, 2)', 'of_256 <~~> Q BETWEEN 2 AND 31', 'of_256 <~~> Q <= 31 AND id < 100',
    'of_256 =~~ Q', 'Q =~~ of_256', 'of_256 = Q', 'of_256 <@ bit_ball(Q, 31)', 'bit_ball(Q, 31) @> of_256', 'of_256 IS NULL',
    'of_256 <~~> Q::varbit <= 31']) form;
SELECT plan('SELECT id FROM codes ORDER BY of_256 <~~> Q LIMIT 3');
SELECT plan('SELECT id FROM codes ORDER BY hamming(Q, of_256) LIMIT 3');
SELECT plan('SELECT a.id FROM codes a JOIN codes b ON a.of_256 <~~> b.of_256 <= 31 WHERE a.id = 7');
SELECT plan('SELECT a.id FROM codes a JOIN codes b ON a.of_256 =~~ b.of_256 WHERE a.id = 7');
SET enable_seqscan = off;
SELECT condition('SELECT id FROM codes WHERE of_256 <~~> Q <= 31 OR of_256 = Q');
-- Arrays: a bitmap scan for all elements. Elements that are near each other or NULL, only NULL, and none.
SELECT form, condition('SELECT id FROM codes WHERE ' || form)
FROM unnest(ARRAY['of_256 = ANY (ARRAY[Q, NULL])', 'of_256 =~~ ANY (ARRAY[Q, NULL])', 'of_256 <@ ANY (ARRAY[bit_ball(Q, 31), NULL])']) form;
RESET enable_seqscan;
SELECT operator, max(array_length(string_to_array(expected, ','), 1)) AS rows, count(*) FILTER (WHERE by_bitmap IS DISTINCT FROM expected) AS wrong
FROM (SELECT operator, found(query, true, true) AS by_bitmap, found(query, false) AS expected
    FROM (VALUES ('=', 'of_256'), ('=~~', 'of_256'), ('<@', 'bit_ball(of_256, 20)')) o(operator, element), unnest(ARRAY['1, 301, 7, 3003', '3003', '0']) ids,
        LATERAL (SELECT format('SELECT id FROM codes WHERE of_256 %s ANY (ARRAY(SELECT %s FROM codes WHERE id IN (%s)))', operator, element, ids) AS query) q) answers
GROUP BY operator ORDER BY operator COLLATE "C";
-- Generic plans, with untyped parameters and others.
SET plan_cache_mode = force_generic_plan;
PREPARE untyped AS SELECT id FROM codes WHERE of_256 <~~> $1 <= $2;
PREPARE varying(bit varying, smallint) AS SELECT id FROM codes WHERE of_256 <~~> $1 < $2;
PREPARE within(bit, bigint) AS SELECT id FROM codes WHERE hamming_within(of_256, $1, $2);
PREPARE near AS SELECT id FROM codes WHERE of_256 =~~ $1;
PREPARE ball(bit_ball) AS SELECT id FROM codes WHERE of_256 <@ $1;
PREPARE nearest AS SELECT id FROM codes ORDER BY of_256 <~~> $1 LIMIT $2;
SELECT statement, plan('EXECUTE ' || statement) FROM unnest(ARRAY[
    'untyped(Q, 31)', 'varying(Q, 32::smallint)', 'within(Q, 31)', 'near(Q)', 'ball(bit_ball(Q, 31))', 'nearest(Q, 3)']) statement;
SELECT of_256::text AS q FROM codes WHERE id = 301 \gset
SET enable_seqscan = off;
EXECUTE untyped(:'q', 0);
EXECUTE untyped(:'q', -1);
EXECUTE untyped(:'q', NULL);
EXECUTE nearest(:'q', 1);
RESET plan_cache_mode;
-- A partial index whose predicate is a distance, and a query that implies it.
CREATE INDEX codes_far ON codes USING simhash (of_100) WHERE of_256 <~~> repeat('0', 256)::bit(256) > 64;
SELECT plan('SELECT id FROM codes WHERE of_100 <~~> B''1''::bit(100) <= 2 AND of_256 <~~> repeat(''0'', 256)::bit(256) > 64') ~ 'of_100 <@' AS by_index;
DROP INDEX codes_far;
-- A query of another length is an error, whatever finds the rows, but nothing equals it.
SELECT id FROM codes WHERE of_256 <~~> B'101' <= 3;
SELECT id FROM codes WHERE of_256 =~~ B'101';
SELECT id FROM codes ORDER BY of_256 <~~> B'101' LIMIT 1;
SELECT id FROM codes WHERE of_256 = B'101';
RESET enable_seqscan;

-- ---- estimates ----

-- Within a factor of 3 of the truth, or of few rows: near rows of a query that is known, rows near by chance, and all.
CREATE FUNCTION estimated(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
CREATE TABLE chance AS SELECT i AS id, code(i, 100)::bit(100) AS c FROM generate_series(1, 5000) i;
ANALYZE chance;
SELECT radius, estimated(query) BETWEEN n / 3.0 AND 3 * n + 10 AS good
FROM unnest(ARRAY[-1, 0, 3, 31, 40, 45, 50, 60, 99, 100, 5000]) radius, LATERAL (SELECT count(*) AS n FROM chance WHERE c <~~> code(0, 100) <= radius) n,
    LATERAL (SELECT format('SELECT FROM chance WHERE c <~~> %L::bit(100) <= %s', code(0, 100), radius) AS query) q;
SELECT estimated(format('SELECT FROM chance WHERE c =~~ %L::bit(100)', code(0, 100))) < 20 AS near,
       estimated('SELECT FROM chance WHERE c <@ NULL::bit_ball') AS never,
       estimated('SELECT FROM chance a JOIN chance b ON a.c <~~> b.c <= 13') BETWEEN 1000 AND 50000 AS joined,
       estimated('SELECT FROM chance a JOIN chance b ON a.c <~~> b.c <= 50') BETWEEN 5e6 AND 2e7 AS joined_far,
       estimated('SELECT FROM chance WHERE c <~~> B''101'' <= 2') < 20 AS of_other_length;
-- Many rows of one code, such as that of blank pictures.
INSERT INTO chance SELECT i, B'0'::bit(100) FROM generate_series(1, 5000) i;
ANALYZE chance;
SELECT estimated('SELECT FROM chance WHERE c <~~> B''1''::bit(100) <= 1') BETWEEN 4500 AND 5500 AS common,
       estimated(format('SELECT FROM chance WHERE c <~~> %L::bit(100) <= 1', code(7, 100))) < 20 AS rare;

-- ---- constraints and scopes ----
CREATE TABLE unlike (pdq bit(256), EXCLUDE USING simhash (pdq WITH =~~));
INSERT INTO unlike VALUES (code(1, 256)), (changed(code(1, 256), 32));
\set VERBOSITY terse
INSERT INTO unlike VALUES (changed(code(1, 256), 31));
INSERT INTO unlike VALUES (changed(code(1, 256), 31)), (code(2, 256)), (NULL), (NULL) ON CONFLICT DO NOTHING;
SELECT count(*) FROM unlike;
CREATE TABLE scoped (pdq bit(256), tenant integer, kind bit(3), EXCLUDE USING simhash (pdq WITH =~~, tenant WITH =, kind WITH =));
INSERT INTO scoped VALUES (code(1, 256), 1, B'101'), (code(1, 256), 2, B'101'), (code(1, 256), 1, B'100');
INSERT INTO scoped VALUES (changed(code(1, 256), 20), 1, B'101');
\set VERBOSITY default
SET enable_seqscan = off;
SELECT tenant, kind FROM scoped WHERE pdq <~~> code(1, 256) <= 31 AND tenant = 1 AND kind = B'101';
SELECT count(*) FROM scoped WHERE pdq <~~> code(1, 256) <= 31;
RESET enable_seqscan;
SELECT opcname, amvalidate(oid), opcdefault FROM pg_opclass WHERE opcname = 'bit_ops'
    AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash');
SELECT property, pg_index_column_has_property('codes_256', 1, property)
FROM unnest(ARRAY['distance_orderable', 'returnable', 'search_array', 'search_nulls']) property;
-- ---- operator classes of one's own ----
-- Without support function 3 a value has one word, and a column need have no length.
CREATE FUNCTION own_words(bit) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[$1::bit(64)::bigint]';
CREATE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[2, 18]';
CREATE FUNCTION no_length(bit) RETURNS bit LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1';
CREATE OPERATOR CLASS own_ops FOR TYPE bit USING simhash AS
    OPERATOR 1 <@ (bit, bit_ball), OPERATOR 2 = (bit, bit), FUNCTION 1 (bit, bit) hashvarlenaextended (internal, bigint),
    FUNCTION 2 (bit, bit) own_words (bit);
CREATE TABLE own (code bit(64));
INSERT INTO own SELECT i::bit(64) FROM generate_series(1, 100) i;
CREATE INDEX own_no_length ON own USING simhash (no_length(code) own_ops);
SET enable_seqscan = off;
SELECT count(*) FROM own WHERE no_length(code) = 77::bit(64);
-- Functions that tell something else than when the index was built.
ALTER OPERATOR FAMILY own_ops USING simhash ADD FUNCTION 3 (bit, bit) own_layout (integer);
\set VERBOSITY terse
SELECT count(*) FROM own WHERE no_length(code) = 77::bit(64);
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[1, 2147483647]';
CREATE INDEX ON own USING simhash (no_length(code) own_ops);
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[1, -5]';
CREATE INDEX ON own USING simhash (no_length(code) own_ops);
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[2, 65, 1]';
CREATE INDEX ON own USING simhash (no_length(code) own_ops);
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[1, 8, 2]';
CREATE INDEX ON own USING simhash (no_length(code) own_ops);
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ARRAY[1, 8, 0, 0]';
CREATE INDEX ON own USING simhash (no_length(code) own_ops);
\set VERBOSITY default
-- At the end of a transaction that empties a temporary table its index is built anew, when there is no snapshot.
CREATE OR REPLACE FUNCTION own_layout(integer) RETURNS integer[] LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN ARRAY[1, 8]; END';
BEGIN;
CREATE TEMP TABLE emptied (code bit(64)) ON COMMIT DELETE ROWS;
CREATE INDEX ON emptied USING simhash (code own_ops);
INSERT INTO emptied SELECT code FROM own;
SELECT count(*) FROM emptied WHERE code = 77::bit(64);
COMMIT;
SELECT count(*) FROM emptied WHERE code = 77::bit(64);
DROP TABLE emptied;
-- A class of bits whose <@ takes balls around words, as a class of another type has it; and one of anything else.
CREATE FUNCTION word_in_ball(bit, hamming_ball) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1::bit(64)::bigint <@ $2; END';
CREATE FUNCTION word_in_interval(bit, interval) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT true';
CREATE OPERATOR <@ (LEFTARG = bit, RIGHTARG = hamming_ball, FUNCTION = word_in_ball);
CREATE OPERATOR <@ (LEFTARG = bit, RIGHTARG = interval, FUNCTION = word_in_interval);
CREATE OPERATOR CLASS word_ops FOR TYPE bit USING simhash AS
    OPERATOR 1 <@ (bit, hamming_ball), OPERATOR 1 <@ (bit, interval), OPERATOR 2 = (bit, bit),
    FUNCTION 1 (bit, bit) hashvarlenaextended (internal, bigint), FUNCTION 2 (bit, bit) own_words (bit);
CREATE INDEX own_word ON own USING simhash (code word_ops);
SELECT count(*) AS centers, count(*) FILTER (WHERE (SELECT count(*) FROM own WHERE code <@ hamming_ball(center, 1))
        <> (SELECT count(*) FROM generate_series(1, 100) i WHERE bit_count(int8send(i # center)) <= 1)) AS wrong
FROM generate_series(0::bigint, 256) center;
SELECT count(*) FROM own WHERE code <@ interval '1 day';
RESET enable_seqscan;
DROP TABLE own;
DROP OPERATOR FAMILY own_ops USING simhash;
DROP OPERATOR FAMILY word_ops USING simhash;
DROP OPERATOR <@ (bit, hamming_ball);
DROP OPERATOR <@ (bit, interval);
DROP FUNCTION own_words, own_layout, no_length, word_in_ball, word_in_interval;
-- A guard of the length is checked before the comparison, which raises an error.
CREATE TABLE lengths (code bit varying);
INSERT INTO lengths VALUES (B'1'), (B'11');
SELECT * FROM lengths WHERE code <~~> B'1' = 0 AND length(code) = 1;
SELECT * FROM lengths WHERE code =~~ B'1' AND length(code) = 1;
SELECT * FROM lengths WHERE code <@ bit_ball(B'1', 1) AND length(code) = 1;
DROP TABLE lengths;
DROP TABLE pictures, codes, chance, unlike, scoped;
DROP FUNCTION changed, code, condition, plan, found, estimated;
