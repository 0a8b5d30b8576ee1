-- Large ranges are cut into slices (src/core/layout/probe_plan.cpp): the answers are those of the sequential scan.
-- Blocks of 8 bits make ranges of 250 000 rows as large as those of 100 million rows with blocks of 16 bits.
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION slice_fp(i integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN i % 50 = 0 THEN 4711
                WHEN i % 4 = 0 THEN hashint8extended(i % 1000, 3) # (1::bigint << (i % 64)) # (1::bigint << (i / 64 % 64))
                ELSE hashint8extended(i, 3) END $$;
CREATE TABLE sliced (id integer, fp bigint);
INSERT INTO sliced SELECT i, slice_fp(i) FROM generate_series(1, 250000) i;
CREATE INDEX sliced_fp ON sliced USING simhash (fp) WITH (radius = 7, tables = 8);
-- After the build: entries in tails, leaves that split, and others that lose entries or all.
INSERT INTO sliced SELECT i, slice_fp(i) FROM generate_series(250001, 300000) i;
DELETE FROM sliced WHERE id % 7 = 0 OR fp BETWEEN 10000 AND 1::bigint << 58;
VACUUM sliced;
INSERT INTO sliced SELECT i, slice_fp(i) FROM generate_series(300001, 305000) i;
ANALYZE sliced;

-- Every distance up to 9 bits; from 8 bits on, neighbours of blocks are looked through. Queries are rows with some bits changed.
CREATE TABLE slice_query AS
    SELECT n, n % 10 AS radius,
        CASE WHEN n % 5 = 0 THEN 4711 # (1::bigint << n) # (1::bigint << (n * 3 % 64)) ELSE slice_fp(n * 4) # (1::bigint << (n * 7 % 64)) END AS fp
    FROM generate_series(1, 60) n;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*), sum(s.id) FROM sliced s WHERE s.fp <~> 5 <= 7;
CREATE TEMP TABLE by_index AS
    SELECT n, q.radius, count(s.id) AS found, coalesce(sum(s.id), 0) AS ids
    FROM slice_query q LEFT JOIN LATERAL (SELECT s.id FROM sliced s WHERE s.fp <~> q.fp <= q.radius OFFSET 0) s ON true GROUP BY n, q.radius;
RESET enable_seqscan;
RESET enable_bitmapscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE TEMP TABLE by_scan AS
    SELECT n, q.radius, count(s.id) AS found, coalesce(sum(s.id), 0) AS ids
    FROM slice_query q LEFT JOIN LATERAL (SELECT s.id FROM sliced s WHERE hamming(s.fp, q.fp) <= q.radius OFFSET 0) s ON true GROUP BY n, q.radius;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT count(*) AS different FROM by_index FULL JOIN by_scan USING (n, radius, found, ids) WHERE by_index.n IS NULL OR by_scan.n IS NULL;
SELECT sum(found) > 20000 AS many, count(*) FILTER (WHERE found = 0) > 0 AS some_nothing FROM by_index;
-- In order of distance.
SELECT array_agg(distance) = (SELECT array_agg(d) FROM (SELECT hamming(fp, 12345) AS d FROM sliced ORDER BY d LIMIT 40) o) AS nearest
FROM (SELECT fp <~> 12345 AS distance FROM sliced ORDER BY fp <~> 12345 LIMIT 40) o;
-- Stages of growing radius: of a range of which a stage has looked at slices, the next one may need the rest. Rows at 10 and 11 bits: they
-- agree with the query in one block, have two differences in the next and in two or three others, and one in the rest.
CREATE TABLE far_query AS
    SELECT bit_count(twice::bit(8)) + 7 AS planted,
        slice_fp(i * 8 + 1) # bit_xor((CASE WHEN b = i THEN 0 WHEN twice >> b & 1 = 1 THEN 192 ELSE 16 END)::bigint << (8 * b)) AS fp
    FROM generate_series(0, 7) i, generate_series(0, 255) twice, generate_series(0, 7) b
    WHERE twice >> i & 1 = 0 AND twice >> (i + 7) % 8 & 1 = 1 AND bit_count(twice::bit(8)) IN (3, 4)
        AND slice_fp(i * 8 + 1) IN (SELECT fp FROM sliced)
    GROUP BY i, twice;
SET enable_seqscan = off;
SELECT planted, count(*) > 50 AS many, max((SELECT s.fp <~> q.fp FROM sliced s ORDER BY s.fp <~> q.fp LIMIT 1)) FROM far_query q GROUP BY 1 ORDER BY 1;
RESET enable_seqscan;
DROP TABLE far_query;
SELECT rows > 0 AS rows FROM simhash_index_check('sliced_fp', true);
DROP TABLE sliced, slice_query;
DROP FUNCTION slice_fp(integer);
