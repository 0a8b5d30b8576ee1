-- The index's answers equal the sequential scan's.
CREATE TABLE docs (id integer PRIMARY KEY, fp bigint);
INSERT INTO docs SELECT i, ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 3000) i;
INSERT INTO docs SELECT 10000 + id, fp # (1::bigint << (id % 64)) # (1::bigint << (id * 7 % 64)) FROM docs;
INSERT INTO docs SELECT 20000 + i, 42 FROM generate_series(1, 500) i;
INSERT INTO docs VALUES (30001, 0), (30002, -1), (30003, 9223372036854775807), (30004, -9223372036854775808),
    (30005, NULL), (30006, NULL);

-- Compares index and sequential scan for the first n rows' fingerprints; returns the number of queries and of differences.
CREATE FUNCTION compare(relation regclass, n integer, radius bigint, OUT queries bigint, OUT differences bigint)
LANGUAGE plpgsql AS $$
DECLARE
    query bigint;
    by_index integer[];
    by_scan integer[];
BEGIN
    queries := 0;
    differences := 0;
    FOR query IN EXECUTE format('SELECT fp FROM %s WHERE fp IS NOT NULL ORDER BY hashint4(id) LIMIT %s', relation, n)
    LOOP
        PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
            set_config('enable_indexscan', 'on', true);
        EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <~> $1 <= $2', relation)
            INTO by_index USING query, radius;
        PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true);
        EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <~> $1 <= $2', relation)
            INTO by_scan USING query, radius;
        queries := queries + 1;
        differences := differences + (by_index IS DISTINCT FROM by_scan)::integer;
    END LOOP;
END $$;

-- Built after loading.
CREATE INDEX docs_fp ON docs USING simhash (fp);
SELECT radius, (compare('docs', 10, radius)).* FROM generate_series(-1, 65, 3) radius;
-- Grown by inserts.
CREATE TABLE grown (id integer, fp bigint);
CREATE INDEX grown_fp ON grown USING simhash (fp);
INSERT INTO grown SELECT * FROM docs ORDER BY hashint4(id);
SELECT radius, (compare('grown', 10, radius)).* FROM generate_series(-1, 65, 3) radius;
DELETE FROM grown WHERE id % 3 = 0 OR fp = 42;
UPDATE grown SET fp = fp # 5 WHERE id % 5 = 0;
SELECT radius, (compare('grown', 10, radius)).* FROM generate_series(0, 64, 8) radius;
VACUUM grown;
SELECT radius, (compare('grown', 10, radius)).* FROM generate_series(0, 64, 8) radius;
INSERT INTO grown SELECT id + 100000, fp FROM docs WHERE id % 3 = 0;
SELECT radius, (compare('grown', 10, radius)).* FROM generate_series(0, 64, 8) radius;
-- Temporary: the pages are in the session's own memory.
CREATE TEMP TABLE brief AS SELECT * FROM docs;
CREATE INDEX brief_fp ON brief USING simhash (fp);
SELECT radius, (compare('brief', 10, radius)).* FROM generate_series(0, 64, 16) radius;
UPDATE brief SET fp = fp # 5 WHERE id % 3 = 0;
VACUUM brief;
SELECT radius, (compare('brief', 10, radius)).* FROM generate_series(0, 64, 16) radius;
-- A fingerprint whose first rows, on the leaf that it shares with others, are gone: vacuum finds it on the leaves that follow.
CREATE TABLE spread (id integer, fp bigint);
CREATE INDEX spread_fp ON spread USING simhash (fp);
INSERT INTO spread SELECT i, CASE WHEN i <= 200 THEN i WHEN i <= 400 THEN 1800 + i ELSE 1000 END FROM generate_series(1, 10000) i;
SELECT pages > 2 AS several_leaves FROM simhash_index_info('spread_fp') WHERE tree = 0 AND level = 0;
DELETE FROM spread WHERE id BETWEEN 401 AND 9990;
VACUUM (INDEX_CLEANUP ON) spread;
SELECT rows, fingerprints, orphans FROM simhash_index_check('spread_fp', true);
SELECT queries, differences FROM compare('spread', 410, 0);
-- Layouts of other numbers of tables, with overlapping masks among them.
DO $$
DECLARE
    tables integer;
    result record;
