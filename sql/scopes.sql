-- Scopes: indexes on (fp, other columns). The sequential scan is the oracle.
SET client_min_messages = warning;
SET jit = off;
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
RESET client_min_messages;

-- Three rows in four are of tenant 1, some of none; near-duplicates are in the same scope or in another.
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, tenant bigint, lang text);
INSERT INTO docs
    SELECT i,
           CASE WHEN i % 50 > 0 THEN hashint8extended(i / 7, 5) # (1::bigint << (i % 64)) END,
           CASE WHEN i % 4 > 0 THEN 1 WHEN i % 100 > 0 THEN i % 300 END,
           (ARRAY['de', 'en', NULL])[1 + i % 3]
    FROM generate_series(1, 20000) i;
CREATE INDEX docs_tenant ON docs USING simhash (fp, tenant);
CREATE INDEX docs_lang ON docs USING simhash (fp, lang, tenant);
VACUUM ANALYZE docs;
SELECT * FROM simhash_index_check('docs_tenant', true);
SELECT * FROM simhash_index_check('docs_lang', true);

-- Which conditions search within a scope.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        -- PostgreSQL 18 marks a plan that is switched off, and taken as there is no other.
        IF line !~ '^ *Disabled: true$' THEN RETURN NEXT line; END IF;
    END LOOP;
END $$;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND tenant = 8');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND tenant = 8::smallint');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND tenant IS NULL');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND lang = ''de'' AND tenant = 8');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND tenant = ANY (''{8,12}'')');
SELECT plan('SELECT id FROM docs WHERE tenant = 1 ORDER BY fp <~> 42 LIMIT 3');
-- Of a small scope's rows few come early in the index's order: they are found otherwise, and sorted.
CREATE INDEX docs_by_tenant ON docs (tenant);
SELECT plan('SELECT id FROM docs WHERE tenant = 1 ORDER BY fp <~> 42 LIMIT 3');
SELECT plan('SELECT id FROM docs WHERE tenant = 8 ORDER BY fp <~> 42 LIMIT 3');
DROP INDEX docs_by_tenant;
-- An open scope: the table is read, but for those who forbid it.
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 AND lang = ''de''');
SELECT plan('SELECT id FROM docs ORDER BY fp <~> 42 LIMIT 3');
SELECT plan('SELECT id FROM docs WHERE tenant = 1 ORDER BY tenant <~> 42 LIMIT 3');
SET enable_seqscan = off;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3');
SELECT plan('SELECT id FROM docs ORDER BY fp <~> 42 LIMIT 3');
SELECT plan('SELECT id FROM docs WHERE tenant <~> 8 <= 2');
RESET enable_seqscan;
-- Neither the fingerprint nor the scope can be read from the index.
SELECT plan('SELECT fp FROM docs WHERE fp <~> 42 <= 3 AND tenant = 8');

-- Every answer is the sequential scan's.
CREATE FUNCTION answer(query text, by_index boolean, bitmaps boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true),
            set_config('enable_sort', (NOT by_index)::text, true),
            set_config('enable_indexscan', (by_index AND NOT bitmaps)::text, true),
            set_config('enable_bitmapscan', (by_index AND bitmaps)::text, true);
    EXECUTE 'SELECT string_agg(answer::text, '' '') FROM (' || query || ') answers (answer)' INTO result;
    RETURN coalesce(result, 'none');
END $$;
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES ('tenant = 1'), ('tenant = 8'), ('tenant = 8::int'), ('tenant = 8::smallint'), ('tenant IS NULL'),
    ('tenant = NULL'), ('tenant = 4711'), ('tenant = ANY (''{1,8,NULL}'')'), ('tenant = 8 AND tenant = 1'), ('tenant IS NOT NULL'),
    ('tenant <@ hamming_ball(8, 1)'), ('tenant ~= 8'), ('lang = ''de'''), ('lang = ''de'' AND tenant = 1'),
    ('lang IS NULL AND tenant = 8'), ('lang IN (''de'', ''en'') AND tenant = 1'), ('true');
SELECT count(*) AS queries, count(*) FILTER (WHERE expected <> 'none') AS with_answers,
       count(*) FILTER (WHERE found <> expected OR found_by_bitmap <> expected) AS wrong
