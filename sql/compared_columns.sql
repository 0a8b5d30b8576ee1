-- Exclusion constraints that compare a column by an operator that narrows no search, <> or &&: the column is left out of the scope,
-- and compared in the rows that are found. A loop over all rows is the oracle.
SET jit = off;
-- Many near fingerprints, also negative ones; NULLs and empty ranges; some rows come twice.
CREATE TABLE candidates AS
    SELECT i AS id, CASE WHEN i % 40 > 0 THEN hashint8extended(i / 9, 5) # (1::bigint << (i % 64)) END AS fp,
           CASE WHEN i % 17 > 0 THEN i / 3 % 5 - 2 END AS usr, CASE WHEN i % 19 > 0 THEN (i / 2 % 3 - 1)::bigint END AS author,
           CASE WHEN i % 23 > 0 THEN int4range(i % 30, i % 30 + i % 4) END AS span
    FROM generate_series(1, 900) i;
CREATE FUNCTION admitted(conflict text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    result bigint[];
BEGIN
    CREATE TEMP TABLE rows_so_far (LIKE candidates);
    FOR i IN 1 .. 900 LOOP
        EXECUTE format('INSERT INTO rows_so_far SELECT * FROM candidates n WHERE id = $1 AND NOT EXISTS (
                            SELECT FROM rows_so_far o WHERE hamming(n.fp, o.fp) <= 3 AND %s)', conflict) USING i;
    END LOOP;
    SELECT array_agg(id ORDER BY id) INTO result FROM rows_so_far;
    DROP TABLE rows_so_far;
    RETURN result;
END $$;
CREATE FUNCTION admitted_by(elements text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    result bigint[];
BEGIN
    CREATE TABLE guarded (LIKE candidates);
    EXECUTE format('ALTER TABLE guarded ADD CONSTRAINT guarded_excl EXCLUDE USING simhash (fp WITH ~=, %s)', elements);
    FOR i IN 1 .. 900 LOOP
        INSERT INTO guarded SELECT * FROM candidates WHERE id = i ON CONFLICT DO NOTHING;
    END LOOP;
    SELECT array_agg(id ORDER BY id) INTO result FROM guarded;
    PERFORM simhash_index_check('guarded_excl', true);
    DROP TABLE guarded;
    RETURN result;
END $$;
SELECT elements, cardinality(expected) AS rows, admitted_by(elements) = expected AS as_expected
FROM (VALUES ('usr WITH =, span WITH &&', 'n.usr = o.usr AND n.span && o.span'), ('author WITH <>', 'n.author <> o.author'),
             ('span WITH &&, author WITH <>, usr WITH =', 'n.usr = o.usr AND n.author <> o.author AND n.span && o.span'),
             ('usr WITH <>, author WITH =', 'n.usr <> o.usr AND n.author = o.author'),
             ('usr WITH =, usr WITH <>', 'false')) v (elements, conflict), admitted(conflict) expected;

-- Every kind of first column, and texts, in one transaction, deferred, and partial.
CREATE TABLE messages (body text, usr integer, sent timestamp, is_draft boolean DEFAULT false,
    CONSTRAINT not_again EXCLUDE USING simhash (body WITH =~~, usr WITH =, tsrange(sent, sent + interval '10 minutes') WITH &&)
        WHERE (NOT is_draft AND sent IS NOT NULL));
INSERT INTO messages VALUES ('The boat house is closed for repairs.', 1, '2026-01-01 10:00');
INSERT INTO messages VALUES ('The boat house is closed for repairs!', 1, '2026-01-01 10:09:59');
INSERT INTO messages VALUES ('The boat house is closed for repairs!', 1, '2026-01-01 09:50:01');
INSERT INTO messages VALUES ('The boat house is closed for repairs!', 1, '2026-01-01 10:00', true);
INSERT INTO messages VALUES ('The boat house is closed for repairs!', 1, '2026-01-01 10:10'), ('The boat house is closed for repairs!', 2, '2026-01-01 10:00'),
    ('The boat house is closed for repairs!', 1, NULL), ('', 1, '2026-01-01 10:00'),
    ('', 1, '2026-01-01 10:00'), (NULL, 1, '2026-01-01 10:00'), ('The boat house is closed for repairs.', NULL, '2026-01-01 10:00');
UPDATE messages SET usr = 1 WHERE usr = 2;
SELECT rows FROM simhash_index_check('not_again', true);
CREATE TABLE copied (body text, code bit(256), author text, spans int4multirange,
    CONSTRAINT no_copied_passage EXCLUDE USING simhash (body passage_ops WITH &~~, author WITH <>) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT no_copied_code EXCLUDE USING simhash (code WITH =~~, spans WITH &&));
SELECT string_agg(md5(i::text), ' ') AS passage FROM generate_series(1, 20) i \gset
INSERT INTO copied VALUES ('a ' || :'passage', 5::bit(256), 'x', '{[1,3),[7,9)}'), ('b ' || :'passage', 6::bit(256), 'x', '{[3,7)}');
INSERT INTO copied VALUES (NULL, 7::bit(256), 'x', '{[8,20)}');
BEGIN;
INSERT INTO copied VALUES ('c ' || :'passage', NULL, 'y', '{}');
DELETE FROM copied WHERE author = 'y';
COMMIT;
\set VERBOSITY terse
INSERT INTO copied VALUES ('c ' || :'passage', NULL, 'y', '{}');
\set VERBOSITY default

-- All types of scopes. The first two rows differ; the third is equal to the first, and differs from the second.
CREATE TYPE mood AS ENUM ('calm', 'merry');
CREATE TYPE place AS (country text, city text);
CREATE DOMAIN shelf AS integer CHECK (VALUE > 0);
CREATE FUNCTION refused(type text, operator text, rows text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text := '';
BEGIN
    EXECUTE format('CREATE TEMP TABLE typed (fp bigint, v %s, EXCLUDE USING simhash (fp WITH ~=, v WITH %s))', type, operator);
    FOR i IN 1 .. cardinality(rows) LOOP
        BEGIN
            EXECUTE format('INSERT INTO typed VALUES (%s, %L)', i, rows[i]);
            result := result || 'yes ';
        EXCEPTION WHEN exclusion_violation THEN
            result := result || 'no ';
        END;
    END LOOP;
    DROP TABLE typed;
    RETURN result;
END $$;
SELECT refused(type, '<>', ARRAY[one, other, one, NULL, other]) AS inserted, string_agg(type, ', ') AS types
FROM (VALUES
    ('bigint', '-7', '8'), ('integer', '-7', '8'), ('smallint', '-7', '8'), ('text', 'a', 'b'), ('varchar(9)', 'a', 'b'), ('char(3)', 'a', 'b'), ('"char"', 'a', 'b'),
    ('name', 'a', 'b'), ('bytea', 'a', 'b'), ('bit(5)', '10010', '10011'), ('bit varying', '1001', '10010'), ('boolean', 'true', 'false'),
    ('numeric', '1.50', '2'), ('real', '-0', '1'), ('double precision', '-0', '1'), ('uuid', '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002'),
    ('oid', '7', '8'), ('date', '2000-01-01', '2000-01-02'), ('time', '12:00', '13:00'), ('timetz', '12:00+00', '13:00+00'), ('timestamp', '2000-01-01', '2000-01-02'),
    ('timestamptz', '2000-01-01', '2000-01-02'), ('interval', '1 day', '2 days'), ('inet', '10.0.0.1', '10.0.0.2'), ('cidr', '10.0.0.0/8', '11.0.0.0/8'),
    ('macaddr', '08:00:2b:01:02:03', '08:00:2b:01:02:04'), ('macaddr8', '08:00:2b:01:02:03:04:05', '08:00:2b:01:02:03:04:06'), ('pg_lsn', '0/10', '0/11'),
    ('jsonb', '{"a": 1}', '{}'), ('mood', 'calm', 'merry'), ('shelf', '7', '8'), ('integer[]', '{1,NULL}', '{1}'), ('int4range', '[1,2]', '[1,4)'),
    ('int4multirange', '{[1,2]}', '{}'), ('place', '(de,Ulm)', '(de,)')) AS types (type, one, other) GROUP BY 1;
SELECT type, refused(type, '&&', ARRAY[one, other, one, NULL, other, 'empty']) AS inserted FROM (VALUES
    ('int4range', '[1,3)', '[3,7)'), ('tsrange', '[2026-01-01,2026-01-02)', '[2026-01-02,)'), ('numrange', '[-1,0]', '(0,)')) AS types (type, one, other);
SELECT amvalidate(oid), count(*) FROM pg_opclass WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') GROUP BY 1;
-- The operator class of another type may have them, but no strategies that are not known.
CREATE OPERATOR CLASS money_ops FOR TYPE money USING simhash AS OPERATOR 2 = (money, money), OPERATOR 7 <> (money, money), FUNCTION 1 (money, money) hashint8extended (bigint, bigint);
SELECT amvalidate(pg_opclass.oid) FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE opcname = 'money_ops' AND amname = 'simhash';
ALTER OPERATOR FAMILY money_ops USING simhash ADD OPERATOR 8 < (money, money);
SELECT amvalidate(pg_opclass.oid) FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod WHERE opcname = 'money_ops' AND amname = 'simhash';
DROP OPERATOR FAMILY money_ops USING simhash;

-- What is stored: the key on the posting table's root, as an index without the compared columns has it.
CREATE TABLE stored (fp bigint, usr integer, author text, span int4range, CONSTRAINT stored_excl EXCLUDE USING simhash (fp WITH ~=, author WITH <>, usr WITH =, span WITH &&));
INSERT INTO stored VALUES (0, 42, 'x', '[1,2)');
CREATE INDEX stored_scope ON stored USING simhash (fp, usr);
CREATE INDEX stored_all ON stored USING simhash (fp, author, usr, span);
CHECKPOINT;
CREATE FUNCTION stored_key(index regclass) RETURNS bytea LANGUAGE sql AS
    $$ SELECT pg_read_binary_file(pg_relation_filepath(index), current_setting('block_size')::integer + 24, 8) $$;
-- The row of the first was inserted, and lies in the tail; those of the others were there at the build.
REINDEX INDEX stored_excl;
CHECKPOINT;
SELECT stored_key('stored_excl') = stored_key('stored_scope') AS as_without, stored_key('stored_excl') = stored_key('stored_all') AS as_with;

-- Searches by that index need a value for the scope alone. What compares the other columns stays a filter.
CREATE TABLE answers AS SELECT id, fp, usr, author, span FROM admitted('n.usr = o.usr AND n.author <> o.author') ids, candidates WHERE id = ANY (ids);
ALTER TABLE answers ADD CONSTRAINT answers_excl EXCLUDE USING simhash (fp WITH ~=, usr WITH =, author WITH <>);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM answers WHERE fp <~> 42 <= 3 AND usr = 1 AND author <> 1::bigint;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM answers WHERE usr = 1 AND -1::bigint <> author ORDER BY fp <~> 42 LIMIT 3;
RESET enable_sort;
-- A first column that is compared by <>, too.
EXPLAIN (COSTS OFF) SELECT id FROM answers WHERE fp <> 42::bigint AND usr = 1 AND author <> ANY ('{1,2}') AND 3::bigint <> author;
RESET enable_seqscan;
CREATE FUNCTION answer(query text, by_index boolean, bitmaps boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true),
            set_config('enable_indexscan', (by_index AND NOT bitmaps)::text, true), set_config('enable_bitmapscan', (by_index AND bitmaps)::text, true);
    EXECUTE 'SELECT string_agg(answer::text, '' '') FROM (' || query || ') answers (answer)' INTO result;
    RETURN coalesce(result, 'none');
END $$;
SELECT count(*) AS queries, count(*) FILTER (WHERE expected <> 'none') AS with_answers, count(*) FILTER (WHERE found <> expected OR by_bitmap <> expected) AS wrong
FROM (SELECT answer(query, true) AS found, answer(query, true, true) AS by_bitmap, answer(query, false) AS expected
      FROM (SELECT format('SELECT id FROM answers WHERE %s AND %s AND %s ORDER BY id', near, scope, compared) AS query
            FROM (SELECT fp FROM answers WHERE fp IS NOT NULL ORDER BY id LIMIT 8) asked,
                 LATERAL (VALUES (format('fp <~> %s <= 3', fp # 5)), (format('fp <~> %s <= 12', fp)), ('fp IS NULL'), (format('fp <> %s::bigint', fp))) n (near),
                 (VALUES ('usr = 1'), ('usr = -2'), ('usr IS NULL'), ('usr <> 1'), ('true')) s (scope),
                 (VALUES ('author = 1'), ('author <> 1'), ('author <> 1::bigint'), ('author = -1::smallint'), ('author IS NULL'), ('author = NULL'), ('author <> NULL'), ('author <> ALL (''{0,1}'')'),
                         ('author <> ANY (''{0,1}'')'), ('true')) c (compared)) queries) answers;
SELECT count(*) FILTER (WHERE found <> expected) AS wrong_orders
FROM (SELECT answer(query, true) AS found, answer(query, false) AS expected
      FROM (SELECT format('SELECT fp <~> 42 FROM answers WHERE %s AND %s ORDER BY fp <~> 42 LIMIT 9', scope, compared) AS query
            FROM (VALUES ('usr = 1'), ('usr = -2'), ('usr IS NULL'), ('true')) s (scope), (VALUES ('author = 1'), ('author <> 1'), ('author IS NULL'), ('true')) c (compared)) queries) answers;

-- Builds anew, and the file of an index that was built without the constraint: it is slower, and as right.
CREATE FUNCTION refuses() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text := '';
    row answers;
BEGIN
    PERFORM simhash_index_check('answers_excl', true);
    FOR row IN SELECT * FROM answers WHERE fp IS NOT NULL AND usr IS NOT NULL AND author IS NOT NULL ORDER BY id LIMIT 5 LOOP
        BEGIN
            row.author := row.author + 5;
            INSERT INTO answers SELECT row.*;
            result := result || 'yes ';
        EXCEPTION WHEN exclusion_violation THEN
            result := result || 'no ';
        END;
    END LOOP;
    RETURN result;
END $$;
SELECT refuses();
REINDEX INDEX answers_excl;
SELECT refuses();
VACUUM FULL answers;
SELECT refuses();
CREATE INDEX answers_plain ON answers USING simhash (fp, usr, author);
BEGIN;
SELECT relfilenode AS plain FROM pg_class WHERE relname = 'answers_plain' \gset
SELECT relfilenode AS excl FROM pg_class WHERE relname = 'answers_excl' \gset
UPDATE pg_class SET relfilenode = CASE relname WHEN 'answers_plain' THEN :excl ELSE :plain END WHERE relname IN ('answers_plain', 'answers_excl');
COMMIT;
SELECT refuses();
SELECT rows > 0 AS checked FROM simhash_index_check('answers_plain', true);
DROP INDEX answers_plain;
TRUNCATE answers;
SELECT rows FROM simhash_index_check('answers_excl', true);
ALTER TABLE answers SET UNLOGGED;
SELECT rows FROM simhash_index_check('answers_excl', true);

-- What is made all the same, but not in silence.
CREATE TABLE odd (body text, code bit(64), fp bigint, author text);
ALTER TABLE odd ADD EXCLUDE USING simhash (author WITH <>, body WITH =);
INSERT INTO odd (body, author) VALUES ('a', 'x'), ('a', 'x'), ('b', 'y'), ('a', NULL);
INSERT INTO odd (body, author) VALUES ('a', 'y');
TRUNCATE odd;
ALTER TABLE odd ADD EXCLUDE USING simhash (body WITH =);
ALTER TABLE odd ADD EXCLUDE USING simhash (body passage_ops WITH =, author WITH <>);
ALTER TABLE odd ADD EXCLUDE USING simhash (code WITH =);
-- From PostgreSQL 17 on, the server itself takes schemas off the search_path for these statements.
SET search_path = pg_catalog;
ALTER TABLE public.odd ADD CONSTRAINT odd_copies EXCLUDE USING simhash (public.minhash(body) WITH OPERATOR(public.~=), public.simhash(body) WITH =);
CREATE INDEX odd_scope ON public.odd USING simhash (public.minhash(body), author, public.simhash(body));
RESET search_path;
-- In silence: equal fingerprints, and other functions of a scope.
ALTER TABLE odd ADD EXCLUDE USING simhash (fp WITH =);
CREATE INDEX ON odd USING simhash (minhash(body), hashtextextended(author, 0));
-- A hash function that makes the server drop what it keeps of the index, as one may that looks up a type while others change the table.
CREATE FUNCTION dropping_hash(value integer, seed bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pg_class SET reltuples = reltuples WHERE relname = 'dropped_excl' AND current_setting('simhash_test.drop') = 'on';
    RETURN hashint4extended(value, seed);
END $$;
CREATE OPERATOR CLASS dropping_ops FOR TYPE integer USING simhash AS OPERATOR 2 =, FUNCTION 1 dropping_hash(integer, bigint);
SET simhash_test.drop = off;
CREATE TABLE dropped (fp bigint, usr integer, part integer, author text,
    CONSTRAINT dropped_excl EXCLUDE USING simhash (fp WITH ~=, usr dropping_ops WITH =, part WITH =, author WITH <>));
INSERT INTO dropped VALUES (42, 1, 2, 'x'), (43, 1, 2, 'x');
SET simhash_test.drop = on;
SET enable_seqscan = off;
SELECT count(*) FROM dropped WHERE fp ~= 42 AND usr = 1 AND part = 2;
INSERT INTO dropped VALUES (42, 1, 2, 'y');
RESET enable_seqscan;
DROP TABLE dropped;
DROP OPERATOR FAMILY dropping_ops USING simhash;
DROP FUNCTION dropping_hash;
DROP TABLE candidates, messages, copied, stored, answers, odd;
DROP FUNCTION admitted, admitted_by, refused, stored_key, answer, refuses;
DROP TYPE mood, place, shelf;