BEGIN
    FOREACH tables IN ARRAY ARRAY[1, 2, 3, 4, 10, 16, 20, 64] LOOP
        EXECUTE format('CREATE INDEX by_tables ON grown USING simhash (fp) WITH (tables = %s)', tables);
        EXECUTE 'DROP INDEX grown_fp';
        FOR result IN SELECT radius, (compare('grown', 5, radius)).* FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 8]) radius LOOP
            IF result.differences > 0 THEN
                RAISE NOTICE 'tables %: %', tables, result;
            END IF;
        END LOOP;
        EXECUTE 'ALTER INDEX by_tables RENAME TO grown_fp';
    END LOOP;
END $$;

-- Bitmap scans, several conditions, nulls, equality of other integer types.
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT count(*) FROM docs WHERE fp <~> 42 <= 3 OR fp <~> -1 <= 3;
SELECT count(*) FROM docs WHERE fp <~> 42 <= 3 AND fp <~> 43 <= 1;
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE fp <~> 42 <= 3 AND fp <~> 43 <= 1;
-- Balls of which neither holds the other.
CREATE TABLE around AS SELECT 42 # (1::bigint << i) # (1::bigint << j) AS fp FROM generate_series(0, 15) i, generate_series(0, 15) j;
CREATE INDEX around_fp ON around USING simhash (fp);
SELECT count(*), (SELECT count(*) FROM around WHERE bit_count((fp # 42)::bit(64)) <= 2 AND bit_count((fp # 45)::bit(64)) <= 2) AS expected
FROM around WHERE fp <~> 42 <= 2 AND fp <~> 45 <= 2;
SELECT count(*), min(fp <~> 42) FROM (SELECT fp FROM around WHERE fp <~> 45 <= 2 ORDER BY fp <~> 42) a;
-- The greatest key has many rows that are not wanted: none comes after it.
SET statement_timeout = '30s';
CREATE TABLE greatest AS SELECT CASE WHEN i <= 20000 THEN -1 ELSE hashint8extended(i, 1) END AS fp FROM generate_series(1, 21000) i;
CREATE INDEX greatest_fp ON greatest USING simhash (fp);
SELECT count(*) = (SELECT count(*) FROM greatest WHERE bit_count(fp::bit(64)) <= 40) AS complete FROM greatest WHERE fp <~> 0 <= 40;
SELECT count(*), count(*) FILTER (WHERE fp = -1) AS farthest FROM (SELECT fp FROM greatest ORDER BY fp <~> 0) g;
-- Block tables find it, and its rows are on many leaves.
SELECT count(*) FROM greatest WHERE fp <~> 9223372036854775807 <= 3;
DROP TABLE greatest;
RESET statement_timeout;
-- A scan that begins again before it was read to its end.
SELECT q, (SELECT fp <~> q FROM around WHERE fp <~> q <= 2 LIMIT 1) <= 2 AS near FROM (VALUES (42::bigint), (-1), (45)) v (q);
DROP TABLE around;
SELECT count(*) FROM docs WHERE fp = 42;
SELECT count(*) FROM docs WHERE fp = 42::smallint;
SELECT count(*) FROM docs WHERE fp = ANY (ARRAY[42, 0, -1]);
SELECT id FROM docs WHERE fp IS NULL ORDER BY id;
SELECT count(*), count(fp) FROM docs;
SELECT count(*) FROM docs WHERE fp IS NOT NULL;
SELECT count(*) FROM docs WHERE fp <~> NULL <= 3;
SELECT count(*) FROM docs WHERE fp <@ NULL::hamming_ball;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- More fingerprints match than work_mem takes: their rows are returned without noting them, each once.
CREATE TABLE crowd (fp bigint);
INSERT INTO crowd SELECT ('x' || md5(i::text))::bit(64)::bigint FROM generate_series(1, 60000) i;
INSERT INTO crowd SELECT i << 49 FROM generate_series(0::bigint, 16383) i, generate_series(1, 2);
CREATE INDEX crowd_fp ON crowd USING simhash (fp);
CREATE VIEW found AS SELECT count(*) AS rows, count(DISTINCT fp) AS fingerprints, sum(fp::numeric), max(fp <~> 0) FROM crowd WHERE fp <~> 0 <= 7;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT * FROM found;
RESET enable_indexscan;
RESET enable_indexonlyscan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET work_mem = '64kB';
EXPLAIN (COSTS OFF) SELECT count(*) FROM crowd WHERE fp <~> 0 <= 7;
SELECT * FROM found;
SELECT count(*) AS rows, count(DISTINCT fp) AS fingerprints FROM (SELECT fp FROM crowd WHERE fp <~> 0 <= 7 ORDER BY fp <~> 0 LIMIT 100000) c;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = on;
SELECT * FROM found;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET work_mem;
DROP VIEW found;
DROP TABLE crowd;

-- The planner leaves the index where it does not pay.
ANALYZE docs;
EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <~> 42000000 <= 3;
EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE fp <~> 42000000 <= 40;
CREATE TABLE few (fp bigint);
INSERT INTO few SELECT generate_series(1, 20);
CREATE INDEX ON few USING simhash (fp);
ANALYZE few;
EXPLAIN (COSTS OFF) SELECT * FROM few WHERE fp <~> 42 <= 3;
DROP TABLE docs, grown, brief, spread, few;
DROP FUNCTION compare;
-- Integers of every width, of which a smaller one is extended by its sign, at both ends of their ranges: the rows that the index finds
-- are the scan's.
CREATE TABLE widths AS SELECT row_number() OVER () AS id, fp FROM (
    SELECT value + step FROM unnest(ARRAY[-2147483648, -65536, -32768, -2, 0, 42, 32767, 65535, 2147483647, 4294967295]::bigint[]) value, generate_series(-1, 1) step
    UNION SELECT unnest(ARRAY[-9223372036854775808, 9223372036854775807])) f (fp);
CREATE INDEX widths_fp ON widths USING simhash (fp);
CREATE FUNCTION by_width(by_index boolean) RETURNS TABLE (condition text, ids bigint[]) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_indexscan', by_index::text, true),
        set_config('enable_bitmapscan', by_index::text, true);
    FOR condition IN SELECT format(form, value || '::' || type)
        FROM unnest(ARRAY['fp = %s', 'fp ~= %s', 'fp <~> %s <= 2', 'fp <@ hamming_ball(%s, 1)', 'fp <~> 7 <= %s']) form,
            (VALUES ('smallint', '{-32768,-1,0,42,32767}'::bigint[]), ('integer', '{-2147483648,-32769,-1,0,42,65535,2147483647}'),
                    ('bigint', '{-9223372036854775808,-2147483649,-1,0,42,4294967295,9223372036854775807}')) v (type, list), unnest(list) number,
            LATERAL (SELECT quote_literal(number) AS value) q LOOP
        EXECUTE 'SELECT array_agg(id ORDER BY id) FROM widths WHERE ' || condition INTO ids;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT count(*) AS conditions, count(s.ids) AS with_rows, min(format('%s: %s instead of %s', condition, i.ids, s.ids)) FILTER (WHERE i.ids IS DISTINCT FROM s.ids) AS wrong
FROM by_width(true) i JOIN by_width(false) s USING (condition);
DROP TABLE widths;
DROP FUNCTION by_width;
