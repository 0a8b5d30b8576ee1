-- simhash_blocks: the blocks of its definition; near fingerprints meet in one; each pair once.

-- Radius 3, and radii that do not divide the 64 bits evenly.
SELECT block, lpad(to_hex(bits), 16, '0') AS bits FROM simhash_blocks(81985529216486895);
SELECT radius, array_agg(lpad(to_hex(bits), 16, '0') ORDER BY block) AS bits
FROM unnest('{0,1,2,4}'::integer[]) radius, simhash_blocks(-1, radius) GROUP BY radius ORDER BY radius;
-- As the definition says, bit by bit: bit i, the first being 0, is in the block whose bits begin at or before it.
CREATE FUNCTION blocks_by_definition(fp bigint, radius integer)
RETURNS TABLE (block integer, bits bigint) LANGUAGE sql IMMUTABLE AS $$
    WITH blocks AS (
        SELECT b, b * (64 / (radius + 1)) + least(b, 64 % (radius + 1)) AS first,
               64 / (radius + 1) + (b < 64 % (radius + 1))::integer AS length
        FROM generate_series(0, radius) b)
    SELECT b, coalesce(bit_or(fp & (1::bigint << (63 - i))), 0)
    FROM blocks LEFT JOIN generate_series(0, 63) i ON i BETWEEN first AND first + length - 1
    GROUP BY b
$$;
SELECT count(DISTINCT radius) AS radii, count(*) AS rows,
       min(format('%s, radius %s, block %s: %s instead of %s', fp, radius, block, b.bits, d.bits)) FILTER (WHERE b.bits IS DISTINCT FROM d.bits) AS wrong
FROM generate_series(0, 64) radius, unnest(ARRAY[0, -1, hashint8extended(1, 1), hashint8extended(2, 1)]) fp,
     blocks_by_definition(fp, radius) d FULL JOIN LATERAL (SELECT * FROM simhash_blocks(fp, radius)) b USING (block);

-- Two fingerprints within the radius have the bits of a block in common.
CREATE TEMP TABLE pair AS
SELECT radius, fp AS a, fp # differing AS b
FROM generate_series(0, 64) radius, generate_series(1, 20) i, hashint8extended(i, radius) fp,
     LATERAL (SELECT coalesce(bit_or(1::bigint << bit), 0) AS differing
              FROM (SELECT bit FROM generate_series(0, 63) bit ORDER BY hashint8extended(bit, i + radius) LIMIT radius) b) d;
SELECT count(*) AS pairs, count(*) FILTER (WHERE hamming(a, b) = radius) AS at_the_radius, count(*) FILTER (WHERE met) AS met
FROM pair, LATERAL (SELECT count(*) > 0 AS met FROM simhash_blocks(a, radius) x JOIN simhash_blocks(b, radius) y USING (block, bits)) m;
-- The first of these blocks is the first whose bits do not differ.
SELECT count(*) AS pairs, count(*) FILTER (WHERE first IS DISTINCT FROM (
           SELECT min(block) FROM simhash_blocks(a # b, radius) WHERE bits = 0)) AS wrong
FROM pair, LATERAL (SELECT min(block) AS first FROM simhash_blocks(a, radius) x JOIN simhash_blocks(b, radius) y USING (block, bits)) m;

-- All pairs by buckets: each once, and the same as without.
CREATE TEMP TABLE fingerprints AS
SELECT CASE WHEN i % 10 < 7 THEN hashint8extended(i, 7)
            ELSE hashint8extended(i - i % 10, 7) # (1::bigint << (i % 64)) # (5::bigint << (i % 61)) END AS fp
FROM generate_series(1, 3000) i;
SELECT radius, count(*) AS pairs,
       array_agg((a, b, distance) ORDER BY a, b) = (
           SELECT array_agg((a, b, distance) ORDER BY a, b)
           FROM unnest((SELECT simhash_pairs_agg(fp, radius) FROM fingerprints))) AS equal
FROM unnest('{1,2,3,4,6}'::integer[]) radius CROSS JOIN LATERAL (
    SELECT p.*
    FROM (SELECT block, bits, simhash_pairs_agg(fp, radius) AS pairs
          FROM fingerprints, simhash_blocks(fp, radius)
          GROUP BY block, bits) g, unnest(g.pairs) p
    WHERE block = (SELECT min(block) FROM simhash_blocks(p.a # p.b, radius) WHERE bits = 0)) p
GROUP BY radius ORDER BY radius;
DROP TABLE fingerprints;

-- NULL has no blocks; radii out of range.
SELECT * FROM simhash_blocks(NULL);
SELECT * FROM simhash_blocks(1, NULL);
SELECT * FROM simhash_blocks(1, -1);
SELECT * FROM simhash_blocks(1, 65);
