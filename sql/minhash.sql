-- minhash: fingerprints of one bit of each of 64 minima, and what their distances say.

-- ---- of a document ----

SELECT minhash('The quick, brown fox jumps') = minhash('the QUICK brown... fox jumps!') AS same,
       minhash('to be to be') = minhash('to be to be to be to be') AS with_what_repeats,
       minhash('a b') <> minhash('b a') AS in_order_within_a_feature,
       minhash('') IS NULL AND minhash('?!') IS NULL AND minhash(NULL::text) IS NULL AS none;
-- Words in threes by default; an option that is null is its default.
SELECT minhash(body) = minhash(body, 'words', 3) AS defaults, minhash(body) = minhash(body, NULL, NULL) AS nulls,
       minhash(body, 'chars') = minhash(body, 'chars', 3) AS characters,
       minhash(body) <> minhash(body, 'words', 2) AND minhash(body) <> minhash(body, 'chars') AS others
FROM (VALUES ('a short text of some words')) AS v(body);
-- It sees what simhash_features() lists.
CREATE TABLE document (id serial, body text);
INSERT INTO document (body) VALUES
    ('a'), ('one two'), ('to be or not to be'), ('Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich'),
    ('人人生而自由,在尊严和权利上一律平等。'), ('เป็นมนุษย์สุดประเสริฐเลิศคุณค่า'), ('👍🏽 👩‍👩‍👧 🇩🇪 ok'), (repeat('x', 1000));
INSERT INTO document (body)
SELECT string_agg('w' || i * 7919 % (d * 5), ' ') FROM generate_series(1, 20) d, generate_series(1, d * d * 5) i GROUP BY d ORDER BY d;
SELECT features, width, count(*) AS documents,
       count(*) FILTER (WHERE minhash(body, features, width) = of_features) AS as_of_features,
       count(*) FILTER (WHERE minhash(body, features, width) = of_hashes) AS as_of_hashes,
       count(*) FILTER (WHERE minhash(body, features, width) = of_rows) AS as_of_rows,
       count(DISTINCT of_rows) AS different
FROM document, unnest(ARRAY['words', 'words', 'words', 'chars', 'chars'], ARRAY[1, 3, 32, 3, 4]) AS form(features, width),
     LATERAL (SELECT minhash_of(array_agg(feature)) AS of_features,
                     minhash_of(array_agg(simhash_hash(feature))) AS of_hashes, minhash_agg(feature) AS of_rows
              FROM simhash_features(body, features, width)) AS forms
GROUP BY features, width ORDER BY features, width;
-- A large document: read piece by piece.
SELECT minhash(string_agg(i::text, ' ')) = minhash_of(array_agg(i::text || ' ' || i + 1 || ' ' || i + 2) FILTER (WHERE i <= 199998)) AS same
FROM generate_series(1, 200000) i;
SELECT minhash('a', 'lines');
SELECT minhash(NULL::text, 'lines');
SELECT minhash('a', width => 0);
SELECT minhash('a', 'words', 33);

-- ---- of features, of hashes, of lexemes ----

SELECT minhash_of(ARRAY['the', 'quick', 'fox']) = minhash('the quick fox', width => 1) AS as_words,
       minhash_of(ARRAY['fox', 'the', NULL, 'quick', 'the']) = minhash_of(ARRAY['the', 'quick', 'fox']) AS a_set,
       minhash_of(ARRAY['The']) <> minhash_of(ARRAY['the']) AS as_they_stand,
       minhash_of(ARRAY['']) IS NOT NULL AS also_the_empty_one,
       minhash_of('{}'::text[]) IS NULL AND minhash_of(ARRAY[NULL::text]) IS NULL AND minhash_of(NULL::text[]) IS NULL AS none;
SELECT minhash_of(ARRAY[simhash_hash('a'), NULL, simhash_hash('b')]) = minhash_of(ARRAY['a', 'b']) AS as_features,
       minhash_of('{}'::bigint[]) IS NULL AND minhash_of(ARRAY[NULL::bigint]) IS NULL AND minhash_of(NULL::bigint[]) IS NULL AS none;
SELECT minhash(to_tsvector('english', 'the foxes jumped over a fox')) = minhash_of(ARRAY['fox', 'jump']) AS lexemes,
       minhash(strip(to_tsvector('simple', 'a b a'))) = minhash(to_tsvector('simple', 'b a b')) AS without_positions,
       minhash(to_tsvector('english', 'the')) IS NULL AND minhash(NULL::tsvector) IS NULL AS none;
