-- Indexes on passages of any length, the option words. The oracle is the longest common run of each two texts, by common_passages.
SET jit = off;
\pset null NULL
-- A number below `below`, the same in each run.
CREATE FUNCTION pick(seed text, below int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('x' || left(md5(seed), 7))::bit(28)::int % below
$$;
-- Words of a small alphabet; such that repeat themselves; words of one's own with a piece that others have; scripts with spaces and without,
-- with accents, signs of four bytes, and such as are several words.
CREATE FUNCTION document(i int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(CASE i % 8
        WHEN 0 THEN (ARRAY['a ', 'b '])[1 + pick(i || ' ' || w, 2)]
        WHEN 1 THEN (ARRAY['x ', 'y, ', 'Z-'])[1 + pick(i || ' ' || w, 3)]
        WHEN 2 THEN (ARRAY['one ', 'two ', 'three '])[1 + pick(i % 40 || ' ' || w % (2 + i % 11), 3)]
        WHEN 3 THEN left(md5(CASE WHEN w BETWEEN 5 AND 5 + i % 71 THEN 'piece' || i % 64 ELSE 'own' || i END || w), 4) || ' '
        WHEN 4 THEN substr('東京都に行く人', 1 + pick(i % 16 || ' ' || w, 7), 1) || CASE WHEN w % 30 = i % 30 THEN '。' ELSE '' END
        WHEN 5 THEN (ARRAY['дом ', 'Ёлка ', 'σπίτι ', 'بيت ', 'घर ', 'é́tage '])[1 + pick(i % 24 || ' ' || w, 6)]
        WHEN 6 THEN (ARRAY['บ้าน', 'カナ', '한국 ', '😀', 'ﷺ ', 'ﬁn '])[1 + pick(i % 16 || ' ' || w, 6)]
        ELSE (ARRAY['Straße ', 'cafe' || U&'\0301' || ' ', U&'so\00ADft ', 'o''clock ', 'naïve-'])[1 + pick(i % 24 || ' ' || w, 5)] END, '' ORDER BY w)
    FROM generate_series(1, 8 + pick('length' || i, 110)) w
$$;
CREATE TABLE texts (id int PRIMARY KEY, body text);
INSERT INTO texts SELECT i, document(i) FROM generate_series(1, 720) i;
INSERT INTO texts VALUES (2001, ''), (2002, NULL), (2003, repeat('ho ', 5)), (2004, repeat('ho ', 6)), (2005, repeat('ho ', 63)), (2006, repeat('ho ', 64)),
    (2007, repeat('ho ', 300));
-- Parts of texts, and whole ones.
CREATE TABLE queries (id int PRIMARY KEY, piece text);
INSERT INTO queries SELECT i, substr(body, 1 + pick('from' || i, 60), 10 + pick('size' || i, 400)) FROM texts, generate_series(1, 40) i WHERE texts.id = 1 + i * 17;
INSERT INTO queries VALUES (101, ''), (102, '?'), (103, NULL), (104, repeat('ho ', 5)), (105, repeat('ho ', 6)), (106, repeat('ho ', 64));
VACUUM ANALYZE texts, queries;
CREATE TABLE truth AS
SELECT q.id AS query, t.id, coalesce((SELECT max(words) FROM common_passages(t.body, q.piece, 1)), 0) AS longest FROM queries q, texts t;
-- For each length an index, asked for as many words, for some more, and by &~~; and for one less, which it does not serve, though it is the only one.
CREATE FUNCTION compare(words int) RETURNS TABLE (asked text, pairs bigint, missed bigint, too_many bigint) LANGUAGE plpgsql AS $$
DECLARE condition text; least int;
BEGIN
    EXECUTE format('CREATE INDEX texts_passages ON texts USING simhash (body passage_ops (words = %s))', words);
    IF NOT EXISTS (SELECT FROM simhash_index_check('texts_passages', true)) THEN RAISE 'index of % words is unsound', words; END IF;
    IF (SELECT sum(entries) FROM simhash_index_info('texts_passages') WHERE level = 0 AND contents = 'postings')
        <> (SELECT sum(cardinality(passage_hashes(body, words))) FROM texts) THEN RAISE 'index of % words has other hashes', words; END IF;
    SET LOCAL enable_seqscan = off;
    FOR condition, least IN VALUES ('as many', words), ('more', words + 5), ('one less', words - 1), ('16', 16) LOOP
        RETURN QUERY EXECUTE format('WITH found AS MATERIALIZED (SELECT q.id AS query, t.id FROM queries q JOIN texts t ON %2$s),
            wanted AS MATERIALIZED (SELECT query, id FROM truth WHERE longest >= %1$s)
            SELECT %3$L, (SELECT count(*) FROM wanted), (SELECT count(*) FROM (TABLE wanted EXCEPT ALL TABLE found) d), (SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE wanted) d)',
            least, CASE condition WHEN '16' THEN 't.body &~~ q.piece' WHEN 'one less' THEN format('t.body &~~ passage_query(q.piece, %s)', least)
                   ELSE format('shares_passage(t.body, q.piece, %s)', least) END, condition);
    END LOOP;
    DROP INDEX texts_passages;
END $$;
SELECT asked, count(*) AS indexes, sum(pairs) AS pairs, sum(missed) AS missed, sum(too_many) AS too_many
FROM unnest('{6, 7, 8, 10, 12, 13, 15, 16, 17, 24, 32, 63, 64}'::int[]) words, compare(words) GROUP BY asked ORDER BY asked;
SELECT count(*) FILTER (WHERE shares_passage(body, piece, words) <> (longest >= words)) AS wrong_by_scan
FROM truth JOIN queries q ON query = q.id JOIN texts t ON t.id = truth.id, LATERAL (SELECT 6 + (query * 7 + t.id) % 59 AS words) w;

-- ---- plans: the longest that serves ----

CREATE FUNCTION plan(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; used text := 'scan';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE ' || condition LOOP
        used := coalesce(substring(line FROM 'texts_\d+'), CASE WHEN line ~ 'Filter' THEN used || ', filter' END, used);
    END LOOP;
    RETURN used;
END $$;
CREATE INDEX texts_8 ON texts USING simhash (body passage_ops (words = 8));
CREATE INDEX texts_16 ON texts USING simhash (body passage_ops);
CREATE INDEX texts_32 ON texts USING simhash (body passage_ops (words = 32));
SET enable_seqscan = off;
SELECT words, plan(format('shares_passage(body, document(3), %s)', words)) FROM unnest('{1, 7, 8, 13, 15, 16, 31, 32, 64, 500}'::int[]) words;
SELECT plan('body &~~ document(3)') AS by_operator, plan('document(3) &~~ body') AS turned_round, plan('shares_passage(document(3), body)') AS by_default,
       plan('body &~~ ANY (ARRAY[document(3), document(5)])') AS any_of, plan('shares_passage(body, document(3), NULL)') AS null_words;
EXPLAIN (COSTS OFF) SELECT * FROM texts WHERE shares_passage(body, 'one two three four five six seven eight', 8);
EXPLAIN (COSTS OFF) SELECT * FROM texts t, queries q WHERE shares_passage(t.body, q.piece, 40) AND q.id = 7;
-- Without the new query, as where the extension was not updated.
BEGIN;
ALTER FUNCTION passage_query(text, integer) RENAME TO other_query;
SELECT words, plan(format('shares_passage(body, document(3), %s)', words)) FROM unnest('{13, 16, 17, 500}'::int[]) words;
SELECT count(*), (SELECT count(*) FROM truth WHERE longest >= 20) AS by_runs, (SELECT count(*) FROM truth WHERE longest >= 16) AS by_16 FROM queries q JOIN texts t ON shares_passage(t.body, q.piece, 20);
SET LOCAL enable_seqscan = on; -- from PostgreSQL 18 on, a plan says what was switched off
EXPLAIN (COSTS OFF) SELECT * FROM queries q JOIN texts t ON shares_passage(t.body, q.piece, 20);
ROLLBACK;
DROP INDEX texts_8, texts_16;
-- Of more words than &~~ has: it finds all the same.
SELECT count(*), (SELECT count(*) FROM texts WHERE shares_passage(body, document(11), 16)) AS by_scan, plan('body &~~ ANY (ARRAY[document(11)])')
FROM texts WHERE body &~~ ANY (ARRAY[document(11)]);
SELECT count(*) FROM texts WHERE body &~~ ANY (ARRAY[repeat('ho ', 20)]);
-- A query by itself.
SELECT count(*) FROM texts WHERE body &~~ passage_query(repeat('ho ', 70), 64);
SELECT count(*) FROM texts WHERE body &~~ passage_query(repeat('ho ', 70), 63);
SELECT count(*) FROM texts WHERE body &~~ passage_query(NULL, 63) OR body &~~ passage_query('a', NULL) OR body &~~ NULL::passage_query OR body &~~ ROW(NULL, 63)::passage_query;
SELECT 'a b c' &~~ passage_query('b c', 2) AS two, 'a b c' &~~ passage_query('B, C!', 3) AS three, 'a' &~~ ROW('a', NULL)::passage_query AS unknown, passage_query('a b', 2);
SELECT passage_query('a', 0);
SELECT 'a' &~~ ROW('a', -1)::passage_query;
RESET enable_seqscan;
DROP INDEX texts_32;

-- ---- options ----

CREATE INDEX ON texts USING simhash (body passage_ops (words = 5));
CREATE INDEX ON texts USING simhash (body passage_ops (words = 65));
CREATE INDEX ON texts USING simhash (body passage_ops (words = 'ten'));
CREATE INDEX ON texts USING simhash (body passage_ops (letters = 10));
-- From PostgreSQL 17 on, the server itself takes schemas off the search_path for this statement.
SET search_path = pg_catalog;
CREATE INDEX ON public.texts USING simhash (body public.text_ops (words = 10));
RESET search_path;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'passage_ops';
-- They stay, whatever happens to the table.
CREATE TABLE kept (id int, body varchar(2000), part int) PARTITION BY LIST (part);
CREATE TABLE kept_1 PARTITION OF kept FOR VALUES IN (1);
CREATE INDEX kept_passages ON kept USING simhash (body passage_ops (words = 10), part);
CREATE TABLE kept_2 (LIKE kept INCLUDING INDEXES);
ALTER TABLE kept ATTACH PARTITION kept_2 FOR VALUES IN (2);
CREATE TABLE kept_3 PARTITION OF kept FOR VALUES IN (3);
CREATE FUNCTION state() RETURNS TABLE (index regclass, definition text, rows bigint, hashes boolean) LANGUAGE sql AS $$
    SELECT indexrelid::regclass, substring(pg_get_indexdef(indexrelid) FROM 'USING.*'), c.rows,
           c.postings = (SELECT sum(cardinality(passage_hashes(body, 10))) FROM kept WHERE tableoid = indrelid)
    FROM pg_index, LATERAL (SELECT (simhash_index_check(indexrelid, true)).rows, (SELECT sum(entries) FROM simhash_index_info(indexrelid)
                            WHERE level = 0 AND contents = 'postings') AS postings) c
    WHERE indrelid IN ('kept_1'::regclass, 'kept_2'::regclass, 'kept_3'::regclass) ORDER BY indrelid
$$;
INSERT INTO kept SELECT id, body, 1 + id % 3 FROM texts;
SELECT * FROM state();
ALTER TABLE kept ALTER body TYPE text;
SELECT * FROM state();
REINDEX INDEX kept_passages;
REINDEX INDEX CONCURRENTLY kept_1_body_part_idx;
SELECT * FROM state();
TRUNCATE kept_2;
INSERT INTO kept SELECT id, body, 2 FROM texts;
VACUUM FULL kept_2;
SET min_parallel_table_scan_size = 0;
ALTER TABLE kept_3 SET (parallel_workers = 2);
REINDEX TABLE kept_3;
RESET min_parallel_table_scan_size;
DELETE FROM kept WHERE id % 5 = 0;
UPDATE kept SET body = document(id + 3000) WHERE id % 7 = 0;
VACUUM kept;
SELECT * FROM state();
SET enable_seqscan = off;
SELECT count(*), (SELECT count(*) FROM kept WHERE (shares_passage(body, document(11), 10) AND part = 2) IS TRUE) AS by_scan FROM kept
WHERE shares_passage(body, document(11), 10) AND part = 2;
RESET enable_seqscan;
DROP TABLE kept;

-- ---- constraints ----

SET search_path = pg_catalog;
CREATE TABLE public.entries (body text, EXCLUDE USING simhash (body public.passage_ops (words = 32) WITH OPERATOR(public.&~~)));
RESET search_path;
CREATE TABLE entries (body text, CONSTRAINT no_copies EXCLUDE USING simhash (body passage_ops (words = 10) WITH &~~));
INSERT INTO entries SELECT body FROM texts WHERE id % 8 = 3 ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) AS kept, (SELECT count(*) FROM entries a JOIN entries b ON a.ctid < b.ctid AND shares_passage(a.body, b.body)) AS conflicts FROM entries;
SET search_path = pg_catalog;
ALTER TABLE public.entries ADD EXCLUDE USING simhash (body public.passage_ops (words = 17) WITH OPERATOR(public.&~~));
RESET search_path;
ALTER TABLE entries ADD EXCLUDE USING simhash (body passage_ops (words = 64) WITH =);
INSERT INTO entries VALUES (''), ('');
DROP TABLE entries;

-- ---- queries of too few words ----

SELECT count(*) FROM texts WHERE body &~~ 'The boat house is closed in March, says the mayor.';
SELECT count(*) FROM texts WHERE shares_passage('日本語', body, 3) OR body &~~ document(3);
SELECT count(*) FROM texts WHERE shares_passage(body, 'a b c', 3) AND body &~~ repeat('a', 100000);
PREPARE sharing(text, int) AS SELECT count(*) FROM texts WHERE shares_passage(body, $1, $2);
EXECUTE sharing('a b c', 4);
SET plan_cache_mode = force_generic_plan;
EXECUTE sharing('a b c', 4);
RESET plan_cache_mode;

-- ---- row-level security: not leakproof, and the ways out ----

CREATE INDEX texts_10 ON texts USING simhash (body passage_ops (words = 10));
CREATE ROLE passages_reader;
GRANT SELECT ON texts TO passages_reader;
ALTER TABLE texts ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON texts USING (id % 2 = 1);
CREATE FUNCTION texts_with(query text) RETURNS SETOF texts LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS
    $$ SELECT * FROM texts WHERE body &~~ query AND id % 2 = 1 $$;
SELECT proname, proleakproof FROM pg_proc WHERE proname IN ('passage_shared', 'passage_query_shared', 'shares_passage') ORDER BY proname;
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL ROLE passages_reader;
SELECT plan('body &~~ document(3)');
SELECT count(*) AS by_scan, (SELECT count(*) FROM texts_with(document(3))) AS by_function FROM texts WHERE body &~~ document(3);
RESET ROLE;
ALTER FUNCTION passage_shared(text, text) LEAKPROOF;
SET LOCAL ROLE passages_reader;
SELECT plan('body &~~ document(3)');
SELECT count(*) AS by_index FROM texts WHERE body &~~ document(3);
SELECT plan('shares_passage(body, document(3), 12)');
RESET ROLE;
ALTER FUNCTION shares_passage(text, text, integer) LEAKPROOF;
SET LOCAL ROLE passages_reader;
SELECT plan('shares_passage(body, document(3), 12)');
ROLLBACK;
DROP FUNCTION texts_with;
DROP TABLE texts, queries, truth;
DROP ROLE passages_reader;
DROP FUNCTION pick, document, compare, plan, state;
