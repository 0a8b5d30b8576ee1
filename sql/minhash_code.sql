-- minhash_code: codes of one bit of each of 64, 128 or 256 minima, and their index.

-- ---- of a document ----

SELECT length(minhash_code('to be or not to be')) AS bits, minhash_code('to be or not to be', 64) AS code;
SELECT minhash_code('The quick, brown fox jumps') = minhash_code('the QUICK brown... fox jumps!') AS same,
       minhash_code('to be to be') = minhash_code('to be to be to be to be') AS with_what_repeats,
       minhash_code('a b') <> minhash_code('b a') AS in_order_within_a_feature,
       minhash_code('') IS NULL AND minhash_code('?!') IS NULL AND minhash_code(NULL::text) IS NULL AS none;
-- An option that is null is its default.
SELECT minhash_code(body) = minhash_code(body, 128, 'words', 3) AS defaults,
       minhash_code(body) = minhash_code(body, NULL, NULL, NULL) AS nulls,
       minhash_code(body, features => 'chars') = minhash_code(body, 128, 'chars', 3) AS characters,
       minhash_code(body) <> minhash_code(body, width => 2) AS others
FROM (VALUES ('a short text of some words')) AS v(body);
-- A longer code begins with the shorter one, and the shortest is the fingerprint.
CREATE TABLE document (id serial, body text);
INSERT INTO document (body) VALUES
    ('a'), ('one two'), ('to be or not to be'), ('Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich'),
    ('人人生而自由,在尊严和权利上一律平等。'), ('เป็นมนุษย์สุดประเสริฐเลิศคุณค่า'), ('👍🏽 👩‍👩‍👧 🇩🇪 ok'), (repeat('x', 1000));
INSERT INTO document (body)
SELECT string_agg('w' || i * 7919 % (d * 5), ' ') FROM generate_series(1, 20) d, generate_series(1, d * d * 5) i GROUP BY d ORDER BY d;
SELECT features, width, count(*) AS documents,
       count(*) FILTER (WHERE minhash_code(body, 64, features, width)::bigint = minhash(body, features, width)) AS as_fingerprint,
       count(*) FILTER (WHERE substring(code, 1, 64) = minhash_code(body, 64, features, width)) AS begins_with_64,
       count(*) FILTER (WHERE substring(code, 1, 128) = minhash_code(body, 128, features, width)) AS begins_with_128,
       count(*) FILTER (WHERE code = minhash_code_of(of_features, 256)) AS as_of_features,
       count(*) FILTER (WHERE code = minhash_code_of(of_hashes, 256)) AS as_of_hashes,
       count(DISTINCT code) AS different
FROM document, unnest(ARRAY['words', 'words', 'words', 'chars', 'chars'], ARRAY[1, 3, 32, 3, 4]) AS form(features, width),
     LATERAL (SELECT minhash_code(body, 256, features, width) AS code) AS codes,
     LATERAL (SELECT array_agg(feature) AS of_features, array_agg(simhash_hash(feature)) AS of_hashes
              FROM simhash_features(body, features, width)) AS forms
GROUP BY features, width ORDER BY features, width;
DROP TABLE document;
-- A large document: read piece by piece.
SELECT minhash_code(string_agg(i::text, ' ')) = minhash_code_of(array_agg(i::text || ' ' || i + 1 || ' ' || i + 2) FILTER (WHERE i <= 199998)) AS same
FROM generate_series(1, 200000) i;
SELECT minhash_code('a', 100);
SELECT minhash_code(NULL::text, 0);
SELECT minhash_code('a', -64);
SELECT minhash_code('a', 512);
SELECT minhash_code('a', features => 'lines');
SELECT minhash_code(NULL::text, width => 33);

-- ---- of features, of hashes, of lexemes ----

SELECT minhash_code_of(ARRAY['the', 'quick', 'fox']) = minhash_code('the quick fox', width => 1) AS as_words,
       minhash_code_of(ARRAY['fox', 'the', NULL, 'quick', 'the'], 256) = minhash_code_of(ARRAY['the', 'quick', 'fox'], 256) AS a_set,
       minhash_code_of(ARRAY['a'], 64)::bigint = minhash_of(ARRAY['a']) AS as_fingerprint,
       minhash_code_of(ARRAY['a'], NULL) = minhash_code_of(ARRAY['a'], 128) AS null_bits,
       minhash_code_of('{}'::text[]) IS NULL AND minhash_code_of(ARRAY[NULL::text]) IS NULL AND minhash_code_of(NULL::text[]) IS NULL AS none;