SELECT minhash_of(ARRAY[['a'], ['b']]);
SELECT minhash_of(ARRAY[[1], [2]]::bigint[]);
-- Poor hashes will do: small numbers, multiples of 2^32, the ends of the range.
SELECT count(*) AS pairs, round(avg(distance)) AS mean, min(distance) > 12 AND max(distance) < 52 AS all_far
FROM (SELECT minhash_of(ARRAY[i, i + 1]::bigint[]) <~> minhash_of(ARRAY[i + 2, i + 3]::bigint[]) AS distance FROM generate_series(0, 3996, 4) i
      UNION ALL
      SELECT minhash_of(ARRAY[i << 32]::bigint[]) <~> minhash_of(ARRAY[(i + 1) << 32]::bigint[]) FROM generate_series(0::bigint, 998, 2) i) AS v;
SELECT minhash_of(ARRAY[-9223372036854775808]) <~> minhash_of(ARRAY[9223372036854775807]) > 12 AS far;

-- ---- the aggregate ----

SELECT minhash_agg(f) IS NULL AS none FROM (VALUES (NULL::text)) AS v(f);
SELECT minhash_agg(f) IS NULL AS none FROM (VALUES ('a')) AS v(f) WHERE false;
SELECT minhash_agg(f) = minhash_of(ARRAY['a', 'b']) AS same FROM (VALUES ('a'), (NULL), ('b'), ('a')) AS v(f);
SELECT minhash_agg(i::text) OVER (ORDER BY i) = minhash_of(array_agg(i::text) OVER (ORDER BY i)) AS as_a_window
FROM generate_series(1, 3) i;
SELECT count(*) AS windows FROM (
    SELECT minhash_agg(i::text) OVER w = minhash_of(array_agg(i::text) OVER w) AS same FROM generate_series(1, 300) i WINDOW w AS (ORDER BY i)
) AS v WHERE same;
-- In parallel as alone; some workers and some groups have no feature.
CREATE TABLE feature AS SELECT i % 50 AS document, CASE WHEN i % 50 > 0 THEN 'w' || i % 1000 END AS feature FROM generate_series(1, 50000) i;
ANALYZE feature;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT minhash_agg(feature) FROM feature;
CREATE TEMP TABLE answer AS SELECT minhash_agg(feature) AS fp FROM feature;
CREATE TEMP TABLE answers AS SELECT document, minhash_agg(feature) AS fp FROM feature GROUP BY document;
SET max_parallel_workers_per_gather = 0;
SELECT fp = (SELECT minhash_agg(feature) FROM feature) AS same FROM answer;
SELECT count(*), count(fp) AS with_fingerprint, count(*) FILTER (WHERE fp IS NOT DISTINCT FROM alone) AS same
FROM answers JOIN (SELECT document, minhash_agg(feature) AS alone FROM feature GROUP BY document) AS a USING (document);
SELECT count(DISTINCT fp) AS of_any_order FROM (
    SELECT (SELECT minhash_agg(feature ORDER BY hashtext(feature || i)) AS fp FROM feature) FROM generate_series(1, 3) i) AS orders;
-- A state that is not one: here that of another aggregate.
CREATE AGGREGATE mixed_up(text) (
    SFUNC = simhash_agg_transition, STYPE = internal, FINALFUNC = minhash_agg_final, COMBINEFUNC = minhash_agg_combine,
    SERIALFUNC = simhash_agg_serialize, DESERIALFUNC = minhash_agg_deserialize, PARALLEL = SAFE);
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SELECT mixed_up(feature) FROM feature;
RESET ALL;
DROP AGGREGATE mixed_up(text);
-- No query can call what takes an internal state; which error it is depends on the server's version.
DO $$ BEGIN
    PERFORM minhash_agg_transition(NULL, 'a');
    RAISE 'it was called';
EXCEPTION WHEN undefined_function OR feature_not_supported THEN
END $$;
DROP TABLE feature;

-- ---- what a distance says ----

