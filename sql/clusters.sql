-- simhash_cluster and simhash_pairs_agg: equal to brute force, the documented uses, bad input.

-- Fingerprints of every kind: random, near an earlier one, repeated, the ends of the range.
CREATE TABLE fingerprints AS
WITH random_ones AS (
    SELECT i, hashint8extended(i, 42) AS fp FROM generate_series(1, 400) i)
SELECT fp FROM random_ones
UNION ALL SELECT fp # (1::bigint << (i % 63)::int) FROM random_ones WHERE i % 3 = 0
UNION ALL SELECT fp # (1::bigint << (i % 63)::int) # (5::bigint << (i % 60)::int) FROM random_ones WHERE i % 5 = 0
UNION ALL SELECT i FROM generate_series(0, 40) i
UNION ALL SELECT 7 FROM generate_series(1, 100)
UNION ALL VALUES (0), (-1), ('-9223372036854775808'::bigint), (9223372036854775807), (NULL);

-- Pairs: as brute force finds them, for every radius.
CREATE FUNCTION pairs_by_brute_force(wanted_radius integer)
RETURNS TABLE (a bigint, b bigint, distance integer) LANGUAGE sql AS $$
    WITH d AS (SELECT DISTINCT fp FROM fingerprints WHERE fp IS NOT NULL)
    SELECT x.fp, y.fp, hamming(x.fp, y.fp) FROM d x JOIN d y ON x.fp < y.fp
    WHERE hamming(x.fp, y.fp) <= wanted_radius
$$;
SELECT radius, count(*) AS pairs,
       array_agg((p.a, p.b, p.distance)) = (
           SELECT array_agg((e.a, e.b, e.distance) ORDER BY e.a, e.b)
           FROM pairs_by_brute_force(radius) e) AS equal_and_in_order
FROM generate_series(1, 8) radius,
     unnest((SELECT simhash_pairs_agg(fp, radius) FROM (SELECT fp FROM fingerprints ORDER BY hashint8(fp)) f)) p
GROUP BY radius ORDER BY radius;
-- Pairs within each group, however the rows are grouped.
CREATE FUNCTION pairs_of_groups() RETURNS TABLE (pairs bigint, fingerprints numeric) LANGUAGE sql AS $$
    SELECT count(*), sum(p.a::numeric + p.b + grp)
    FROM (SELECT abs(fp % 7) AS grp, simhash_pairs_agg(fp) AS pairs FROM fingerprints GROUP BY grp) g, unnest(g.pairs) p
$$;
SELECT count(*), sum(x.fp::numeric + y.fp + abs(x.fp % 7))
FROM (SELECT DISTINCT fp FROM fingerprints) x JOIN (SELECT DISTINCT fp FROM fingerprints) y
    ON x.fp < y.fp AND hamming(x.fp, y.fp) <= 3 AND abs(x.fp % 7) = abs(y.fp % 7);