SELECT minhash_code_of(ARRAY[simhash_hash('a'), NULL, simhash_hash('b')]) = minhash_code_of(ARRAY['a', 'b']) AS as_features,
       minhash_code_of(ARRAY[1, 2]::bigint[], 64)::bigint = minhash_of(ARRAY[1, 2]::bigint[]) AS as_fingerprint,
       minhash_code_of(ARRAY[1, 2]::bigint[], NULL) = minhash_code_of(ARRAY[1, 2]::bigint[], 128) AS null_bits,
       minhash_code_of('{}'::bigint[]) IS NULL AND minhash_code_of(ARRAY[NULL::bigint]) IS NULL AND minhash_code_of(NULL::bigint[]) IS NULL AS none;
SELECT minhash_code(to_tsvector('english', 'the foxes jumped over a fox')) = minhash_code_of(ARRAY['fox', 'jump']) AS lexemes,
       minhash_code(to_tsvector('simple', 'a b'), 64)::bigint = minhash(to_tsvector('simple', 'a b')) AS as_fingerprint,
       minhash_code(to_tsvector('simple', 'a b'), NULL) = minhash_code(to_tsvector('simple', 'a b'), 128) AS null_bits,
       minhash_code(to_tsvector('english', 'the')) IS NULL AND minhash_code(NULL::tsvector) IS NULL AS none;
SELECT minhash_code_of(ARRAY['a'], 96);
SELECT minhash_code_of(ARRAY[1]::bigint[], 1024);
SELECT minhash_code(NULL::tsvector, 65);
SELECT minhash_code_of(ARRAY[['a'], ['b']]);
-- Which function a call is of: a literal without a type is a text.
SELECT minhash_code('{a,b}') = minhash_code('{a,b}'::text) AS literal, minhash_code('{a,b}', 64) = minhash_code('{a,b}'::text, 64) AS with_bits,
       minhash_code('a b', '64') = minhash_code('a b', 64) AS both_literals, minhash_code(NULL) IS NULL AS of_null,
       minhash_code(document => 'a b', bits => 64) = minhash_code('a b', 64) AS named,
       minhash_code_of(features => '{a,b}') = minhash_code_of(ARRAY['a', 'b']) AS by_another_name,
       minhash_code_of(hashes => '{1,2}', bits => 64) = minhash_code_of(ARRAY[1, 2], 64) AS of_integers,
       minhash_code('a b'::varchar) = minhash_code('a b') AS of_varchar, minhash_code('a'::name) = minhash_code('a') AS of_name;
PREPARE of_parameter AS SELECT minhash_code($1, $2) = minhash_code('a b', 64) AS parameters;
EXECUTE of_parameter('a b', 64);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'of_parameter';
DEALLOCATE of_parameter;
-- To the planner they are what minhash() is.
SELECT code.oid::regprocedure AS function, code.procost, code.prosupport,
       (code.procost, code.prosupport, code.provolatile, code.proparallel) = (other.procost, other.prosupport, other.provolatile, other.proparallel)
           AS as_minhash
FROM pg_proc code JOIN pg_proc other ON other.proname = replace(code.proname, '_code', '') AND other.proargtypes[0] = code.proargtypes[0]
WHERE code.proname IN ('minhash_code', 'minhash_code_of') ORDER BY code.oid::regprocedure::text COLLATE "C";

-- ---- what a distance says ----

-- Each bit of documents of similarity J differs with probability (1 - J) / 2, whatever the size.
CREATE TEMP TABLE pair AS
SELECT similarity, bits, minhash_code_of(array_agg(feature) FILTER (WHERE i <= 200 - part), bits) AS a,
       minhash_code_of(array_agg(feature) FILTER (WHERE i > part), bits) AS b
FROM generate_series(1, 300) pair, unnest(ARRAY[0.0, 0.8, 0.9], ARRAY[100, 20, 10]) AS form(similarity, part), -- 200 features in all
     unnest(ARRAY[64, 128, 256]) AS bits,
     generate_series(1, 200) i, LATERAL (SELECT pair || ' ' || part || ' ' || i AS feature) AS f
