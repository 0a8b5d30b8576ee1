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
EXECUTE nearest (NULL, 5);
EXECUTE nearest (5, NULL);
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
SELECT condition, s.n, i IS NOT DISTINCT FROM s AS same FROM selected() s JOIN by_index i USING (condition);
DROP TABLE several, expected, found, by_index;
DROP FUNCTION selected;