SELECT similarity, minhash_radius(similarity) AS default, minhash_radius(similarity, 0.5) AS half, minhash_radius(similarity, 0.99) AS nearly_all
FROM unnest(ARRAY[0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1]) AS similarity;
SELECT minhash_radius(0.8, 0) AS none, minhash_radius(0.8, 1) AS all, minhash_radius(NULL) IS NULL AND minhash_radius(0.8, NULL) IS NULL AS null;
SELECT minhash_radius(1.01);
SELECT minhash_radius(-0.01);
SELECT minhash_radius('NaN');
SELECT minhash_radius(80);
SELECT minhash_radius(0.8, 1.5);
SELECT minhash_radius(0.8, 'infinity');
SELECT distance, similarity, round(low::numeric, 6) AS low, round(high::numeric, 6) AS high
FROM unnest(ARRAY[0, 1, 2, 4, 8, 16, 32, 40, 64]) AS distance, minhash_similarity(distance);
SELECT similarity, round(low::numeric, 6) AS low, round(high::numeric, 6) AS high FROM minhash_similarity(8, 0.5);
SELECT minhash_similarity(NULL) IS NULL AND minhash_similarity(8, NULL) IS NULL AS null;
SELECT minhash_similarity(65);
SELECT minhash_similarity(-1);
SELECT minhash_similarity(8, 0);
SELECT minhash_similarity(8, 1);
SELECT minhash_similarity(8, 'NaN');

-- Pairs of documents: as often within the radius as was asked for, strangers not at all.
CREATE TEMP TABLE pair AS
SELECT similarity, minhash_of(array_agg(feature) FILTER (WHERE i <= 200 - part)) AS a, minhash_of(array_agg(feature) FILTER (WHERE i > part)) AS b
FROM generate_series(1, 300) pair, unnest(ARRAY[0.8, 0.9], ARRAY[20, 10]) AS form(similarity, part), -- 200 features in all
     generate_series(1, 200) i, LATERAL (SELECT pair || ' ' || part || ' ' || i AS feature) AS f
GROUP BY pair, similarity, part;
SELECT similarity, recall, round(avg((a <~> b <= minhash_radius(similarity, recall))::integer), 2) AS found
FROM pair, unnest(ARRAY[0.5, 0.8, 0.99]) AS recall GROUP BY similarity, recall ORDER BY similarity, recall;
SELECT similarity, round(avg((low <= similarity AND similarity <= high)::integer), 2) AS within_the_bounds
FROM (SELECT p.similarity, e.low, e.high FROM pair p, minhash_similarity(a <~> b) e) AS v GROUP BY similarity ORDER BY similarity;
SELECT count(*) AS strangers FROM pair p, pair q WHERE p.ctid < q.ctid AND p.a <~> q.a <= minhash_radius(0.8);

-- ---- in the index ----

CREATE TABLE page (id integer PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO page (id, body)
SELECT i, (SELECT string_agg('w' || (CASE WHEN w = 1 + i % 7 THEN i ELSE w * (1 + i / 100) END), ' ') FROM generate_series(1, 100) w)
FROM generate_series(1, 3000) i;
CREATE INDEX page_fp ON page USING simhash (fp) WITH (radius = 8);
ANALYZE page;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM page WHERE fp <~> minhash('to be or not to be') <= minhash_radius(0.8);
EXPLAIN (COSTS OFF) SELECT id FROM page WHERE fp <~> minhash('to be or not to be') <= minhash_radius(0.95, recall => 0.9);
PREPARE near(text) AS SELECT id FROM page WHERE fp <~> minhash($1) <= minhash_radius(.8) ORDER BY id;
PREPARE as_near(text, float8, float8) AS SELECT id FROM page WHERE fp <~> minhash($1) <= minhash_radius($2, $3) ORDER BY id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near('to be');
EXPLAIN (COSTS OFF) EXECUTE as_near('to be', 0.9, 0.8);
RESET plan_cache_mode;
-- Without what PostgreSQL says of disabled nodes from 18 on.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line NOT LIKE '%Disabled: true' THEN RETURN NEXT line; END IF;
    END LOOP;
END $$;
SELECT plan_of('SELECT a.id, b.id FROM page a JOIN page b ON a.fp <~> b.fp <= minhash_radius(0.9)');
DROP FUNCTION plan_of;
-- The same rows as without the index.
CREATE FUNCTION answers() RETURNS TABLE (question integer, rows bigint, ids bigint) LANGUAGE sql AS $$
    SELECT q.id, count(*), sum(p.id) FROM (SELECT id, body FROM page WHERE id % 300 = 7) q, page p
    WHERE p.fp <~> minhash(q.body) <= minhash_radius(.8) GROUP BY q.id
    UNION ALL
    SELECT -q.id, count(*), sum(p.id) FROM (SELECT id, body FROM page WHERE id % 300 = 7) q, page p
    WHERE p.fp <~> minhash(q.body) <= minhash_radius(.6, 0.99) GROUP BY q.id
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
DROP TABLE page, document;
