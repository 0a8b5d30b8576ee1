-- Indexes on passages. The oracles are the sequential scan, and runs of 16 words by SQL.
SET jit = off;
CREATE FUNCTION words(seed text, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(left(md5(seed || ' ' || w), 5), ' ' ORDER BY w) FROM generate_series(first, last) w
$$;
-- Every document has words of its own; two of three have a piece of 10 to 22 words that seven others may have, too; one of five has 20
-- words that all of these have.
CREATE FUNCTION document(i int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws(' ', words('own' || i, 1, 20), CASE WHEN i % 3 > 0 THEN words('piece' || i % 250, 1, 10 + i % 13) END,
                     words('own' || i, 21, 30 + i % 25), CASE WHEN i % 5 = 0 THEN words('footer', 1, 20) END)
$$;
CREATE TABLE pages (id int PRIMARY KEY, body text, tenant int, kind text);
INSERT INTO pages SELECT i, document(i), i % 3, (ARRAY['a', 'b', NULL])[1 + i % 3] FROM generate_series(1, 2000) i;
-- No word, fewer than 16, just 16, repeated words, a text that is toasted, NULL.
INSERT INTO pages VALUES (3001, '', 0, 'a'), (3002, '...', 0, 'a'), (3003, words('own7', 1, 15), 0, 'a'), (3004, words('own7', 1, 16), 0, 'a'),
    (3005, repeat('ho ', 40), 1, 'b'), (3006, NULL, 1, 'b'), (3007, NULL, 0, NULL);
INSERT INTO pages SELECT 3010, string_agg(document(4000 + i), E'\n' ORDER BY i), 0, 'a' FROM generate_series(1, 60) i;
CREATE INDEX pages_passages ON pages USING simhash (body passage_ops);
VACUUM ANALYZE pages;
SELECT rows, orphans, fingerprints > 15000 AS many FROM simhash_index_check('pages_passages', true);
SELECT contents, level, prefix_bits, entries = (SELECT sum(cardinality(passage_hashes(body))) FROM pages) AS all_postings
FROM simhash_index_info('pages_passages') WHERE level = 0 ORDER BY tree;
SELECT reltuples FROM pg_class WHERE relname = 'pages_passages';

-- ---- plans ----

CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        -- PostgreSQL 18 says that a node is disabled, PostgreSQL 19 which table it need not read.
        IF line !~ '^ *(Disabled: true$|Replaces: )' THEN RETURN NEXT regexp_replace(line, '''[^'']{20,}''', '''...''', 'g'); END IF;
    END LOOP;
END $$;
SELECT words('own7', 1, 18) AS piece \gset
SELECT plan($$SELECT id FROM pages WHERE body &~~ $$ || quote_literal(:'piece'));
SELECT plan($$SELECT id FROM pages WHERE $$ || quote_literal(:'piece') || $$ &~~ body$$);
SELECT plan($$SELECT id FROM pages WHERE shares_passage(body, $$ || quote_literal(:'piece') || ')');
SELECT plan($$SELECT id FROM pages WHERE shares_passage($$ || quote_literal(:'piece') || ', body, 18)');
-- Fewer words: the hashes do not tell.
SELECT plan($$SELECT id FROM pages WHERE shares_passage(body, $$ || quote_literal(:'piece') || ', 15)');
SELECT plan('SELECT count(*) FROM pages a JOIN pages b ON a.body &~~ b.body WHERE b.id = 7');
SELECT plan('SELECT count(*) FROM pages b, LATERAL (SELECT id FROM pages a WHERE shares_passage(a.body, b.body, 20) OFFSET 0) s WHERE b.id < 5');
-- A long text: its hashes are computed once, and looked up one by one.
SELECT plan('SELECT id FROM pages WHERE body &~~ ' || quote_literal((SELECT string_agg(document(i), ' ') FROM generate_series(1, 250) i)));
SELECT id FROM pages WHERE body &~~ :'piece' ORDER BY id;
SELECT id FROM pages WHERE shares_passage(body, :'piece', 18);
SELECT id FROM pages WHERE shares_passage(body, :'piece', 15) ORDER BY id;
PREPARE sharing(text, int) AS SELECT id FROM pages WHERE shares_passage(body, $1, $2) ORDER BY id;
SET plan_cache_mode = force_custom_plan;
EXECUTE sharing(:'piece', 16);
EXPLAIN (COSTS OFF) EXECUTE sharing('short', 16);
EXECUTE sharing('short', 16);
-- A number of words that is not known, or none.
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE sharing('short', 16);
RESET plan_cache_mode;
SELECT plan('SELECT id FROM pages WHERE shares_passage(body, ''a'', NULL)');
SELECT count(*) FROM pages WHERE shares_passage(body, :'piece', 0);

-- ---- answers ----

-- A piece of each document, 12 to 29 words of it, from anywhere; pieces of two documents together; queries of no words.
CREATE TABLE queries (id int PRIMARY KEY, piece text);
INSERT INTO queries
SELECT i, array_to_string(w[1 + i * 7 % (cardinality(w) - 11) : 12 + i * 7 % (cardinality(w) - 11) + i % 18], ' ')
FROM (SELECT id AS i, string_to_array(body, ' ') AS w FROM pages WHERE id <= 2000) p;
INSERT INTO queries SELECT 2000 + i, document(i) || ' ' || document(i + 11) FROM generate_series(1, 2000, 20) i;
INSERT INTO queries VALUES (9001, ''), (9002, '?'), (9003, words('own7', 1, 15)), (9004, NULL), (9005, repeat('ho ', 16)), (9006, repeat('ho ', 15));
VACUUM ANALYZE queries;
SET enable_nestloop = off;
CREATE TABLE by_definition AS
WITH runs AS (SELECT DISTINCT id, hashtextextended(array_to_string(w[j : j + 15], ' '), 0) AS run
              FROM (SELECT id, string_to_array(rtrim(translate(body, E'.\n', ' ')), ' ') AS w FROM pages) p, generate_series(1, cardinality(w) - 15) j),
     asked AS (SELECT DISTINCT id, hashtextextended(array_to_string(w[j : j + 15], ' '), 0) AS run
               FROM (SELECT id, string_to_array(rtrim(translate(piece, '.?', ' ')), ' ') AS w FROM queries) q, generate_series(1, cardinality(w) - 15) j)
SELECT DISTINCT q.id AS query, p.id FROM asked q JOIN runs p USING (run);
RESET enable_nestloop;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan('SELECT q.id, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece');
CREATE TABLE by_index AS SELECT q.id AS query, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
CREATE TABLE by_bitmap AS SELECT q.id AS query, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece;
RESET enable_indexscan;
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TABLE by_scan AS SELECT q.id AS query, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece WHERE q.id % 20 = 1;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT (SELECT count(*) FROM by_definition) AS pairs, (SELECT count(DISTINCT query) FROM by_definition) AS with_answers,
       (SELECT count(*) FROM (TABLE by_definition EXCEPT ALL TABLE by_index) d) AS missed,
       (SELECT count(*) FROM (TABLE by_index EXCEPT ALL TABLE by_definition) d) AS too_many,
       (SELECT count(*) FROM (TABLE by_definition EXCEPT ALL TABLE by_bitmap) d) AS missed_by_bitmap,
       (SELECT count(*) FROM (TABLE by_bitmap EXCEPT ALL TABLE by_definition) d) AS too_many_by_bitmap,
       (SELECT count(*) FROM (SELECT * FROM by_definition WHERE query % 20 = 1 EXCEPT ALL TABLE by_scan) d) AS missed_by_scan,
       (SELECT count(*) FROM (TABLE by_scan EXCEPT ALL SELECT * FROM by_definition WHERE query % 20 = 1) d) AS too_many_by_scan;
-- A row that many hashes find is returned once, also by a scan that is begun again.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) AS twice FROM (SELECT FROM by_index GROUP BY query, id HAVING count(*) > 1) d;
SELECT count(*), count(DISTINCT p.id) FROM (VALUES (1), (2)) v(i), LATERAL (SELECT * FROM pages WHERE body &~~ document(7 + v.i - v.i)) p;
-- Several conditions: of each the function decides.
SELECT id FROM pages WHERE body &~~ document(20) AND body &~~ words('footer', 1, 20) AND shares_passage(body, document(20), 40);
SELECT count(*) FROM pages WHERE body &~~ words('footer', 1, 20) AND body &~~ document(21);
SELECT count(*) FROM pages WHERE body &~~ words('footer', 1, 20) OR body &~~ document(21);
-- Equality, of texts with hashes and without; NULLs; every row.
SELECT id FROM pages WHERE body = document(7);
SELECT id FROM pages WHERE body = '...' OR body = words('own7', 1, 15) ORDER BY id;
SELECT count(*) FROM pages WHERE body IS NULL;
SELECT count(*), count(DISTINCT id) FROM pages WHERE body IS NOT NULL;
SELECT count(*) FROM pages WHERE body &~~ NULL;
SELECT count(*) FROM pages WHERE body = ANY (ARRAY[document(7), document(8), 'x']);
-- One of several texts, at once; a text of more hashes than memory holds.
SELECT count(*) FROM pages WHERE body &~~ ANY (ARRAY[document(7), document(8), 'x']);
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT id) FROM pages WHERE body &~~ (SELECT string_agg(document(i), ' ') FROM generate_series(1, 1300) i);
SET enable_indexscan = off;
SELECT count(*) AS by_scan FROM pages WHERE body &~~ (SELECT string_agg(document(i), ' ') FROM generate_series(1, 1300) i);
RESET enable_indexscan;
RESET work_mem;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- An order by distance is not served.
SELECT count(*) FROM (SELECT id FROM pages ORDER BY body COLLATE "C" LIMIT 3) s;

-- ---- changes ----

UPDATE pages SET body = document(id + 5000) WHERE id % 10 = 3;
UPDATE pages SET tenant = tenant + 10 WHERE id % 10 = 4;
DELETE FROM pages WHERE id % 10 = 5;
BEGIN;
INSERT INTO pages SELECT 10000 + i, document(i), 0, 'a' FROM generate_series(1, 500) i;
ROLLBACK;
VACUUM pages;
SELECT reltuples - (SELECT count(*) FROM pages) AS too_many FROM pg_class WHERE relname = 'pages_passages';
SELECT rows - (SELECT count(*) FROM pages) AS too_many FROM simhash_index_check('pages_passages', true);
SELECT sum(entries) - (SELECT sum(cardinality(passage_hashes(body))) FROM pages) AS too_many
FROM simhash_index_info('pages_passages') WHERE level = 0 AND contents = 'postings';
INSERT INTO pages SELECT 10000 + i, document(i), 0, 'a' FROM generate_series(1, 500) i;
SELECT rows - (SELECT count(*) FROM pages) AS too_many FROM simhash_index_check('pages_passages', true);
CREATE FUNCTION compare() RETURNS TABLE (pairs bigint, missed bigint, too_many bigint) LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    CREATE TEMP TABLE scanned AS SELECT q.id AS query, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece WHERE q.id % 40 = 20;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_seqscan = off;
    CREATE TEMP TABLE found AS SELECT q.id AS query, p.id FROM queries q JOIN pages p ON p.body &~~ q.piece WHERE q.id % 40 = 20;
    SET LOCAL enable_seqscan = on;
    RETURN QUERY SELECT count(*), (SELECT count(*) FROM (TABLE scanned EXCEPT ALL TABLE found) d), (SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE scanned) d)
                 FROM scanned;
    DROP TABLE scanned, found;
END $$;
SELECT * FROM compare();
REINDEX INDEX pages_passages;
SELECT rows - (SELECT count(*) FROM pages) AS too_many FROM simhash_index_check('pages_passages', true);
SELECT * FROM compare();
DROP INDEX pages_passages;
CREATE INDEX CONCURRENTLY pages_passages ON pages USING simhash (body passage_ops) WITH (radius = 9, tables = 7, fillfactor = 70);
REINDEX INDEX CONCURRENTLY pages_passages;
SELECT rows - (SELECT count(*) FROM pages) AS too_many FROM simhash_index_check('pages_passages', true);
SELECT * FROM compare();
TRUNCATE pages;
INSERT INTO pages SELECT i, document(i), i % 3, (ARRAY['a', 'b', NULL])[1 + i % 3] FROM generate_series(1, 600) i;
SELECT rows FROM simhash_index_check('pages_passages', true);
DROP INDEX pages_passages;

-- ---- scopes, partial indexes, expressions ----

CREATE INDEX pages_of_tenants ON pages USING simhash (body passage_ops, tenant, kind);
ANALYZE pages;
SELECT plan($$SELECT id FROM pages WHERE tenant = 2 AND kind IS NULL AND body &~~ $$ || quote_literal(:'piece'));
SET enable_seqscan = off;
SELECT tenant, kind, count(*) AS found, (SELECT count(*) FROM pages p WHERE shares_passage(p.body, words('footer', 1, 20), 15) AND p.tenant = t.tenant) AS there
FROM (SELECT DISTINCT tenant, kind FROM pages) t,
     LATERAL (SELECT FROM pages p WHERE p.tenant = t.tenant AND p.kind = t.kind AND p.body &~~ words('footer', 1, 20) OFFSET 0) s GROUP BY tenant, kind ORDER BY 1;
SELECT count(*) FROM pages WHERE tenant = 2 AND kind IS NULL AND body &~~ words('footer', 1, 20);
SELECT count(*), count(DISTINCT id) AS open_scope FROM pages WHERE kind = 'a' AND body &~~ words('footer', 1, 20);
-- A hash that two scopes have is stored as two.
SELECT rows, fingerprints > (SELECT count(DISTINCT hash) + 10 FROM pages, unnest(passage_hashes(body)) hash) AS apart
FROM simhash_index_check('pages_of_tenants', true);
DROP INDEX pages_of_tenants;
CREATE INDEX pages_in_part ON pages USING simhash (upper(body) passage_ops) WHERE id % 2 = 0;
VACUUM ANALYZE pages;
SELECT plan($$SELECT id FROM pages WHERE id % 2 = 0 AND upper(body) &~~ 'a b c'$$);
SELECT count(*) FROM pages WHERE id % 2 = 0 AND upper(body) &~~ words('footer', 1, 20);
SELECT rows FROM simhash_index_check('pages_in_part', true);
DELETE FROM pages WHERE id % 4 = 0;
VACUUM pages;
SELECT rows FROM simhash_index_check('pages_in_part', true);
SELECT reltuples <= 300 AS in_part FROM pg_class WHERE relname = 'pages_in_part';
RESET enable_seqscan;

-- ---- constraints ----

CREATE TABLE kept (id int, body text, tenant int, CONSTRAINT no_pieces EXCLUDE USING simhash (body passage_ops WITH &~~, tenant WITH =));
INSERT INTO kept SELECT i, document(i), 0 FROM generate_series(1, 20) i ON CONFLICT DO NOTHING;
SELECT count(*) FROM kept;
INSERT INTO kept VALUES (21, words('x', 1, 50) || ' ' || words('own6', 1, 16), 0);
INSERT INTO kept VALUES (22, words('x', 1, 50) || ' ' || words('own6', 1, 16), 1), (23, words('own6', 1, 15), 0), (24, NULL, 0), (25, '', 0), (26, '', 0);
UPDATE kept SET body = words('own7', 1, 17) WHERE id = 23;
UPDATE kept SET body = body || ' more' WHERE id = 7;
INSERT INTO kept VALUES (27, words('own7', 1, 17), 0) ON CONFLICT DO NOTHING;
SELECT count(*) AS kept, (SELECT count(*) FROM kept a JOIN kept b ON a.id < b.id AND a.tenant = b.tenant AND a.body &~~ b.body) AS conflicts FROM kept;
ALTER TABLE kept DROP CONSTRAINT no_pieces;
INSERT INTO kept VALUES (28, words('own7', 1, 17), 0);
ALTER TABLE kept ADD EXCLUDE USING simhash (body passage_ops WITH &~~, tenant WITH =);
DROP TABLE kept;

-- ---- operator classes ----

SELECT opcname, amvalidate(c.oid) FROM pg_opclass c WHERE opcname = 'passage_ops';
SELECT passage_lane_layout(-1);
-- Of one's own: lanes that repeat, and none.
CREATE FUNCTION initials(text) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS
    $$ SELECT array_agg(ascii(w)::bigint) FROM regexp_split_to_table($1, ' ') w WHERE w <> '' $$;
CREATE FUNCTION same_initial(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT initials($1) && initials($2) $$;
CREATE OPERATOR ~&& (FUNCTION = same_initial, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ~&&);
CREATE OPERATOR CLASS initial_ops FOR TYPE text USING simhash AS OPERATOR 2 =, OPERATOR 5 ~&&,
    FUNCTION 1 hashtextextended(text, bigint), FUNCTION 2 initials(text), FUNCTION 3 passage_lane_layout(integer);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'initial_ops';
CREATE TABLE names (name text);
INSERT INTO names VALUES ('Ann Arbor Avenue'), ('Bob Baker'), ('Alice'), (''), (NULL), ('bob');
CREATE INDEX names_initials ON names USING simhash (name initial_ops);
INSERT INTO names VALUES ('Zoe Zimmer Ann'), (' ');
SET enable_seqscan = off;
SELECT name FROM names WHERE name ~&& 'A B A' ORDER BY name COLLATE "C";
SELECT count(*) FROM names WHERE name ~&& '';
SELECT rows, fingerprints FROM simhash_index_check('names_initials', true);
-- A lane more than when the rows were inserted: the check misses it.
CREATE OR REPLACE FUNCTION initials(text) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS
    $$ SELECT array_agg(ascii(w)::bigint) || 999::bigint FROM regexp_split_to_table($1, ' ') w WHERE w <> '' $$;
SELECT simhash_index_check('names_initials', false) IS NOT NULL AS sound;
SELECT simhash_index_check('names_initials', true);
-- A constraint meets more rows than work_mem holds before the new row, which two lanes find: it comes once.
CREATE FUNCTION numbers(text) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$ SELECT string_to_array($1, ' ')::bigint[] $$;
CREATE FUNCTION equal_lists(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 = $2 $$;
CREATE OPERATOR ~&= (FUNCTION = equal_lists, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ~&=);
CREATE OPERATOR CLASS number_ops FOR TYPE text USING simhash AS OPERATOR 2 =, OPERATOR 5 ~&=,
    FUNCTION 1 hashtextextended(text, bigint), FUNCTION 2 numbers(text), FUNCTION 3 passage_lane_layout(integer);
CREATE TABLE lists (list text);
INSERT INTO lists SELECT '1 ' || i FROM generate_series(2, 3000) i;
SET work_mem = '64kB';
BEGIN;
DELETE FROM lists;
ALTER TABLE lists ADD EXCLUDE USING simhash (list number_ops WITH ~&=);
INSERT INTO lists VALUES ('1 5000');
INSERT INTO lists VALUES ('1 5000') ON CONFLICT DO NOTHING;
COMMIT;
RESET work_mem;
SELECT * FROM lists;
DROP TABLE lists;
DROP OPERATOR FAMILY number_ops USING simhash;
DROP OPERATOR ~&= (text, text);
DROP FUNCTION numbers, equal_lists;
-- A layout that is none.
CREATE FUNCTION wrong_layout(int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[2, 0, 2] $$;
CREATE OPERATOR CLASS wrong_ops FOR TYPE text USING simhash AS OPERATOR 2 =, OPERATOR 5 ~&&,
    FUNCTION 1 hashtextextended(text, bigint), FUNCTION 2 initials(text), FUNCTION 3 wrong_layout(integer);
CREATE INDEX ON names USING simhash (name wrong_ops);
CREATE OR REPLACE FUNCTION wrong_layout(int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[1, 0, 2, 64, 256] $$;
CREATE INDEX ON names USING simhash (name wrong_ops);
-- The class has another definition of lanes than when the index was built: nothing is compared until a REINDEX.
CREATE OR REPLACE FUNCTION wrong_layout(int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[1, 0, 2, 64, 255] $$;
DROP INDEX names_initials;
CREATE INDEX names_wrong ON names USING simhash (name wrong_ops);
SELECT count(*) FROM names WHERE name = 'Alice';
CREATE OR REPLACE FUNCTION wrong_layout(int) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[1, 0, 2, 64, 0] $$;
-- No backend is told, and each that has read the metapage asks again.
SELECT count(*) FROM names WHERE name = 'Alice';
SELECT count(*) FROM names WHERE name IS NULL;
INSERT INTO names VALUES ('new');
SELECT simhash_index_check('names_wrong', false);
DELETE FROM names WHERE name LIKE 'Z%';
VACUUM (INDEX_CLEANUP ON) names;
SELECT sum(entries) > 0 AS shown FROM simhash_index_info('names_wrong');
REINDEX INDEX names_wrong;
INSERT INTO names VALUES ('Alice');
SELECT count(*) FROM names WHERE name = 'Alice';
SELECT rows FROM simhash_index_check('names_wrong', true);
RESET enable_seqscan;
DROP TABLE pages, queries, by_definition, by_index, by_bitmap, by_scan, names;
DROP OPERATOR CLASS initial_ops USING simhash; DROP OPERATOR CLASS wrong_ops USING simhash;
DROP OPERATOR FAMILY IF EXISTS initial_ops USING simhash; DROP OPERATOR FAMILY IF EXISTS wrong_ops USING simhash;
DROP OPERATOR ~&& (text, text);
DROP FUNCTION same_initial, initials, wrong_layout, compare, plan, document, words;
