-- Features, hashes, the aggregate, similarity and conversions.

-- What simhash() sees, in order of first appearance.
SELECT * FROM simhash_features('To be, or not to BE');
SELECT * FROM simhash_features('To be, or not to BE', width => 2);
SELECT * FROM simhash_features('abcab', 'chars', 2);
SELECT count(*) FROM simhash_features('?!');
SELECT count(*) FROM simhash_features(NULL);
SELECT count(*), sum(frequency) FROM simhash_features((SELECT string_agg((i % 5000)::text, ' ') FROM generate_series(1, 20000) i));
SELECT * FROM simhash_features('a', 'lines');
SELECT * FROM simhash_features('a', 'words', 0);

-- The features and their hashes give the fingerprint of the document.
SELECT simhash(array_agg(feature), array_agg(frequency)) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash(array_agg(simhash_hash(feature)), array_agg(frequency)) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash_agg(feature, frequency) = simhash('To be, or not to BE', 'words', 1, 'tf') AS same,
       simhash_agg(feature) = simhash('To be, or not to BE', 'words', 1, 'binary') AS same
FROM simhash_features('To be, or not to BE');

-- The aggregate: NULL features do not vote, nothing has no fingerprint.
SELECT simhash_agg(f) IS NULL AS none FROM (VALUES (NULL::text)) AS v(f);
SELECT simhash_agg(f) IS NULL AS none FROM (VALUES ('a')) AS v(f) WHERE false;
SELECT simhash_agg(f, w) = simhash(ARRAY['a']) AS same FROM (VALUES ('a', 0.5), (NULL, NULL), ('b', 0)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', NULL::float8)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', 'NaN'::float8)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', 1e300)) AS v(f, w);
SELECT simhash_agg(i::text) OVER (ORDER BY i) = simhash(array_agg(i::text) OVER (ORDER BY i)) AS as_a_window
FROM generate_series(1, 3) i;

-- In parallel as alone.
CREATE TABLE vote AS SELECT 'w' || i % 1000 AS feature, (i % 7) / 3.0::float8 AS weight FROM generate_series(1, 50000) i;
ANALYZE vote;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT simhash_agg(feature, weight) FROM vote;
CREATE TEMP TABLE answer AS SELECT simhash_agg(feature, weight) AS weighted, simhash_agg(feature) AS alike FROM vote;
SET max_parallel_workers_per_gather = 0;
SELECT weighted = (SELECT simhash_agg(feature, weight) FROM vote) AS same,
       alike = (SELECT simhash_agg(feature) FROM vote) AS same FROM answer;
SELECT count(DISTINCT simhash) FROM (
    SELECT (SELECT simhash_agg(feature, weight ORDER BY hashint4(i + length(feature)), weight) AS simhash FROM vote)
    FROM generate_series(1, 3) i) AS orders;
RESET ALL;
DROP TABLE vote;

-- tf-idf in SQL: words that every document has do not count.
CREATE TABLE page (id integer, body text);
INSERT INTO page VALUES (1, 'home contact imprint the red fox'), (2, 'home contact imprint the blue whale'),
                        (3, 'home contact imprint the red fox'), (4, 'home contact imprint a green parrot');
WITH term AS (
    SELECT id, feature, frequency FROM page, simhash_features(body)
), weighed AS (
    SELECT id, feature, frequency * ln((SELECT count(*) FROM page)::float8 / count(*) OVER (PARTITION BY feature)) AS weight
    FROM term
), printed AS (
    SELECT id, simhash_agg(feature, weight) AS fp FROM weighed GROUP BY id
)
SELECT a.id, b.id FROM printed a JOIN printed b ON a.id < b.id AND hamming(a.fp, b.fp) <= 3 ORDER BY 1, 2;
DROP TABLE page;

-- tsvector: lexemes by their number of positions.
SELECT simhash(to_tsvector('english', 'the foxes jumped over a fox')) =
       simhash(ARRAY['fox', 'jump'], ARRAY[2, 1]) AS same;
SELECT simhash(strip(to_tsvector('english', 'the foxes jumped over a fox'))) = simhash(ARRAY['fox', 'jump']) AS same;
SELECT simhash(to_tsvector('english', 'the')) IS NULL AND simhash(''::tsvector) IS NULL
   AND simhash(NULL::tsvector) IS NULL AS none;

-- Hashes of single features; enum values that differ, differ in many bits.
SELECT simhash_to_hex(simhash_hash('')) AS xxh3, simhash_to_hex(simhash_hash('foobar', 'fnv1')) AS fnv1;
SELECT simhash_hash('x', 'md5');
CREATE TYPE yes_no AS ENUM ('no', 'yes');
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TYPE single AS ENUM ('only');
SELECT simhash_to_hex(simhash_hash(v)) FROM unnest(enum_range(NULL::yes_no)) v;
SELECT simhash_to_hex(simhash_hash(v)) FROM unnest(enum_range(NULL::colour)) v;
SELECT simhash_to_hex(simhash_hash('only'::single));
SELECT simhash(ARRAY[simhash_hash('yes'::yes_no), simhash_hash('blue'::colour)], ARRAY[1, 0.5]) = -1 AS yes;
DROP TYPE yes_no, colour, single;

-- Exact similarity of shingle sets.
SELECT shingle_similarity('a b c d', 'a b c d'), shingle_similarity('a b c d', 'A, b; c d!'),
       shingle_similarity('a b c d', 'b c d e'), shingle_similarity('a b c d', 'w x y z');
SELECT shingle_similarity('a b c', 'b c d', width => 1) = 0.5 AS half,
       shingle_similarity('abcd', 'bcde', 'chars', 2) = 0.5 AS half;
SELECT shingle_similarity('', 'a'), shingle_similarity('', ''), shingle_similarity(NULL, 'a');
SELECT shingle_similarity(repeat('a b c d ', 100000), repeat('b c d a ', 100000));
SELECT round(shingle_similarity(string_agg(i::text, ' '), string_agg((i + 1000)::text, ' '), width => 1)::numeric, 6)
FROM generate_series(1, 100000) i;
SELECT shingle_similarity('a', 'b', 'pages');
SELECT shingle_similarity('a', 'b', width => 33);

-- Conversions.
SELECT v, simhash_to_hex(v), simhash_to_unsigned(v),
       simhash_from_hex(simhash_to_hex(v)) = v AND simhash_from_unsigned(simhash_to_unsigned(v)) = v AS back
FROM (VALUES (0), (1), (-1), (9223372036854775807), (-9223372036854775808), (81985529216486895)) AS t(v);
SELECT simhash_from_hex('DEADbeef') = 3735928559, simhash_from_unsigned(5.000);
SELECT simhash_from_hex('');
SELECT simhash_from_hex('0x1f'), simhash_from_hex('0X00000000DEADbeef') = 3735928559,
       simhash_from_hex('0xffffffffffffffff');
SELECT simhash_from_hex('0x');
SELECT simhash_from_hex('x1f');
SELECT simhash_from_hex('0x00000000000000000');
SELECT simhash_from_hex('00000000000000000');
SELECT simhash_from_hex('-1');
SELECT simhash_from_unsigned(-1);
SELECT simhash_from_unsigned(18446744073709551616);
SELECT simhash_from_unsigned(1e30);
SELECT simhash_from_unsigned(1.5);
SELECT simhash_from_unsigned('NaN');
SELECT simhash_from_unsigned('Infinity');
