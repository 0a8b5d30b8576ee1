-- simhash_agg: the fingerprint of the features in a group of rows.

-- NULL features do not vote, nothing has no fingerprint.
SELECT simhash_agg(f) IS NULL AS none FROM (VALUES (NULL::text)) AS v(f);
SELECT simhash_agg(f) IS NULL AS none FROM (VALUES ('a')) AS v(f) WHERE false;
SELECT simhash_agg(f, w) = simhash_of(ARRAY['a']) AS same FROM (VALUES ('a', 0.5), (NULL, NULL), ('b', 0)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', NULL::float8)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', 'NaN'::float8)) AS v(f, w);
SELECT simhash_agg(f, w) FROM (VALUES ('a', 1e300)) AS v(f, w);
SELECT simhash_agg(i::text) OVER (ORDER BY i) = simhash_of(array_agg(i::text) OVER (ORDER BY i)) AS as_a_window
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