FROM (SELECT answer(query, true) AS found, answer(query, true, true) AS found_by_bitmap, answer(query, false) AS expected
      FROM (SELECT format('SELECT id FROM docs WHERE %s AND %s ORDER BY id', condition, near) AS query
            FROM conditions, docs asked,
                 LATERAL (VALUES (format('fp <~> %s <= 3', fp # 5)), (format('fp <~> %s <= 12', fp)), (format('fp = %s', fp)),
                                 (format('fp ~= %s AND fp <~> %s <= 30', fp, fp # 7)), ('fp IS NULL')) AS nears (near)
            WHERE asked.id IN (3, 8, 399)) AS queries) AS answers;
SELECT count(*) AS queries, count(*) FILTER (WHERE expected <> 'none') AS with_answers, count(*) FILTER (WHERE found <> expected) AS wrong
FROM (SELECT answer(query, true) AS found, answer(query, false) AS expected
      FROM (SELECT format('SELECT (%1$s, %2$s) FROM docs WHERE %3$s ORDER BY %1$s, %2$s LIMIT %4$s',
                          orders[1], coalesce(orders[2], '1 + 1'), condition, number) AS query
            FROM conditions, (VALUES (1), (20)) AS numbers (number),
                 LATERAL (VALUES (ARRAY['fp <~> 42']), (ARRAY['fp <~> 42', 'fp <~> 4711']), (ARRAY['tenant <~> 5', 'fp <~> 42']),
                                 (ARRAY['fp <~> 42', 'tenant <~> 5'])) AS orders (orders)) AS queries) AS answers;
-- Each kind of condition on a column beside each kind on the other one, on tables with one index each, so that no other index answers:
-- what a condition makes of a scope shows where the other column's value is given. The first query whose answer is not the scan's.
CREATE TABLE one_scope AS SELECT * FROM docs WHERE id <= 2000;
CREATE TABLE two_scopes AS TABLE one_scope;
CREATE TABLE turned_scopes AS TABLE one_scope;
CREATE INDEX ON one_scope USING simhash (fp, tenant);
CREATE INDEX ON two_scopes USING simhash (fp, lang, tenant);
CREATE INDEX ON turned_scopes USING simhash (fp, tenant, lang);
VACUUM ANALYZE one_scope, two_scopes, turned_scopes;
CREATE TABLE combined AS
SELECT format('SELECT id FROM %s WHERE %s AND %s AND %s ORDER BY id', scoped, near, on_tenant, on_lang) AS query
FROM (VALUES ('one_scope'), ('two_scopes'), ('turned_scopes')) scoped (scoped),
    (VALUES ('true'), ('tenant = 1'), ('tenant = 8::smallint'), ('tenant = -1'), ('tenant IS NULL'), ('tenant IS NOT NULL'),
            ('tenant = 1 AND tenant IS NOT NULL'), ('tenant = 1 AND tenant IS NULL'), ('tenant = NULL'), ('tenant = ANY (''{1,8,NULL}'')'),
            ('tenant <@ hamming_ball(1, 1)'), ('tenant > 0')) t (on_tenant),
    (VALUES ('true'), ('lang = ''de'''), ('lang = ''?'''), ('lang IS NULL'), ('lang IS NOT NULL'), ('lang = ''de'' AND lang IS NOT NULL'),
            ('lang = NULL'), ('lang IN (''de'', ''en'')'), ('lang > ''d''')) l (on_lang),
    (SELECT format('fp <~> %s <= %s', fp # 5, radius) FROM docs, (VALUES (3), (64)) r (radius) WHERE id = 3 OR id = 399 AND radius = 3
     UNION ALL VALUES ('fp IS NULL')) n (near);
CREATE TABLE combined_answers AS
SELECT query, answer(query, false) AS expected, answer(query, true) AS found, answer(query, true, true) AS found_by_bitmap FROM combined;
SELECT count(*) AS queries, count(*) FILTER (WHERE expected <> 'none') AS with_answers FROM combined_answers;
SELECT query, left(expected, 60) AS expected, left(found, 60) AS found, left(found_by_bitmap, 60) AS found_by_bitmap FROM combined_answers
WHERE found <> expected OR found_by_bitmap <> expected ORDER BY length(query), query LIMIT 3;
DROP TABLE one_scope, two_scopes, turned_scopes, combined, combined_answers;
-- Rows of all scopes that have no fingerprint are found together; and an array is a search for each of its elements. The planner
-- knows how many rows are found.
CREATE FUNCTION expected_rows(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan #>> '{0,Plan,Plans,0,Plan Rows}'; -- of the bitmap, before it is compared with the table
END $$;
SELECT expected_rows('SELECT FROM docs WHERE fp IS NULL') AS nulls,
       expected_rows('SELECT FROM docs WHERE fp IS NULL AND tenant = 8') AS nulls_of_8,
       expected_rows('SELECT FROM docs WHERE fp <~> 42 <= 24 AND tenant = 8') AS near_8,
       expected_rows('SELECT FROM docs WHERE fp <~> 42 <= 24 AND tenant = ANY (''{8,12,16,20}'')') AS near_any;
-- Of other scopes a partial index has its own rows only.
CREATE TABLE recent AS SELECT fp, tenant, id % 100 < 2 AS is_new FROM docs;
CREATE INDEX recent_tenant ON recent USING simhash (fp, tenant) WHERE is_new;
ANALYZE recent;
SELECT expected_rows('SELECT FROM recent WHERE is_new AND fp <~> 42 <= 32 AND tenant = 1') <= 400 AS at_most_all_new;
SELECT plan('SELECT FROM recent WHERE is_new AND tenant = 1 ORDER BY fp <~> 42 LIMIT 1');
-- A prepared query whose scope turns out to be NULL.
SET plan_cache_mode = force_generic_plan;
PREPARE nearest(bigint) AS SELECT id FROM docs WHERE tenant = $1 ORDER BY fp <~> 42 LIMIT 3;
EXECUTE nearest(NULL);
DEALLOCATE nearest;
RESET plan_cache_mode;

-- After changes, and by REINDEX.
UPDATE docs SET tenant = coalesce(tenant, 0) + 1 WHERE id % 10 = 0;
DELETE FROM docs WHERE id % 10 = 1;
VACUUM docs;
SELECT * FROM simhash_index_check('docs_tenant', true);
REINDEX INDEX docs_lang;
SELECT * FROM simhash_index_check('docs_lang', true);

-- A composite type that gets another attribute hashes its old values otherwise: a new build finds them.
CREATE TYPE shelf_of AS (hall text, number int);
CREATE TABLE shelved (fp bigint, shelf shelf_of);
INSERT INTO shelved SELECT i, ROW('A', i % 3)::shelf_of FROM generate_series(0, 29) i;
CREATE INDEX shelved_fp ON shelved USING simhash (fp, shelf);
ALTER TYPE shelf_of ADD ATTRIBUTE level int;
SET enable_seqscan = off;
SELECT count(*) AS before FROM shelved WHERE fp <~> 0 <= 5 AND shelf = ('A', 1, NULL)::shelf_of;
DO $$ BEGIN
    PERFORM simhash_index_check('shelved_fp', true);
EXCEPTION WHEN index_corrupted THEN RAISE INFO 'the check says so';
END $$;
REINDEX INDEX shelved_fp;
SELECT count(*) AS rebuilt FROM shelved WHERE fp <~> 0 <= 5 AND shelf = ('A', 1, NULL)::shelf_of;
SELECT rows FROM simhash_index_check('shelved_fp', true);
RESET enable_seqscan;
SELECT count(*) AS by_scan FROM shelved WHERE fp <~> 0 <= 5 AND shelf = ('A', 1, NULL)::shelf_of;
DROP TABLE shelved;
DROP TYPE shelf_of;

-- Types of scopes: equal values are one scope, however they are written.
CREATE TYPE mood AS ENUM ('calm', 'merry');
CREATE TYPE place AS (country text, city text);
CREATE DOMAIN shelf AS integer CHECK (VALUE > 0);
CREATE FUNCTION scope_works(type text, value text, same text, other text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    numbers text;
BEGIN
    EXECUTE format('CREATE TEMP TABLE typed (fp bigint, scope %s)', type);
    EXECUTE format('INSERT INTO typed SELECT 1 << i, CASE WHEN i %% 2 = 0 THEN %L ELSE %L END::%s FROM generate_series(0, 9) i',
                   value, other, type);
    CREATE INDEX typed_scope ON typed USING simhash (fp, scope);
    SET LOCAL enable_seqscan = off;
    EXECUTE format('SELECT string_agg(fp::text, '' '' ORDER BY fp) FROM typed WHERE fp <~> 0 <= 1 AND scope = %L::%s', same, type)
        INTO numbers;
    numbers := numbers || ' ' || (SELECT rows FROM simhash_index_check('typed_scope', true));
    DROP TABLE typed;
    RETURN numbers;
END $$;
SELECT type, scope_works(type, value, same, other) FROM (VALUES
    ('integer', '7', '7', '8'), ('smallint', '7', '7', '8'), ('bigint', '7', '7', '8'), ('text', 'a', 'a', 'b'),
    ('varchar(9)', 'a', 'a', 'b'), ('char(3)', 'a', 'a  ', 'b'), ('"char"', 'a', 'a', 'b'), ('name', 'a', 'a', 'b'),
    ('bytea', 'a', '\x61', 'b'), ('bit(5)', '10010', 'x90', '10011'), ('bit varying', '1001', '1001', '10010'), ('boolean', 'true', 'on', 'false'), ('numeric', '1.50', '1.5', '2'), ('real', '-0', '0', '1'),
    ('double precision', '-0', '0', '1'), ('uuid', '00000000-0000-0000-0000-000000000001', '{00000000000000000000000000000001}',
     '00000000-0000-0000-0000-000000000002'), ('oid', '7', '7', '8'), ('date', '2000-01-01', '1 Jan 2000', '2000-01-02'),
    ('time', '12:00', '12:00:00', '13:00'), ('timetz', '12:00+00', '12:00:00+00', '13:00+00'),
    ('timestamp', '2000-01-01', '2000-01-01 00:00', '2000-01-02'), ('timestamptz', '2000-01-01 12:00+00', '2000-01-01 13:00+01', '2000-01-02'),
    ('interval', '1 day', '24 hours', '2 days'), ('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.2'), ('cidr', '10.0.0.0/8', '10.0.0.0/8', '11.0.0.0/8'),
    ('macaddr', '08:00:2b:01:02:03', '08002b010203', '08:00:2b:01:02:04'), ('macaddr8', '08:00:2b:01:02:03:04:05', '08002b0102030405', '08:00:2b:01:02:03:04:06'),
    ('pg_lsn', '0/10', '0/10', '0/11'), ('jsonb', '{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{}'), ('mood', 'calm', 'calm', 'merry'),
    ('shelf', '7', '7', '8'), ('integer[]', '{1,NULL}', '{1, NULL}', '{1}'), ('int4range', '[1,2]', '[1,3)', '[1,4)'),
    ('int4multirange', '{[1,2]}', '{[1,3)}', '{}'), ('place', '(de,Ulm)', '(de,Ulm)', '(de,)')) AS types (type, value, same, other);
-- What a hash function leaves behind in memory does not add up over the rows of a statement.
CREATE TABLE priced (fp bigint, price numeric);
CREATE INDEX priced_price ON priced USING simhash (fp, price);
CREATE FUNCTION show_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'little memory: %', (SELECT sum(used_bytes) < 200000 FROM pg_backend_memory_contexts WHERE name = 'ExecutorState');
    RETURN NULL;
END $$;
CREATE TRIGGER show_memory AFTER INSERT ON priced EXECUTE FUNCTION show_memory();
INSERT INTO priced SELECT hashint8extended(i, 5), i FROM (SELECT generate_series(1, 20000)) AS numbers (i);
CREATE TABLE spoken (fp bigint, lang text COLLATE ignore_case);
INSERT INTO spoken VALUES (1, 'de'), (2, 'DE'), (4, 'en');
CREATE INDEX spoken_lang ON spoken USING simhash (fp, lang);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan('SELECT fp FROM spoken WHERE fp <~> 0 <= 1 AND lang = ''De''');
SELECT fp FROM spoken WHERE fp <~> 0 <= 1 AND lang = 'De' ORDER BY fp;
-- PostgreSQL 15 does not bring a boolean column to an extension's index, but in this form.
CREATE TABLE flags (fp bigint, flag boolean);
CREATE INDEX flags_flag ON flags USING simhash (fp, flag);
RESET enable_bitmapscan;
SELECT plan('SELECT fp FROM flags WHERE fp <~> 0 <= 1 AND flag = ANY (''{t,f}'')');
SET enable_bitmapscan = off;
-- No index-only scan where no column is needed, either.
SELECT plan('SELECT count(*) FROM spoken');
SELECT count(*) FROM spoken;
-- Another collation than the index's is another equality.
SELECT plan('SELECT fp FROM spoken WHERE fp <~> 0 <= 1 AND lang = ''De'' COLLATE "C"');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- A constraint holds within each scope, and where one is NULL for no row.
CREATE TABLE guarded (fp bigint, tenant int, EXCLUDE USING simhash (fp WITH ~=, tenant WITH =));
INSERT INTO guarded VALUES (0, 1), (0, 2), (0, NULL), (7, NULL), (15, 1);
INSERT INTO guarded VALUES (7, 1);
INSERT INTO guarded VALUES (7, 3);
UPDATE guarded SET tenant = 1 WHERE tenant = 3;

-- What cannot be a scope, or its fingerprint.
CREATE INDEX ON docs USING simhash (id);
CREATE TABLE points (fp bigint, place point);
CREATE INDEX ON points USING simhash (fp, place);
CREATE INDEX ON docs USING simhash (fp) INCLUDE (tenant);
CREATE OPERATOR CLASS odd_ops FOR TYPE point USING simhash AS OPERATOR 2 ~= (point, point);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'odd_ops';
CREATE INDEX ON points USING simhash (fp, place odd_ops);
-- What arrays, composite types and ranges are made of must have one, too.
CREATE TYPE sum_of_money AS (amount money);
CREATE TABLE prices (fp bigint, list money[], item sum_of_money);
CREATE INDEX ON prices USING simhash (fp, list);
-- The type's name is written with its schema or without, as the server's version has it.
\set VERBOSITY sqlstate
CREATE INDEX ON prices USING simhash (fp, item);
\set VERBOSITY default
DROP TABLE prices;
DROP TYPE sum_of_money;
CREATE FUNCTION hash_of_point(point) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT hashtext($1::text)';
CREATE OPERATOR CLASS unseeded_ops FOR TYPE point USING simhash AS OPERATOR 2 ~= (point, point), FUNCTION 1 hash_of_point(point);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'unseeded_ops';
-- A hash function that has changed since: the check finds rows missing, and says what the index would hold for them.
CREATE FUNCTION hash_of_point(point, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 0::bigint';
CREATE OPERATOR CLASS seeded_ops FOR TYPE point USING simhash AS OPERATOR 2 ~= (point, point), FUNCTION 1 hash_of_point(point, bigint);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'seeded_ops';
INSERT INTO points VALUES (42, '(1,2)'), (NULL, '(1,2)');
CREATE INDEX points_place ON points USING simhash (fp, place seeded_ops);
SELECT rows FROM simhash_index_check('points_place', true);
CREATE OR REPLACE FUNCTION hash_of_point(point, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 1::bigint';
SELECT rows FROM simhash_index_check('points_place', true);
SELECT opcname FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE amname = 'simhash' AND opcname LIKE '%scope_ops' AND NOT amvalidate(pg_opclass.oid);
-- Two columns of one type whose operator families hash values of another type in ways of their own.
CREATE FUNCTION other_hash(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT hashint8extended($1, $2 # 1)';
CREATE FUNCTION other_hash(integer, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT hashint8extended($1, $2 # 1)';
CREATE OPERATOR CLASS other_ops FOR TYPE bigint USING simhash AS
    OPERATOR 2 = (bigint, bigint), OPERATOR 2 = (bigint, integer),
    FUNCTION 1 other_hash(bigint, bigint), FUNCTION 1 (integer, integer) other_hash(integer, bigint);
CREATE TABLE pairs (fp bigint, a bigint, b bigint);
INSERT INTO pairs SELECT i, i % 10, i % 10 FROM generate_series(1, 1000) i;
CREATE INDEX pairs_fp ON pairs USING simhash (fp, a, b other_ops);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM pairs WHERE fp <~> 42 <= 0 AND a = 2 AND b = 2;
SELECT * FROM pairs WHERE fp <~> 42 <= 0 AND a = 2 AND b = 2;
RESET enable_seqscan;
DROP TABLE pairs;
DROP OPERATOR FAMILY other_ops USING simhash;
DROP FUNCTION other_hash(bigint, bigint), other_hash(integer, bigint);
-- The hash of a scope is part of the format, and no release may change it: the key on the posting table's root of an index with one
-- row, whose fingerprint is 0.
CREATE TABLE stored (fp bigint, a integer, b bigint, c integer);
INSERT INTO stored VALUES (0, 42, -1, NULL);
CREATE INDEX stored_fp ON stored USING simhash (fp, a, b, c);
CHECKPOINT;
SELECT pg_read_binary_file(pg_relation_filepath('stored_fp'), current_setting('block_size')::integer + 24, 8) AS key;
DROP TABLE stored;

DROP TABLE docs, recent, conditions, priced, spoken, flags, guarded, points;
DROP FUNCTION plan, answer, expected_rows, scope_works, show_memory;
DROP OPERATOR FAMILY odd_ops USING simhash;
DROP OPERATOR FAMILY unseeded_ops USING simhash;
DROP OPERATOR FAMILY seeded_ops USING simhash;
DROP FUNCTION hash_of_point(point), hash_of_point(point, bigint);
DROP TYPE mood, place, shelf;
DROP COLLATION ignore_case;