GROUP BY pair, similarity, part, bits;
SELECT similarity, bits, round(1 - 2 * avg(a <~~> b) / bits, 2) AS estimate,
       round(avg((a =~~ b)::integer), 2) AS near
FROM pair GROUP BY similarity, bits ORDER BY similarity, bits;

-- ---- in the index ----

CREATE TABLE page (id integer PRIMARY KEY, body text, code bit(128) GENERATED ALWAYS AS (minhash_code(body)) STORED);
INSERT INTO page (id, body)
SELECT i, (SELECT string_agg('w' || (CASE WHEN w = 1 + i % 7 THEN i ELSE w * (1 + i / 100) END), ' ') FROM generate_series(1, 100) w)
FROM generate_series(1, 3000) i;
INSERT INTO page VALUES (3001, '?!'), (3002, NULL);
CREATE INDEX page_code ON page USING simhash (code);
ANALYZE page;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM page WHERE code <~~> minhash_code('to be', 128, 'words', 3) <= 18;
PREPARE near(text) AS SELECT id FROM page WHERE code <~~> minhash_code($1) <= 18;
PREPARE alike(text) AS SELECT id FROM page WHERE code =~~ minhash_code($1);
PREPARE nearest(text) AS SELECT id FROM page ORDER BY code <~~> minhash_code($1) LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near('to be');
EXPLAIN (COSTS OFF) EXECUTE alike('to be');
EXPLAIN (COSTS OFF) EXECUTE nearest('to be');
RESET plan_cache_mode;
DEALLOCATE ALL;
-- The same rows as without the index.
CREATE FUNCTION answers() RETURNS TABLE (question integer, rows bigint, ids bigint) LANGUAGE sql AS $$
    SELECT q.id, count(*), sum(p.id) FROM (SELECT id, body FROM page WHERE id % 300 = 7) q, page p
    WHERE p.code <~~> minhash_code(q.body) <= 18 GROUP BY q.id
    UNION ALL
    SELECT -q.id, count(*), sum(p.id) FROM (SELECT id, body FROM page WHERE id % 300 = 7) q, page p
    WHERE p.code =~~ minhash_code(q.body) GROUP BY q.id
$$;
CREATE TEMP TABLE by_index AS SELECT * FROM answers();
SET enable_seqscan = on;
SET enable_indexscan = off;
CREATE TEMP TABLE by_scan AS SELECT * FROM answers();
SELECT count(*) AS questions, min(format('%s: %s rows, not %s', question, i.rows, s.rows)) FILTER (WHERE (i.rows, i.ids) IS DISTINCT FROM (s.rows, s.ids)) AS wrong,
    bool_and(s.rows > 10) AS found
FROM by_index i FULL JOIN by_scan s USING (question);
RESET ALL;
DROP FUNCTION answers();
DROP TABLE by_index, by_scan;
DROP INDEX page_code;
-- The expression instead of a column.
CREATE INDEX page_code ON page USING simhash ((minhash_code(body)::bit(128)));
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM page WHERE minhash_code(body)::bit(128) <~~> minhash_code('to be', 128, 'words', 3) <= 18;
EXPLAIN (COSTS OFF) SELECT id FROM page WHERE minhash_code(body)::bit(128) =~~ minhash_code('to be', 128, 'words', 3);
SELECT count(*), sum(id), max(minhash_code(body)::bit(128) <~~> minhash_code((SELECT body FROM page WHERE id = 307))) AS farthest FROM page
WHERE minhash_code(body)::bit(128) =~~ minhash_code((SELECT body FROM page WHERE id = 307));
SET enable_seqscan = on;
SET enable_indexscan = off;
SELECT count(*), sum(id), max(code <~~> minhash_code((SELECT body FROM page WHERE id = 307))) AS farthest FROM page
WHERE code =~~ minhash_code((SELECT body FROM page WHERE id = 307));
RESET ALL;
-- The function alone has no length; a code that is stored has that of its column.
SET search_path = pg_catalog; -- as the server does for this statement from PostgreSQL 17 on
DO $$
DECLARE
    hint text;
BEGIN
    CREATE INDEX ON public.page USING simhash (public.minhash_code(body));
EXCEPTION
    WHEN others THEN
        GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
        RAISE INFO '%; %', SQLERRM, hint;
END $$;
RESET search_path;
ALTER TABLE page ADD wrong bit(256) GENERATED ALWAYS AS (minhash_code(body)) STORED;
DROP TABLE page;
