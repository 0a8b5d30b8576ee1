-- ORDER BY several distances: at equal distance from the first, the second decides, and so on.
CREATE TABLE several AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp FROM generate_series(1, 3000) i;
INSERT INTO several SELECT 3000 + i, (i % 7) * 3 FROM generate_series(1, 70) i;
INSERT INTO several VALUES (0, NULL), (-1, NULL);
CREATE TABLE expected AS
    SELECT row_number() OVER (ORDER BY fp <~> 1, fp <~> 77777, fp <~> -1) AS n, fp <~> 1 AS a, fp <~> 77777 AS b, fp <~> -1 AS c
    FROM several;
CREATE INDEX several_fp ON several USING simhash (fp);
SET enable_seqscan = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM several ORDER BY fp <~> 1, fp <~> 77777, fp <~> -1;
CREATE TABLE found AS
    SELECT row_number() OVER () AS n, d.* FROM (
        SELECT fp <~> 1 AS a, fp <~> 77777 AS b, fp <~> -1 AS c FROM several ORDER BY fp <~> 1, fp <~> 77777, fp <~> -1) d;
SELECT count(*), count(*) FILTER (WHERE (f.a, f.b, f.c) IS DISTINCT FROM (e.a, e.b, e.c)) AS differences
FROM found f FULL JOIN expected e USING (n);
SELECT fp <~> 1 AS a, fp <~> 5 AS b FROM several WHERE fp <~> 1 <= 3 ORDER BY fp <~> 1, fp <~> 5 LIMIT 3;
-- A distance from NULL orders nothing.
SET plan_cache_mode = force_generic_plan;
PREPARE nearest (bigint, bigint) AS SELECT fp <~> $1 AS a, fp <~> $2 AS b FROM several ORDER BY fp <~> $1, fp <~> $2 LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE nearest (1, 5);
EXECUTE nearest (1, 5);
EXECUTE nearest (NULL, -1);
EXECUTE nearest (-1, NULL);
EXECUTE nearest (NULL, NULL);
-- Conditions on other centres than the one that rows are ordered by, and several of them.
CREATE FUNCTION selected() RETURNS TABLE (condition text, ordered bigint, ordered_sum bigint, n bigint, sum bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH condition IN ARRAY ARRAY['fp <~> 5 <= 2', 'fp <~> 5 <= 30', 'fp <~> 1 <= 28', 'fp <~> 1 <= 30 AND fp <~> 77777 <= 30',
            'fp <~> 77777 <= 30 AND fp <~> -1 <= 36', 'fp <~> 1 <= 1 AND fp <~> 15 <= 4', 'fp <~> 1 <= 30 AND fp <~> 5 <= 2'] LOOP
        EXECUTE 'SELECT count(*), sum(place * distance) FROM (SELECT row_number() OVER () AS place, fp <~> 1 AS distance FROM
            (SELECT fp FROM several WHERE ' || condition || ' ORDER BY fp <~> 1) d) d' INTO ordered, ordered_sum;
        EXECUTE 'SELECT count(*), sum(fp <~> 1) FROM several WHERE ' || condition INTO n, sum;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE TABLE by_index AS SELECT * FROM selected();
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET enable_seqscan = on;
SET enable_sort = on;
SELECT condition, s.n, CASE WHEN i IS DISTINCT FROM s THEN format('%s instead of %s', i, s) END AS wrong FROM selected() s JOIN by_index i USING (condition);
DROP TABLE several, expected, found, by_index;
DROP FUNCTION selected;
RESET ALL;

-- Pages that a query reads. A fingerprint of 50 000 rows is passed by, not read from end to end, by the nearest neighbours of another near it.
CREATE FUNCTION pages_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
    RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
END $$;
CREATE TABLE crowded AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp FROM generate_series(1, 5000) i;
INSERT INTO crowded SELECT -i, 4096 FROM generate_series(1, 50000) i;
INSERT INTO crowded SELECT 10000 + i, i FROM generate_series(0, 15) i;
CREATE INDEX crowded_fp ON crowded USING simhash (fp);
VACUUM ANALYZE crowded;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT pages_of('SELECT id FROM crowded ORDER BY fp <~> 1 LIMIT 10') < 60 AS few_pages;
SELECT pages_of('SELECT id FROM crowded ORDER BY fp <~> 4097 LIMIT 10') < 60 AS few_pages;
SELECT array_agg(fp <~> 1 ORDER BY n) FROM (SELECT fp, row_number() OVER () AS n FROM (SELECT fp FROM crowded ORDER BY fp <~> 1 LIMIT 20) a) b;
SELECT count(*), max(d) FROM (SELECT fp <~> 1 AS d FROM crowded WHERE fp <~> 1 <= 6 ORDER BY fp <~> 1) o;
SELECT count(*), max(fp <~> 1) FROM crowded WHERE fp <~> 1 <= 6;
RESET ALL;