SET enable_sort = off;
SELECT * FROM pairs_of_groups();
RESET enable_sort;
SET enable_hashagg = off;
SELECT * FROM pairs_of_groups();
RESET enable_hashagg;
-- A part of the rows has no partial result: not in parallel, and not by partition unless partitions are groups.
CREATE TABLE parts (fp bigint, site integer) PARTITION BY HASH (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT fp, abs(fp % 7) FROM fingerprints;
ANALYZE parts;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_partitionwise_aggregate = on;
EXPLAIN (COSTS OFF) SELECT simhash_pairs_agg(fp) FROM parts;
SELECT count(*) AS pairs, count(*) - (SELECT count(*) FROM pairs_by_brute_force(3)) AS too_many
FROM unnest((SELECT simhash_pairs_agg(fp) FROM parts)) p;
SELECT sum(cardinality(pairs)) FROM (SELECT simhash_pairs_agg(fp) AS pairs FROM parts GROUP BY site) g;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET enable_partitionwise_aggregate;
DROP TABLE parts;

-- Clusters: the least fingerprint that a chain of pairs reaches, whatever the order of rows.
WITH RECURSIVE pairs AS MATERIALIZED (
    SELECT a, b FROM pairs_by_brute_force(2)
), reached (fp, other) AS (
    SELECT fp, fp FROM fingerprints WHERE fp IS NOT NULL
    UNION
    SELECT r.fp, CASE WHEN r.other = p.a THEN p.b ELSE p.a END
    FROM reached r JOIN pairs p ON r.other IN (p.a, p.b)
), expected AS (
    SELECT fp, min(other) AS cluster FROM reached GROUP BY fp
), found AS (
    SELECT fp, simhash_cluster(fp, 2) OVER () AS cluster,
           simhash_cluster(fp, 2) OVER (ORDER BY hashint8(fp)) AS in_another_order
    FROM fingerprints
)
SELECT count(*) AS rows, count(DISTINCT found.cluster) AS clusters,
       count(*) FILTER (WHERE found.cluster IS DISTINCT FROM expected.cluster
                           OR found.cluster IS DISTINCT FROM in_another_order) AS wrong
FROM found LEFT JOIN expected USING (fp);

-- Documented uses.
CREATE TABLE pages (id integer, site text, written date, body text, fp bigint);
INSERT INTO pages VALUES
    (1, 'a', '2024-01-01', 'The boat house is closed for repairs of the roof.', 0),
    (2, 'a', '2024-02-01', 'The boat house is closed for repairs of the roof!', 1),
    (3, 'b', '2023-12-01', 'the boat house is closed for repairs of the roof', 3),
    (4, 'b', '2024-03-01', 'Fry an onion.', 3), -- as short texts can do: its fingerprint says that it is a copy
    (5, 'b', '2024-01-05', 'Wash three hundred grams of brown lentils.', -1),
    (6, 'a', '2024-01-06', '...', NULL),
    (7, 'a', '2024-01-07', 'wash three hundred grams of brown lentils', -2),
    (8, 'c', '2024-01-08', 'The last ferry leaves at nine.', 81985529216486895);

-- Keep one document per cluster.
SELECT id, fp
FROM (SELECT *, row_number() OVER (PARTITION BY cluster ORDER BY written, id) AS place
      FROM (SELECT *, simhash_cluster(fp) OVER () AS cluster FROM pages) c) p
WHERE place = 1 OR fp IS NULL
ORDER BY id;
-- Clusters within a site.
SELECT id, site, simhash_cluster(fp) OVER (PARTITION BY site) AS cluster
FROM pages ORDER BY id;
-- Sizes of the largest clusters.
SELECT cluster, count(*) AS documents
FROM (SELECT simhash_cluster(fp) OVER () AS cluster FROM pages) p
WHERE cluster IS NOT NULL
GROUP BY cluster ORDER BY documents DESC, cluster LIMIT 2;
-- All pairs, with their documents, and those of equal fingerprints.
SELECT least(x.id, y.id) AS id, greatest(x.id, y.id) AS other, p.distance
FROM unnest((SELECT simhash_pairs_agg(fp, 3) FROM pages)) p
JOIN pages x ON x.fp = p.a
JOIN pages y ON y.fp = p.b
UNION ALL
SELECT x.id, y.id, 0
FROM pages x JOIN pages y ON x.fp = y.fp AND x.id < y.id
ORDER BY id, other;
SELECT x.id, y.id AS other, x.fp <~> y.fp AS distance
FROM pages x JOIN pages y ON x.fp <~> y.fp <= 3 AND x.id < y.id ORDER BY id, other;
-- Pairs within a site.
SELECT site, p.*
FROM (SELECT site, simhash_pairs_agg(fp, 3) AS pairs FROM pages GROUP BY site) s, unnest(s.pairs) p
ORDER BY site, a, b;
-- All that are similar to one document.
SELECT y.id, shingle_similarity(y.body, x.body) AS similarity
FROM pages x, pages y
WHERE x.id = 1 AND y.fp <~> x.fp <= 8 AND shingle_similarity(y.body, x.body) >= 0.8
ORDER BY similarity DESC, id;
-- Delete all that resemble the oldest of their cluster; not row 4, which only its fingerprint calls a copy.
DELETE FROM pages p
USING (SELECT id, first_value(id) OVER (PARTITION BY cluster ORDER BY written, id) AS kept_id
       FROM (SELECT id, written, simhash_cluster(fp) OVER () AS cluster
             FROM pages WHERE fp IS NOT NULL) c) d
JOIN pages kept ON kept.id = d.kept_id
WHERE p.id = d.id AND p.id <> d.kept_id
    AND shingle_similarity(p.body, kept.body) >= 0.8;
SELECT id FROM pages ORDER BY id;
-- Short texts, in which a few words or one decide: those that are no copies stay, whatever their fingerprints are.
CREATE TABLE reviews (id integer, written date DEFAULT '2024-01-01', body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO reviews (id, body) VALUES
    (1, 'very very very bad product'), (2, 'very very very good product'), (3, 'Very, very, VERY bad product!'),
    (4, 'spam'), (5, 'spam spam spam buy cheap pills now'), (6, 'Spam!'), (7, '***');
DELETE FROM reviews p
USING (SELECT id, first_value(id) OVER (PARTITION BY cluster ORDER BY written, id) AS kept_id
       FROM (SELECT id, written, simhash_cluster(fp) OVER () AS cluster
             FROM reviews WHERE fp IS NOT NULL) c) d
JOIN reviews kept ON kept.id = d.kept_id
WHERE p.id = d.id AND p.id <> d.kept_id
    AND shingle_similarity(p.body, kept.body) >= 0.8;
SELECT id, body FROM reviews ORDER BY id;
DROP TABLE reviews;

-- NULLs, nothing, all equal.
SELECT simhash_pairs_agg(fp) FROM (VALUES (1::bigint)) v (fp) WHERE false;
SELECT simhash_pairs_agg(fp) FROM (VALUES (NULL::bigint), (NULL)) v (fp);
SELECT simhash_pairs_agg(fp, NULL) FROM (VALUES (1::bigint), (3)) v (fp);
SELECT simhash_pairs_agg(fp, 1) FROM (VALUES (1::bigint), (3), (NULL), (3), (0)) v (fp);
SELECT simhash_pairs_agg(fp, 64) FROM (VALUES (0::bigint), (-1)) v (fp);
SELECT simhash_cluster(1) OVER () WHERE false;
SELECT simhash_cluster(fp) OVER () FROM (VALUES (NULL::bigint), (NULL)) v (fp);
SELECT simhash_cluster(fp, NULL) OVER () FROM (VALUES (1::bigint), (NULL)) v (fp);
SELECT fp, simhash_cluster(fp, 0) OVER () FROM (VALUES (1::bigint), (2), (1)) v (fp);
SELECT fp, simhash_cluster(fp, 64) OVER () FROM (VALUES (1::bigint), (-2), (1)) v (fp);
SELECT DISTINCT simhash_cluster(5) OVER () FROM generate_series(1, 10000);
-- Each fingerprint its own cluster, and all in one.
SELECT count(DISTINCT simhash_cluster) FROM (
    SELECT simhash_cluster(hashint8extended(i, 1)) OVER () FROM generate_series(1, 10000) i) c;
SELECT count(DISTINCT simhash_cluster), min(simhash_cluster) FROM (
    SELECT simhash_cluster(i, 1) OVER () FROM generate_series(0, 16383) i) c;
-- The radius may differ between partitions, not within one.
SELECT fp, radius, simhash_cluster(fp, radius) OVER (PARTITION BY radius)
FROM (VALUES (1::bigint, 1), (3, 1), (1, 0), (3, 0)) v (fp, radius) ORDER BY radius, fp;
SELECT simhash_cluster(fp, radius) OVER () FROM (VALUES (1::bigint, 1), (3, 2)) v (fp, radius);
SELECT simhash_cluster(fp, radius) OVER () FROM (VALUES (1::bigint, 1), (3, NULL)) v (fp, radius);
SELECT radius, simhash_pairs_agg(fp, radius)
FROM (VALUES (1::bigint, 1), (3, 1), (1, 0), (3, 0)) v (fp, radius) GROUP BY radius ORDER BY radius;
SELECT simhash_pairs_agg(fp, radius) FROM (VALUES (1::bigint, 1), (3, 2)) v (fp, radius);
SELECT simhash_pairs_agg(fp, radius) FROM (VALUES (1::bigint, NULL), (3, 2)) v (fp, radius);
SELECT simhash_pairs_agg(fp) OVER () FROM (VALUES (1::bigint), (3)) v (fp);
-- More pairs than an array can have.
SELECT simhash_pairs_agg(i, 64) FROM generate_series(1, 6700) i;
-- Radii out of range.
SELECT simhash_cluster(1, -1) OVER ();
SELECT simhash_cluster(1, 65) OVER ();
SELECT simhash_pairs_agg(fp, -1) FROM (VALUES (1::bigint)) v (fp);
SELECT simhash_pairs_agg(fp, 65) FROM (VALUES (1::bigint)) v (fp);
-- A fingerprint that is another one at every look.
SELECT simhash_cluster((random() * 1e18)::bigint) OVER ();

-- Repeated fingerprints cost no memory.
SET work_mem = '64kB';
SET hash_mem_multiplier = 2;
SELECT cardinality(simhash_pairs_agg(i % 1000, 1)) FROM generate_series(1, 200000) i;
SET work_mem = '1MB';
-- Pairs beyond the memory are sorted on disk.
SELECT count(*), bool_and(before < (a, b)) AS in_order FROM (
    SELECT a, b, lag((a, b)) OVER () AS before
    FROM unnest((SELECT simhash_pairs_agg(i, 3) FROM generate_series(0, 4095) i))) p;
RESET work_mem;
RESET hash_mem_multiplier;

-- Cancelled at once.
SET statement_timeout = '100ms';
SELECT cardinality(simhash_pairs_agg(hashint8extended(i, 1), 26)) FROM generate_series(1, 100000) i;
RESET statement_timeout;
DROP TABLE pages, fingerprints;
DROP FUNCTION pairs_by_brute_force, pairs_of_groups;