-- A ball bounds what an ordered scan costs: no sequential scan, with a limit or without, also where the plan reads the posting table from
-- end to end, and also around another centre.
CREATE TABLE many AS SELECT i AS id, ('x' || md5(i::text))::bit(64)::bigint AS fp, repeat('x', 50) AS filler FROM generate_series(1, 100000) i;
CREATE INDEX many_fp ON many USING simhash (fp);
VACUUM ANALYZE many;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION reads_table(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        IF line ~ 'Seq Scan' THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;
SELECT radius, target, rows, reads_table(format('SELECT filler FROM many WHERE fp <~> 4711 <= %s ORDER BY fp <~> %s %s', radius, target, rows)) AS sequential
FROM unnest(ARRAY[3, 8, 12, 20]) radius, unnest(ARRAY[4711, 99]) target, unnest(ARRAY['LIMIT 10', '']) rows ORDER BY 1, 2, 3;
SELECT radius, target, found.n, found.sum, found.n = truth.n AND found.sum IS NOT DISTINCT FROM truth.sum AS same
FROM unnest(ARRAY[3, 8, 12, 18, 24, 30]) radius, unnest(ARRAY[4711, 99]) target,
    LATERAL (SELECT count(*) AS n, sum(place * d) AS sum FROM (SELECT d, row_number() OVER () AS place FROM
        (SELECT fp <~> target AS d FROM many WHERE fp <~> 4711 <= radius ORDER BY fp <~> target) a) b) found,
    LATERAL (SELECT count(*) AS n, sum(place * d) AS sum FROM (SELECT hamming(fp # 0, target) AS d,
        row_number() OVER (ORDER BY hamming(fp # 0, target)) AS place FROM many WHERE hamming(fp # 0, 4711) <= radius) a) truth
ORDER BY 1, 2;
-- Stages of growing radius pay where the first one finds all within the radius, or a LIMIT ends the scan early. Elsewhere
-- the index is searched once, and the server sorts. Of codes the sums of all lanes pay where a lane finds many rows by chance.
CREATE TABLE codes AS SELECT ('x' || md5('a' || id) || md5('b' || id))::bit(256) AS code, filler FROM many WHERE id <= 20000;
CREATE INDEX codes_code ON codes USING simhash (code);
VACUUM ANALYZE codes;
CREATE FUNCTION nearest(relation regclass, value text, operator text, query text, radius int, rows text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT filler FROM %1$s WHERE %2$s %3$s %4$L <= %5$s ORDER BY %2$s %3$s %4$L %6$s', relation, value, operator, query, radius, rows) $$;
CREATE FUNCTION way(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN CASE WHEN plan::text ~ 'Seq Scan' THEN 'table' WHEN plan::text ~ '"Sort"' THEN 'sort' WHEN plan::text ~ 'Order By' THEN 'stages' END;
END $$;
SELECT radius, way(nearest('many', 'fp', '<~>', '4711', radius, 'LIMIT 1')) AS first, way(nearest('many', 'fp', '<~>', '4711', radius, 'LIMIT 10')) AS ten,
       way(nearest('many', 'fp', '<~>', '4711', radius, '')) AS every
FROM unnest(ARRAY[8, 12, 20]) radius;
SELECT code::text AS q FROM codes LIMIT 1 \gset
SELECT radius, way(nearest('codes', 'code', '<~~>', :'q', radius, 'LIMIT 1')) AS first, way(nearest('codes', 'code', '<~~>', :'q', radius, 'LIMIT 10')) AS ten,
       way(nearest('codes', 'code', '<~~>', :'q', radius, '')) AS every
FROM unnest(ARRAY[15, 31, 47]) radius;
SET enable_sort = off;
SELECT way(nearest('codes', 'code', '<~~>', :'q', 47, 'LIMIT 10')) AS without_sort;
SELECT radius, pages_of(nearest('codes', 'code', '<~~>', :'q', radius, 'LIMIT 10')) < most AS few_pages
FROM (VALUES (15, 150), (100, 1000)) v(radius, most);
RESET enable_sort;
-- The sums of all lanes of more rows than memory holds: they are added up for one part after the other.
CREATE TABLE summed AS SELECT i AS id, ('x' || md5('a' || i) || md5('b' || i))::bit(256) AS code FROM generate_series(1, 40000) i;
CREATE INDEX summed_code ON summed USING simhash (code);
VACUUM ANALYZE summed;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_sort = off;
CREATE TABLE by_sums AS
SELECT 'little' AS memory, row_number() OVER () AS place, * FROM
    (SELECT id, code <~~> :'q'::bit(256) AS distance FROM summed ORDER BY code <~~> :'q'::bit(256) LIMIT 10000) d;
RESET work_mem;
-- A pass keeps some thousands of rows, and ends within a distance: the next one goes on there.
INSERT INTO by_sums
SELECT 'enough', row_number() OVER (), * FROM
    (SELECT id, code <~~> :'q'::bit(256) AS distance FROM summed ORDER BY code <~~> :'q'::bit(256)) d;
RESET hash_mem_multiplier; RESET enable_sort;
SELECT memory, count(*), count(DISTINCT f.id) AS ids,
       min(format('%s: %s instead of %s', place, f.distance, e.distance)) FILTER (WHERE f.distance IS DISTINCT FROM e.distance) AS wrong
FROM by_sums f LEFT JOIN (SELECT row_number() OVER (ORDER BY distance) AS place, distance
    FROM (SELECT hamming(code, :'q'::bit(256)) + 0 AS distance FROM summed) d) e USING (place) GROUP BY memory ORDER BY memory;
DROP TABLE summed, by_sums;
-- Neighbours at all distances, under several layouts: each stage returns its own, in order, each once. Then with so many far ones in the
-- prefix of the target that work_mem does not take them.
CREATE TABLE targets AS SELECT n, ('x' || md5((-n)::text))::bit(64)::bigint AS target FROM generate_series(1, 6) n;
INSERT INTO many SELECT 1000000 + 10000 * n + i, target # (('x' || md5(i::text))::bit(64) & ('x' || md5((n * i)::text || 'a'))::bit(64)
    & ('x' || md5(i::text || 'b'))::bit(64))::bigint FROM targets, generate_series(1, 1500) i;
-- Far ones, at 11, that one probe alone sees, in the ranges that are new in its last stage: it has two differences, of which one is in the
-- last bit of the longer prefix of the stage before, and each other quarter of the bits has three.
INSERT INTO many SELECT 3000000 + 10000 * n + 100 * alone + i, target #
    (SELECT bit_or(1::bigint << (63 - 16 * quarter - CASE WHEN alone = quarter AND k = 1 THEN 10 ELSE (i + 3 * k) % 10 END))
     FROM generate_series(0, 3) quarter, generate_series(0, 2) k WHERE alone <> quarter OR k < 2)
FROM targets, generate_series(0, 3) alone, generate_series(1, 10) i;
CREATE FUNCTION in_order(by_index boolean) RETURNS TABLE (n int, rows int, found bigint, ids bigint, order_sum bigint, last int) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true),
        set_config('enable_indexscan', by_index::text, true), set_config('enable_indexonlyscan', by_index::text, true);
    RETURN QUERY EXECUTE 'SELECT t.n, l, f.* FROM targets t, unnest(ARRAY[1, 10, 100, 500, 1400, 2000]) l,
        LATERAL (SELECT count(*), count(DISTINCT id), sum(place * d)::bigint, max(d) FROM
            (SELECT id, d, row_number() OVER () AS place FROM (SELECT id, fp <~> t.target AS d FROM many ORDER BY fp <~> t.target LIMIT l) a) b) f';
END $$;
CREATE TABLE in_truth AS SELECT * FROM in_order(false);
SELECT min(last), max(last) FROM in_truth;
SELECT count(*), min(format('%s instead of %s', i, t)) FILTER (WHERE i IS DISTINCT FROM t) AS wrong FROM in_order(true) i FULL JOIN in_truth t USING (n, rows);
DROP INDEX many_fp;
CREATE INDEX many_fp ON many USING simhash (fp) WITH (radius = 7, tables = 8);
SELECT count(*), min(format('%s instead of %s', i, t)) FILTER (WHERE i IS DISTINCT FROM t) AS wrong FROM in_order(true) i FULL JOIN in_truth t USING (n, rows);
INSERT INTO many SELECT 2000000 + i, target # i FROM targets, generate_series(1::bigint, 65535) i WHERE n = 1 AND bit_count(i::bit(16)) IN (10, 11);
DROP INDEX many_fp;
CREATE INDEX many_fp ON many USING simhash (fp);
DELETE FROM targets WHERE n > 1;
TRUNCATE in_truth;
INSERT INTO in_truth SELECT * FROM in_order(false);
SET work_mem = '64kB';
SELECT count(*), min(format('%s instead of %s', i, t)) FILTER (WHERE i IS DISTINCT FROM t) AS wrong FROM in_order(true) i FULL JOIN in_truth t USING (n, rows);
RESET work_mem;
DROP TABLE crowded, codes, many, targets, in_truth;
DROP FUNCTION pages_of, reads_table, in_order, nearest, way;
